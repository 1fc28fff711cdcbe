//! The command as people type it. Each `.trycmd` file is a session; its `.in` folder is where it
//! runs, and what it leaves there is compared with its `.out` folder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn sessions_go_as_written() {
    let cases = trycmd::TestCases::new();
    // No Slurm of this machine, and nobody's own settings.
    cases.env("SLURM_CONF", "/nonexistent/slurm.conf").env("NO_COLOR", "1").env("SLUICE_POLICY", "");
    cases.env("TZ", "UTC");
    cases.case("tests/cli/*.trycmd").case("docs/command.md");
}

/// Lines of a terminal that nobody has made larger, and a heading's worth of patience.
const SCREEN: usize = 30;

#[test]
fn every_help_fits_a_screen() {
    let help = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_sluice")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let main = help(&["--help"]);
    let verbs = main.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs: Vec<&str> = verbs
        .take_while(|line| !line.is_empty())
        .filter_map(|l| l.split_whitespace().next())
        .filter(|v| *v != "help")
        .collect();
    assert!(verbs.len() >= 6, "{verbs:?}");
    for text in verbs.iter().map(|verb| help(&[verb, "--help"])).chain([main.clone()]) {
        let lines = text.lines().count();
        assert!(lines <= SCREEN, "{lines} lines:\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

/// Each verb with a policy or a file that is none: one line, exit code 2.
#[test]
fn what_cannot_be_read_is_one_line_and_exit_code_2() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/files.in");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/example.toml");
    let verbs = [
        "check --policy BAD plain.sh",
        "check --policy EXAMPLE BAD",
        "explain --policy BAD ./plain.sh",
        "explain --policy EXAMPLE ./BAD",
        "show --policy BAD",
        "site-note --policy BAD",
        "validate BAD",
        "validate --policy BAD",
        "test BAD",
        "replay --policy BAD plain.sh",
        "replay --policy EXAMPLE --against BAD plain.sh",
        "replay --policy EXAMPLE BAD",
    ];
    // A file where a folder is expected cannot be read by anybody, root included.
    for bad in ["missing", "folder", "binary", "empty.sh", "plain.sh/within"] {
        for verb in verbs {
            let arguments = verb.replace("BAD", bad).replace("EXAMPLE", example);
            let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
                .args(arguments.split(' '))
                .current_dir(&folder)
                .env("SLURM_CONF", "/nonexistent/slurm.conf")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "sluice {arguments}: {said}");
            assert_eq!(said.lines().count(), 1, "sluice {arguments}: {said}");
            assert!(said.contains(bad.trim_start_matches("./")), "sluice {arguments}: {said}");
            assert!(output.stdout.is_empty(), "sluice {arguments}");
        }
    }
}

#[test]
fn a_new_policy_is_written_once_and_validates_as_it_is() {
    let folder = std::env::temp_dir().join(format!("sluice-init-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("sluice.toml");
    let sluice = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        command.args(arguments).arg(&file).output().unwrap()
    };
    assert!(sluice(&["init", "--template"]).status.success());
    let written = std::fs::read_to_string(&file).unwrap();
    let validated = sluice(&["validate"]);
    assert!(validated.status.success());
    assert!(String::from_utf8_lossy(&validated.stdout).contains("no errors, no doubts"));

    std::fs::write(&file, "mine").unwrap();
    let again = sluice(&["init", "--template"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert!(written.contains("mode = \"audit\""));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_policy_that_others_may_write_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("sluice-mode-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("sluice.toml");
    std::fs::write(&file, "schema = 1\n").unwrap();
    let noted = |mode: u32| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_sluice")).arg("validate").arg(&file).output().unwrap();
        assert!(output.status.success(), "it is only said");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(noted(0o644), "");
    assert!(noted(0o646).contains("others may write it (mode 646): chmod go-w"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// No room for a whole file: what was there stays, and nothing half is left.
#[test]
fn where_there_is_no_room_nothing_is_lost() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-room");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    // A remedy makes it longer than a KiB, which is the longest that a file may be here.
    let head = "#!/bin/bash\n#SBATCH -p gpu --gpus=1\n#SBATCH --array=0-9 --output=%j\n";
    let script = format!("{head}{}\n", "#".repeat(1023 - head.len()));
    fs::write(folder.join("job.sh"), &script).unwrap();
    fs::write(folder.join("history.sacct"), fs::read("tests/cli/replay.in/jobs").unwrap()).unwrap();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/example.toml");
    let run = |line: &str, room: &str| {
        // A file that grows beyond its limit is an error, once the signal for it is ignored.
        let line = format!("trap '' XFSZ; ulimit -f {room}; {} {line}", env!("CARGO_BIN_EXE_sluice"));
        let output = Command::new("bash").args(["-c", &line]).current_dir(&folder).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    };
    let cases = [
        format!("check --fix --policy {example} job.sh"),
        "init --template new.toml".to_owned(),
        format!("replay --policy {example} history.sacct --html page.html"),
        format!("site-note --policy {example} --output note.md"),
    ];
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    for line in &cases {
        let (code, text) = run(line, "1");
        assert_eq!(code, Some(2), "{line}: {text}");
        assert!(text.contains("File too large"), "{line}: {text}");
        assert_eq!(names(), before, "{line}");
        assert_eq!(fs::read_to_string(folder.join("job.sh")).unwrap(), script, "{line}");
    }
    // With room each of them does what it is for.
    for line in &cases {
        let (code, text) = run(line, "unlimited");
        assert!(matches!(code, Some(0 | 1)), "{line}: {code:?} {text}");
    }
    assert_ne!(fs::read_to_string(folder.join("job.sh")).unwrap(), script);
    fs::remove_dir_all(folder).unwrap();
}
