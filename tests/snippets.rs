//! The snippets of docs/command.md for CI and pre-commit: they are YAML, and what they run does what the
//! page says, in a small repository with job scripts.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic, and no daemon runs this"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use yaml_rust2::{Yaml, YamlLoader};

const PAGE: &str = include_str!("../docs/command.md");

/// The YAML of the page.
fn snippets() -> Vec<Yaml> {
    let blocks = PAGE.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.flat_map(|text| YamlLoader::load_from_str(text).unwrap()).collect()
}

/// A repository with a policy, its tests and a job script that the policy accepts.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Repository {
        let root = std::env::temp_dir().join(format!("sluice-{name}-{}", std::process::id()));
        for folder in ["jobs", "site/tests"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let repository = Repository(root);
        repository.write("site/sluice.toml", include_str!("../docs/command.in/sluice.toml"));
        repository.write("site/tests/cases.toml", include_str!("../docs/command.in/tests.toml"));
        repository.write("jobs/good.sh", "#!/bin/bash\n#SBATCH --partition=gpu --gpus=1\ntrue\n");
        repository
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.0.join(path), text).unwrap();
    }

    /// As a runner does: the shell stops at the first command that fails.
    fn run(&self, script: &str) -> Output {
        let built = Path::new(env!("CARGO_BIN_EXE_sluice")).parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", built.display());
        let mut command = Command::new("bash");
        command.args(["-e", "-c", script]).current_dir(&self.0).env("PATH", path);
        command.env("SLURM_CONF", "/nonexistent/slurm.conf").output().unwrap()
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A job script that the policy refuses.
const BAD: &str = "#!/bin/bash\n#SBATCH --partition=gpu --gpus=1 --exclusive\ntrue\n";

#[test]
fn the_steps_of_a_workflow_run_as_written() {
    let steps: Vec<String> = snippets()
        .iter()
        .filter_map(Yaml::as_vec)
        .flatten()
        .map(|step| {
            assert!(step["name"].as_str().is_some(), "{step:?}");
            step["run"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(steps.len(), 2, "{steps:?}");
    let repository = Repository::new("workflow");
    for step in &steps {
        let output = repository.run(step);
        assert!(output.status.success(), "{step}\n{output:?}");
    }
    repository.write("jobs/bad.sh", BAD);
    let output = repository.run(&steps[0]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("jobs/bad.sh:2:34"), "{output:?}");
    repository.write("site/sluice.toml", "schema = 1\n[rule.exclusiv]\n");
    assert_eq!(repository.run(&steps[1]).status.code(), Some(1));
}

#[test]
fn the_hook_of_pre_commit_takes_files_as_it_gets_them() {
    let all = snippets();
    let hook = all.iter().map(|y| &y["repos"][0]["hooks"][0]).find(|hook| !hook.is_badvalue()).unwrap();
    assert_eq!(hook["language"].as_str(), Some("system"));
    assert_eq!(hook["files"].as_str(), Some(r"^jobs/.*\.sh$"));
    let entry = hook["entry"].as_str().unwrap();
    let repository = Repository::new("hook");
    // pre-commit puts the files that are staged behind the entry.
    let output = repository.run(&format!("{entry} jobs/good.sh"));
    assert!(output.status.success(), "{output:?}");
    repository.write("jobs/bad.sh", BAD);
    let output = repository.run(&format!("{entry} jobs/good.sh jobs/bad.sh"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("jobs/bad.sh:\n") && said.contains("[exclusive]"), "{said}");
}
