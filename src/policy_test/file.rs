//! The format of a test file: a policy, what the cluster knows, and cases. Strict.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::cluster::KnownCluster;
use crate::date::Date;

/// A file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestFile {
    /// The policy that cases without one of their own are judged by.
    pub policy: Option<String>,
    /// The same, as a file: its path from the test file's own folder.
    pub policy_file: Option<String>,
    /// What slurmctld would know.
    #[serde(default)]
    pub cluster: KnownCluster,
    /// The cases in file order.
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it shows, in a sentence.
    pub name: String,
    /// The command line as typed, with a shell's quotes.
    pub submit: String,
    /// `KEY=VALUE` pairs of `scontrol update` that change the job which `submit` became.
    pub update: Option<String>,
    /// What the same user submitted before, in order, for rules that remember.
    #[serde(default)]
    pub earlier: Vec<Earlier>,
    /// The script's text.
    pub script: Option<String>,
    /// Environment variables of the client.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Who submits: one of `[cluster.users]`, `root`, or left out for someone unknown.
    pub user: Option<String>,
    /// Stands in for the file's policy.
    pub policy: Option<String>,
    /// The server's day.
    pub today: Option<Date>,
    /// The series of Slurm, such as `"24.11"`; the newest where it is left out.
    pub slurm: Option<String>,
    /// Rules and limits that refuse, in the order of the message.
    #[serde(default)]
    pub refuses: Vec<String>,
    /// Rules and limits that warn.
    #[serde(default)]
    pub warns: Vec<String>,
    /// Rules and limits that are recorded only: audited, exempt, justified, or root's.
    pub records: Option<Vec<String>>,
    /// What is filled in, as options.
    #[serde(default)]
    pub edits: Vec<String>,
    /// The lines that the user reads.
    pub message: Option<Vec<String>>,
}

/// A submission before the one that is judged.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Earlier {
    /// The command line as typed.
    pub submit: String,
    /// How long before.
    pub minutes_ago: u32,
    /// The script's text; that of the case where it is left out.
    pub script: Option<String>,
    /// Who submitted; the user of the case where it is left out.
    pub user: Option<String>,
}

impl TestFile {
    /// Reads a file. `name` is what errors call it.
    ///
    /// # Errors
    /// In words, with the place.
    pub fn read(name: &str, text: &str) -> Result<TestFile, String> {
        let file: TestFile =
            toml::from_str(text).map_err(|error| format!("{name}: {}", error.to_string().trim_end()))?;
        match (&file.policy, &file.policy_file) {
            (Some(_), Some(_)) => Err(format!("{name}: one of `policy` and `policy_file`, not both")),
            _ => Ok(file),
        }
    }

    /// Opens a file, and the policy file that it names.
    ///
    /// # Errors
    /// In words, with the place.
    pub fn open(path: &Path) -> Result<TestFile, String> {
        let read = |path: &Path| fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
        let mut file = TestFile::read(&path.to_string_lossy(), &read(path)?)?;
        if let Some(policy) = &file.policy_file {
            file.policy = Some(read(&path.with_file_name(policy))?);
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_stands_in_the_file_or_beside_it() {
        let both = TestFile::read("t.toml", "policy = \"schema = 1\"\npolicy_file = \"p.toml\"");
        assert_eq!(both.unwrap_err(), "t.toml: one of `policy` and `policy_file`, not both");
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/university.test.toml");
        let file = TestFile::open(&example).unwrap();
        assert!(file.policy.unwrap().contains("Northfield University"));
    }

    #[test]
    fn a_policy_that_is_not_there_is_named() {
        let folder = std::env::temp_dir().join(format!("sluice-policy-file-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("t.toml");
        fs::write(&path, "policy_file = \"none.toml\"").unwrap();
        let words = TestFile::open(&path).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        assert!(words.starts_with(&format!("{}: ", folder.join("none.toml").display())), "{words}");
    }
}
