/* What job_submit/lua of 22.05 finds in slurmctld itself; all else is the installed libslurmfull's.
 * A queue of jobs here is a list of blocks whose every word is the job's id: the script's table of
 * jobs is built from the ids alone, and where in the record the id stands is slurmctld's business. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <slurm/slurm.h>

typedef struct xlist *List;
extern List slurm_list_create(void (*destroy)(void *));
extern void *slurm_list_append(List list, void *item);
extern int slurm_conf_init(const char *file);

List job_list, part_list, resv_list;
time_t last_job_update, last_resv_update;
char *default_part_name = "gpu";
void *acct_db_conn;
uint16_t accounting_enforce;

void *get_job_script(const void *job)
{
	(void) job;
	return NULL;
}

/* For the bench. */

void bench_prepare(uint32_t jobs)
{
	enum { WORDS = 512 };
	/* Whoever looks up a user asks for the plugins that it names. */
	slurm_conf_init(NULL);
	job_list = slurm_list_create(NULL);
	part_list = slurm_list_create(NULL);
	resv_list = slurm_list_create(NULL);
	for (uint32_t id = 1; id <= jobs; id++) {
		uint32_t *record = malloc(WORDS * sizeof(*record));
		for (int i = 0; i < WORDS; i++)
			record[i] = id;
		slurm_list_append(job_list, record);
	}
	last_job_update = last_resv_update = 1;
}

/* As after any submission, start or end of a job in another second. */
void bench_queue_changes(void)
{
	__atomic_add_fetch(&last_job_update, 1, __ATOMIC_RELAXED);
}
