/* What the plugin finds in slurmctld by name; see README.md. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <time.h>
#include <slurm/slurm.h>
#include <slurm/slurmdb.h>

static void die(const char *why)
{
	fprintf(stderr, "slurm-stubs: %s\n", why);
	abort();
}

/* ---- memory */

#define MAGIC 0x51a7c0deU
#define FREED 0xdeadbeefU

struct header {
	uint32_t magic;
	uint32_t unused;
	size_t size;
};

static int live;

static struct header *header_of(void *block)
{
	struct header *h = (struct header *) block - 1;
	if (h->magic == FREED)
		die("freed twice");
	if (h->magic != MAGIC)
		die("not from this allocator");
	return h;
}

static void *allocate(size_t size)
{
	struct header *h = calloc(1, sizeof(*h) + size);
	if (!h)
		die("no memory");
	h->magic = MAGIC;
	h->size = size;
	__atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
	return h + 1;
}

void slurm_xfree(void **block)
{
	if (!*block)
		return;
	struct header *h = header_of(*block);
	h->magic = FREED;
	free(h);
	__atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
	*block = NULL;
}

char *slurm_xstrdup(const char *text)
{
	if (!text)
		return NULL;
	size_t size = strlen(text) + 1;
	return memcpy(allocate(size), text, size);
}

void slurm_xstrcat(char **text, const char *more)
{
	size_t old = *text ? strlen(*text) : 0;
	size_t added = strlen(more) + 1;
	char *joined = allocate(old + added);
	if (*text) {
		header_of(*text);
		memcpy(joined, *text, old);
		slurm_xfree((void **) text);
	}
	memcpy(joined + old, more, added);
	*text = joined;
}

/* Blocks that nobody has freed. */
int stub_live_blocks(void)
{
	return __atomic_load_n(&live, __ATOMIC_SEQ_CST);
}

/* ---- log */

static void write_log(const char *level, const char *format, va_list arguments)
{
	const char *path = getenv("STUB_LOG");
	if (!path)
		return;
	FILE *log = fopen(path, "a");
	if (!log)
		die("STUB_LOG cannot be written");
	char line[8192];
	int n = snprintf(line, sizeof(line), "%s", level);
	vsnprintf(line + n, sizeof(line) - (size_t) n, format, arguments);
	fprintf(log, "%s\n", line);
	fclose(log);
}

void slurm_info(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	write_log("", format, arguments);
	va_end(arguments);
}

int slurm_error(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	write_log("error: ", format, arguments);
	va_end(arguments);
	return -1;
}

/* ---- configuration */

char *default_part_name = "gpu";
void *acct_db_conn = NULL;
uint16_t accounting_enforce = 0;

char *slurm_get_extra_conf_path(char *name)
{
	const char *dir = getenv("STUB_CONF_DIR");
	if (!dir)
		return NULL;
	char *path = slurm_xstrdup(dir);
	slurm_xstrcat(&path, "/");
	slurm_xstrcat(&path, name);
	return path;
}

/* ---- the association cache */

typedef struct {
	int assoc, file, qos, res, tres, user, wckey;
} stub_lock_t;

static __thread stub_lock_t held;

void assoc_mgr_lock(stub_lock_t *wanted)
{
	if (held.assoc || held.qos || held.user)
		die("the association cache is locked twice");
	held = *wanted;
}

void assoc_mgr_unlock(stub_lock_t *wanted)
{
	if (memcmp(&held, wanted, sizeof(held)))
		die("what is unlocked is not what was locked");
	memset(&held, 0, sizeof(held));
}

/* Whether this thread holds any of the cache's locks. */
bool stub_is_locked(void)
{
	return held.assoc || held.qos || held.user;
}

static const char *qos_names[] = { NULL, "normal", "high", "scavenger" };

struct association {
	uint32_t uid;
	const char *account;
	const char *partition; /* NULL: every one */
	uint32_t default_qos;  /* 0: none */
	uint32_t qos[2];
};

/* The first of a user is the default account's. */
static const struct association associations[] = {
	{ 1001, "bio", NULL, 2, { 1, 2 } },
	{ 1002, "physics", NULL, 1, { 1, 3 } },
	{ 1003, "bio", NULL, 0, { 1, 3 } },
	{ 1003, "physics", "lent", 1, { 1 } },
};
#define ASSOCIATIONS (sizeof(associations) / sizeof(associations[0]))

static slurmdb_assoc_rec_t records[ASSOCIATIONS];
static slurmdb_assoc_usage_t usages[ASSOCIATIONS];
static slurmdb_user_rec_t users[ASSOCIATIONS];
static slurmdb_qos_rec_t qos_records[4];

static const struct association *default_of(uint32_t uid)
{
	for (size_t i = 0; i < ASSOCIATIONS; i++)
		if (associations[i].uid == uid)
			return &associations[i];
	return NULL;
}

int assoc_mgr_fill_in_user(void *db, slurmdb_user_rec_t *user, int enforce,
			   slurmdb_user_rec_t **found, bool locked)
{
	(void) db, (void) enforce;
	if (!locked || !held.user)
		die("users are read without their lock");
	const struct association *a = default_of(user->uid);
	if (found)
		*found = NULL;
	if (!a)
		return 0;
	user->name = a->uid == 1001 ? "ada" : a->uid == 1002 ? "bob" : "cyd";
	user->default_acct = (char *) a->account;
	if (found)
		*found = &users[a - associations];
	return 0;
}

int assoc_mgr_fill_in_assoc(void *db, slurmdb_assoc_rec_t *wanted, int enforce,
			    slurmdb_assoc_rec_t **found, bool locked)
{
	(void) db, (void) enforce;
	if (!locked || !held.assoc || !held.user)
		die("associations are read without their lock");
	if (found)
		*found = NULL;
	const struct association *own = default_of(wanted->uid);
	const char *account = wanted->acct ? wanted->acct : own ? own->account : NULL;
	if (!account)
		return 0;
	/* One for the partition goes before one for all of them. */
	for (int exact = wanted->partition != NULL; exact >= 0; exact--) {
		for (size_t i = 0; i < ASSOCIATIONS; i++) {
			const struct association *a = &associations[i];
			if (a->uid != wanted->uid || strcasecmp(a->account, account))
				continue;
			if (exact ? !a->partition || strcmp(a->partition, wanted->partition)
				  : a->partition != NULL)
				continue;
			records[i].usage = &usages[i];
			records[i].def_qos_id = a->default_qos;
			/* Only this stub reads it; the plugin hands it to slurm_bit_*. */
			usages[i].valid_qos = (bitstr_t *) a->qos;
			wanted->def_qos_id = a->default_qos;
			if (found)
				*found = &records[i];
			return 0;
		}
	}
	return 0;
}

int assoc_mgr_fill_in_qos(void *db, slurmdb_qos_rec_t *qos, int enforce,
			  slurmdb_qos_rec_t **found, bool locked)
{
	(void) db, (void) enforce;
	if (!locked || !held.qos)
		die("QoS are read without their lock");
	if (found)
		*found = NULL;
	for (uint32_t id = 1; id < 4; id++) {
		if (qos->id != id && (!qos->name || strcasecmp(qos->name, qos_names[id])))
			continue;
		qos->id = id;
		if (!qos->name)
			qos->name = (char *) qos_names[id];
		if (found)
			*found = &qos_records[id];
		return 0;
	}
	return 0;
}

void assoc_mgr_get_default_qos_info(slurmdb_assoc_rec_t *association, slurmdb_qos_rec_t *qos)
{
	if (!held.assoc)
		die("associations are read without their lock");
	if (association && !association->usage)
		die("not slurmctld's own record");
	if (association && association->def_qos_id)
		qos->id = association->def_qos_id;
	else
		qos->name = "normal";
}

int64_t slurm_bit_size(bitstr_t *bits)
{
	(void) bits;
	return 4;
}

int slurm_bit_test(bitstr_t *bits, int64_t bit)
{
	const uint32_t *ids = (const uint32_t *) bits;
	if (bit < 0 || bit >= slurm_bit_size(bits))
		die("a bit outside the map");
	return ids[0] == (uint32_t) bit || ids[1] == (uint32_t) bit;
}

/* ---- the configuration */

slurm_conf_t slurm_conf;

__attribute__((constructor)) static void set_configuration(void)
{
	/* Slurm's own would be of its allocator; nobody frees this one. */
	slurm_conf.state_save_location = getenv("STUB_CONF_DIR");
}

/* ---- who may change whose job */

bool validate_operator(uint32_t uid)
{
	if (stub_is_locked())
		die("validate_operator would wait for this thread's own lock");
	return uid == 0 || uid == 2000;
}

bool assoc_mgr_is_user_acct_coord(void *db, uint32_t uid, char *account)
{
	(void) db;
	if (stub_is_locked())
		die("is_user_acct_coord would wait for this thread's own lock");
	return uid == 3000 && account && !strcmp(account, "bio");
}

/* ---- an existing job, packed and unpacked
 *
 * A job record is a slurm_job_info_t of the test's; "packing" writes its address. STUB_BREAK names
 * what does not fit: msg, buf, left, unpack. */

static bool broken(const char *what)
{
	const char *name = getenv("STUB_BREAK");
	return name && !strcmp(name, what);
}

struct stub_buf {
	uint32_t magic;
	char *head;
	uint32_t size;
	uint32_t processed;
};

struct stub_buf *init_buf(uint32_t size)
{
	struct stub_buf *buf = allocate(sizeof(*buf));
	buf->magic = 0x42554545;
	buf->head = allocate(size);
	buf->size = broken("buf") ? 1 : size;
	return buf;
}

void free_buf(struct stub_buf *buf)
{
	slurm_xfree((void **) &buf->head);
	slurm_xfree((void **) &buf);
}

static void put(struct stub_buf *buf, const void *bytes, uint32_t size)
{
	if (buf->processed + size > buf->size)
		die("the buffer is full");
	memcpy(buf->head + buf->processed, bytes, size);
	buf->processed += size;
}

void pack32(uint32_t n, struct stub_buf *buf)
{
	put(buf, &n, sizeof(n));
}

void pack_time(time_t t, struct stub_buf *buf)
{
	put(buf, &t, sizeof(t));
}

void pack_job(void *job, uint16_t show, struct stub_buf *buf, uint16_t protocol, uid_t uid, bool locked)
{
	(void) show;
	(void) uid;
	/* Left to lock for itself, the real one of 24.11 and later unlocks too often. */
	if (!locked || !held.qos || !held.assoc || !held.user)
		die("pack_job without the locks that slurmctld itself holds round it");
	if (protocol != 0x2600)
		die("a protocol that slurm_api_version did not name");
	put(buf, &job, sizeof(job));
}

long slurm_api_version(void)
{
	return 0x260000;
}

#if SLURM_VERSION_NUMBER >= 0x190b00
enum { MSG_DATA = 192, MSG_TYPE = 226, MSG_VERSION = 228 };
#elif SLURM_VERSION_NUMBER >= 0x190500
enum { MSG_DATA = 192, MSG_TYPE = 224, MSG_VERSION = 226 };
#elif SLURM_VERSION_NUMBER >= 0x180b00
enum { MSG_DATA = 200, MSG_TYPE = 212, MSG_VERSION = 214 };
#elif SLURM_VERSION_NUMBER >= 0x180500
enum { MSG_DATA = 192, MSG_TYPE = 204, MSG_VERSION = 206 };
#elif SLURM_VERSION_NUMBER >= 0x170b00
enum { MSG_DATA = 192, MSG_TYPE = 208, MSG_VERSION = 210 };
#else
enum { MSG_DATA = 184, MSG_TYPE = 200, MSG_VERSION = 202 };
#endif

void slurm_msg_t_init(char *msg)
{
	uint16_t unset = 0xfffe;
	memset(msg, 0, 376);
	memcpy(msg + MSG_TYPE + (broken("msg") ? 2 : 0), &unset, sizeof(unset));
	memcpy(msg + MSG_VERSION, &unset, sizeof(unset));
}

static char **texts_of(slurm_job_info_t *job, int n)
{
	char **texts[] = { &job->partition, &job->qos, &job->account, &job->tres_per_node,
			   &job->comment, &job->admin_comment, &job->name, NULL };
	return texts[n];
}

int unpack_msg(char *msg, struct stub_buf *buf)
{
	uint16_t type;
	memcpy(&type, msg + MSG_TYPE, sizeof(type));
	if (type != 2004 || buf->processed != 0)
		die("not a message that has come in");
	if (broken("unpack"))
		return -1;
	slurm_job_info_t *job;
	memcpy(&job, buf->head + buf->size - sizeof(job), sizeof(job));
	buf->processed = buf->size - (broken("left") ? 1 : 0);
	job_info_msg_t *info = allocate(sizeof(*info));
	info->record_count = 1;
	info->job_array = allocate(sizeof(*job));
	*info->job_array = *job;
	for (int i = 0; texts_of(job, i); i++)
		*texts_of(info->job_array, i) = slurm_xstrdup(*texts_of(job, i));
	memcpy(msg + MSG_DATA, &info, sizeof(info));
	return 0;
}

void slurm_free_job_info_msg(job_info_msg_t *info)
{
	for (int i = 0; texts_of(info->job_array, i); i++)
		slurm_xfree((void **) texts_of(info->job_array, i));
	slurm_xfree((void **) &info->job_array);
	slurm_xfree((void **) &info);
}
