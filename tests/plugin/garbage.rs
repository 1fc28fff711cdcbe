//! Whatever an API client puts into a job description: every text NULL, empty, a megabyte, not
//! UTF-8, every number at its ends and sentinels. Nothing crashes, nothing leaks, and what is said
//! stays within a message's bounds.

use std::ffi::{CString, c_char};

use sluice::date::Date;
use sluice::policy::load::load;
use sluice::policy::resolve::NoDirectory;

use crate::job::{Job, NUMBERS, TEXTS};
use crate::plugin::{Plugin, Stubs};
use crate::process::{Under, alone, alone_under};
use crate::verdict::POLICY;

const MEGABYTE: usize = 1 << 20;

/// Every rule that can be had without options, on top of what the other tests use, and limits.
fn every_rule() -> String {
    let today = Date { year: 2026, month: 1, day: 1 };
    let limits = "[[limit]]\nname = \"all\"\nmax_nodes = 1\nmax_gpus = 1\nmax_cpus = 1\nmax_tasks = 1\n\
                  max_time = \"1\"\nmax_memory = \"1M\"\narray_max = 1\nforbid = [\"mem=0\"]\n";
    let names = sluice::rules::ALL.iter().map(|r| format!("[rule.{}]\n", r.name));
    names.chain([limits.to_owned()]).fold(POLICY.to_owned(), |policy, more| {
        let longer = format!("{policy}{more}");
        if load("all", &longer, &NoDirectory, today).is_ok() { longer } else { policy }
    })
}

/// A job that every rule has something to look at.
fn rich(stubs: Stubs) -> Job {
    Job::by(stubs, 1001)
        .text("tres_per_job", "gres/gpu:a100:4")
        .text("partition", "gpu,lent,other")
        .text("qos", "high,normal")
        .text("account", "bio")
        .text("array_inx", "0-99%5")
        .text("std_out", "/home/u/log_%j")
        .text("work_dir", "/home/u")
        .text("name", "n")
        .number("shared", 0)
        .number("num_tasks", 8)
        .number("min_nodes", 1)
        .number("max_nodes", 2)
        .number("time_limit", 60)
}

/// Submits and checks what comes back.
fn submit(plugin: &Plugin, stubs: Stubs, job: &mut Job, what: &str) {
    let answer = plugin.submit(job);
    assert!((0..=8500).contains(&answer.code), "{what}: {answer:?}");
    if let Some(message) = answer.message {
        assert!(message.len() <= 2048, "{what}: {} bytes", message.len());
        for line in message.split('\n') {
            let plain = line.bytes().all(|b| (b' '..=b'~').contains(&b));
            assert!(plain && line.len() <= 100 && !line.is_empty(), "{what}: {line:?}");
        }
    }
    assert!(!stubs.is_locked(), "{what}");
}

/// Puts garbage of up to `long` bytes into each field in turn, then into all at once; each field gets
/// every `step`th value, beginning with another than the field before.
fn drive(folder: &crate::process::Folder, long: usize, step: usize) {
    let stubs = Stubs::load();
    let plugin = Plugin::start(stubs);
    assert!(folder.log().contains("is in force"), "{}", folder.log());

    let mut texts: Vec<(String, Vec<u8>)> = [
        "",
        ",",
        " ",
        "\n\x1b[31mred\r\n",
        "%s%n%s%n",
        "gpu:18446744073709551615",
        "gres/gpu:a100=99999999999999999999999,gpu:9p",
        "0-4000000,1-4000001:3%4294967295",
        "-1",
        "\u{fffd}\u{202e}\u{1f600}",
    ]
    .iter()
    .map(|t| (format!("{t:?}"), t.as_bytes().to_vec()))
    .collect();
    texts.push(("not UTF-8".to_owned(), b"a\xff\xfe\x80,gpu:\xc3\x28".to_vec()));
    for unit in ["A", ",", "gpu:1,", "%j", "\u{20ac}"] {
        texts.push((format!("much of {unit}"), unit.repeat(long / unit.len()).into_bytes()));
    }
    for (nth, (field, _)) in TEXTS.iter().enumerate() {
        let mut job = rich(stubs);
        job.clear(field);
        submit(&plugin, stubs, &mut job, &format!("{field} NULL"));
        for (what, bytes) in texts.iter().skip(nth % step).step_by(step) {
            let mut job = rich(stubs);
            job.set_bytes(field, bytes);
            submit(&plugin, stubs, &mut job, &format!("{field} {what}"));
        }
    }
    let numbers = [
        0,
        1,
        0x7f,
        0xfe,
        0xff,
        0x7fff,
        0x8000,
        0xfffe,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_fffd,
        0xffff_fffe,
        0xffff_ffff,
        u64::MAX >> 1,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    for (nth, (field, _)) in NUMBERS.iter().enumerate() {
        for &n in numbers.iter().skip(nth % step).step_by(step) {
            submit(&plugin, stubs, &mut rich(stubs).number(field, n), &format!("{field} {n:#x}"));
        }
    }
    // Everything at once.
    for n in numbers {
        let mut job = rich(stubs);
        NUMBERS.iter().for_each(|(field, _)| job.set_number(field, n));
        submit(&plugin, stubs, &mut job, &format!("all numbers {n:#x}"));
    }
    for (what, bytes) in &texts {
        let mut job = rich(stubs);
        TEXTS.iter().for_each(|(field, _)| job.set_bytes(field, bytes));
        submit(&plugin, stubs, &mut job, &format!("all texts {what}"));
    }
    let mut job = rich(stubs);
    TEXTS.iter().for_each(|(field, _)| job.clear(field));
    submit(&plugin, stubs, &mut job, "all texts NULL");
    lists(&plugin, stubs);

    plugin.fini();
    assert_eq!(stubs.live_blocks(), 0, "nothing leaks");
    let log = folder.log();
    assert!(!log.contains("internal error"), "{log}");
    assert!(log.lines().all(|l| l.starts_with("sluice: ") || l.starts_with("error: sluice: ")), "forged");
    plugin.unload();
}

/// Arrays of text: shorter than they say, without anything in them, with anything in them.
fn lists(plugin: &Plugin, stubs: Stubs) {
    let entries: Vec<CString> = [&b"A=1"[..], b"=", b"SLURM_EXPORT_ENV", b"SLURM_EXPORT_ENV=\xff,a", b""]
        .iter()
        .map(|e| CString::new(*e).unwrap())
        .collect();
    for len in 0..=entries.len() {
        for stated in [0, 1, 5, 1000, u32::MAX] {
            let mut list: Vec<*mut c_char> = entries[..len].iter().map(|e| e.as_ptr().cast_mut()).collect();
            list.push(std::ptr::null_mut());
            let mut job = rich(stubs);
            let d = job.desc();
            (d.environment, d.env_size) = (list.as_mut_ptr(), stated);
            (d.spank_job_env, d.spank_job_env_size) = (list.as_mut_ptr(), stated);
            (d.argv, d.argc) = (list.as_mut_ptr(), stated);
            submit(plugin, stubs, &mut job, &format!("{len} entries, {stated} stated"));
        }
    }
}

#[test]
fn no_description_harms_the_plugin() {
    alone("garbage::no_description_harms_the_plugin", Some(&every_rule()), |folder| {
        drive(folder, MEGABYTE, 1);
    });
}

#[test]
fn valgrind_finds_nothing() {
    // Under valgrind everything takes fifty times as long; what it looks for shows with less.
    alone_under(Under::Valgrind, "garbage::valgrind_finds_nothing", Some(&every_rule()), |folder| {
        drive(folder, 2_000, 11);
    });
}
