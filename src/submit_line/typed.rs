//! A request as a command line that makes it, so that an option can be changed and the line read
//! again as the client reads it.

use std::borrow::Cow;

use super::{Command, CommandLine, Script, Series, World};
use crate::request::memory::Mb;
use crate::request::{Memory, Origin, Request, Sharing, Text, TimeLimit, Tres};
use crate::verdict::Remedy;

/// Bytes of all values together. slurmctld checks their lengths only after its hook.
const LONGEST: usize = 16 << 10;

/// Options by long name with their values; an empty value is a flag without one.
#[derive(Clone, Debug)]
pub struct TypedLine<'r> {
    request: &'r Request<'r>,
    options: Vec<(&'static str, String)>,
}

impl<'r> TypedLine<'r> {
    /// The line of `request`; `None` where a value is none that an option could have, and where it
    /// is longer than anyone types.
    pub fn of(request: &'r Request<'r>) -> Option<Self> {
        let mut line = TypedLine { request, options: Vec::new() };
        line.names();
        line.numbers();
        line.resources()?;
        line.behaviour()?;
        let length: usize = line.options.iter().map(|(_, value)| value.len()).sum();
        (length <= LONGEST).then_some(line)
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
        for start in [Some(self.clone()), self.with_gpus_per_node()].into_iter().flatten() {
            for derived in DERIVED {
                let mut line = start.clone();
                line.options.retain(|(name, _)| !derived.contains(name));
                if !lines.iter().any(|known| known.options == line.options) {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// The same with the GPUs of `--gres` by `--gpus-per-node`, which the client puts before it.
    fn with_gpus_per_node(&self) -> Option<Self> {
        let items: Vec<&str> = self.request.tres_per_node.as_str().split(',').collect();
        let is_gpu = |item: &&&str| Tres::new(**item).gpus().next().is_some();
        let gpus = items.iter().take_while(is_gpu).count();
        let (gpus, rest) = items.split_at_checked(gpus).filter(|(gpus, _)| !gpus.is_empty())?;
        let mut line = self.clone();
        line.options.retain(|(name, _)| *name != "gres");
        let join = |items: &[&str], one: fn(&str) -> &str| {
            items.iter().map(|item| one(item)).collect::<Vec<_>>().join(",")
        };
        line.push("gpus-per-node", Some(join(gpus, of_gpus)));
        line.push("gres", Some(join(rest, bare)).filter(|text| !text.is_empty()));
        Some(line)
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
    pub fn read(&self, series: Series) -> Option<Request<'r>> {
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
        // A script may have megabytes: it is lent, never copied.
        let own = |text: &'r Option<Text<'r>>| text.as_deref().map(Cow::Borrowed);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: &str, series: Series) -> Request<'static> {
        let argv: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let world = World { environment: &|_| None, directory: "/home/u", user_id: 7, group_id: 7 };
        let script = Script { path: "/home/u/job.sh", text: "#!/bin/sh\n#SBATCH --time=3\n" };
        let line = CommandLine::new(Command::Sbatch, series, &argv, &[]);
        line.read(&world, Some(script)).components.remove(0).request
    }

    /// Whether some line that could have been typed makes the same request again.
    fn comes_back(words: &str, series: Series) -> bool {
        let request = request(words, series);
        let lines = TypedLine::of(&request).map(|line| line.variants()).unwrap_or_default();
        lines.iter().any(|line| line.read(series).as_ref() == Some(&request))
    }

    #[test]
    fn a_request_is_made_again_by_its_own_line() {
        for words in [
            "sbatch job.sh",
            "sbatch -p gpu,debug -q high -A bio -t 4:00:00 --time-min=10 job.sh",
            "sbatch --gpus=a100:4 -N2-3 --mem-per-gpu=10G --cpus-per-gpu=4 job.sh",
            "sbatch --gres=gpu,nvme:2 -n 4 -c 3 --mem-per-cpu=0 --exclusive=user job.sh",
            "sbatch --gpus-per-node=2 --gres=nvme:1 --ntasks-per-node=2 --mem=0 job.sh",
            "sbatch --gpus=4 --gpus-per-task=1 --mincpus=8 job.sh",
            "sbatch -n2 --tres-per-task=gres/gpu:1 --overcommit --core-spec=2 job.sh",
            "sbatch -a 0-9%2 -o logs/%j.out -e err --requeue --signal=B:USR1@90 --comment=x job.sh",
            "sbatch --dependency=afterok:1 --export=A=1 --no-requeue --tmp=4G --x11 job.sh",
        ] {
            for series in [Series::V22_05, Series::V24_11, Series::V26_05] {
                assert!(comes_back(words, series), "{words} ({series})");
            }
        }
    }

    #[test]
    fn a_line_longer_than_anyone_types_is_not_tried() {
        let request = Request { comment: Some("x".repeat(LONGEST + 1).into()), ..Request::default() };
        assert!(TypedLine::of(&request).is_none());
    }

    #[test]
    fn what_is_not_there_cannot_be_dropped() {
        let request = Request { partition: Some("a,b".into()), ..Request::default() };
        let line = TypedLine::of(&request).unwrap();
        assert!(line.with(&Remedy::Drop { option: "mem" }).is_none());
        let names = vec!["a".to_owned()];
        let left = line.with(&Remedy::DropFromList { option: "partition", names }).unwrap();
        assert_eq!(left.read(Series::LATEST).unwrap().partition.as_deref(), Some("b"));
    }
}
