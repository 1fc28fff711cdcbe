/* What bindgen reads: Slurm's public headers, and the macros that bindgen drops or mistypes as
 * typed constants, so that the numbers written by hand in Rust are compared with the header. */
#include <stdint.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <slurm/spank.h>

static const uint8_t HEADER_NO_VAL8 = (uint8_t) NO_VAL8;
static const uint16_t HEADER_NO_VAL16 = (uint16_t) NO_VAL16;
static const uint16_t HEADER_INFINITE16 = (uint16_t) INFINITE16;
static const uint32_t HEADER_NO_VAL = (uint32_t) NO_VAL;
static const uint32_t HEADER_INFINITE = (uint32_t) INFINITE;
/* bindgen drops 64-bit constants with the highest bit set: halves. */
static const uint32_t HEADER_NO_VAL64_HIGH = (uint32_t) ((uint64_t) NO_VAL64 >> 32);
static const uint32_t HEADER_NO_VAL64_LOW = (uint32_t) (uint64_t) NO_VAL64;
static const uint32_t HEADER_MEM_PER_CPU_HIGH = (uint32_t) ((uint64_t) MEM_PER_CPU >> 32);
static const uint32_t HEADER_MEM_PER_CPU_LOW = (uint32_t) (uint64_t) MEM_PER_CPU;
static const uint32_t HEADER_NICE_OFFSET = (uint32_t) NICE_OFFSET;
static const uint16_t HEADER_CORE_SPEC_THREAD = (uint16_t) CORE_SPEC_THREAD;
static const uint64_t HEADER_CRON_JOB = (uint64_t) CRON_JOB;
static const uint64_t HEADER_USE_DEFAULT_QOS = (uint64_t) USE_DEFAULT_QOS;
static const uint16_t HEADER_KILL_JOB_BATCH = (uint16_t) KILL_JOB_BATCH;
static const uint32_t HEADER_BATCH_SCRIPT = (uint32_t) SLURM_BATCH_SCRIPT;
