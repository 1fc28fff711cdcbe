//! Without the feature `plugin` this does nothing. With it: finds Slurm's headers, reads their
//! version, and has bindgen make `src/slurm/sys.rs`' types of them.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    declare_series();
    #[cfg(feature = "plugin")]
    plugin::generate();
}

/// Every series that Sluice knows, oldest first, as its cfg names it: `slurm_22_05` holds from
/// 22.05 on. SchedMD released no series in between.
const SERIES: [(u32, u32, &str); 10] = [
    (20, 11, "slurm_20_11"),
    (21, 8, "slurm_21_08"),
    (22, 5, "slurm_22_05"),
    (23, 2, "slurm_23_02"),
    (23, 11, "slurm_23_11"),
    (24, 5, "slurm_24_05"),
    (24, 11, "slurm_24_11"),
    (25, 5, "slurm_25_05"),
    (25, 11, "slurm_25_11"),
    (26, 5, "slurm_26_05"),
];

fn declare_series() {
    for (_, _, cfg) in SERIES {
        println!("cargo:rustc-check-cfg=cfg({cfg})");
    }
    println!("cargo:rustc-check-cfg=cfg(slurm_show_resv)");
}

#[cfg(feature = "plugin")]
mod plugin {
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::{env, fs};

    use super::SERIES;

    const VARIABLE: &str = "SLURM_INCLUDE_DIR";

    pub fn generate() {
        println!("cargo:rerun-if-changed=include/wrapper.h");
        println!("cargo:rerun-if-env-changed={VARIABLE}");
        if let Err(problem) = build() {
            eprintln!("error: {problem}");
            std::process::exit(1);
        }
    }

    fn build() -> Result<(), String> {
        let headers = find_headers()?;
        println!("cargo:rerun-if-changed={}", headers.display());
        let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; run cargo")?);
        let isolated = out.join("include");
        isolate(&headers, &isolated.join("slurm"))?;
        let version = version(&headers)?;
        select_series(version)?;
        // For tests that compile C against the same headers.
        println!("cargo:rustc-env=SLUICE_SLURM_INCLUDE={}", isolated.display());
        bindings(&isolated, &out.join("slurm_sys.rs"))
    }

    /// The directory that holds slurm.h.
    fn find_headers() -> Result<PathBuf, String> {
        let slurm = |dir: &Path| {
            let dir = dir.join("slurm");
            dir.join("slurm.h").is_file().then_some(dir)
        };
        if let Some(dir) = env::var_os(VARIABLE) {
            let dir = PathBuf::from(dir);
            return slurm(&dir).ok_or_else(|| {
                format!(
                    "{VARIABLE}={}: no slurm/slurm.h in there; set {VARIABLE} to the directory above slurm/",
                    dir.display()
                )
            });
        }
        let usual = ["/usr/include", "/usr/local/include", "/opt/slurm/include"].map(PathBuf::from);
        pkg_config().into_iter().chain(usual).find_map(|dir| slurm(&dir)).ok_or_else(|| {
            format!(
                "slurm/slurm.h not found: install Slurm's headers (libslurm-dev on Debian, slurm-devel \
                 with RPM), or set {VARIABLE} to the directory that holds slurm/slurm.h"
            )
        })
    }

    /// What pkg-config says, where it and Slurm's .pc file are there.
    fn pkg_config() -> Option<PathBuf> {
        let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
        let output = Command::new(program).args(["--variable=includedir", "slurm"]).output().ok()?;
        let dir = String::from_utf8(output.stdout).ok()?;
        Some(PathBuf::from(dir.trim())).filter(|d| output.status.success() && !d.as_os_str().is_empty())
    }

    /// Copies Slurm's headers into a directory of their own: an include path into another root
    /// would mix that root's C library with this one's.
    fn isolate(headers: &Path, into: &Path) -> Result<(), String> {
        let said = |what: &str, e: std::io::Error| format!("{what}: {e}");
        let _ = fs::remove_dir_all(into);
        fs::create_dir_all(into).map_err(|e| said(&into.display().to_string(), e))?;
        let entries = fs::read_dir(headers).map_err(|e| said(&headers.display().to_string(), e))?;
        for path in entries.flatten().map(|e| e.path()) {
            if let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|x| x == "h")) {
                fs::copy(&path, into.join(name)).map_err(|e| said(&path.display().to_string(), e))?;
            }
        }
        Ok(())
    }

    /// `SLURM_VERSION_NUMBER`: slurm_version.h since 21.08, slurm.h before.
    fn version(headers: &Path) -> Result<u32, String> {
        let number = |file: &str| {
            let text = fs::read_to_string(headers.join(file)).ok()?;
            let value = text.lines().find_map(|line| {
                line.trim().strip_prefix("#define")?.trim().strip_prefix("SLURM_VERSION_NUMBER")
            })?;
            u32::from_str_radix(value.split_whitespace().next()?.strip_prefix("0x")?, 16).ok()
        };
        number("slurm_version.h").or_else(|| number("slurm.h")).ok_or_else(|| {
            format!(
                "{}: no SLURM_VERSION_NUMBER in slurm_version.h or slurm.h; set {VARIABLE} to the headers of \
                 one installed Slurm",
                headers.display()
            )
        })
    }

    /// One cfg for each series up to the header's.
    fn select_series(version: u32) -> Result<(), String> {
        let (major, minor) = (version >> 16, version >> 8 & 0xff);
        if (major, minor) < (SERIES[0].0, SERIES[0].1) {
            return Err(format!(
                "Slurm {major}.{minor:02} is older than 20.11, the oldest that Sluice knows; set {VARIABLE} to \
                 newer headers"
            ));
        }
        for (_, _, cfg) in SERIES.iter().filter(|&&(a, b, _)| (a, b) <= (major, minor)) {
            println!("cargo:rustc-cfg={cfg}");
        }
        // The series whose `show_resv` was read in SchedMD's sources: its prototype changed in between.
        if (major, minor) == (22, 5) || (major, minor) >= (24, 11) {
            println!("cargo:rustc-cfg=slurm_show_resv");
        }
        if !SERIES.iter().any(|&(a, b, _)| (a, b) == (major, minor)) {
            println!(
                "cargo:warning=Slurm {major}.{minor:02} is newer than any series that Sluice was checked with"
            );
        }
        Ok(())
    }

    fn bindings(include: &Path, into: &Path) -> Result<(), String> {
        bindgen::builder()
            .header("include/wrapper.h")
            .clang_arg(format!("-I{}", include.display()))
            .allowlist_type("job_desc_msg_t|job_descriptor")
            .allowlist_type("slurmdb_(user|assoc|qos)_rec_t")
            .allowlist_type("slurm_err_t")
            .allowlist_type("(reserve|job)_info_msg_t")
            .allowlist_type("slurm_conf_t")
            .allowlist_type("spank_(option|item|context)")
            .allowlist_var("HEADER_.*|SLURM_VERSION_NUMBER")
            .allowlist_recursively(true)
            .prepend_enum_name(false)
            .derive_copy(true)
            .generate_comments(false)
            .formatter(bindgen::Formatter::None)
            .generate()
            .map_err(|e| {
                format!(
                    "bindgen: {e}; it needs libclang (libclang-dev on Debian, or set LIBCLANG_PATH to the \
                     directory of libclang.so)"
                )
            })?
            .write_to_file(into)
            .map_err(|e| format!("{}: {e}", into.display()))
    }
}
