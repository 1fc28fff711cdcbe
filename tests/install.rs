//! `make install` and `make uninstall`: which files with which modes, below DESTDIR alone, each as a
//! new file, and no plugin of another series. tests/slurmctld/install.rs does it under a slurmctld.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "nobody depends on a test")]
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with something to install: what it is, is not looked at below a DESTDIR.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sluice-install-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    fs::write(folder.join("plugin"), "sluice plugin for Slurm 19.05\0").expect("it can be written");
    fs::write(folder.join("command"), "#!/bin/sh\n").expect("it can be written");
    folder
}

fn make(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("make")
        .args(["--no-print-directory"])
        .args(arguments)
        .arg(format!("PLUGIN={}/plugin", folder.display()))
        .arg(format!("COMMAND={}/command", folder.display()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("MAKEFLAGS")
        .env_remove("DESTDIR")
        .output()
        .expect("make can be run")
}

/// Every file below, with inode and mode.
fn files(folder: &Path) -> BTreeMap<String, (u64, u32)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder").flatten() {
            let meta = entry.metadata().expect("it is there");
            if meta.is_dir() {
                folders.push(entry.path());
                continue;
            }
            let name = entry.path().strip_prefix(folder).expect("below").display().to_string();
            found.insert(name, (meta.ino(), meta.permissions().mode() & 0o7777));
        }
    }
    found
}

#[test]
fn everything_goes_below_destdir_as_new_files_and_goes_away_again() {
    let folder = folder("stage");
    let stage = folder.join("stage");
    let destdir = format!("DESTDIR={}", stage.display());
    let arguments = ["install", &destdir, "PREFIX=/usr", "PLUGINDIR=/usr/lib64/slurm"];
    let output = make(&folder, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let first = files(&stage);
    for (name, mode) in [
        ("usr/lib64/slurm/job_submit_sluice.so", 0o644),
        ("usr/sbin/sluice-check-plugin", 0o755),
        ("usr/bin/sluice", 0o755),
        ("usr/share/man/man1/sluice.1", 0o644),
        ("usr/share/man/man1/sluice-check.1", 0o644),
        ("usr/share/man/man8/sluice-check-plugin.8", 0o644),
        ("usr/share/bash-completion/completions/sluice", 0o644),
        ("usr/share/zsh/site-functions/_sluice", 0o644),
        ("usr/share/fish/vendor_completions.d/sluice.fish", 0o644),
        ("usr/share/sluice/sluice.schema.json", 0o644),
        ("usr/share/doc/sluice/README.md", 0o644),
        ("usr/share/doc/sluice/docs/admin-guide.md", 0o644),
        ("usr/share/doc/sluice/examples/university.toml", 0o644),
    ] {
        assert_eq!(first.get(name).map(|f| f.1), Some(mode), "{name} in {first:?}");
    }

    // Again: the same names, and not one of the same files.
    assert!(make(&folder, &arguments).status.success());
    let second = files(&stage);
    assert!(first.keys().eq(second.keys()), "{first:?}\n{second:?}");
    for (name, (inode, _)) in &first {
        assert_ne!(second.get(name).map(|f| f.0), Some(*inode), "{name} was written in place");
    }

    let arguments = ["uninstall", &destdir, "PREFIX=/usr", "PLUGINDIR=/usr/lib64/slurm"];
    assert!(make(&folder, &arguments).status.success());
    assert!(files(&stage).is_empty());
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_plugin_of_another_series_replaces_nothing() {
    let folder = folder("series");
    let here = folder.join("here");
    fs::create_dir_all(&here).expect("it can be made");
    fs::write(here.join("job_submit_sluice.so"), "the old one").expect("it can be written");
    // No Slurm is as old as that, and where there is none at all it cannot be told.
    let here_ = here.display();
    let output = make(&folder, &["install", &format!("PREFIX={here_}"), &format!("PLUGINDIR={here_}")]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.starts_with("sluice-check-plugin: "), "{said}");
    assert_eq!(files(&here).len(), 1, "{said}");
    let kept = fs::read_to_string(here.join("job_submit_sluice.so")).expect("it is there");
    assert_eq!(kept, "the old one");
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn nothing_built_is_said() {
    let folder = folder("nothing");
    fs::remove_file(folder.join("plugin")).expect("it is there");
    let destdir = format!("DESTDIR={}", folder.join("stage").display());
    let output = make(&folder, &["install", &destdir, "PLUGINDIR=/p"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("run make first"), "{said}");
    fs::remove_dir_all(folder).expect("it is ours");
}
