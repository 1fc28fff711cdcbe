/* Counts what a thread allocates: to be preloaded. See README.md. */
#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static __thread unsigned long count __attribute__((tls_model("initial-exec")));

unsigned long count_allocations(void)
{
	return count;
}

void *malloc(size_t size)
{
	count++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count++;
	return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
	count++;
	return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
	count++;
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = memalign(alignment, size);
	return *block ? 0 : ENOMEM;
}
