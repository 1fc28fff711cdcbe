//! The shape of a job in a run card, and what Slurm's TRES texts say of it.

use serde::{Deserialize, Serialize};

use crate::request::{Tres, memory};

/// Nodes, GPUs, CPUs, memory, and the place. What is not known is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shape {
    /// Partition; a comma list while Slurm has not chosen.
    pub partition: Option<String>,
    /// QoS.
    pub qos: Option<String>,
    /// Time limit as Slurm writes it, `UNLIMITED` for none.
    pub time_limit: Option<String>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// The nodes' names, as a ranged list.
    pub node_list: Option<String>,
    /// GPUs on each node, where all nodes have as many.
    pub gpus_per_node: Option<u64>,
    /// GPUs of the job. 0 where its TRES are known and name none.
    pub gpus: Option<u64>,
    /// Their type, where it is known and one.
    pub gpu_type: Option<String>,
    /// Tasks.
    pub tasks: Option<u64>,
    /// `--cpus-per-task`.
    pub cpus_per_task: Option<u64>,
    /// CPUs of the job.
    pub cpus: Option<u64>,
    /// Memory of the job, MB.
    pub memory_mb: Option<u64>,
}

impl Shape {
    /// What a TRES text says: `cpu=4,mem=8G,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2`. Nothing for an
    /// empty one.
    pub fn of_tres(text: &str) -> Shape {
        let tres = Tres::new(text);
        if tres.items().next().is_none() {
            return Shape::default();
        }
        // The whole and its parts stand in one list.
        let whole = tres.gpus().find(|i| i.kind.is_none()).and_then(|i| i.count);
        let parts = || tres.gpus().fold(0u64, |sum, i| sum.saturating_add(i.count.unwrap_or(0)));
        let mut kinds = tres.gpus().filter_map(|i| i.kind);
        let gpu_type = kinds.next().filter(|_| kinds.next().is_none()).map(str::to_owned);
        let nodes = tres.count("node");
        let gpus = whole.unwrap_or_else(parts);
        Shape {
            nodes,
            gpus: Some(gpus),
            gpus_per_node: Some(gpus).filter(|&n| n == 0 || nodes == Some(1)),
            gpu_type,
            cpus: tres.count("cpu"),
            // With its unit behind it, and fractions of it.
            memory_mb: text.split(',').find_map(|item| memory::printed_mb(item.trim().strip_prefix("mem=")?)),
            ..Shape::default()
        }
    }

    /// What is known here, and where it is not, what `other` knows.
    pub fn or(self, other: Shape) -> Shape {
        Shape {
            partition: self.partition.or(other.partition),
            qos: self.qos.or(other.qos),
            time_limit: self.time_limit.or(other.time_limit),
            nodes: self.nodes.or(other.nodes),
            node_list: self.node_list.or(other.node_list),
            gpus_per_node: self.gpus_per_node.or(other.gpus_per_node),
            gpus: self.gpus.or(other.gpus),
            gpu_type: self.gpu_type.or(other.gpu_type),
            tasks: self.tasks.or(other.tasks),
            cpus_per_task: self.cpus_per_task.or(other.cpus_per_task),
            cpus: self.cpus.or(other.cpus),
            memory_mb: self.memory_mb.or(other.memory_mb),
        }
    }
}

/// GPUs on each node by `--gres` or `--gpus-per-node`, as slurmctld keeps it; `None` where it names none.
pub fn gpus_per_node(tres_per_node: &str) -> Option<u64> {
    Tres::new(tres_per_node).gpu_count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_counted_once() {
        let shape = Shape::of_tres("cpu=8,mem=16000M,node=2,billing=8,gres/gpu=4,gres/gpu:a100=4");
        assert_eq!((shape.gpus, shape.gpus_per_node, shape.nodes), (Some(4), None, Some(2)));
        assert_eq!((shape.cpus, shape.memory_mb), (Some(8), Some(16000)));
        assert_eq!(shape.gpu_type.as_deref(), Some("a100"));
        let mixed = Shape::of_tres("node=1,gres/gpu:a100=2,gres/gpu:h100=1");
        assert_eq!((mixed.gpus, mixed.gpus_per_node, mixed.gpu_type), (Some(3), Some(3), None));
        let none = Shape::of_tres("cpu=1,mem=1G,node=3");
        assert_eq!((none.gpus, none.gpus_per_node, none.memory_mb), (Some(0), Some(0), Some(1024)));
        assert_eq!(Shape::of_tres("cpu=1,mem=1.50G,node=1").memory_mb, Some(1536));
        assert_eq!(Shape::of_tres(""), Shape::default());
        assert_eq!(gpus_per_node("gres:gpu:a100:4"), Some(4));
    }
}
