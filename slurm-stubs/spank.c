/* SPANK as a client or a slurmstepd has it, whichever STUB_CONTEXT says; see README.md. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>

#define MAGIC 0x5ba2cULL

static void die(const char *why)
{
	fprintf(stderr, "slurm-stubs: %s\n", why);
	abort();
}

struct spank_handle {
	uint32_t magic;
};

static struct spank_handle the_handle = { MAGIC };
static char *entries[16];

#define STUB_OPTIONS 8
static struct spank_option options[STUB_OPTIONS];
static int option_count;

spank_t stub_spank(void)
{
	return &the_handle;
}

static void check_handle(spank_t spank)
{
	if (spank != &the_handle || spank->magic != MAGIC)
		die("not SPANK's handle");
}

spank_context_t spank_context(void)
{
	const char *context = getenv("STUB_CONTEXT");
	return context ? atoi(context) : S_CTX_ERROR;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	check_handle(spank);
	if (!option->name || !option->usage || strlen(option->name) > SPANK_OPTION_MAXLEN)
		die("an option that Slurm does not take");
	if (option_count == STUB_OPTIONS)
		die("too many options");
	options[option_count] = *option;
	options[option_count++].name = strdup(option->name);
	return ESPANK_SUCCESS;
}

/* Calls the option's function as Slurm does when it reads a command line. */
int stub_give_option(const char *name, const char *text, int remote)
{
	for (int i = 0; i < option_count; i++)
		if (!strcmp(options[i].name, name))
			return options[i].cb(options[i].val, text, remote);
	return -2;
}

/* What a client's main program has. */
int spank_unset_job_env(const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i] && !strncmp(entries[i], name, length) && entries[i][length] == '=') {
			free(entries[i]);
			entries[i] = NULL;
		}
	return 0;
}

int spank_set_job_env(const char *name, const char *value, int overwrite)
{
	if (!overwrite)
		die("an entry that may not be replaced");
	spank_unset_job_env(name);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (entries[i])
			continue;
		if (asprintf(&entries[i], "%s=%s", name, value) < 0)
			die("no memory");
		return 0;
	}
	die("no room for an entry");
	return -1;
}

/* The value of an entry; NULL where there is none. */
const char *stub_entry(const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i] && !strncmp(entries[i], name, length) && entries[i][length] == '=')
			return entries[i] + length + 1;
	return NULL;
}

spank_err_t spank_job_control_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	check_handle(spank);
	spank_set_job_env(name, value, overwrite);
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_unsetenv(spank_t spank, const char *name)
{
	check_handle(spank);
	spank_unset_job_env(name);
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	check_handle(spank);
	const char *task = getenv("STUB_ARRAY_TASK");
	if (item != S_JOB_ARRAY_TASK_ID)
		return ESPANK_BAD_ARG;
	va_list arguments;
	va_start(arguments, item);
	*va_arg(arguments, uint32_t *) = task ? (uint32_t) atoi(task) : NO_VAL;
	va_end(arguments);
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int length)
{
	check_handle(spank);
	const char *value = getenv(name);
	if (!value)
		return ESPANK_ENV_NOEXIST;
	int wanted = snprintf(buffer, (size_t) length, "%s", value);
	return wanted >= length ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

void slurm_spank_log(const char *format, ...)
{
	FILE *log = fopen(getenv("STUB_LOG"), "a");
	if (!log)
		die("STUB_LOG cannot be written");
	va_list arguments;
	va_start(arguments, format);
	fputs("told: ", log);
	vfprintf(log, format, arguments);
	fputs("\n", log);
	va_end(arguments);
	fclose(log);
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	check_handle(spank);
	setenv(name, value, overwrite);
	return ESPANK_SUCCESS;
}
