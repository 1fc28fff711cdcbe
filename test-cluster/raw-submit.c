/*
 * A raw API client: fills job_desc_msg_t with what it is told and submits it,
 * without any of the checks that sbatch makes first.
 *
 *   raw-submit tres_per_node=gpu:::4 min_nodes=4294967294 ...
 *
 * A value is taken as it is: a string, or a number of the field's own width.
 * "field=NULL" leaves a string NULL, "\xNN" is the byte NN.
 */
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#define FIELD(name) { #name, offsetof(job_desc_msg_t, name), sizeof(((job_desc_msg_t *) 0)->name) }

static const struct {
	const char *name;
	size_t offset, size;
} strings[] = {
	FIELD(account), FIELD(array_inx), FIELD(comment), FIELD(cpus_per_tres),
	FIELD(dependency), FIELD(mem_per_tres), FIELD(name), FIELD(partition),
	FIELD(qos), FIELD(reservation), FIELD(script), FIELD(std_err),
	FIELD(std_out), FIELD(submit_line), FIELD(tres_per_job),
	FIELD(tres_per_node), FIELD(tres_per_socket), FIELD(tres_per_task),
	FIELD(work_dir), FIELD(admin_comment),
}, numbers[] = {
	FIELD(cpus_per_task), FIELD(max_nodes), FIELD(min_cpus), FIELD(min_nodes),
	FIELD(ntasks_per_node), FIELD(num_tasks), FIELD(pn_min_cpus),
	FIELD(pn_min_memory), FIELD(requeue), FIELD(shared), FIELD(time_limit),
	FIELD(time_min), FIELD(warn_flags), FIELD(warn_signal), FIELD(warn_time),
	FIELD(bitflags), FIELD(het_job_offset),
};

static char *unescape(const char *text)
{
	char *out = malloc(strlen(text) + 1), *to = out;

	while (*text) {
		if (text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char) text[2]) &&
		    isxdigit((unsigned char) text[3])) {
			char hex[3] = { text[2], text[3], 0 };
			*to++ = (char) strtoul(hex, NULL, 16);
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
	return out;
}

static int set(job_desc_msg_t *job, const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		if (strcmp(strings[i].name, name))
			continue;
		*(char **) ((char *) job + strings[i].offset) =
			strcmp(value, "NULL") ? unescape(value) : NULL;
		return 0;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		uint64_t number = strtoull(value, NULL, 0);

		if (strcmp(numbers[i].name, name))
			continue;
		/* Little-endian: the low bytes of the number are the field's. */
		memcpy((char *) job + numbers[i].offset, &number, numbers[i].size);
		return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	static char *environment[] = { "PATH=/usr/bin:/bin", NULL };
	submit_response_msg_t *answer = NULL;
	job_desc_msg_t job;

	slurm_init(NULL);
	slurm_init_job_desc_msg(&job);
	job.user_id = getuid();
	job.group_id = getgid();
	job.name = "raw";
	job.work_dir = "/tmp";
	job.script = "#!/bin/sh\ntrue\n";
	job.environment = environment;
	job.env_size = 1;
	for (int i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (!equals || (*equals = '\0', set(&job, argv[i], equals + 1))) {
			fprintf(stderr, "raw-submit: no such field: %s\n", argv[i]);
			return 2;
		}
	}
	if (slurm_submit_batch_job(&job, &answer)) {
		fprintf(stderr, "raw-submit: %s\n", slurm_strerror(errno));
		return 1;
	}
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	printf("Submitted batch job %u\n", answer->step_id.job_id);
#else
	printf("Submitted batch job %u\n", answer->job_id);
#endif
	return 0;
}
