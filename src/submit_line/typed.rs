//! A request as a command line that makes it, so that an option can be changed and the line read
//! again as the client reads it.

use super::{Command, CommandLine, Script, Series, World};
use crate::request::memory::Mb;
use crate::request::{Memory, Origin, Request, Sharing, TimeLimit, Tres};
use crate::verdict::Remedy;

/// Options by long name with their values; an empty value is a flag without one.
#[derive(Clone, Debug)]
pub struct TypedLine<'r> {
    request: &'r Request<'r>,
    options: Vec<(&'static str, String)>,
}

impl<'r> TypedLine<'r> {
    /// The line of `request`; `None` where a value is none that an option could have.
    pub fn of(request: &'r Request<'r>) -> Option<Self> {
        let mut line = TypedLine { request, options: Vec::new() };
        line.names();
        line.numbers();
        line.resources()?;
        line.behaviour()?;
        Some(line)
    }

    /// The lines that may have been typed: with everything the request states, and without what the
    /// client works out from the rest.
    pub fn variants(&self) -> Vec<Self> {
        const DERIVED: [&[&str]; 8] = [
            &[],
            &["ntasks"],
            &["cpus-per-task"],
            &["ntasks", "cpus-per-task"],
            &["nodes"],
            &["ntasks", "nodes"],
            &["ntasks-per-node"],
            &["ntasks", "nodes", "ntasks-per-node", "cpus-per-task"],
        ];
        let mut lines: Vec<Self> = Vec::new();
        for derived in DERIVED {
            let mut line = self.clone();
            line.options.retain(|(name, _)| !derived.contains(name));
            if !lines
                .iter()
                .any(|known| known.options.len() == line.options.len() && known.options == line.options)
            {
                lines.push(line);
            }
        }
        lines
    }

    /// The line with a remedy typed; `None` where the remedy is nothing to type, or takes away what
    /// is not seen here.
    pub fn with(&self, remedy: &Remedy) -> Option<Self> {
        let mut line = self.clone();
        match remedy {
            Remedy::Use { option, value, instead_of, .. } => {
                line.options.retain(|(name, _)| name != option && !instead_of.contains(name));
                line.options.push((option, value.clone()));
            }
            Remedy::Drop { option } => {
                line.options.retain(|(name, _)| name != option);
                if line.options.len() == self.options.len() {
                    return None;
                }
            }
            Remedy::DropFromList { option, names } => {
                let (_, list) = line.options.iter_mut().find(|(name, _)| name == option)?;
                let left = |name: &&str| !names.iter().any(|gone| gone == name.trim());
                *list = list.split(',').filter(left).collect::<Vec<_>>().join(",");
            }
            Remedy::Change(_) => return None,
        }
        Some(line)
    }

    /// The request that the line makes of a client of this series; `None` where that refuses it.
    pub fn read(&self, series: Series) -> Option<Request<'static>> {
        let original = self.request;
        let command = if original.origin == Origin::Interactive { Command::Salloc } else { Command::Sbatch };
        let words = self.options.iter().map(|(name, value)| match value.as_str() {
            "" => format!("--{name}"),
            value => format!("--{name}={value}"),
        });
        let mut argv: Vec<String> = std::iter::once(command.to_string()).chain(words).collect();
        let directory = original.work_dir.as_deref().filter(|d| d.starts_with('/')).unwrap_or("/");
        let world = World {
            environment: &|_| None,
            directory,
            user_id: original.user_id,
            group_id: original.group_id.unwrap_or(original.user_id),
        };
        // Its own directives are in the options already.
        let script = Script { path: "/job.sh", text: "#!/bin/sh\n" };
        if command == Command::Sbatch {
            argv.push("job.sh".to_owned());
        }
        let submission = CommandLine::new(command, series, &argv, &[]).read(&world, Some(script));
        if submission.problems.iter().any(super::Problem::refuses) {
            return None;
        }
        let read = submission.components.into_iter().next()?.request;
        let own = |text: &Option<crate::request::Text<'_>>| text.as_deref().map(|t| t.to_owned().into());
        Some(Request {
            // No option says these.
            user_id: original.user_id,
            submit_uid: original.submit_uid,
            privileged: original.privileged,
            group_id: original.group_id,
            origin: original.origin,
            het_offset: original.het_offset,
            test_only: original.test_only,
            arguments: original.arguments,
            script: own(&original.script),
            command: own(&original.command),
            submit_line: own(&original.submit_line),
            admin_comment: own(&original.admin_comment),
            justify: read.justify.or_else(|| own(&original.justify)),
            lineage: read.lineage.or_else(|| own(&original.lineage)),
            ..read
        })
    }

    fn push(&mut self, name: &'static str, value: Option<String>) {
        self.options.extend(value.map(|value| (name, value)));
    }

    fn names(&mut self) {
        let r = self.request;
        let texts = [
            ("partition", &r.partition),
            ("qos", &r.qos),
            ("account", &r.account),
            ("reservation", &r.reservation),
            ("constraint", &r.features),
            ("prefer", &r.prefer),
            ("nodelist", &r.req_nodes),
            ("exclude", &r.exc_nodes),
            ("licenses", &r.licenses),
            ("output", &r.std_out),
            ("error", &r.std_err),
            ("dependency", &r.dependency),
            ("comment", &r.comment),
            ("job-name", &r.name),
            ("container", &r.container),
            ("wckey", &r.wckey),
            ("mail-user", &r.mail_user),
            ("export", &r.export),
            ("lineage", &r.lineage),
        ];
        for (name, text) in texts {
            self.push(name, text.as_deref().filter(|t| !t.is_empty()).map(str::to_owned));
        }
        self.push("array", r.array.as_ref().map(|a| a.as_str().to_owned()));
    }

    fn numbers(&mut self) {
        let r = self.request;
        let nodes = r.min_nodes.map(|low| match r.max_nodes {
            Some(high) if high != low => format!("{low}-{high}"),
            _ => low.to_string(),
        });
        self.push("nodes", nodes);
        // Where GPUs number the tasks, what was typed is left in the CPUs alone.
        let per_task = u32::from(r.cpus_per_task.unwrap_or(1)).max(1);
        let counted = r.min_cpus.filter(|_| r.ntasks_per_gpu.is_some()).map(|cpus| cpus / per_task);
        self.push("ntasks", r.num_tasks.map(|n| n.max(counted.unwrap_or(0)).to_string()));
        // The client raises the minimum to the CPUs of a task by itself.
        let mincpus = r.pn_min_cpus.filter(|&n| n > 1 && r.cpus_per_task.is_none_or(|c| n > c));
        let small = [
            ("ntasks-per-node", r.ntasks_per_node),
            ("ntasks-per-socket", r.ntasks_per_socket),
            ("ntasks-per-core", r.ntasks_per_core),
            ("ntasks-per-gpu", r.ntasks_per_gpu),
            ("cpus-per-task", r.cpus_per_task),
            ("mincpus", mincpus),
            ("sockets-per-node", r.sockets_per_node),
            ("cores-per-socket", r.cores_per_socket),
            ("threads-per-core", r.threads_per_core),
            ("core-spec", r.core_spec),
        ];
        for (name, number) in small {
            self.push(name, number.map(|n| n.to_string()));
        }
    }

    fn resources(&mut self) -> Option<()> {
        let r = self.request;
        let lists = [
            ("gpus", &r.tres_per_job),
            ("gres", &r.tres_per_node),
            ("gpus-per-socket", &r.tres_per_socket),
            ("gpus-per-task", &r.tres_per_task),
            ("cpus-per-gpu", &r.cpus_per_tres),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let only_gpus = list.items().all(|i| i.name == "gpu");
            match (name, only_gpus) {
                ("gres", _) => self.push("gres", Some(items(list, bare))),
                // What is written as typed came by --tres-per-task.
                ("gpus-per-task", _) if !only_gpus || is_raw(list.as_str()) => {
                    self.push("tres-per-task", Some(list.as_str().replace('=', ":")));
                }
                (_, true) => self.push(name, Some(items(list, of_gpus))),
                (_, false) => return None,
            }
        }
        let memory = match r.memory {
            Memory::Unset => None,
            Memory::WholeNode => Some(("mem", 0)),
            Memory::PerNode(mb) => Some(("mem", mb)),
            Memory::PerCpu(mb) => Some(("mem-per-cpu", mb)),
        };
        if let Some((name, mb)) = memory {
            self.push(name, Some(Mb(mb).to_string()));
        }
        self.push("mem-per-gpu", r.mem_per_tres.gpu_count().map(|mb| Mb(mb).to_string()));
        self.push("tmp", r.pn_min_tmp_disk.map(|mb| mb.to_string()));
        Some(())
    }

    fn behaviour(&mut self) -> Option<()> {
        let r = self.request;
        let sharing = match r.shared {
            Sharing::Unset => None,
            Sharing::Exclusive => Some(("exclusive", "")),
            Sharing::User => Some(("exclusive", "user")),
            Sharing::Mcs => Some(("exclusive", "mcs")),
            Sharing::Topo => Some(("exclusive", "topo")),
            Sharing::Oversubscribe => Some(("oversubscribe", "")),
            Sharing::Other(_) => return None,
        };
        let flags = [
            r.overcommit.then_some(("overcommit", "")),
            sharing,
            r.requeue.map(|on| (if on { "requeue" } else { "no-requeue" }, "")),
        ];
        self.options.extend(flags.into_iter().flatten().map(|(name, value)| (name, value.to_owned())));
        let time = |limit| match limit {
            TimeLimit::Unset => None,
            TimeLimit::Minutes(n) => Some(n.to_string()),
            TimeLimit::Unlimited => Some("UNLIMITED".to_owned()),
        };
        self.push("time", time(r.time_limit));
        self.push("time-min", time(r.time_min));
        let signal = r.signal.map(|s| {
            let batch = if s.batch_only { "B:" } else { "" };
            format!("{batch}{}@{}", s.signal, s.time)
        });
        self.push("signal", signal);
        Some(())
    }
}

/// Whether the client left the text as typed; GPUs that it writes down itself are `gres:gpu:1` or
/// `gres/gpu=1`.
fn is_raw(text: &str) -> bool {
    text.starts_with("gres/") && !text.contains('=')
}

/// A list with each item as an option takes it.
fn items(list: &Tres<'_>, one: fn(&str) -> &str) -> String {
    list.as_str().split(',').map(|item| one(item.trim())).collect::<Vec<_>>().join(",")
}

/// `gpu:a100:2` of `gres/gpu:a100:2`.
fn bare(item: &str) -> &str {
    item.strip_prefix("gres/").or_else(|| item.strip_prefix("gres:")).unwrap_or(item)
}

/// `a100:2` of `gres/gpu:a100:2`; just `gpu` is one of them.
fn of_gpus(item: &str) -> &str {
    let rest = bare(item).strip_prefix("gpu").unwrap_or("");
    match rest.strip_prefix([':', '=']).unwrap_or(rest) {
        "" => "1",
        rest => rest,
    }
}
