//! The callbacks of SPANK, called as Slurm calls them.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use crate::plugin::{Plugin, Stubs};
use crate::process::{Folder, Under, alone, alone_under};

type Callback = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> c_int;

const SRUN: &str = "1";
const SLURMSTEPD: &str = "2";
const SBATCH: &str = "3";
const SLURMD: &str = "4";

/// The loaded `.so` and SPANK's side of it.
struct Spank {
    handle: *mut c_void,
    give_option: unsafe extern "C" fn(*const c_char, *const c_char, c_int) -> c_int,
    entry: unsafe extern "C" fn(*const c_char) -> *const c_char,
    plugin: Plugin,
}

fn symbol<F: Copy>(name: &CStr) -> F {
    // SAFETY: the name is valid; the caller names the symbol's type.
    unsafe {
        let address = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        assert!(!address.is_null(), "{name:?} is missing");
        std::mem::transmute_copy(&address)
    }
}

impl Spank {
    fn start(context: &str) -> Spank {
        let stubs = Stubs::load();
        set("STUB_CONTEXT", context);
        let handle: extern "C" fn() -> *mut c_void = symbol(c"stub_spank");
        Spank {
            handle: handle(),
            give_option: symbol(c"stub_give_option"),
            entry: symbol(c"stub_entry"),
            plugin: Plugin::load(stubs),
        }
    }

    fn call(&self, name: &CStr, arguments: &[&str]) {
        let texts: Vec<CString> = arguments.iter().map(|a| CString::new(*a).unwrap()).collect();
        let pointers: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
        // SAFETY: SPANK's interface.
        unsafe {
            let callback: Callback = self.plugin.symbol(name);
            assert_eq!(callback(self.handle, pointers.len() as c_int, pointers.as_ptr()), 0, "{name:?}");
        }
    }

    fn init(&self, arguments: &[&str]) {
        self.call(c"slurm_spank_init", arguments);
    }

    fn post_opt(&self) {
        self.call(c"slurm_spank_init_post_opt", &[]);
    }

    fn give(&self, name: &CStr, text: &CStr) -> c_int {
        // SAFETY: as the stubs have it.
        unsafe { (self.give_option)(name.as_ptr(), text.as_ptr(), 0) }
    }

    fn entry(&self, name: &CStr) -> Option<String> {
        // SAFETY: as the stubs have it.
        unsafe {
            let value = (self.entry)(name.as_ptr());
            (!value.is_null()).then(|| CStr::from_ptr(value).to_str().unwrap().to_owned())
        }
    }
}

fn set(name: &str, value: &str) {
    // SAFETY: the test's own process, with this thread alone in it.
    unsafe { std::env::set_var(name, value) };
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

#[test]
fn an_option_is_renamed_and_leaves_no_trace() {
    let test = "spank::an_option_is_renamed_and_leaves_no_trace";
    alone_under(Under::Valgrind, test, None, |folder| {
        let spank = Spank::start(SBATCH);
        spank.init(&[]);
        assert_eq!(spank.give(c"justify", c"first"), 0);
        assert_eq!(spank.give(c"justify", c"a=b, \"c\""), 0);
        assert_eq!(spank.give(c"lineage", c"commit=1"), 0);
        // What Slurm does before it calls the plugin, and what a user may have set.
        let spank_set_job_env: unsafe extern "C" fn(*const c_char, *const c_char, c_int) -> c_int =
            symbol(c"spank_set_job_env");
        // SAFETY: as the stubs have it.
        unsafe {
            let name = c"_SLURM_SPANK_OPTION_sluice_justify";
            spank_set_job_env(name.as_ptr(), c"a=b".as_ptr(), 1);
            spank_set_job_env(c"OTHER".as_ptr(), c"stays".as_ptr(), 1);
        }
        set("_SLURM_SPANK_OPTION_sluice_justify", "a=b");
        set("SLURM_SPANK__SLURM_SPANK_OPTION_sluice_justify", "by the shell");
        for component in 0..2 {
            spank.post_opt();
            assert_eq!(spank.entry(c"SLUICE_JUSTIFY").as_deref(), Some("a=b, \"c\""), "{component}");
            assert_eq!(spank.entry(c"SLUICE_LINEAGE").as_deref(), Some("commit=1"));
            assert_eq!(spank.entry(c"SLUICE_SPANK").as_deref(), Some("1"));
            assert_eq!(spank.entry(c"_SLURM_SPANK_OPTION_sluice_justify"), None);
            assert_eq!(spank.entry(c"OTHER").as_deref(), Some("stays"));
            assert!(!is_set("_SLURM_SPANK_OPTION_sluice_justify"));
            assert!(!is_set("SLURM_SPANK__SLURM_SPANK_OPTION_sluice_justify"));
        }
        assert_eq!(folder.log(), "");
    });
}

#[test]
fn what_an_outer_job_left_is_not_given_again() {
    alone("spank::what_an_outer_job_left_is_not_given_again", None, |_| {
        set("SLURM_JOB_ID", "7");
        let left = [
            "SLURM_SPANK_SLUICE_JUSTIFY",
            "SLURM_SPANK_SLUICE_LINEAGE",
            "SLURM_SPANK_SLUICE_SPANK",
            "SLURM_SPANK__SLURM_SPANK_OPTION_sluice_justify",
            "SLURM_SPANK__SLURM_SPANK_OPTION_sluice_lineage",
            "SLURM_SPANK_SLUICE_RUN_CARD",
            "SLURM_SPANK__SLURM_SPANK_OPTION_sluice_run_card",
        ];
        left.iter().for_each(|name| set(name, "of the outer job"));
        let spank = Spank::start(SRUN);
        spank.init(&[]);
        assert_eq!(left.map(is_set), [false; 7]);
        // srun has made entries of them by now.
        let spank_set_job_env: unsafe extern "C" fn(*const c_char, *const c_char, c_int) -> c_int =
            symbol(c"spank_set_job_env");
        // SAFETY: as the stubs have it.
        unsafe { spank_set_job_env(c"SLUICE_JUSTIFY".as_ptr(), c"of the outer job".as_ptr(), 1) };
        spank.post_opt();
        assert_eq!(spank.entry(c"SLUICE_JUSTIFY"), None);
        assert_eq!(spank.entry(c"SLUICE_LINEAGE"), None);
    });
}

#[test]
fn a_bad_value_is_told_and_not_kept() {
    alone("spank::a_bad_value_is_told_and_not_kept", None, |folder| {
        let spank = Spank::start(SBATCH);
        spank.init(&["index_vars=A", "unknown"]);
        let told = "error: sluice: plugstack.conf: unknown argument unknown; known is index_vars=NAME,...\n";
        assert_eq!(folder.log(), told);
        assert_eq!(spank.give(c"justify", c"good"), 0);
        assert_eq!(spank.give(c"justify", c"\x1b[31m"), -1);
        assert_eq!(spank.give(c"lineage", c"="), -1);
        assert_eq!(folder.log().lines().count(), 3, "{}", folder.log());
        // SAFETY: NULL is what is tested.
        unsafe {
            assert_eq!((spank.give_option)(c"justify".as_ptr(), std::ptr::null(), 0), 0);
            assert_eq!((spank.give_option)(c"justify".as_ptr(), c"on a node".as_ptr(), 1), 0);
        }
        spank.post_opt();
        assert_eq!(spank.entry(c"SLUICE_JUSTIFY").as_deref(), Some("good"));
        assert_eq!(spank.entry(c"SLUICE_LINEAGE"), None);
    });
}

#[test]
fn a_compile_mode_is_set_by_what_is_asked_then_by_hand_then_by_the_qos() {
    let policy = Some("[compile]\noff = { A = \"1\" }\n[qos.\"s*\"]\nshort = true\n");
    let test = "spank::a_compile_mode_is_set_by_what_is_asked_then_by_hand_then_by_the_qos";
    alone(test, policy, |_| {
        let spank = Spank::start(SLURMSTEPD);
        spank.init(&[]);
        spank.post_opt();
        assert!(!is_set("A"), "nothing asked for, no short QoS");
        set("A", "by hand");
        set("SLURM_JOB_QOS", "Short");
        spank.post_opt();
        assert_eq!(std::env::var("A").unwrap(), "by hand");
        // SAFETY: as the stubs have it.
        let given = |text: &CStr| unsafe { (spank.give_option)(c"compile".as_ptr(), text.as_ptr(), 1) };
        assert_eq!((given(c"on"), given(c"nonsense")), (0, 0));
        spank.post_opt();
        assert_eq!(std::env::var("A").unwrap(), "by hand");
        assert_eq!(given(c"off"), 0);
        spank.post_opt();
        assert_eq!(std::env::var("A").unwrap(), "1");
    });
}

#[test]
fn daemons_are_told_nothing_and_get_nothing() {
    alone("spank::daemons_are_told_nothing_and_get_nothing", None, |folder| {
        let spank = Spank::start(SLURMSTEPD);
        set("STUB_ARRAY_TASK", "3");
        set("SLURM_SPANK_SLUICE_JUSTIFY", "stays: the job's own");
        for context in [SLURMSTEPD, "5", "0", "99"] {
            set("STUB_CONTEXT", context);
            spank.init(&["unknown"]);
            spank.post_opt();
            spank.call(c"slurm_spank_local_user_init", &[]);
            spank.call(c"slurm_spank_task_exit", &[]);
            spank.call(c"slurm_spank_exit", &[]);
        }
        // What srun sends along is known, and nothing is made of it.
        // SAFETY: as the stubs have it.
        let sent = |name: &CStr| unsafe { (spank.give_option)(name.as_ptr(), c"x".as_ptr(), 1) };
        assert_eq!((sent(c"justify"), sent(c"lineage"), sent(c"run-card"), sent(c"other")), (0, 0, 0, -2));
        assert_eq!(spank.entry(c"SLUICE_SPANK"), None);
        assert!(is_set("SLURM_SPANK_SLUICE_JUSTIFY"));
        assert_eq!(folder.log(), "");
        set("STUB_CONTEXT", SLURMD);
        spank.init(&["unknown"]);
        assert!(folder.log().contains("unknown argument unknown"), "for the admin");
    });
}

/// Runs a task in a process of its own; how it ended.
fn task(spank: &Spank) -> c_int {
    // SAFETY: a process with one thread; the child only runs the callback and ends.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            spank.call(c"slurm_spank_task_init", &[]);
            libc::_exit(77);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        libc::WEXITSTATUS(status)
    }
}

fn stopped(folder: &Folder) -> usize {
    folder.log().matches("told: sluice: this task is not started: I=4 but SLURM_ARRAY_TASK_ID=3;").count()
}

#[test]
fn only_a_task_that_owns_another_index_ends() {
    let policy = Some("index_vars = [\"I\"]\n");
    alone("spank::only_a_task_that_owns_another_index_ends", policy, |folder| {
        let spank = Spank::start(SLURMSTEPD);
        set("I", "4");
        // No array has no place to contradict.
        spank.init(&[]);
        assert_eq!(task(&spank), 77);
        set("STUB_ARRAY_TASK", "3");
        assert_eq!((task(&spank), stopped(folder)), (1, 1));
        set("I", "3");
        assert_eq!(task(&spank), 77);
        set("I", &"3".repeat(10_000));
        assert_eq!(task(&spank), 1);
        assert_eq!(stopped(folder), 1, "{}", folder.log());
    });
}

#[test]
fn the_argument_goes_before_the_policy() {
    let policy = Some("index_vars = [\"J\"]\n");
    alone("spank::the_argument_goes_before_the_policy", policy, |folder| {
        let spank = Spank::start(SLURMSTEPD);
        set("STUB_ARRAY_TASK", "3");
        set("I", "4");
        set("J", "4");
        spank.init(&["index_vars=I"]);
        assert_eq!((task(&spank), stopped(folder)), (1, 1));
        set("I", "3");
        assert_eq!(task(&spank), 77);
    });
}

#[test]
fn a_run_card_that_nobody_can_write_is_one_line() {
    alone("spank::a_run_card_that_nobody_can_write_is_one_line", None, |folder| {
        let spank = Spank::start(SBATCH);
        spank.init(&[]);
        assert_eq!(spank.give(c"run-card", c"/proc/no/such/folder"), 0);
        spank.post_opt();
        assert_eq!(spank.entry(c"SLUICE_RUN_CARD").as_deref(), Some("/proc/no/such/folder"));
        // sbatch has no job of its own, salloc has; here slurmctld tells nothing of it.
        spank.call(c"slurm_spank_exit", &[]);
        assert_eq!(folder.log(), "");
        set("SLURM_JOB_ID", "7");
        spank.call(c"slurm_spank_exit", &[]);
        let told =
            "told: sluice: no run card: slurmctld does not tell of the job (--run-card=/proc/no/such/folder)";
        assert_eq!(folder.log().trim_end(), told);
    });
}
