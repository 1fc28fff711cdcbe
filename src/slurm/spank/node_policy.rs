//! What nodes need of the policy, where they have it: it lies beside slurm.conf or it does not.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::arguments::variable;
use crate::policy::facts::{Index, first};
use crate::policy::glob::Glob;
use crate::policy::load::LARGEST;
use crate::slurm::{log, policy_file};

/// The keys that count on nodes. A policy that is broken elsewhere, or newer than this plugin, still
/// has them.
#[derive(Debug, Default, serde::Deserialize)]
pub struct NodePolicy {
    #[serde(default)]
    index_vars: Vec<String>,
    #[serde(default)]
    compile: Compile,
    #[serde(default)]
    qos: BTreeMap<String, Qos>,
}

#[derive(Debug, Default, serde::Deserialize)]
struct Compile {
    #[serde(default)]
    off: BTreeMap<String, String>,
}

#[derive(Debug, serde::Deserialize)]
struct Qos {
    short: Option<bool>,
}

impl NodePolicy {
    /// This node's; an empty one where there is none, and where it cannot be read.
    pub fn find() -> NodePolicy {
        let Some(path) = policy_file::path() else { return NodePolicy::default() };
        read(&path).and_then(|text| NodePolicy::of(&text)).unwrap_or_else(|why| {
            // Not an error: those reach the job's stderr.
            log::info(&format!("{}: not used on this node: {why}", path.display()));
            NodePolicy::default()
        })
    }

    fn of(text: &str) -> Result<NodePolicy, String> {
        toml::from_str(text).map_err(|e| e.message().to_owned())
    }

    /// Variables that must not contradict a task's place in its array.
    pub fn index_vars(&self) -> Vec<CString> {
        self.index_vars.iter().filter_map(|name| variable(name)).collect()
    }

    /// The variables that `--compile=off` sets, with their values.
    pub fn compile_off(&self) -> Vec<(CString, CString)> {
        let pair =
            |(name, value): (&String, &String)| Some((variable(name)?, CString::new(value.as_str()).ok()?));
        self.compile.off.iter().filter_map(pair).collect()
    }

    /// Whether the policy calls this QoS short.
    pub fn is_short(&self, qos: &str) -> bool {
        let entries = self.qos.iter().filter_map(|(name, facts)| Some((Glob::new(name).ok()?, facts)));
        let index = Index::new(entries.collect(), true);
        first(&index.get(qos), |facts| facts.short).unwrap_or(false)
    }
}

/// The text; empty where there is no file. Who may write it is of no concern here: it lies beside
/// slurm.conf, and all that it can do is stop a task and set variables of the job.
fn read(path: &Path) -> Result<String, String> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(e) => return Err(e.to_string()),
    };
    if !file.metadata().is_ok_and(|m| m.is_file()) {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = String::new();
    file.take(LARGEST as u64).read_to_string(&mut text).map_err(|e| e.to_string())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_keys_of_any_policy_are_read() {
        let vars = |text: &str| NodePolicy::of(text).map(|p| p.index_vars().len()).map_err(|_| ());
        assert_eq!(vars(""), Ok(0));
        assert_eq!(vars("schema = 9\nindex_vars = [\"A\", \"1\"]\n[unheard.of]\n"), Ok(1));
        assert_eq!(vars("index_vars = 3"), Err(()));
        assert_eq!(vars("["), Err(()));
        let policy = "[compile]\noff = { A = \"1\", \"B-\" = \"2\", C = \"\\u0000\" }\n\
                      [qos.debug]\nshort = true\n[qos.\"d*\"]\nshort = false\n[qos.\"t*\"]\nshort = true\n";
        let policy = NodePolicy::of(policy).unwrap();
        assert_eq!(policy.compile_off(), [(c"A".to_owned(), c"1".to_owned())]);
        assert_eq!(["Debug", "dev", "test", "x"].map(|q| policy.is_short(q)), [true, false, true, false]);
    }

    #[test]
    fn a_file_that_is_not_there_is_an_empty_one() {
        assert_eq!(read(Path::new("/nonexistent/sluice.toml")), Ok(String::new()));
        assert!(read(Path::new("/")).is_err());
        assert!(read(Path::new("/dev/zero")).is_err());
    }
}
