//! What the `.so` shows to the outside, and what it wants from there.

use std::process::Command;

use crate::process::{shown, so};

fn nm(option: &str) -> Vec<String> {
    let output = Command::new("nm").args(["-D", option]).arg(so()).output().expect("nm of binutils");
    assert!(output.status.success(), "{}", shown(&output));
    shown(&output).lines().map(|l| l.split_whitespace().last().unwrap().to_owned()).collect()
}

#[test]
fn the_so_exports_the_two_interfaces_and_nothing_else() {
    let mut exported = nm("--defined-only");
    exported.sort();
    assert_eq!(
        exported,
        [
            "fini",
            "init",
            "job_modify",
            "job_submit",
            "plugin_name",
            "plugin_type",
            "plugin_version",
            "sluice_built_for",
            "slurm_spank_exit",
            "slurm_spank_init",
            "slurm_spank_init_post_opt",
            "slurm_spank_local_user_init",
            "slurm_spank_task_exit",
            "slurm_spank_task_init",
        ]
    );
}

#[test]
fn the_so_needs_libc_and_libgcc_only() {
    let of_compiler = ["_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__gmon_start__"];
    for symbol in nm("--undefined-only") {
        let known = ["GLIBC_", "GCC_"].iter().any(|library| symbol.contains(&format!("@{library}")));
        assert!(known || of_compiler.contains(&symbol.as_str()), "{symbol} is undefined");
    }
}

/// What `init` finds in sbatch, srun and slurmd: no slurmctld. It must do nothing and succeed.
#[test]
fn in_another_process_the_so_loads_and_does_nothing() {
    let test = "symbols::in_another_process_the_so_loads_and_does_nothing";
    crate::process::alone(test, Some("schema = 1\n"), |folder| {
        // Without the stubs: nothing of Slurm is there.
        let path = std::ffi::CString::new(std::env::var("SLUICE_TEST_SO").unwrap()).unwrap();
        // SAFETY: a valid path; the prototypes are the plugin's.
        unsafe {
            let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
            assert!(!handle.is_null());
            let call = |name: &std::ffi::CStr| {
                let address = libc::dlsym(handle, name.as_ptr());
                assert!(!address.is_null());
                std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(address)()
            };
            let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
            let before = threads();
            assert_eq!(call(c"init"), 0);
            assert_eq!(threads(), before, "no helper outside slurmctld");
            assert_eq!(call(c"fini"), 0);
            assert_eq!(libc::dlclose(handle), 0);
        }
        assert_eq!(folder.log(), "");
    });
}
