//! Policies that load, and every word of what is said of those that do not.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::policy::facts::{self, PerGpu};
use crate::policy::resolve::{Group, NoDirectory, Table};
use crate::policy::{EXAMPLE, Mode, OnError};
use crate::request::TimeLimit;
use crate::verdict::Justify;

const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

fn loaded(text: &str) -> Loaded {
    load("sluice.toml", text, &NoDirectory, TODAY).unwrap_or_else(|p| panic!("{p}"))
}

fn errors(text: &str) -> String {
    load("sluice.toml", text, &NoDirectory, TODAY).map(|_| ()).unwrap_err().to_string()
}

fn doubts(text: &str) -> Vec<String> {
    loaded(text).doubts.iter().map(|d| format!("{}:{} {}", d.line, d.column, d.message)).collect()
}

/// Each case: a title, a policy, and everything that is said of it. `SLUICE_BLESS=1` writes what is
/// said now, to be read before it is kept.
#[test]
fn bad_policies_are_told_word_for_word() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/policy/load/bad.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut now = String::new();
    let mut cases = 0;
    for case in text.split("\n====\n").filter(|c| !c.trim().is_empty()) {
        let (title, rest) = case.trim_start().split_once('\n').unwrap();
        let policy = rest.split("\n----\n").next().unwrap();
        now.push_str(&format!("{title}\n{policy}\n----\n{}\n====\n", errors(policy)));
        cases += 1;
    }
    if std::env::var_os("SLUICE_BLESS").is_some() {
        return std::fs::write(path, &now).unwrap();
    }
    assert!(cases >= 60, "{cases}");
    for (now, kept) in now.split("\n====\n").zip(text.split("\n====\n")) {
        assert_eq!(now, kept);
    }
}

#[test]
fn the_example_loads_without_a_doubt() {
    let Loaded { policy, doubts } = loaded(EXAMPLE);
    assert_eq!(doubts, []);
    assert_eq!(policy.rules.len(), 7);
    assert_eq!(policy.limits.len(), 2);
    assert_eq!(policy.facts.default_partition.as_deref(), Some("gpu"));
    assert_eq!(policy.site.name, "Example Lab");
    assert_eq!(policy.hash, fnv1a(EXAMPLE.bytes()));
}

/// The policy of the reference, word for word.
const MANUAL: &str = include_str!("../../../tests/policies/reference.toml");

#[test]
fn the_policy_of_the_manual_means_what_it_says() {
    let Loaded { policy, doubts } = loaded(MANUAL);
    assert_eq!(doubts, []);
    let gpu = policy.facts.partition("gpu");
    assert_eq!(gpu.node().memory, Some(500 * 1024));
    assert_eq!(gpu.cpus_per_gpu(), Some(PerGpu { default: Some(4), max: Some(8), exact: false }));
    assert_eq!(gpu.memory_per_gpu().unwrap().max, Some(120 * 1024));
    assert_eq!(gpu.max_time(), Some(TimeLimit::Minutes(2880)));
    assert!(policy.facts.partition("standard-g").whole_node() && !gpu.whole_node());
    assert!(!policy.facts.partition("Gpu").is_known(), "partitions are compared with their case");
    let qos = policy.facts.qos.get("Scavenger");
    assert_eq!(facts::first(&qos, |q| q.preemptible), Some(true), "QoS without");
    let lent = policy.facts.partition("phys-h100");
    assert!(
        lent.owner().unwrap().accounts.contains("PHYSICS") && lent.lent_qos().unwrap().contains("scavenger")
    );

    let rules: Vec<&str> = policy.rules.iter().map(|r| r.info.name).collect();
    assert_eq!(rules, ["gpu-request", "exclusive", "time-limit", "array-logs"], "in the order of the table");
    let [request, exclusive, time, logs] = &policy.rules[..] else { panic!() };
    assert_eq!(exclusive.entries[0].settings.justify, Some(Justify { min_length: 1 }));
    assert_eq!(logs.entries[0].settings.enforce_from, Some(Date { year: 2027, month: 2, day: 1 }));
    assert!(request.entries[0].settings.when.as_ref().unwrap().not.is_some());
    assert_eq!((time.entries[0].settings.mode, time.entries[1].settings.mode), (Mode::Warn, Mode::Enforce));
    let line = exclusive.entries[0].settings.line;
    assert!(MANUAL.lines().nth(line - 1).unwrap().starts_with("[rule.exclusive]"));

    let names: Vec<&str> = policy.limits.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["interactive", "a100-2", "more-than-4-gpus", "no-mem-0"]);
    assert_eq!(policy.limits[2].settings.justify, Some(Justify { min_length: 20 }));
    assert_eq!(policy.exempts[0].until, Date { year: 2027, month: 1, day: 31 });
    assert!(policy.exempts[0].when.account.as_ref().unwrap().contains("NetBench"));
}

#[test]
fn what_is_not_said_has_its_default() {
    let Loaded { policy, doubts } = loaded("schema = 1\n");
    assert_eq!(doubts, []);
    let site = policy.site;
    assert_eq!(
        (site.mode, site.on_error, site.exempt_root, site.confirm),
        (Mode::Enforce, OnError::Allow, true, false)
    );
    assert_eq!((site.records, site.name.as_str()), (Records::Syslog, "This site"));
    assert!(policy.rules.is_empty() && policy.limits.is_empty() && policy.facts.partitions.is_empty());
    assert_eq!(policy.facts.default_partition, None);
}

#[test]
fn numbers_have_all_their_spellings() {
    let text = "schema = 1\nindex_vars = [\"TASK_INDEX\"]\n[site]\nrecords = \"/var/log/sluice.json\"\n[compile]\noff = { TORCH_COMPILE_DISABLE = \"1\", A = \"\" }\n\
        [partition.a]\ncpus_per_gpu = 8\nmemory_per_gpu = 4096\nmax_time = 90\ngpus_per_node = 0\n\
        [partition.b]\ncpus_per_gpu = { exact = 14 }\nmemory_per_gpu = \"1T\"\nmax_time = \"UNLIMITED\"\n\
        [partition.c]\ncpus_per_gpu = { max = 8 }\n";
    let policy = loaded(text).policy;
    let [a, b, c] = ["a", "b", "c"].map(|n| policy.facts.partition(n));
    assert_eq!(a.cpus_per_gpu(), Some(PerGpu { default: Some(8), max: Some(8), exact: false }));
    assert_eq!((a.memory_per_gpu().unwrap().max, a.max_time()), (Some(4096), Some(TimeLimit::Minutes(90))));
    assert_eq!(b.cpus_per_gpu(), Some(PerGpu { default: Some(14), max: Some(14), exact: true }));
    assert_eq!((b.memory_per_gpu().unwrap().max, b.max_time()), (Some(1 << 20), Some(TimeLimit::Unlimited)));
    assert_eq!(c.cpus_per_gpu(), Some(PerGpu { default: None, max: Some(8), exact: false }));
    assert_eq!(policy.index_vars, ["TASK_INDEX"]);
    let off = [("A".to_owned(), String::new()), ("TORCH_COMPILE_DISABLE".to_owned(), "1".to_owned())];
    assert_eq!(policy.compile_off, off);
    assert_eq!(policy.site.records, Records::File("/var/log/sluice.json".into()));
}

#[test]
fn gpu_counts_have_all_their_spellings() {
    for (text, min, max) in [
        ("true", 1, None),
        ("false", 0, Some(0)),
        ("2", 2, Some(2)),
        ("\"2\"", 2, Some(2)),
        ("\"2-3\"", 2, Some(3)),
        ("\"5-\"", 5, None),
    ] {
        let policy = loaded(&format!("schema = 1\n[rule.exclusive]\nwhen = {{ gpus = {text} }}\n")).policy;
        let gpus = policy.rules[0].entries[0].settings.when.as_ref().unwrap().gpus.unwrap();
        assert_eq!((gpus.min, gpus.max), (min, max), "{text}");
    }
}

#[test]
fn facts_merge_key_by_key_the_longest_pattern_first() {
    let text = "schema = 1\n[partition.\"g*\"]\ncpus_per_node = 1\ngpus_per_node = 1\nmax_time = 1\n\
        [partition.\"gpu-*\"]\ncpus_per_node = 2\ngpus_per_node = 2\n[partition.gpu-a]\ncpus_per_node = 3\n";
    let policy = loaded(text).policy;
    let exact = policy.facts.partition("gpu-a");
    assert_eq!((exact.node().cpus, exact.node().gpus), (Some(3), Some(2)));
    assert_eq!(exact.max_time(), Some(TimeLimit::Minutes(1)));
    assert_eq!(policy.facts.partition("gpu-b").node().cpus, Some(2));
    assert_eq!(policy.facts.partition("gnu").node().cpus, Some(1));
}

#[test]
fn globs_that_tie_and_agree_are_no_error() {
    loaded(
        "schema = 1\n[partition.\"gpu-*\"]\ncpus_per_node = 2\n[partition.\"*-gpu\"]\ncpus_per_node = 2\nmax_time = 5\n",
    );
    loaded(
        "schema = 1\n[partition.\"gpu-*\"]\ncpus_per_node = 2\n[partition.\"cpu-*\"]\ncpus_per_node = 4\n",
    );
}

#[test]
fn users_and_groups_are_resolved_once_and_for_all() {
    let directory = Table {
        users: HashMap::from([("alice".to_owned(), 1001)]),
        groups: HashMap::from([("ops".to_owned(), Group { gid: 50, members: vec![7, 8] })]),
    };
    let text = "schema = 1\n[rule.exclusive]\nwhen = { user = [\"alice\", \"svc-*\", \"bob\", \"1234\"], group = [\"ops\", \"gone\", \"99\"] }\n";
    let Loaded { policy, doubts } = load("p", text, &directory, TODAY).unwrap();
    let when = policy.rules[0].entries[0].settings.when.as_ref().unwrap();
    let (users, groups) = (when.user.as_ref().unwrap(), when.group.as_ref().unwrap());
    assert_eq!(users.uids, [1001, 1234].into());
    let globs: Vec<&str> = users.globs.iter().map(Glob::as_str).collect();
    assert_eq!(globs, ["svc-*", "bob"], "who is unknown here is known by the login name");
    assert_eq!((&groups.gids, &groups.members), (&[50, 99].into(), &[7, 8].into()));
    let doubts: Vec<String> = doubts.into_iter().map(|d| d.message).collect();
    assert_eq!(doubts, ["no user `bob` is known here", "no group `gone` is known here: it matches nobody"]);
}

#[test]
fn doubts_do_not_stop_a_policy() {
    for (text, expected) in [
        (
            "[[exempt]]\nrules = [\"exclusive\"]\nusers = [\"1\"]\nuntil = 2026-11-29\nreason = \"r\"\n[rule.exclusive]",
            "5:9 this exemption is over since 2026-11-29",
        ),
        (
            "[[exempt]]\nrules = [\"exclusive\"]\nusers = [\"1\"]\nuntil = 2026-11-30\nreason = \"r\"",
            "3:10 this exemption never matches: rule `exclusive` is not named in this policy",
        ),
        (
            "[rule.exclusive]\nmode = \"off\"\n[[exempt]]\nrules = [\"exclusive\"]\nusers = [\"1\"]\nuntil = 2026-11-30\nreason = \"r\"",
            "3:8 [rule.exclusive] is off: it judges nothing",
        ),
        (
            "[rule.exclusive]\n[[exempt]]\nrules = [\"exclusive\"]\ngroups = [\"gone\"]\nuntil = 2026-11-30\nreason = \"r\"",
            "5:10 this exemption never matches: none of its groups is known",
        ),
        (
            "[rule.exclusive]\nenforce_from = 2026-11-30",
            "3:16 [rule.exclusive] is enforced since 2026-11-30: the date can go",
        ),
        (
            "[rule.exclusive]\nmode = \"warn\"\nenforce_from = 2027-11-30",
            "4:16 `enforce_from` changes nothing: the mode is not `enforce`",
        ),
        ("[site]\nmode = \"off\"", "3:8 the site's mode is `off`: nothing is judged"),
        (
            "[site]\nname = \"Universit\u{e9}\"",
            "3:8 `name` is not ASCII: users read `?` for each character that is not",
        ),
        (
            "[[rule.exclusive]]\n[[rule.exclusive]]\nwhen = { gpus = true }",
            "3:1 this [[rule.exclusive]] never applies: one before it has no `when`",
        ),
        ("[rule.exclusive]\nwhen = {}", "3:8 `when` of [rule.exclusive] is empty and always matches"),
        (
            "[rule.exclusive]\nwhen = { gpus = false, gpu_type = [\"a100\"] }",
            "3:8 `when` of [rule.exclusive] never matches: no GPUs, and GPUs of a type",
        ),
        (
            "[rule.exclusive]\nwhen = { kind = [\"interactive\"], given = [\"array\"] }",
            "3:8 `when` of [rule.exclusive] never matches: only sbatch hands these options to slurmctld",
        ),
        (
            "[partition.p]\nowner = { users = [\"1\"] }",
            "2:12 [partition.p]: it has an `owner` and no `lent_qos`: everyone but the owner is kept out",
        ),
        (
            "[partition.p]\nlent_qos = [\"x\"]",
            "2:12 [partition.p]: it has a `lent_qos` and no `owner`: nothing is lent",
        ),
        (
            "[partition.\"p*\"]\nlent_qos = [\"x\"]\n[partition.q]\nlent_qos = [\"x\"]\nowner = { users = [\"1\"] }",
            "2:12 [partition.\"p*\"]: it has a `lent_qos` and no `owner`: nothing is lent",
        ),
        (
            "[partition.p]\nowner = { users = [\"1\"] }\nlent_qos = []",
            "2:12 [partition.p]: its `lent_qos` is empty: everyone but the owner is kept out",
        ),
        (
            "[partition.p]\ngpu_types = []\ngpus_per_node = 4",
            "2:12 [partition.p]: it has GPUs per node and an empty `gpu_types`, which means no GPUs",
        ),
        (
            "[partition.p]\ngpu_types = [\"a\"]\ngpus_per_node = 0",
            "2:12 [partition.p]: it has `gpu_types` and no GPUs per node",
        ),
        (
            "[partition.p]\ngpu_types = []\ncpus_per_gpu = 4",
            "2:12 [partition.p]: it states `cpus_per_gpu` and has no GPUs",
        ),
        (
            "[partition.p]\nwhole_node = true\ncpus_per_gpu = 4",
            "2:12 [partition.p]: it states `cpus_per_gpu`, which is not used where `whole_node` is true",
        ),
        (
            "[partition.p]\ngpus_per_node = 4\ncpus_per_node = 64\ncpus_per_gpu = { default = 4, max = 32 }",
            "2:12 [partition.p]: the maximum of `cpus_per_gpu` for all GPUs of a node is 128, and the node has 64",
        ),
        (
            "[partition.p]\ngpus_per_node = 4\ncpus_per_node = 64\ncpus_per_gpu = 32",
            "2:12 [partition.p]: the default of `cpus_per_gpu` for all GPUs of a node is 128, and the node has 64",
        ),
        (
            "[partition.p]\ngpus_per_node = 4\nmemory_per_node = \"400G\"\nmemory_per_gpu = { max = \"120G\" }",
            "2:12 [partition.p]: the maximum of `memory_per_gpu` for all GPUs of a node is 480G, and the node has 400G",
        ),
        (
            "[partition.p]\nmax_time = 60\nlent_qos = [\"s\"]\nowner = { users = [\"1\"] }\n[qos.s]\nmax_time = 90",
            "2:12 [partition.p]: the `max_time` of its lent QoS is longer than its own, which holds",
        ),
        ("[[limit]]\nname = \"l\"\nallow_qos = []", "4:13 no request can meet limit `l`: it allows none"),
        (
            "[[limit]]\nname = \"l\"\nwhen = { gpus = 4 }\nmax_gpus = 2",
            "2:1 no request can meet limit `l`: it applies only to more GPUs than it allows",
        ),
        (
            "[[limit]]\nname = \"l\"\nwhen = { gpus = \"1-2\" }\nmin_gpus = 4",
            "2:1 no request can meet limit `l`: it applies only to fewer GPUs than it asks for",
        ),
        (
            "[[limit]]\nname = \"l\"\nwhen = { gpu_type = [\"a\"] }\nmax_gpus = 0",
            "2:1 no request can meet limit `l`: it applies only to jobs with GPUs and allows none",
        ),
        (
            "[[limit]]\nname = \"l\"\nwhen = { partition = [\"a\"] }\nallow_partition = [\"b*\"]",
            "2:1 no request can meet limit `l`: it applies only in partitions that it does not allow",
        ),
        (
            "[partition.c]\ngpu_types = []\n[[limit]]\nname = \"l\"\nwhen = { partition = [\"c\"] }\nmin_gpus = 1",
            "4:1 no request can meet limit `l`: it asks for GPUs, and partition `c` has none",
        ),
        (
            "[partition.c]\nmax_time = 60\n[[limit]]\nname = \"l\"\nwhen = { partition = [\"c\"] }\nmin_time = 90",
            "4:1 no request can meet limit `l`: its `min_time` is more than the `max_time` of partition `c`",
        ),
        (
            "[[limit]]\nname = \"l\"\nmax_gpus = 0\nrequire = [\"gpus\"]",
            "2:1 no request can meet limit `l`: it requires GPUs and allows none",
        ),
    ] {
        let found = doubts(&format!("schema = 1\n{text}\n"));
        assert!(found.iter().any(|d| d == expected), "{text}\n{expected}\n{found:#?}");
    }
}

#[test]
fn a_gpu_type_is_held_to_the_node_in_place_of_the_partition() {
    let text = "schema = 1\n[partition.p]\ngpu_types = [\"h100\"]\ngpus_per_node = 8\ncpus_per_node = 64\n\
        cpus_per_gpu = 16\n[gpu.h100]\ncpus_per_gpu = 9\n[gpu.a100]\ncpus_per_gpu = 9\n";
    assert_eq!(
        doubts(text),
        [
            "2:12 [partition.p]: the default of `cpus_per_gpu` of [gpu.h100] for all GPUs of a node is 72, and the node has 64",
            "9:6 [gpu.a100]: no partition lists this type in its `gpu_types`",
        ]
    );
}

#[test]
fn tables_may_be_written_with_dots_or_inline() {
    let text = "schema = 1\nrule.exclusive.allow = [\"user\"]\nrule.array-logs = { mode = \"warn\" }\n\
        limit = [{ name = \"a\", max_nodes = 1 }]\n[partition]\ngpu.cpus_per_node = 4\ncpu = { gpu_types = [] }\n";
    let policy = loaded(text).policy;
    assert_eq!(policy.rules.len(), 2);
    let lines: Vec<usize> = policy.rules.iter().map(|r| r.entries[0].settings.line).collect();
    assert_eq!(lines, [2, 3]);
    assert_eq!(policy.limits[0].settings.line, 4);
    assert_eq!(policy.facts.partitions.literal_names(), ["cpu", "gpu"]);
    let wrong = "schema = 1\nrule.exclusive.alow = []\nrule.exclusive.mode = 1\n[partition]\ngpu.cpus = 4\ngpu.max_time = 0\n";
    let places: Vec<String> = errors(wrong)
        .lines()
        .filter(|l| l.starts_with("sluice"))
        .map(|l| l.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(places, ["sluice.toml:2:16:", "sluice.toml:3:23:", "sluice.toml:5:5:", "sluice.toml:6:16:"]);
}

#[test]
fn every_kind_of_line_end_and_a_byte_order_mark_are_read() {
    let crlf = MANUAL.replace('\n', "\r\n");
    assert_eq!(loaded(&crlf).policy.limits.len(), 4);
    assert_eq!(loaded(&format!("\u{feff}{MANUAL}")).policy.limits.len(), 4);
    let error = errors("\u{feff}schema = 1\r\n[rule.exclusiv]\r\n");
    assert!(
        error.starts_with(
            "sluice.toml:2:7: error: unknown rule `exclusiv`\n 2 | [rule.exclusiv]\n   |       ^^^^^^^^\n"
        ),
        "{error}"
    );
}

#[test]
fn what_is_no_policy_at_all_gets_one_clear_error() {
    let bytes =
        |bytes: &[u8]| load_bytes("p", bytes, &NoDirectory, TODAY).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        bytes(b"schema = 1\n# caf\xe9\n"),
        "p: error: the file is not UTF-8: the first byte that cannot be read is on line 2"
    );
    assert_eq!(
        bytes(&[0xff; 100]),
        "p: error: the file is not UTF-8: the first byte that cannot be read is on line 1"
    );
    assert!(
        bytes(b"schema = 1\n\0\0\0").starts_with("p:2:1: error: the file is no text: it holds a NUL byte\n")
    );
    assert_eq!(bytes(&vec![b'#'; 3 << 20]), "p: error: the file has 3072 KiB; a policy has at most 1024 KiB");
    assert!(bytes(b"\x7fELF\x02\x01\x01").contains("error"));
    assert!(load_bytes("p", MANUAL.as_bytes(), &NoDirectory, TODAY).is_ok());
}

#[test]
fn no_nesting_overflows_a_small_stack() {
    let deep = |open: &str, close: &str| {
        let n = 50_000;
        format!("schema = 1\n[rule.exclusive]\nwhen = {}{}\n", open.repeat(n), close.repeat(n))
    };
    let texts = [
        deep("[", "]"),
        deep("{ not = ", "}"),
        format!("schema = 1\n{}x = 1\n", "a.".repeat(50_000)),
        format!("schema = 1\n[rule.{}x]\n", "a.".repeat(50_000)),
        format!(
            "schema = 1\n[rule.exclusive]\nwhen.{}x = {}1{}\n",
            "not.".repeat(70),
            "[".repeat(70),
            "]".repeat(70)
        ),
    ];
    let work = move || texts.iter().map(|t| errors(t)).collect::<Vec<_>>();
    // slurmctld's own threads have 1 MiB, ours has more; debug builds use several times as much.
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap();
    for error in thread.join().unwrap() {
        assert!(error.len() < 2000, "{error}");
    }
}

#[test]
fn a_file_full_of_errors_ends() {
    let text = format!(
        "schema = 1\n[partition.gpu]\n{}",
        (0..5000).map(|n| format!("key{n} = 1\n")).collect::<String>()
    );
    assert_eq!(load("p", &text, &NoDirectory, TODAY).map(|_| ()).unwrap_err().0.len(), strict::ENOUGH);
}

/// Pieces of policies in no order.
fn shreds() -> impl Strategy<Value = String> {
    let words: Vec<&str> = MANUAL.split_inclusive([' ', '\n', '=', '[', ']', '"']).collect();
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    prop::collection::vec(prop::sample::select(words), 0..80)
        .prop_map(|w| format!("schema = 1\n{}", w.concat()))
}

/// The manual's policy with one piece replaced.
fn wounded() -> impl Strategy<Value = String> {
    (0..MANUAL.len(), 0usize..20, "(\\PC|\n|[\\[\\]{}\"=]){0,4}").prop_map(|(at, cut, put)| {
        let (head, tail) = MANUAL.split_at(at);
        format!("{head}{put}{}", tail.get(cut..).unwrap_or(""))
    })
}

proptest! {
    #[test]
    fn no_text_panics_the_loader(text in prop_oneof!["(\\PC|\n|\r|\t){0,200}", shreds(), wounded()]) {
        match load("p", &text, &NoDirectory, TODAY) {
            Ok(loaded) => prop_assert!(loaded.doubts.iter().all(|d| !d.to_string().is_empty())),
            Err(Problems(errors)) => {
                prop_assert!(!errors.is_empty());
                prop_assert!(errors.iter().all(|e| e.to_string().lines().count() <= 4));
            }
        }
    }

    #[test]
    fn no_bytes_panic_the_loader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = load_bytes("p", &bytes, &NoDirectory, TODAY);
    }
}
