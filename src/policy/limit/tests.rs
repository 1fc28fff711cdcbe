//! What limits find, in the words that users read.

use proptest::prelude::*;

use super::*;
use crate::cluster::{Cluster, UnknownCluster};
use crate::date::Date;
use crate::judge::judge;
use crate::message;
use crate::policy::resolve::NoDirectory;
use crate::policy::{Policy, load};
use crate::request::{ArraySpec, Sharing, Tres};
use crate::verdict::{Finding, Outcome};

const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

fn policy(limits: &str) -> Policy {
    let text = format!(
        "schema = 1\n[partition.gpu]\ngpu_types = [\"a100\"]\ngpus_per_node = 4\ncpus_per_node = 64\nmemory_per_node = \"500G\"\n{limits}"
    );
    load("p.toml", &text, &NoDirectory, TODAY).unwrap_or_else(|p| panic!("{p}")).policy
}

fn gpu() -> Request<'static> {
    Request { user_id: 1000, partition: Some("gpu".into()), ..Request::default() }
}

fn findings(policy: &Policy, request: &Request<'_>) -> Vec<Finding> {
    judge(policy, request, &UnknownCluster, TODAY).findings
}

/// Each finding as one line: the sentence, and what to do.
fn told(policy: &Policy, request: &Request<'_>) -> Vec<String> {
    let line = |f: &Finding| {
        let allowed = f.complaint.allowed.as_ref().map(message::allowed).unwrap_or_default();
        let remedies: Vec<String> = f.complaint.remedies.iter().map(message::remedy).collect();
        format!("{}; {allowed} -> {}", f.complaint.asked, remedies.join(" or "))
    };
    findings(policy, request).iter().filter(|f| f.outcome == Outcome::Refused).map(line).collect()
}

fn says(limit: &str, request: &Request<'_>, expected: &[&str]) {
    let policy = policy(&format!("[[limit]]\nname = \"x\"\n{limit}"));
    assert_eq!(told(&policy, request), expected, "{limit}");
}

#[test]
fn a_limit_quotes_its_reason_and_where_it_holds() {
    let limit = "when = { kind = [\"interactive\"] }\nmax_time = \"4:00:00\"\nwhy = \"long interactive sessions keep GPUs idle\"";
    let request = Request { origin: Origin::Interactive, time_limit: TimeLimit::Minutes(480), ..gpu() };
    says(
        limit,
        &request,
        &[
            "--time=8:00:00; the site allows at most 4:00:00 here: long interactive sessions keep GPUs idle -> use --time=4:00:00 or less",
        ],
    );
    says(limit, &Request { origin: Origin::Batch, ..request }, &[]);
    says(
        "when = { partition = [\"gpu\"] }\nmax_nodes = 2",
        &Request { min_nodes: Some(1), max_nodes: Some(4), ..gpu() },
        &["up to 4 nodes; partition gpu allows at most 2 here -> use --nodes=2 or less"],
    );
}

#[test]
fn a_range_counts_by_its_upper_end_for_a_maximum_and_its_lower_for_a_minimum() {
    let range = |min, max| Request { min_nodes: Some(min), max_nodes: max, ..gpu() };
    says("max_nodes = 4", &range(1, Some(4)), &[]);
    says(
        "max_nodes = 4",
        &range(1, Some(5)),
        &["up to 5 nodes; the site allows at most 4 -> use --nodes=4 or less"],
    );
    says(
        "min_nodes = 2",
        &range(1, Some(4)),
        &["1 node; the site asks for at least 2 -> use --nodes=2 or more"],
    );
    says("min_nodes = 2", &range(2, Some(4)), &[]);
    // Without an upper end only Slurm decides, but five are five at least.
    says("max_nodes = 4", &range(1, None), &[]);
    says(
        "max_nodes = 4",
        &range(5, None),
        &["5 nodes or more; the site allows at most 4 -> use --nodes=4 or less"],
    );
}

#[test]
fn what_only_slurm_decides_is_judged_by_no_number() {
    let spread = Request { tres_per_job: Tres::new("gres/gpu:4"), ..gpu() };
    says("max_nodes = 1", &spread, &[]);
    says("min_nodes = 2", &spread, &[]);
    says("max_time = \"1:00:00\"\nmin_time = \"10:00\"", &gpu(), &[]);
    says("max_memory = \"10G\"", &gpu(), &[]);
}

#[test]
fn gpus_are_reduced_in_the_spelling_that_was_used() {
    let limit = "max_gpus = 4";
    let told = |gpus: Request<'static>, remedy: &str| {
        says(limit, &gpus, &[&format!("8 GPUs; the site allows at most 4 -> {remedy}")]);
    };
    told(Request { tres_per_job: Tres::new("gres/gpu:8"), ..gpu() }, "use --gpus=4 or less");
    told(Request { tres_per_job: Tres::new("gres:gpu:a100:8"), ..gpu() }, "use --gpus=a100:4 or less");
    told(
        Request { tres_per_node: Tres::new("gres/gpu:4"), min_nodes: Some(2), max_nodes: Some(2), ..gpu() },
        "use --gpus-per-node=2 or less or use --nodes=1",
    );
    told(
        Request {
            tres_per_node: Tres::new("gres/gpu:a100:8,nvme:2"),
            min_nodes: Some(1),
            max_nodes: Some(1),
            ..gpu()
        },
        "use --gres=gpu:a100:4,nvme:2 or less",
    );
    told(
        Request { tres_per_task: Tres::new("gres/gpu=1"), num_tasks: Some(8), ..gpu() },
        "use --ntasks=4 or less",
    );
    says("min_gpus = 2", &gpu(), &["no GPUs; the site asks for at least 2 -> use --gpus=2 or more"]);
    says(
        "max_gpus = 0",
        &Request { tres_per_job: Tres::new("gpu:1"), ..gpu() },
        &["1 GPU; the site allows none -> drop --gpus"],
    );
    says(
        "max_gpus = 2",
        &Request { tres_per_job: Tres::new("gpu:a100:2,gpu:h100:2"), ..gpu() },
        &["4 GPUs; the site allows at most 2 -> ask for at most 2 GPUs in all"],
    );
}

#[test]
fn cpus_are_reduced_where_they_come_from() {
    let limit = "max_cpus = 32";
    // What sbatch sends for -n 4 -c 16.
    let tasks = Request {
        num_tasks: Some(4),
        cpus_per_task: Some(16),
        min_cpus: Some(64),
        pn_min_cpus: Some(16),
        min_nodes: Some(1),
        max_nodes: Some(1),
        ..gpu()
    };
    says(
        limit,
        &tasks,
        &["64 CPUs; the site allows at most 32 -> use --cpus-per-task=8 or less or use --ntasks=2 or less"],
    );
    let by_gpu = Request {
        tres_per_job: Tres::new("gres/gpu:4"),
        cpus_per_tres: Tres::new("gres/gpu:16"),
        min_cpus: Some(1),
        ..gpu()
    };
    says(
        limit,
        &by_gpu,
        &["64 CPUs; the site allows at most 32 -> use --cpus-per-gpu=8 or less or use --gpus=2 or less"],
    );
    // -N2 --ntasks-per-node=32 may arrive with the product as number of tasks, and so does -n 64.
    let by_node = Request {
        min_nodes: Some(2),
        max_nodes: Some(2),
        ntasks_per_node: Some(32),
        num_tasks: Some(64),
        min_cpus: Some(64),
        ..gpu()
    };
    says(limit, &by_node, &["64 CPUs; the site allows at most 32 -> use --ntasks=32 or less"]);
    says(
        "min_cpus = 96",
        &gpu(),
        &["1 CPU; the site asks for at least 96 -> use --cpus-per-task=96 or more"],
    );
    says("max_tasks = 16", &by_node, &["64 tasks; the site allows at most 16 -> use --ntasks=16 or less"]);
}

#[test]
fn an_exclusive_job_has_all_that_its_nodes_have() {
    let exclusive = Request { shared: Sharing::Exclusive, min_nodes: Some(2), max_nodes: Some(2), ..gpu() };
    says(
        "max_cpus = 64",
        &exclusive,
        &["128 CPUs; the site allows at most 64 -> use --nodes=1 or drop --exclusive"],
    );
    says("max_gpus = 2", &exclusive, &["8 GPUs; the site allows at most 2 -> drop --exclusive"]);
    says("min_gpus = 1", &exclusive, &[]);
    // Where nothing is known of the nodes, nothing is judged.
    says("max_gpus = 2\nmin_gpus = 1", &Request { partition: Some("cpu".into()), ..exclusive }, &[]);
}

#[test]
fn memory_is_counted_for_the_job_and_for_each_cpu() {
    let mem = |mb| Request { memory: Memory::PerNode(mb), min_nodes: Some(2), max_nodes: Some(2), ..gpu() };
    says(
        "max_memory = \"100G\"",
        &mem(200 * 1024),
        &["400G of memory; the site allows at most 100G -> use --mem=50G or less"],
    );
    says("max_memory = \"100G\"", &mem(50 * 1024), &[]);
    let per_cpu = Request {
        memory: Memory::PerNode(64 * 1024),
        cpus_per_task: Some(8),
        min_nodes: Some(1),
        max_nodes: Some(1),
        ..gpu()
    };
    says(
        "max_memory_per_cpu = \"4G\"",
        &per_cpu,
        &["8G of memory per CPU; the site allows at most 4G per CPU -> use --mem=32G or less"],
    );
    says("min_memory_per_cpu = \"4G\"", &per_cpu, &[]);
    let stated = Request { memory: Memory::PerCpu(8192), ..gpu() };
    says(
        "max_memory_per_cpu = 4000",
        &stated,
        &["8G of memory per CPU; the site allows at most 4000M per CPU -> use --mem-per-cpu=3G or less"],
    );
    // All memory of a node is what the facts say it is.
    let one = Request { min_nodes: Some(1), max_nodes: Some(1), ..gpu() };
    let all = Request { memory: Memory::WholeNode, ..one.clone() };
    says(
        "max_memory = \"300G\"",
        &all,
        &["500G of memory; the site allows at most 300G -> use --mem=300G or less"],
    );
    // `--mem-per-cpu=0` is all memory too.
    says(
        "max_memory_per_cpu = \"4G\"",
        &Request { memory: Memory::PerCpu(0), cpus_per_task: Some(50), ..one },
        &["10G of memory per CPU; the site allows at most 4G per CPU -> use --mem-per-cpu=4G or less"],
    );
}

#[test]
fn unlimited_time_exceeds_every_maximum_and_meets_every_minimum() {
    let unlimited = Request { time_limit: TimeLimit::Unlimited, ..gpu() };
    says(
        "max_time = \"1-00:00:00\"",
        &unlimited,
        &["--time=UNLIMITED; the site allows at most 1-00:00:00 -> use --time=1-00:00:00 or less"],
    );
    says("min_time = \"1-00:00:00\"", &unlimited, &[]);
    let short = Request { time_limit: TimeLimit::Minutes(5), ..gpu() };
    says(
        "min_time = 10",
        &short,
        &["--time=0:05:00; the site asks for at least 0:10:00 -> use --time=0:10:00 or more"],
    );
}

#[test]
fn arrays_are_held_to_their_size_and_to_what_runs_at_once() {
    let array = |text: &'static str| Request { array: Some(ArraySpec::new(text)), ..gpu() };
    says(
        "array_max = 50",
        &array("0-99"),
        &["100 array tasks; the site allows at most 50 -> submit it as several arrays of at most 50 tasks"],
    );
    says(
        "array_running_max = 4",
        &array("0-99"),
        &[
            "100 array tasks may run at once, for want of a cap; the site allows at most 4 at once -> use --array=0-99%4",
        ],
    );
    says(
        "array_running_max = 4",
        &array("0-99%10"),
        &["10 array tasks may run at once; the site allows at most 4 at once -> use --array=0-99%4"],
    );
    says("array_running_max = 4", &array("0-99%4"), &[]);
    says("array_running_max = 4", &array("0-3"), &[]);
    says("array_max = 4\narray_running_max = 1", &gpu(), &[]);
}

#[test]
fn allow_lists_hold_every_element_and_take_nothing_unknown() {
    let limit = "allow_qos = [\"normal\", \"long*\"]";
    let qos = |name: &'static str| Request { qos: Some(name.into()), ..gpu() };
    says(limit, &qos("Normal,LONG-gpu"), &[]);
    says(limit, &qos("normal,high"), &["--qos=high; the site takes only normal, long* -> use --qos=normal"]);
    says(
        limit,
        &gpu(),
        &[
            "no QoS is named, and the default is not known; the site takes only normal, long* -> use --qos=normal",
        ],
    );
    says(
        "allow_account = [\"a\", \"b\"]",
        &Request { account: Some("c".into()), ..gpu() },
        &["--account=c; the site takes only a, b -> use --account=a or use --account=b"],
    );
    says(
        "allow_partition = [\"cpu*\"]",
        &gpu(),
        &["--partition=gpu; the site takes only cpu* -> name another partition"],
    );
}

#[test]
fn a_partition_list_is_judged_element_by_element() {
    let policy = policy("[[limit]]\nname = \"x\"\nwhen = { partition = [\"gpu\"] }\nmax_time = \"1:00:00\"");
    let request = Request {
        partition: Some("cpu,gpu".into()),
        time_limit: TimeLimit::Minutes(120),
        ..Request::default()
    };
    assert_eq!(
        told(&policy, &request),
        [
            "--time=2:00:00; partition gpu allows at most 1:00:00 here -> use --time=1:00:00 or less or drop gpu from --partition"
        ]
    );
}

#[test]
fn options_are_required_and_forbidden() {
    says("require = [\"time\"]", &gpu(), &["--time is not given; the site requires it -> give --time=..."]);
    says(
        "require = [\"constraint=ib\"]",
        &gpu(),
        &["--constraint is not given; the site requires --constraint=ib -> use --constraint=ib"],
    );
    says(
        "require = [\"constraint=ib\"]",
        &Request { features: Some("eth".into()), ..gpu() },
        &["--constraint=eth; the site requires --constraint=ib -> use --constraint=ib"],
    );
    says("require = [\"gres\"]", &Request { tres_per_node: Tres::new("gpu:1"), ..gpu() }, &[]);
    says(
        "forbid = [\"mem=0\"]\nwhy = \"it takes the whole node\"",
        &Request { memory: Memory::WholeNode, ..gpu() },
        &["--mem=0; the site does not take it: it takes the whole node -> drop --mem"],
    );
    says(
        "forbid = [\"exclusive=user\"]",
        &Request { shared: Sharing::User, ..gpu() },
        &["--exclusive=user; the site does not take it -> drop --exclusive"],
    );
    let memory = Request {
        memory: Memory::PerNode(64 * 1024),
        min_nodes: Some(1),
        max_nodes: Some(1),
        cpus_per_task: Some(8),
        ..gpu()
    };
    says(
        "forbid = [\"mem\"]",
        &memory,
        &["--mem=64G; the site does not take it -> use --mem-per-cpu=8G instead of --mem or drop --mem"],
    );
    let memory = Request { memory: Memory::PerCpu(2048), ..memory };
    says(
        "forbid = [\"mem-per-cpu\"]",
        &memory,
        &[
            "--mem-per-cpu=2G; the site does not take it -> use --mem=16G instead of --mem-per-cpu or drop --mem-per-cpu",
        ],
    );
    says("forbid = [\"gpus\"]", &Request { tres_per_node: Tres::new("gpu:1"), ..gpu() }, &[]);
    // srun keeps its output to itself.
    says("require = [\"output\"]", &Request { origin: Origin::Interactive, ..gpu() }, &[]);
    says(
        "require = [\"output\"]",
        &Request { origin: Origin::Batch, ..gpu() },
        &["--output is not given; the site requires it -> give --output=..."],
    );
}

#[test]
fn of_two_limits_on_one_quantity_the_tighter_is_told() {
    let request = Request { tres_per_job: Tres::new("gpu:8"), ..gpu() };
    let two = |tight: &str, loose: &str| {
        policy(&format!(
            "[[limit]]\nname = \"loose\"\nmax_gpus = 6\n{loose}\n[[limit]]\nname = \"tight\"\nmax_gpus = 2\n{tight}"
        ))
    };
    let outcomes = |policy: &Policy| {
        let mut all: Vec<_> = findings(policy, &request).into_iter().map(|f| (f.rule, f.outcome)).collect();
        all.sort();
        all
    };
    let both = two("", "");
    assert_eq!(
        outcomes(&both),
        [("loose".to_owned(), Outcome::Covered), ("tight".to_owned(), Outcome::Refused)]
    );
    // A limit that does not refuse hides none that does.
    let audited = two("mode = \"audit\"", "");
    assert_eq!(
        outcomes(&audited),
        [("loose".to_owned(), Outcome::Refused), ("tight".to_owned(), Outcome::Audited)]
    );
}

#[test]
fn a_limit_that_is_off_is_not_judged() {
    says("mode = \"off\"\nmax_nodes = 1", &Request { min_nodes: Some(9), ..gpu() }, &[]);
}

#[test]
fn the_qos_of_a_remedy_is_one_that_the_user_may_use() {
    struct OnlyLong;
    impl Cluster for OnlyLong {
        fn may_use_qos(&self, _: u32, _: Option<&str>, _: Option<&str>, qos: &str) -> Option<bool> {
            Some(qos == "long")
        }
        fn default_partition(&self) -> Option<std::borrow::Cow<'_, str>> {
            None
        }
        fn reservation_partition(&self, _: &str) -> Option<String> {
            None
        }
        fn user_name(&self, _: u32) -> Option<String> {
            None
        }
        fn default_account(&self, _: u32) -> Option<String> {
            None
        }
        fn has_association(&self, _: u32, _: &str) -> Option<bool> {
            None
        }
        fn default_qos(&self, _: u32, _: Option<&str>, _: Option<&str>) -> Option<String> {
            Some("high".to_owned())
        }
        fn is_array(&self, _: u32) -> Option<bool> {
            None
        }
    }
    let policy = policy("[[limit]]\nname = \"x\"\nallow_qos = [\"normal\", \"long\"]");
    let request = gpu();
    let verdict = judge(&policy, &request, &OnlyLong, TODAY);
    let complaint = &verdict.findings[0].complaint;
    assert_eq!(complaint.asked, "no QoS is named, and the default is high");
    assert_eq!(complaint.remedies, [Remedy::exactly("qos", "long")]);
}

/// Types what a remedy says, as a user would.
fn typed(request: &Request<'static>, remedy: &Remedy) -> Option<Request<'static>> {
    let mut r = request.clone();
    // What the client derived it derives again.
    (r.min_cpus, r.pn_min_cpus) = (None, None);
    let Remedy::Use { option, value, .. } = remedy else { return None };
    let gpus = |value: &str| Tres::new(format!("gres/gpu:{value}"));
    let mb = |value: &str| crate::request::memory::parse_mb(value).unwrap();
    match *option {
        "nodes" => (r.min_nodes, r.max_nodes) = (value.parse().ok(), value.parse().ok()),
        "ntasks" => r.num_tasks = value.parse().ok(),
        "ntasks-per-node" => r.ntasks_per_node = value.parse().ok(),
        "cpus-per-task" => r.cpus_per_task = value.parse().ok(),
        "cpus-per-gpu" => r.cpus_per_tres = gpus(value),
        "gpus" => r.tres_per_job = gpus(value),
        "gpus-per-node" => r.tres_per_node = gpus(value),
        "gpus-per-task" => r.tres_per_task = gpus(value),
        "mem" => r.memory = Memory::PerNode(mb(value)),
        "mem-per-cpu" => r.memory = Memory::PerCpu(mb(value)),
        "mem-per-gpu" => r.mem_per_tres = Tres::new(format!("gres/gpu:{}", mb(value))),
        "time" => r.time_limit = TimeLimit::parse(value).unwrap(),
        "array" => r.array = Some(ArraySpec::new(value.clone())),
        other => panic!("--{other} is told and not understood here"),
    }
    Some(r)
}

prop_compose! {
    fn any_request()(
        nodes in prop::option::of((1u32..6, 0u32..4)),
        tasks in prop::option::of(1u32..20),
        per_node in prop::option::of(1u16..9),
        per_task in prop::option::of(1u16..40),
        gpus in 0u8..5, n in 1u64..9, typed: bool,
        per_gpu in prop::option::of(1u64..20),
        memory in 0u8..5, mb in 1u64..400_000,
        time in prop::option::of(0u32..5000),
        array in prop::option::of((1u32..200, prop::option::of(1u32..50))),
    ) -> Request<'static> {
        let kind = if typed { "a100:" } else { "" };
        let list = |which: u8| if gpus == which { Tres::new(format!("gres/gpu:{kind}{n}")) } else { Tres::default() };
        let cpus = u32::from(per_task.unwrap_or(1)) * tasks.unwrap_or(1);
        Request {
            min_nodes: nodes.map(|n| n.0),
            max_nodes: nodes.map(|n| n.0 + n.1),
            num_tasks: tasks,
            ntasks_per_node: per_node,
            cpus_per_task: per_task,
            min_cpus: Some(cpus),
            pn_min_cpus: per_task,
            tres_per_job: list(1),
            tres_per_node: list(2),
            tres_per_task: list(3),
            cpus_per_tres: per_gpu.filter(|_| gpus > 0).map(|c| Tres::new(format!("gres/gpu:{c}"))).unwrap_or_default(),
            memory: match memory { 1 => Memory::PerNode(mb), 2 => Memory::PerCpu(mb), 3 => Memory::WholeNode, _ => Memory::Unset },
            mem_per_tres: if memory == 4 && gpus > 0 { Tres::new(format!("gres/gpu:{mb}")) } else { Tres::default() },
            time_limit: match time { None => TimeLimit::Unset, Some(0) => TimeLimit::Unlimited, Some(m) => TimeLimit::Minutes(m) },
            array: array.map(|(last, cap)| ArraySpec::new(match cap { Some(cap) => format!("0-{last}%{cap}"), None => format!("0-{last}") })),
            ..gpu()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn typing_what_is_told_makes_the_finding_go_away(
        request in any_request(), max in 1u64..20, quantity in 0usize..9, minimum: bool,
    ) {
        let key = ["nodes", "gpus", "cpus", "tasks", "time", "memory", "memory_per_cpu", "array_max", "array_running_max"][quantity];
        let limit = match quantity {
            7 | 8 => format!("{key} = {max}"),
            _ => format!("{}_{key} = {}", if minimum { "min" } else { "max" }, if quantity >= 5 { max * 1000 } else { max }),
        };
        let policy = policy(&format!("[[limit]]\nname = \"x\"\n{limit}"));
        for finding in findings(&policy, &request) {
            prop_assert!(!finding.complaint.remedies.is_empty());
            for remedy in &finding.complaint.remedies {
                if let Some(better) = typed(&request, remedy) {
                    let left = told(&policy, &better);
                    prop_assert!(left.is_empty(), "{} {:?}: {:?} leaves {:?}", limit, finding.complaint.asked, remedy, left);
                }
            }
        }
    }
}
