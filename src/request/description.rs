//! A job description as Slurm hands it over, and the typed request that it means.
//!
//! The one place that knows Slurm's sentinels. `slurm::job_desc` fills a [`Description`] from a
//! `job_desc_msg_t`, tests fill it from what real daemons were seen to send; neither C nor unsafe
//! is needed here. Every value is the client's and untrusted: any number and any text must pass.

use crate::digest::fnv1a;

use super::{ArraySpec, Memory, Origin, Request, Sharing, Text, TimeLimit, Tres, WarnSignal};

/// "Not stated" of a `uint8_t` (slurm.h).
pub const NO_VAL8: u8 = 0xfe;
/// "Not stated" of a `uint16_t` (slurm.h).
pub const NO_VAL16: u16 = 0xfffe;
/// "No limit" of a `uint16_t` (slurm.h).
pub const INFINITE16: u16 = 0xffff;
/// "Not stated" of a `uint32_t` (slurm.h).
pub const NO_VAL: u32 = 0xffff_fffe;
/// "No limit" of a `uint32_t` (slurm.h).
pub const INFINITE: u32 = 0xffff_ffff;
/// "Not stated" of a `uint64_t` (slurm.h).
pub const NO_VAL64: u64 = 0xffff_ffff_ffff_fffe;
/// `pn_min_memory`: the amount is for each CPU, not for each node (slurm.h). `NO_VAL64` has this
/// bit too and is to be looked for first.
pub const MEM_PER_CPU: u64 = 1 << 63;
/// What stands for 0 in `nice` (slurm.h).
pub const NICE_OFFSET: u32 = 0x8000_0000;
/// `core_spec`: threads, not cores (slurm.h). `NO_VAL16` has this bit too.
pub const CORE_SPEC_THREAD: u16 = 0x8000;
/// `bitflags`: through scrontab (slurm.h). Set by slurmctld, but not cleared before the hook where
/// a client forges it.
pub const CRON_JOB: u64 = 1 << 22;
/// `warn_flags`: `--signal=B:` (slurm.h).
pub const KILL_JOB_BATCH: u16 = 1 << 0;
/// gid "not stated": `SLURM_AUTH_NOBODY` since 23.02, `NO_VAL` before.
pub const AUTH_NOBODY: u32 = 99;

/// Environment entry in which sbatch keeps `--export` where it is given and not `ALL`.
pub const EXPORT_ENV: &str = "SLURM_EXPORT_ENV";
/// The longest texts that slurmctld takes, in bytes (`_test_job_desc_fields`, job_mgr.c; the same in 22.05
/// to 26.05): most of them,
pub const LONGEST_NAME: usize = 1024;
/// paths (`MAXPATHLEN`),
pub const LONGEST_PATH: usize = 4096;
/// `--array`,
pub const LONGEST_ARRAY: usize = 4096;
/// and `--dependency`.
pub const LONGEST_DEPENDENCY: usize = 128 * 1024;

/// SPANK job environment entry that holds `--justify`.
pub const JUSTIFY_ENV: &str = "SLUICE_JUSTIFY";
/// SPANK job environment entry that holds `--lineage`.
pub const LINEAGE_ENV: &str = "SLUICE_LINEAGE";
/// SPANK job environment entry that says that the client has those options.
pub const SPANK_ENV: &str = "SLUICE_SPANK";

/// Which message the description came in: the same field may mean different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Submission, allocation, will-run test. Empty text is no text.
    Submit,
    /// `scontrol update`. Text that is there and empty clears a field, `array_inx` is the number of
    /// tasks that may run at once, and `het_job_offset` means nothing (it is 0 for every job).
    Update,
}

/// The fields of `job_desc_msg_t` that a request is made of, in Slurm's own terms: numbers with
/// their sentinels (`slurm_init_job_desc_msg`), text `None` where the pointer is NULL. What is not
/// UTF-8 has been replaced lossily. Names and units are those of slurm.h.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "slurm.h documents each field")]
pub struct Description<'a> {
    pub user_id: u32,
    pub group_id: u32,
    pub bitflags: u64,
    /// Whether `crontab_entry` is not NULL.
    pub has_crontab_entry: bool,
    pub het_job_offset: u32,
    pub alloc_sid: u32,
    /// Ports on which srun and salloc listen; 0 in sbatch.
    pub alloc_resp_port: u16,
    pub other_port: u16,
    pub env_size: u32,

    pub partition: Option<Text<'a>>,
    pub qos: Option<Text<'a>>,
    pub account: Option<Text<'a>>,
    pub reservation: Option<Text<'a>>,
    pub features: Option<Text<'a>>,
    pub prefer: Option<Text<'a>>,
    pub req_nodes: Option<Text<'a>>,
    pub exc_nodes: Option<Text<'a>>,
    pub licenses: Option<Text<'a>>,

    pub min_nodes: u32,
    pub max_nodes: u32,
    pub num_tasks: u32,
    pub ntasks_per_node: u16,
    pub ntasks_per_socket: u16,
    pub ntasks_per_core: u16,
    pub ntasks_per_tres: u16,
    pub cpus_per_task: u16,
    pub min_cpus: u32,
    pub pn_min_cpus: u16,
    pub overcommit: u8,
    pub sockets_per_node: u16,
    pub cores_per_socket: u16,
    pub threads_per_core: u16,
    pub core_spec: u16,
    pub tres_per_job: Option<Text<'a>>,
    pub tres_per_node: Option<Text<'a>>,
    pub tres_per_socket: Option<Text<'a>>,
    pub tres_per_task: Option<Text<'a>>,
    pub cpus_per_tres: Option<Text<'a>>,
    pub mem_per_tres: Option<Text<'a>>,
    pub pn_min_memory: u64,
    pub pn_min_tmp_disk: u32,
    pub shared: u16,

    pub time_limit: u32,
    pub time_min: u32,

    pub array_inx: Option<Text<'a>>,
    pub std_out: Option<Text<'a>>,
    pub std_err: Option<Text<'a>>,
    pub std_in: Option<Text<'a>>,
    pub work_dir: Option<Text<'a>>,

    pub requeue: u16,
    pub warn_flags: u16,
    pub warn_signal: u16,
    pub warn_time: u16,
    pub dependency: Option<Text<'a>>,
    pub comment: Option<Text<'a>>,
    pub admin_comment: Option<Text<'a>>,
    pub name: Option<Text<'a>>,
    pub nice: u32,
    pub priority: u32,
    pub container: Option<Text<'a>>,
    pub wckey: Option<Text<'a>>,
    pub mail_user: Option<Text<'a>>,
    pub x11: u16,
    pub script: Option<Text<'a>>,
    pub submit_line: Option<Text<'a>>,

    /// `argv[0]`: the script's path (sbatch) or the command (srun).
    pub command: Option<Text<'a>>,
    /// [`digest`] of the rest of `argv`.
    pub arguments: u64,
    /// The value of [`EXPORT_ENV`] in `environment`.
    pub export: Option<Text<'a>>,
    /// The value of [`JUSTIFY_ENV`] in `spank_job_env`.
    pub justify: Option<Text<'a>>,
    /// The value of [`LINEAGE_ENV`] in `spank_job_env`.
    pub lineage: Option<Text<'a>>,
    /// Whether [`SPANK_ENV`] is in `spank_job_env`: `--justify` is there for the user to type. Only
    /// for the words of a message: a client can claim it.
    pub spank: bool,
}

impl Default for Description<'_> {
    /// Nothing stated: what `slurm_init_job_desc_msg` leaves behind.
    fn default() -> Self {
        Description {
            user_id: NO_VAL,
            group_id: NO_VAL,
            bitflags: 0,
            has_crontab_entry: false,
            het_job_offset: NO_VAL,
            alloc_sid: NO_VAL,
            alloc_resp_port: 0,
            other_port: 0,
            env_size: 0,
            partition: None,
            qos: None,
            account: None,
            reservation: None,
            features: None,
            prefer: None,
            req_nodes: None,
            exc_nodes: None,
            licenses: None,
            min_nodes: NO_VAL,
            max_nodes: NO_VAL,
            num_tasks: NO_VAL,
            ntasks_per_node: NO_VAL16,
            ntasks_per_socket: NO_VAL16,
            ntasks_per_core: NO_VAL16,
            ntasks_per_tres: NO_VAL16,
            cpus_per_task: NO_VAL16,
            min_cpus: NO_VAL,
            pn_min_cpus: NO_VAL16,
            overcommit: NO_VAL8,
            sockets_per_node: NO_VAL16,
            cores_per_socket: NO_VAL16,
            threads_per_core: NO_VAL16,
            core_spec: NO_VAL16,
            tres_per_job: None,
            tres_per_node: None,
            tres_per_socket: None,
            tres_per_task: None,
            cpus_per_tres: None,
            mem_per_tres: None,
            pn_min_memory: NO_VAL64,
            pn_min_tmp_disk: NO_VAL,
            shared: NO_VAL16,
            time_limit: NO_VAL,
            time_min: NO_VAL,
            array_inx: None,
            std_out: None,
            std_err: None,
            std_in: None,
            work_dir: None,
            requeue: NO_VAL16,
            warn_flags: 0,
            warn_signal: 0,
            warn_time: 0,
            dependency: None,
            comment: None,
            admin_comment: None,
            name: None,
            nice: NO_VAL,
            priority: NO_VAL,
            container: None,
            wckey: None,
            mail_user: None,
            x11: 0,
            script: None,
            submit_line: None,
            command: None,
            arguments: 0,
            export: None,
            justify: None,
            lineage: None,
            spank: false,
        }
    }
}

impl<'a> Description<'a> {
    /// The request that the description means; for an update only what the change states.
    /// `submit_uid` is the authenticated sender, `privileged` says that nothing may refuse it.
    pub fn request(self, message: Message, submit_uid: u32, privileged: bool) -> Request<'a> {
        let update = message == Message::Update;
        let text = |text: Option<Text<'a>>| text.filter(|t| update || !t.is_empty());
        let origin = self.origin(message);
        let cpus_per_task = stated16(self.cpus_per_task);
        Request {
            user_id: self.user_id,
            submit_uid,
            privileged,
            group_id: Some(self.group_id).filter(|&g| g != NO_VAL && g != AUTH_NOBODY),
            partition: text(self.partition),
            qos: text(self.qos),
            account: text(self.account),
            reservation: text(self.reservation),
            features: text(self.features),
            prefer: text(self.prefer),
            req_nodes: text(self.req_nodes),
            exc_nodes: text(self.exc_nodes),
            licenses: text(self.licenses),
            min_nodes: stated32(self.min_nodes),
            // 0 and INFINITE are "no upper limit" in slurmctld.
            max_nodes: stated32(self.max_nodes).filter(|&n| n > 0),
            num_tasks: stated32(self.num_tasks),
            ntasks_per_node: stated16(self.ntasks_per_node),
            ntasks_per_socket: stated16(self.ntasks_per_socket),
            ntasks_per_core: stated16(self.ntasks_per_core),
            ntasks_per_gpu: stated16(self.ntasks_per_tres),
            cpus_per_task,
            min_cpus: stated32(self.min_cpus).filter(|&n| n > 0),
            pn_min_cpus: stated16(self.pn_min_cpus),
            overcommit: self.overcommit != 0 && self.overcommit < NO_VAL8,
            sockets_per_node: stated16(self.sockets_per_node),
            cores_per_socket: stated16(self.cores_per_socket),
            threads_per_core: stated16(self.threads_per_core),
            core_spec: Some(self.core_spec)
                .filter(|&n| n != NO_VAL16 && n != INFINITE16)
                .map(|n| n & !CORE_SPEC_THREAD),
            tres_per_job: tres(self.tres_per_job),
            tres_per_node: tres(self.tres_per_node),
            tres_per_socket: tres(self.tres_per_socket),
            tres_per_task: per_task(self.tres_per_task, cpus_per_task),
            cpus_per_tres: tres(self.cpus_per_tres),
            mem_per_tres: tres(self.mem_per_tres),
            memory: memory(self.pn_min_memory),
            pn_min_tmp_disk: stated32(self.pn_min_tmp_disk),
            shared: sharing(self.shared),
            time_limit: time(self.time_limit),
            time_min: time(self.time_min),
            array: text(self.array_inx).filter(|_| !update).map(ArraySpec::new),
            std_out: text(self.std_out),
            std_err: text(self.std_err),
            std_in: text(self.std_in),
            work_dir: text(self.work_dir),
            requeue: (self.requeue < NO_VAL16).then_some(self.requeue != 0),
            signal: (self.warn_signal != 0 && self.warn_signal < NO_VAL16).then_some(WarnSignal {
                signal: self.warn_signal,
                time: self.warn_time,
                batch_only: self.warn_flags & KILL_JOB_BATCH != 0,
            }),
            dependency: text(self.dependency),
            comment: text(self.comment),
            admin_comment: text(self.admin_comment),
            name: text(self.name),
            nice: (self.nice < NO_VAL).then(|| i64::from(self.nice) - i64::from(NICE_OFFSET)),
            // An update to INFINITE is "release".
            priority: stated32(self.priority),
            container: text(self.container),
            wckey: text(self.wckey),
            mail_user: text(self.mail_user),
            x11: self.x11 != 0 && self.x11 < NO_VAL16,
            export: self.export,
            script: text(self.script),
            command: text(self.command),
            arguments: self.arguments,
            submit_line: text(self.submit_line),
            justify: self.justify,
            lineage: self.lineage,
            origin,
            // Slurm's library puts the client's session into every submission and allocation, and
            // into no will-run test (api/submit.c, api/allocate.c).
            test_only: !update && self.alloc_sid == NO_VAL,
            het_offset: Some(self.het_job_offset).filter(|&n| !update && n < NO_VAL),
        }
    }

    /// The first field that is longer than slurmctld takes. It looks only after the hook, and there is no
    /// telling what a list of a megabyte costs to judge, with slurmctld's locks held.
    pub fn too_long(&self) -> Option<&'static str> {
        // Text that is not UTF-8 grew by at most three when it was replaced.
        let over = |text: &Option<Text<'_>>, most: usize| match text {
            Some(Text::Borrowed(text)) => text.len() > most,
            Some(Text::Owned(text)) => text.len() > most.saturating_mul(3),
            None => false,
        };
        macro_rules! first_over {
            ($($most:ident: $($field:ident)+;)+) => {
                $($(if over(&self.$field, $most) {
                    return Some(stringify!($field));
                })+)+
            };
        }
        first_over! {
            LONGEST_NAME: account comment cpus_per_tres features licenses mail_user
                mem_per_tres name partition prefer qos reservation tres_per_job
                tres_per_node tres_per_socket tres_per_task wckey;
            LONGEST_PATH: std_err std_in std_out work_dir;
            LONGEST_ARRAY: array_inx;
            LONGEST_DEPENDENCY: dependency;
        }
        None
    }

    /// For an update: the tasks of an array that may run at once from now on
    /// (`ArrayTaskThrottle=`, which arrives as text in `array_inx`; 0 lifts the cap).
    pub fn array_throttle(&self) -> Option<u32> {
        self.array_inx.as_deref()?.trim().parse().ok()
    }

    /// How a submission came. scrontab's mark is believed only together with its entry: either
    /// alone is a client's invention, for slurmctld always sets both. Without a script and without
    /// an environment slurmctld can start no batch job (`ESLURM_ENVIRONMENT_MISSING`), unless
    /// there is a container: then it takes the port on which srun and salloc wait to prove one.
    fn origin(&self, message: Message) -> Origin {
        if message == Message::Update {
            return Origin::Unknown;
        }
        let waits = self.alloc_resp_port != 0 || self.other_port != 0;
        if self.bitflags & CRON_JOB != 0 && self.has_crontab_entry {
            Origin::Cron
        } else if self.script.as_deref().is_some_and(|s| !s.is_empty()) {
            Origin::Batch
        } else if self.env_size == 0 && (self.container.is_none() || waits) {
            Origin::Interactive
        } else {
            Origin::Unknown
        }
    }
}

/// Digest of a command's arguments, each ended by a zero byte: equal for equal arguments.
pub fn digest<'b>(arguments: impl IntoIterator<Item = &'b [u8]>) -> u64 {
    fnv1a(arguments.into_iter().flat_map(|argument| argument.iter().copied().chain([0])))
}

/// A count for which 0 means "not stated" as well.
pub(super) fn stated16(n: u16) -> Option<u16> {
    (n != 0 && n < NO_VAL16).then_some(n)
}

fn stated32(n: u32) -> Option<u32> {
    (n < NO_VAL).then_some(n)
}

pub(super) fn tres(text: Option<Text<'_>>) -> Tres<'_> {
    text.map(Tres::new).unwrap_or_default()
}

/// Since 23.11 clients repeat `--cpus-per-task` at the start of `tres_per_task`. It is told once.
pub(super) fn per_task(text: Option<Text<'_>>, cpus_per_task: Option<u16>) -> Tres<'_> {
    let Some(text) = text else { return Tres::default() };
    let (first, rest) = text.split_once(',').unwrap_or((&text, ""));
    let repeated = first
        .strip_prefix("cpu")
        .and_then(|t| t.strip_prefix([':', '=']))
        .and_then(|n| n.parse::<u16>().ok())
        .is_some_and(|n| Some(n) == cpus_per_task);
    match text {
        _ if !repeated => Tres::new(text),
        Text::Borrowed(text) => Tres::new(text.split_once(',').map_or("", |(_, rest)| rest)),
        Text::Owned(_) => Tres::new(rest.to_owned()),
    }
}

pub(super) fn memory(pn_min_memory: u64) -> Memory {
    match pn_min_memory {
        NO_VAL64 => Memory::Unset,
        // slurmctld makes --mem=0 of --mem-per-cpu=0, after the hook (job_mgr.c).
        0 => Memory::WholeNode,
        mb if mb & MEM_PER_CPU != 0 => Memory::PerCpu(mb & !MEM_PER_CPU),
        mb => Memory::PerNode(mb),
    }
}

pub(super) fn time(minutes: u32) -> TimeLimit {
    match minutes {
        NO_VAL => TimeLimit::Unset,
        INFINITE => TimeLimit::Unlimited,
        minutes => TimeLimit::Minutes(minutes),
    }
}

pub(super) fn sharing(shared: u16) -> Sharing {
    match shared {
        NO_VAL16 => Sharing::Unset,
        0 => Sharing::Exclusive,
        1 => Sharing::Oversubscribe,
        2 => Sharing::User,
        3 => Sharing::Mcs,
        4 => Sharing::Topo,
        other => Sharing::Other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submitted(description: Description<'_>) -> Request<'_> {
        description.request(Message::Submit, 1000, false)
    }

    #[test]
    fn a_submission_has_a_session_and_a_will_run_test_has_none() {
        assert!(submitted(Description::default()).test_only);
        assert!(!submitted(Description { alloc_sid: 4711, ..Default::default() }).test_only);
        assert!(!Description::default().request(Message::Update, 0, false).test_only);
    }

    #[test]
    fn nothing_stated_is_an_empty_request() {
        let request =
            submitted(Description { user_id: 1000, env_size: 3, alloc_sid: 4711, ..Default::default() });
        let empty = Request { user_id: 1000, submit_uid: 1000, ..Default::default() };
        assert_eq!(request, empty);
    }

    #[test]
    fn memory_per_cpu_is_told_from_not_stated() {
        assert_eq!(memory(NO_VAL64), Memory::Unset);
        assert_eq!(memory(MEM_PER_CPU | 2048), Memory::PerCpu(2048));
        assert_eq!(memory(4096), Memory::PerNode(4096));
        assert_eq!(memory(0), Memory::WholeNode);
    }

    #[test]
    fn no_memory_per_cpu_is_all_memory_of_the_node() {
        assert!(memory(MEM_PER_CPU).takes_all());
        assert_eq!(memory(MEM_PER_CPU), Memory::PerCpu(0));
    }

    #[test]
    fn cpus_per_task_is_told_once() {
        assert_eq!(per_task(Some("cpu=3".into()), Some(3)).as_str(), "");
        assert_eq!(per_task(Some("cpu:4,gres/gpu:1".into()), Some(4)).as_str(), "gres/gpu:1");
        assert_eq!(per_task(Some("cpu=4,gres/gpu=1".to_owned().into()), Some(4)).as_str(), "gres/gpu=1");
        assert_eq!(per_task(Some("cpu=4".into()), None).as_str(), "cpu=4");
        assert_eq!(per_task(Some("gres/gpu:1".into()), Some(4)).as_str(), "gres/gpu:1");
    }

    #[test]
    fn the_origin_is_told_only_where_it_is_proved() {
        let origin = |d: Description<'_>| submitted(d).origin;
        let script = || Some("#!/bin/sh\n".into());
        assert_eq!(
            origin(Description { script: script(), env_size: 9, ..Default::default() }),
            Origin::Batch
        );
        // A later component of a heterogeneous batch job.
        assert_eq!(origin(Description { env_size: 9, ..Default::default() }), Origin::Unknown);
        assert_eq!(origin(Description::default()), Origin::Interactive);
        let container = || Some("/oci".into());
        assert_eq!(origin(Description { container: container(), ..Default::default() }), Origin::Unknown);
        let srun = Description { container: container(), other_port: 4711, ..Default::default() };
        assert_eq!(origin(srun), Origin::Interactive);
        let forged = Description { bitflags: CRON_JOB, script: script(), ..Default::default() };
        assert_eq!(origin(forged.clone()), Origin::Batch);
        assert_eq!(origin(Description { has_crontab_entry: true, ..forged }), Origin::Cron);
    }

    #[test]
    fn an_update_clears_with_empty_text_and_means_nothing_by_zeros() {
        let change = Description {
            features: Some("".into()),
            array_inx: Some("3".into()),
            het_job_offset: 0,
            ..Default::default()
        };
        assert_eq!(change.array_throttle(), Some(3));
        let request = change.clone().request(Message::Update, 0, true);
        assert_eq!(request.features.as_deref(), Some(""));
        assert_eq!(
            (request.array, request.het_offset, request.signal, request.x11),
            (None, None, None, false)
        );
        assert_eq!(submitted(change).features, None);
    }

    #[test]
    fn what_slurmctld_will_not_take_is_known() {
        let of = |len: usize| Description { partition: Some("a".repeat(len).into()), ..Default::default() };
        assert_eq!(Description::default().too_long(), None);
        assert_eq!(of(3 * 1024).too_long(), None);
        assert_eq!(of(3 * 1024 + 1).too_long(), Some("partition"));
        let long = "a".repeat(1025);
        let borrowed = Description { qos: Some(long.as_str().into()), ..Default::default() };
        assert_eq!(borrowed.too_long(), Some("qos"));
    }

    #[test]
    fn arguments_are_told_apart() {
        let of = |list: &[&str]| digest(list.iter().map(|a| a.as_bytes()));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_ne!(of(&["a", ""]), of(&["a"]));
    }

    #[test]
    fn numbers_at_their_ends_pass() {
        for n in [0, 1, 0x7fff_ffff, NICE_OFFSET, NO_VAL - 1, NO_VAL, INFINITE] {
            let small = n as u16;
            let request = submitted(Description {
                nice: n,
                max_nodes: n,
                min_nodes: n,
                num_tasks: n,
                priority: n,
                time_limit: n,
                group_id: n,
                het_job_offset: n,
                core_spec: small,
                shared: small,
                requeue: small,
                warn_signal: small,
                overcommit: n as u8,
                ..Default::default()
            });
            for value in [request.max_nodes, request.min_nodes, request.num_tasks, request.het_offset] {
                assert!(value.is_none_or(|v| v < NO_VAL));
            }
            assert!(request.nice.is_none_or(|v| v.abs() <= i64::from(NICE_OFFSET)));
        }
    }
}
