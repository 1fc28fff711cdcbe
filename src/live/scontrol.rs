//! `scontrol show partition -o`, `scontrol show node -o`, `scontrol show config`.
//!
//! One line a record, `Key=value` words in between. Some values hold blanks (`OS`, `Reason`), so a
//! word that is no pair belongs to the value before it and is left out: no key that is read here has
//! such a value. A key that stands twice counts as it stands first, for free text comes last.

use super::{Node, Partition};
use crate::request::TimeLimit;

/// One record.
pub(super) struct Record<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Record<'t> {
    pub(super) fn new(line: &'t str) -> Record<'t> {
        let is_key = |key: &str| {
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'/')
        };
        let pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
        Record(pairs.filter(|(key, _)| is_key(key)).collect())
    }

    /// A value, `(null)` and `N/A` being none.
    pub(super) fn get(&self, key: &str) -> Option<&'t str> {
        let found = self.0.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
        found.filter(|v| !v.is_empty() && *v != "(null)" && *v != "N/A")
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }

    /// A list of names; `None` for `ALL`.
    fn names(&self, key: &str) -> Option<Vec<String>> {
        self.get(key).filter(|v| *v != "ALL").map(list)
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The partitions. Lines that are no partition are passed over.
///
/// `PreemptMode` of a partition counts only where `config` (`scontrol show config`) says that partitions
/// decide who gives way: under `preempt/qos` each has the cluster's mode, and a job's QoS decides.
pub fn partitions(text: &str, config: &str) -> Vec<Partition> {
    let decide = config_value(config, "PreemptType") == Some("preempt/partition_prio");
    text.lines().filter_map(|line| partition(&Record::new(line), decide)).collect()
}

fn partition(record: &Record<'_>, partitions_decide: bool) -> Option<Partition> {
    let defaults = record.get("JobDefaults").unwrap_or("");
    let per_gpu = |key: &str| {
        let pairs = defaults.split(',').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(k, _)| *k == key).find_map(|(_, n)| n.parse().ok())
    };
    Some(Partition {
        name: record.get("PartitionName")?.to_owned(),
        default: record.get("Default") == Some("YES"),
        max_time: record.get("MaxTime").and_then(TimeLimit::parse).unwrap_or_default(),
        whole_node: record.get("OverSubscribe") == Some("EXCLUSIVE"),
        allow_accounts: record.names("AllowAccounts"),
        allow_qos: record.names("AllowQos"),
        preemptible: partitions_decide && record.get("PreemptMode").is_some_and(|mode| mode != "OFF"),
        cpus_per_gpu: per_gpu("DefCpuPerGPU"),
        memory_per_gpu: per_gpu("DefMemPerGPU"),
    })
}

/// The nodes. Lines that are no node are passed over.
pub fn nodes(text: &str) -> Vec<Node> {
    text.lines().filter_map(|line| node(&Record::new(line))).collect()
}

fn node(record: &Record<'_>) -> Option<Node> {
    let reserved = record.number("MemSpecLimit").unwrap_or(0);
    Some(Node {
        name: record.get("NodeName")?.to_owned(),
        partitions: record.get("Partitions").map(list).unwrap_or_default(),
        // CPUs set aside for the system are no job's.
        cpus: record.number("CPUEfctv").or_else(|| record.number("CPUTot"))?,
        memory: record.number("RealMemory")?.saturating_sub(reserved),
        gpus: record.get("Gres").map(gpus).unwrap_or_default(),
    })
}

/// `gpu:a100:4(S:0-1),gpu:2,shard:8`: the GPUs.
fn gpus(gres: &str) -> Vec<(String, u64)> {
    let mut depth = 0usize;
    let plain: String = gres
        .chars()
        .filter(|c| {
            match c {
                '(' => depth = depth.saturating_add(1),
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect();
    let gpu = |item: &str| {
        let mut parts = item.split(':');
        if parts.next()? != "gpu" {
            return None;
        }
        match (parts.next(), parts.next()) {
            (None, _) => Some((String::new(), 1)),
            (Some(count), None) => match count.parse() {
                Ok(n) => Some((String::new(), n)),
                Err(_) => Some((count.to_owned(), 1)),
            },
            // `gpu:a100:no_consume:4` has the count last.
            (Some(kind), Some(count)) => Some((kind.to_owned(), parts.next().unwrap_or(count).parse().ok()?)),
        }
    };
    plain.split(',').filter_map(gpu).filter(|(_, n)| *n > 0).collect()
}

/// A value of `scontrol show config`; `None` where it is not there or empty.
pub fn config_value<'c>(config: &'c str, key: &str) -> Option<&'c str> {
    let pairs = config.lines().filter_map(|line| line.split_once('='));
    let mut values = pairs.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim());
    values.rfind(|value| !value.is_empty() && *value != "(null)")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTITIONS: &str = include_str!("../../tests/vectors/scontrol-partitions-22.05.8.txt");
    const NODES: &str = include_str!("../../tests/vectors/scontrol-nodes-22.05.8.txt");
    const BY_PARTITION: &str = "PreemptType             = preempt/partition_prio";
    const CONFIG: &str = include_str!("../../tests/vectors/scontrol-config-22.05.8.txt");

    #[test]
    fn partitions_are_read_from_recorded_output() {
        let all = partitions(PARTITIONS, BY_PARTITION);
        let names: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["gpu", "cpu", "phys-h100", "all", "empty"]);
        assert_eq!(
            all[0],
            Partition {
                name: "gpu".to_owned(),
                default: true,
                max_time: TimeLimit::Minutes(2 * 24 * 60),
                whole_node: false,
                allow_accounts: None,
                allow_qos: None,
                preemptible: false,
                cpus_per_gpu: Some(4),
                memory_per_gpu: None,
            }
        );
        let lent = &all[2];
        assert_eq!(lent.allow_accounts.as_deref(), Some(&["physics".to_owned(), "astro".to_owned()][..]));
        assert_eq!(lent.allow_qos.as_ref().map(Vec::len), Some(2));
        assert_eq!((lent.preemptible, lent.max_time, lent.default), (true, TimeLimit::Unlimited, false));
        for other in [CONFIG, "PreemptType = preempt/qos", ""] {
            assert!(partitions(PARTITIONS, other).iter().all(|p| !p.preemptible), "{other}");
        }
    }

    #[test]
    fn nodes_are_read_from_recorded_output() {
        let all = nodes(NODES);
        assert_eq!(all.len(), 8);
        let named = |name: &str| all.iter().find(|n| n.name == name).unwrap();
        let gpu = named("g01");
        assert_eq!((gpu.cpus, gpu.memory, gpu.gpu_count()), (64, 512_000, 4));
        assert_eq!(gpu.gpus, [("a100".to_owned(), 4)]);
        assert_eq!(gpu.partitions, ["gpu", "all", "empty"]);
        // MemSpecLimit is not for jobs.
        assert_eq!(named("h01").memory, 2_046_000);
        assert_eq!(named("c04").gpus, []);
    }

    #[test]
    fn gpus_are_told_from_other_resources() {
        let of = |text| gpus(text).iter().map(|(k, n)| format!("{k}:{n}")).collect::<Vec<_>>().join(" ");
        for (gres, expected) in [
            ("gpu:4", ":4"),
            ("gpu", ":1"),
            ("gpu:a100", "a100:1"),
            ("gpu:a100:4(S:0-1)", "a100:4"),
            ("gpu:a100:2(S:0,2),gpu:v100:2(S:1)", "a100:2 v100:2"),
            ("shard:a100:8,gpu:a100:2", "a100:2"),
            ("gpu:a100:no_consume:3", "a100:3"),
            ("gpu:0", ""),
            ("mps:100", ""),
            ("", ""),
            ("gpu:a:b", ""),
            (")))((,gpu:2", ""),
        ] {
            assert_eq!(of(gres), expected, "{gres}");
        }
    }

    #[test]
    fn a_reason_in_words_of_its_own_changes_nothing() {
        let line = "NodeName=n1 CPUTot=8 RealMemory=100 Partitions=a Reason=RealMemory=5 is too low [root]";
        assert_eq!(nodes(line)[0].memory, 100);
        assert_eq!(nodes("No nodes in the system"), []);
        assert_eq!(partitions("Configuration is empty\n\n", ""), []);
    }

    #[test]
    fn values_of_the_configuration_are_read_from_recorded_output() {
        assert_eq!(config_value(CONFIG, "StateSaveLocation"), Some("/var/spool/slurm/state"));
        assert_eq!(config_value(CONFIG, "ClusterName"), Some("lab"));
        assert_eq!(config_value(CONFIG, "AccountingStorageBackupHost"), None);
        assert_eq!(config_value("A = \n", "A"), None);
    }
}
