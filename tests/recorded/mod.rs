//! Reads the recordings of `vectors/`: what hooks of real daemons were handed, call by call and field
//! by field. What is not compared in a test is that test's own to leave out, by name.

// Each test is a crate of its own and uses a part of this.
#![allow(dead_code)]

use sluice::request::description::{Description, Message};

/// One call of a hook.
pub struct Call {
    /// The command above it, as it was typed but for quotes.
    pub command: String,
    /// Which hook.
    pub message: Message,
    /// What was stated, in the order of the recording.
    pub fields: Vec<(String, String)>,
}

impl Call {
    /// The text of a field.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// `### command`, below it `SUBMIT field=value ...` or `MODIFY ...` for each call.
pub fn calls(recording: &str) -> Vec<Call> {
    let mut command = "";
    let mut calls = Vec::new();
    for line in recording.lines() {
        if let Some(typed) = line.strip_prefix("### ") {
            command = typed;
        } else if let Some((message, rest)) = line.split_once(' ') {
            let message = match message {
                "SUBMIT" => Message::Submit,
                "MODIFY" => Message::Update,
                _ => continue,
            };
            calls.push(Call { command: command.to_owned(), message, fields: fields(rest) });
        }
    }
    calls
}

/// `name=number`, `name="text"`, `script=<what it was>`.
fn fields(mut text: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let (value, rest) = if let Some(rest) = rest.strip_prefix('"') {
            rest.split_once('"').expect("a closing quote")
        } else if let Some(rest) = rest.strip_prefix('<') {
            let (_, rest) = rest.split_once('>').expect("a closing bracket");
            // The recorder named it and left it out.
            ("#!/bin/sh\\n# This script was created by sbatch --wrap.\\n\\ntrue\\n", rest)
        } else {
            rest.split_once(' ').unwrap_or((rest, ""))
        };
        fields.push((name.trim().to_owned(), value.replace("\\n", "\n")));
        text = rest;
    }
    fields
}

/// Sets a field by its recorded name, which is Slurm's own for nearly all of them. A field that is not
/// known, or a number that does not fit, fails the test.
pub fn set(d: &mut Description<'static>, name: &str, value: &str) {
    let number = || value.parse::<u64>().unwrap_or_else(|_| panic!("{name}={value}"));
    let tiny = || u8::try_from(number()).unwrap();
    let small = || u16::try_from(number()).unwrap();
    let wide = || u32::try_from(number()).unwrap();
    let text = || Some(value.to_owned().into());
    match name {
        "account" => d.account = text(),
        "alloc_resp_port" => d.alloc_resp_port = small(),
        "alloc_sid" => d.alloc_sid = wide(),
        "array_inx" => d.array_inx = text(),
        "bitflags" => d.bitflags = number(),
        "command" => d.command = text(),
        "comment" => d.comment = text(),
        "container" => d.container = text(),
        "core_spec" => d.core_spec = small(),
        "cores_per_socket" => d.cores_per_socket = small(),
        "cpus_per_task" => d.cpus_per_task = small(),
        "cpus_per_tres" => d.cpus_per_tres = text(),
        "dependency" => d.dependency = text(),
        "env_size" => d.env_size = wide(),
        "exc_nodes" => d.exc_nodes = text(),
        "export" => d.export = text(),
        // sbatch keeps `--export` there.
        "ENV" => d.export = Some(value.strip_prefix("SLURM_EXPORT_ENV=").unwrap().to_owned().into()),
        "features" => d.features = text(),
        "het" => d.het_job_offset = wide(),
        "licenses" => d.licenses = text(),
        "mail_user" => d.mail_user = text(),
        "max_nodes" => d.max_nodes = wide(),
        "mem_per_tres" => d.mem_per_tres = text(),
        "min_cpus" => d.min_cpus = wide(),
        "min_nodes" => d.min_nodes = wide(),
        "name" => d.name = text(),
        "nice" => d.nice = wide(),
        "ntasks_per_core" => d.ntasks_per_core = small(),
        "ntasks_per_node" => d.ntasks_per_node = small(),
        "ntasks_per_socket" => d.ntasks_per_socket = small(),
        "ntasks_per_tres" => d.ntasks_per_tres = small(),
        "num_tasks" => d.num_tasks = wide(),
        "other_port" => d.other_port = small(),
        "overcommit" => d.overcommit = tiny(),
        "partition" => d.partition = text(),
        "pn_min_cpus" => d.pn_min_cpus = small(),
        "pn_min_memory" => d.pn_min_memory = number(),
        "pn_min_tmp_disk" => d.pn_min_tmp_disk = wide(),
        "prefer" => d.prefer = text(),
        "priority" => d.priority = wide(),
        "qos" => d.qos = text(),
        "req_nodes" => d.req_nodes = text(),
        "requeue" => d.requeue = small(),
        "reservation" => d.reservation = text(),
        "script" => d.script = text(),
        "shared" => d.shared = small(),
        "sockets_per_node" => d.sockets_per_node = small(),
        "std_err" => d.std_err = text(),
        "std_in" => d.std_in = text(),
        "std_out" => d.std_out = text(),
        "submit_line" => d.submit_line = text(),
        "threads_per_core" => d.threads_per_core = small(),
        "time_limit" => d.time_limit = wide(),
        "time_min" => d.time_min = wide(),
        "tres_per_job" => d.tres_per_job = text(),
        "tres_per_node" => d.tres_per_node = text(),
        "tres_per_socket" => d.tres_per_socket = text(),
        "tres_per_task" => d.tres_per_task = text(),
        "user_id" => d.user_id = wide(),
        "warn_flags" => d.warn_flags = small(),
        "warn_signal" => d.warn_signal = small(),
        "warn_time" => d.warn_time = small(),
        "wckey" => d.wckey = text(),
        "work_dir" => d.work_dir = text(),
        "x11" => d.x11 = small(),
        unknown => panic!("a field that no test reads: {unknown}"),
    }
}
