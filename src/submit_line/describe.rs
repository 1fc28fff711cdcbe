//! The job description that a client makes of its options (`slurm_opt_create_job_desc`,
//! slurm_opt.c; `_opt_verify` and `_fill_job_desc_from_opts` of each command).

use super::chosen::Chosen;
use super::conflict;
use super::passes::World;
use super::{Command, Problem, ProblemKind, Series, gres, hostlist, value};
use crate::request::TimeLimit;
use crate::request::description::{
    CORE_SPEC_THREAD, Description, INFINITE, KILL_JOB_BATCH, MEM_PER_CPU, NICE_OFFSET, NO_VAL, NO_VAL16,
    digest,
};

/// What one component is made of besides its options.
pub struct Source<'s> {
    /// Which client.
    pub command: Command,
    /// Of which series.
    pub series: Series,
    /// Who and where.
    pub world: &'s World<'s>,
    /// What follows the options: script or command, and its arguments.
    pub arguments: &'s [String],
    /// The script's text, for the component that carries it.
    pub script: Option<&'s str>,
    /// `--wrap`'s command.
    pub wrapped: bool,
    /// The command line as the client hands it on.
    pub submit_line: String,
    /// Which component, where there are several.
    pub het_offset: Option<u32>,
    /// The name that the client made up for an earlier component, and keeps.
    pub made_up_name: Option<String>,
}

/// Checks the options of a component, and describes it as far as they go together.
pub fn describe(
    chosen: &mut Chosen,
    source: &Source<'_>,
    problems: &mut Vec<Problem>,
) -> Description<'static> {
    let (command, series) = (source.command, source.series);
    conflict::Check { chosen, problems, command, series }.all();
    let mut refuse = |option: Option<&'static str>, message: String| {
        let place = option.and_then(|o| chosen.get(o)).map(|g| g.place);
        problems.push(Problem { kind: ProblemKind::Conflict, option, place, message });
    };
    let per_task = match tres_per_task(chosen, series) {
        Ok(text) => text,
        Err(words) => {
            refuse(Some("tres-per-task"), words);
            None
        }
    };
    let counts = Counts::of(chosen, source, per_task.as_deref());
    if let Some(tasks) = counts.no_tasks {
        refuse(Some("ntasks-per-node"), format!("invalid number of tasks (-n {tasks})"));
    }
    if counts.too_few_for_planes {
        refuse(
            Some("distribution"),
            "Too few processes for the requested {plane,node} distribution".to_owned(),
        );
    }
    if let Some((min, max)) = counts.crossed {
        refuse(Some("nodes"), format!("invalid number of nodes (-N {min}-{max})"));
    }
    for option in ["uid", "gid"] {
        if chosen.is_set(option) && source.world.user_id != 0 {
            refuse(Some(option), format!("--{option} only permitted by root user"));
        }
    }
    let unsized_plane = chosen.text("distribution").is_some_and(|text| text.eq_ignore_ascii_case("plane"));
    if unsized_plane && (source.world.environment)("SLURM_DIST_PLANESIZE").is_none() {
        refuse(Some("distribution"), "Invalid plane size or size not specified".to_owned());
    }
    let arbitrary = |text: &str| {
        let kind = text.split(',').next().unwrap_or(text);
        kind.eq_ignore_ascii_case("arbitrary") || kind.eq_ignore_ascii_case("hostfile")
    };
    if chosen.text("distribution").is_some_and(arbitrary)
        && !chosen.is_set("nodelist")
        && (source.world.environment)("SLURM_HOSTFILE").is_none()
    {
        let words =
            "With Arbitrary distribution you need to specify a nodelist or hostfile with the -w option";
        refuse(Some("distribution"), words.to_owned());
    }
    let mut d = Description::default();
    if !chosen.is_set("test-only") {
        // That there is a session is all that it says: a test has none.
        d.alloc_sid = 1;
    }
    names(&mut d, chosen, source);
    amounts(&mut d, chosen, &counts, per_task, series);
    behaviour(&mut d, chosen, source);
    files(&mut d, chosen, source);
    if !chosen.is_set("clusters") && !chosen.is_set("cluster") {
        if let Err(words) = gres::derive(&mut d, series) {
            let option = ["gpus-per-task", "gpus-per-node", "gres", "gpus", "cpus-per-gpu", "mem-per-gpu"];
            refuse(option.into_iter().find(|o| chosen.is_set(o)), words);
        }
    }
    d
}

/// Numbers of nodes, tasks and CPUs while the client works them out.
struct Counts {
    ntasks: i64,
    ntasks_set: bool,
    min_nodes: i64,
    max_nodes: i64,
    nodes_set: bool,
    cpus_per_task: Option<i64>,
    pn_min_cpus: Option<i64>,
    ntasks_per_node: Option<i64>,
    ntasks_per_core: Option<i64>,
    sockets: Option<i64>,
    cores: Option<i64>,
    threads: Option<i64>,
    /// Least and most nodes, where there are more of the one than of the other.
    crossed: Option<(i64, i64)>,
    /// A number of tasks below one, where the client takes none.
    no_tasks: Option<i64>,
    /// `--distribution=plane=N` with too few tasks for the nodes.
    too_few_for_planes: bool,
}

impl Counts {
    fn of(chosen: &Chosen, source: &Source<'_>, per_task: Option<&str>) -> Counts {
        let (command, series) = (source.command, source.series);
        let nodes = chosen.text("nodes").and_then(|t| value::node_count(t).ok());
        let mut c = Counts {
            ntasks: chosen.int("ntasks").unwrap_or(1),
            ntasks_set: chosen.is_set("ntasks"),
            min_nodes: nodes.map_or(1, |(min, _)| i64::from(min)),
            max_nodes: nodes.map_or(0, |(_, max)| i64::from(max)),
            nodes_set: nodes.is_some(),
            cpus_per_task: chosen.int("cpus-per-task"),
            pn_min_cpus: chosen.int("mincpus"),
            ntasks_per_node: chosen.int("ntasks-per-node"),
            ntasks_per_core: chosen.int("ntasks-per-core"),
            sockets: chosen.int("sockets-per-node"),
            cores: chosen.int("cores-per-socket"),
            threads: chosen.int("threads-per-core"),
            crossed: None,
            no_tasks: None,
            too_few_for_planes: false,
        };
        c.cpus_per_task = per_task.and_then(cpus_of).or(c.cpus_per_task);
        c.topology(chosen);
        c.listed_hosts(chosen, command, series);
        let fixed = c.max_nodes == 0 || c.min_nodes == c.max_nodes;
        if series < Series::V24_11 && !c.ntasks_set && (fixed || command != Command::Sbatch) {
            if let (Command::Sbatch | Command::Salloc, Some(per_node)) = (command, c.ntasks_per_node) {
                c.ntasks = c.min_nodes.saturating_mul(per_node);
                c.ntasks_set = true;
            }
        }
        if let Some(cpus) = c.cpus_per_task.filter(|&n| c.pn_min_cpus.unwrap_or(-1) < n) {
            c.pn_min_cpus = Some(cpus);
        }
        c.crossed = (c.max_nodes != 0 && c.min_nodes > c.max_nodes).then_some((c.min_nodes, c.max_nodes));
        c.no_tasks = (command != Command::Sbatch && c.ntasks <= 0).then_some(c.ntasks);
        c.planes(chosen, command);
        c.massage(command, series, chosen.is_set("extra-node-info"));
        c
    }

    /// `--extra-node-info` and `--hint` set what single options set too; the last one counts.
    fn topology(&mut self, chosen: &Chosen) {
        let info = chosen.text("extra-node-info").and_then(|t| value::socket_core_thread(t).ok());
        if let Some(info) = info {
            let places = ["sockets-per-node", "cores-per-socket", "threads-per-core"];
            let fields = [&mut self.sockets, &mut self.cores, &mut self.threads];
            for ((field, name), count) in fields.into_iter().zip(places).zip(info) {
                if chosen.is_later("extra-node-info", name) {
                    *field = count.map(i64::from);
                }
            }
        }
        for hint in chosen.text("hint").unwrap_or("").split(',') {
            match hint.to_ascii_lowercase().as_str() {
                "compute_bound" => (self.sockets, self.cores, self.threads) = (None, None, Some(1)),
                "memory_bound" => (self.cores, self.threads) = (Some(1), Some(1)),
                "nomultithread" => self.threads = Some(1),
                "multithread" => (self.threads, self.ntasks_per_core) = (None, None),
                _ => {}
            }
        }
    }

    /// `--nodelist` fixes the number of nodes.
    fn listed_hosts(&mut self, chosen: &Chosen, command: Command, series: Series) {
        let Some(given) = chosen.get("nodelist").filter(|g| g.opt.name == "nodelist") else { return };
        let Some(hosts) = given.value.as_deref().and_then(hostlist::count).map(i64::from) else { return };
        if !self.nodes_set {
            self.min_nodes = hosts;
        } else if series < Series::V24_11 {
            // srun took hosts off a list that was longer than the most nodes.
            let cut = command == Command::Srun && self.max_nodes > 0;
            let hosts = if cut { hosts.min(self.max_nodes) } else { hosts };
            self.min_nodes = self.min_nodes.max(hosts);
        }
        self.nodes_set = true;
    }

    /// srun does not look.
    fn planes(&mut self, chosen: &Chosen, command: Command) {
        let size =
            chosen.text("distribution").and_then(|t| t.split_once('=')).and_then(|(_, n)| n.parse().ok());
        let Some(size) = size.filter(|&n: &i64| n > 0 && command != Command::Srun) else { return };
        let short =
            self.ntasks / size < self.min_nodes || (command == Command::Sbatch && self.min_nodes <= 0);
        self.too_few_for_planes = short && (self.min_nodes - 1).saturating_mul(size) >= self.ntasks;
    }

    /// "Massage the numbers" of `_opt_verify`.
    fn massage(&mut self, command: Command, series: Series, extra: bool) {
        let fixed = self.min_nodes == self.max_nodes || self.max_nodes == 0;
        let alone = series < Series::V24_11 || self.ntasks_per_node.is_none();
        if (self.nodes_set || extra) && fixed && alone && !self.ntasks_set {
            self.ntasks = if command == Command::Sbatch { self.min_nodes.max(1) } else { self.min_nodes };
            let factors = [self.sockets, self.cores, self.threads];
            if command != Command::Srun || factors.iter().all(Option::is_some) {
                for factor in factors.into_iter().flatten() {
                    self.ntasks = self.ntasks.saturating_mul(factor);
                    self.ntasks_set = true;
                }
            }
        } else if self.nodes_set && self.ntasks_set {
            self.max_nodes = self.max_nodes.min(self.ntasks);
            if self.ntasks < self.min_nodes {
                (self.min_nodes, self.max_nodes) = (self.ntasks, self.ntasks);
            }
            let fits = |per_node| self.min_nodes == 0 || per_node == self.ntasks / self.min_nodes;
            if command == Command::Srun && series < Series::V24_11 {
                self.ntasks_per_node = self.ntasks_per_node.filter(|&n| fits(n));
            }
        }
        if let (Command::Srun, Some(per_node), false) = (command, self.ntasks_per_node, self.ntasks_set) {
            self.ntasks = self.min_nodes.saturating_mul(per_node);
            self.ntasks_set = true;
        }
    }

    fn min_cpus(&self, overcommit: bool, series: Series) -> i64 {
        let fixed = self.min_nodes == self.max_nodes || self.max_nodes == 0;
        let tasks = match self.ntasks_per_node {
            Some(per_node) if series >= Series::V24_11 && !self.ntasks_set && fixed => {
                self.min_nodes.saturating_mul(per_node)
            }
            _ => self.ntasks,
        };
        match self.cpus_per_task {
            _ if overcommit => self.min_nodes.max(1),
            Some(cpus) => tasks.saturating_mul(cpus),
            None if self.nodes_set && self.min_nodes == 0 => 0,
            None => tasks,
        }
    }
}

/// Numbers that a C int held, as the field of the description takes them.
fn n32(n: i64) -> u32 {
    u32::try_from(n).unwrap_or(NO_VAL - 1)
}

fn n16(n: Option<i64>) -> u16 {
    n.map_or(NO_VAL16, |n| u16::try_from(n).unwrap_or(NO_VAL16 - 1))
}

/// CPUs that `--tres-per-task` names.
fn cpus_of(text: &str) -> Option<i64> {
    let item = text.split(',').find_map(|i| i.strip_prefix("cpu"))?;
    let (number, _) = value::leading_number(item.strip_prefix([':', '='])?)?;
    Some(number)
}

/// `tres_per_task` from `--tres-per-task`, `--gpus-per-task` and `--cpus-per-task`. Up to 22.05 it
/// holds the GPUs alone.
fn tres_per_task(chosen: &Chosen, series: Series) -> Result<Option<String>, String> {
    let gpus = chosen.text("gpus-per-task").filter(|t| !t.is_empty());
    if series < Series::V24_11 {
        return Ok(gpus.map(|t| gres::with_prefix(t, "gres:gpu:")));
    }
    let mut text = chosen.text("tres-per-task").map(with_slashes).unwrap_or_default();
    for name in ["mem", "energy", "node", "billing", "fs", "vmem", "pages", "bb"] {
        let named = |item: &str| item.get(..name.len()).is_some_and(|p| p.eq_ignore_ascii_case(name));
        if text.split(',').any(named) {
            return Err(format!("Invalid TRES for --tres-per-task: {name}"));
        }
    }
    for item in gpus.unwrap_or("").split(',').filter(|i| !i.is_empty()) {
        let (kind, count) = item.split_once([':', '=']).map_or((None, item), |(kind, n)| (Some(kind), n));
        let name = kind.map_or("gres/gpu".to_owned(), |k| format!("gres/gpu:{k}"));
        let count = value::leading_number(count).map_or(0, |(n, _)| n);
        text = joined(&name, count, &text, chosen, "gpus-per-task")?;
    }
    if let Some(cpus) = chosen.int("cpus-per-task") {
        text = joined("cpu", cpus, &text, chosen, "cpus-per-task")?;
    }
    Ok(Some(text).filter(|t| !t.is_empty()))
}

/// `gres:gpu` and `license:x` as `gres/gpu` and `license/x` (`slurm_format_tres_string`).
fn with_slashes(text: &str) -> String {
    let items = text.split(',').map(|item| match item.split_once(':') {
        Some((kind @ ("gres" | "license"), rest)) => format!("{kind}/{rest}"),
        _ => item.to_owned(),
    });
    items.collect::<Vec<_>>().join(",")
}

/// `text` with `name=count` put in front, or in its place where `--tres-per-task` came from the
/// environment (`_set_tres_per_task_from_sibling_opt`).
fn joined(name: &str, count: i64, text: &str, chosen: &Chosen, option: &str) -> Result<String, String> {
    if !text.to_ascii_lowercase().contains(name) {
        return Ok(match (count, text) {
            (0, text) => text.to_owned(),
            (count, "") => format!("{name}={count}"),
            (count, text) => format!("{name}={count},{text}"),
        });
    }
    if chosen.by_user(option) && chosen.by_user("tres-per-task") {
        return Err(format!(
            "You can not have --tres-per-task={name}= and --{option} please use one or the other"
        ));
    }
    if chosen.by_user(option) {
        let items = text.split(',').map(|item| match item.strip_prefix(name) {
            Some(rest) if rest.starts_with([':', '=']) => format!("{name}={count}"),
            _ => item.to_owned(),
        });
        return Ok(items.collect::<Vec<_>>().join(","));
    }
    Ok(text.to_owned())
}

fn owned(text: Option<&str>) -> Option<crate::request::Text<'static>> {
    text.map(|t| t.to_owned().into())
}

fn names(d: &mut Description<'static>, chosen: &Chosen, source: &Source<'_>) {
    let text = |key| owned(chosen.text(key));
    d.user_id = source.world.user_id;
    d.group_id = source.world.group_id;
    d.partition = text("partition");
    d.qos = text("qos");
    d.account = text("account");
    d.reservation = text("reservation");
    d.features = text("constraint");
    d.prefer = text("prefer");
    d.exc_nodes = text("exclude");
    d.licenses = match (chosen.text("licenses"), chosen.text("resources")) {
        (Some(a), Some(b)) => Some(format!("{a},{b}").into()),
        (a, b) => owned(a.or(b)),
    };
    if chosen.get("nodelist").is_some_and(|g| g.opt.name == "nodelist") {
        d.req_nodes = text("nodelist");
    }
    d.het_job_offset = source.het_offset.unwrap_or(NO_VAL);
    // The environment goes along with a script only; the number says no more than that.
    d.env_size = u32::from(source.command == Command::Sbatch);
    d.alloc_resp_port = u16::from(source.command != Command::Sbatch);
}

fn amounts(
    d: &mut Description<'static>,
    chosen: &Chosen,
    c: &Counts,
    per_task: Option<String>,
    series: Series,
) {
    let slash = if series < Series::V24_11 { "gres:" } else { "gres/" };
    let gpus = |key| {
        let text = chosen.text(key).filter(|t| !t.is_empty())?;
        let items: Vec<String> =
            text.split(',').filter(|i| !i.is_empty()).map(|i| format!("{slash}gpu:{i}")).collect();
        Some(items.join(","))
    };
    if c.ntasks_set {
        d.num_tasks = n32(c.ntasks);
    }
    if c.nodes_set {
        d.min_nodes = n32(c.min_nodes);
        if c.max_nodes != 0 {
            d.max_nodes = n32(c.max_nodes);
        }
    } else if let (true, true, Some(per_node)) =
        (series >= Series::V24_11, c.ntasks_set, c.ntasks_per_node.filter(|&n| n > 0))
    {
        d.min_nodes = n32(c.ntasks.max(0) / per_node + i64::from(c.ntasks.max(0) % per_node > 0));
    }
    d.ntasks_per_node = n16(c.ntasks_per_node);
    d.ntasks_per_socket = n16(chosen.int("ntasks-per-socket"));
    d.ntasks_per_core = n16(c.ntasks_per_core);
    d.ntasks_per_tres = n16(chosen.int("ntasks-per-tres").or(chosen.int("ntasks-per-gpu")));
    d.cpus_per_task = n16(c.cpus_per_task);
    let overcommit = chosen.is_set("overcommit");
    d.min_cpus = n32(c.min_cpus(overcommit, series));
    d.pn_min_cpus = n16(c.pn_min_cpus);
    if overcommit {
        d.overcommit = 1;
    }
    d.sockets_per_node = n16(c.sockets);
    d.cores_per_socket = n16(c.cores);
    d.threads_per_core = n16(c.threads);
    d.core_spec = if chosen.is_later("thread-spec", "core-spec") {
        n16(chosen.int("thread-spec")) | CORE_SPEC_THREAD
    } else {
        n16(chosen.int("core-spec"))
    };
    d.tres_per_job = gpus("gpus").map(Into::into);
    let gres = chosen.text("gres").filter(|g| !g.eq_ignore_ascii_case("none"));
    let gres = gres.map(|g| gres::with_prefix(g, slash));
    let per_node: Vec<String> = [gpus("gpus-per-node"), gres].into_iter().flatten().collect();
    d.tres_per_node = (!per_node.is_empty()).then(|| per_node.join(",").into());
    d.tres_per_socket = gpus("gpus-per-socket").map(Into::into);
    d.tres_per_task = per_task.map(Into::into);
    d.cpus_per_tres = chosen.int("cpus-per-gpu").map(|n| format!("{slash}gpu:{n}").into());
    d.mem_per_tres = chosen.mb("mem-per-gpu").map(|mb| format!("{slash}gpu:{mb}").into());
    if let Some(mb) = chosen.mb("mem") {
        d.pn_min_memory = mb;
    } else if let Some(mb) = chosen.mb("mem-per-cpu") {
        d.pn_min_memory = mb | MEM_PER_CPU;
    }
    d.pn_min_tmp_disk = chosen.mb("tmp").map_or(NO_VAL, |mb| n32(i64::try_from(mb).unwrap_or(i64::MAX)));
    d.shared = shared(chosen);
}

/// `--exclusive` and `--oversubscribe` set the same field.
fn shared(chosen: &Chosen) -> u16 {
    if chosen.is_later("exclusive", "oversubscribe") {
        value::exclusive_number(chosen.text("exclusive")).unwrap_or(NO_VAL16)
    } else if chosen.is_set("oversubscribe") {
        1
    } else {
        NO_VAL16
    }
}

fn behaviour(d: &mut Description<'static>, chosen: &Chosen, source: &Source<'_>) {
    let text = |key| owned(chosen.text(key));
    let minutes = |key| match chosen.text(key).and_then(value::time_limit) {
        Some(TimeLimit::Minutes(minutes)) => minutes,
        Some(TimeLimit::Unlimited) => INFINITE,
        Some(TimeLimit::Unset) | None => NO_VAL,
    };
    d.time_limit = minutes("time");
    d.time_min = minutes("time-min");
    d.array_inx = text("array");
    if let Some(given) = chosen.get("requeue") {
        d.requeue = u16::from(given.opt.name == "requeue");
    }
    if let Some((signal, seconds, _)) = chosen.text("signal").and_then(value::signal_option) {
        (d.warn_signal, d.warn_time) = (signal, seconds);
        d.warn_flags = if chosen.signal_batch { KILL_JOB_BATCH } else { 0 };
    }
    d.dependency = text("dependency");
    d.comment = text("comment");
    d.nice = nice(chosen);
    d.priority = priority(chosen, source.world.user_id);
    d.container = text("container");
    d.wckey = text("wckey");
    d.mail_user = text("mail-user");
    d.x11 = u16::from(chosen.is_set("x11"));
    d.justify = text("justify");
    d.lineage = text("lineage");
}

fn nice(chosen: &Chosen) -> u32 {
    let Some(given) = chosen.get("nice") else { return NO_VAL };
    let number = given.value.as_deref().map_or(100, |t| value::leading_number(t).map_or(0, |(n, _)| n));
    u32::try_from(i64::from(NICE_OFFSET).saturating_add(number)).unwrap_or(NO_VAL)
}

/// slurmctld takes any priority but 0 back, ahead of the hook, unless an operator asks.
fn priority(chosen: &Chosen, uid: u32) -> u32 {
    if chosen.is_set("hold") {
        return 0;
    }
    let number = match chosen.text("priority") {
        Some(text) if text.eq_ignore_ascii_case("TOP") => i64::from(NO_VAL - 1),
        Some(text) => value::leading_number(text).map_or(0, |(n, _)| n),
        None => 0,
    };
    if number > 0 && uid == 0 { n32(number) } else { NO_VAL }
}

fn files(d: &mut Description<'static>, chosen: &Chosen, source: &Source<'_>) {
    let directory = source.world.directory;
    // salloc goes there itself once it has the nodes.
    let chdir = chosen.text("chdir").filter(|_| source.command != Command::Salloc);
    let work_dir = match chdir {
        Some(dir) if dir.starts_with('/') => dir.to_owned(),
        Some(dir) => format!("{directory}/{dir}"),
        None => directory.to_owned(),
    };
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let first = source.arguments.first().map(String::as_str);
    d.name = owned(chosen.text("job-name").or(source.made_up_name.as_deref()));
    d.submit_line = Some(source.submit_line.clone().into());
    match source.command {
        Command::Sbatch => {
            let made_up = match first {
                _ if source.wrapped => "wrap".to_owned(),
                _ if chosen.is_set("external") => "external".to_owned(),
                Some(path) => name(path),
                None => "sbatch".to_owned(),
            };
            d.name.get_or_insert_with(|| made_up.into());
            let path = |key| {
                let text = chosen.text(key)?;
                Some(match text {
                    text if text.eq_ignore_ascii_case("none") => "/dev/null".to_owned(),
                    text if text.starts_with('/') => text.to_owned(),
                    text => format!("{work_dir}/{text}"),
                })
            };
            d.std_out = path("output").map(Into::into);
            d.std_err = path("error").map(Into::into);
            d.std_in = Some(path("input").unwrap_or_else(|| "/dev/null".to_owned()).into());
            d.script = owned(source.script);
            d.export = export(chosen, source.world);
        }
        Command::Srun => {
            d.name = d.name.take().or_else(|| first.map(|path| name(path).into()));
        }
        Command::Salloc => {
            let made_up = if chosen.is_set("no-shell") { "no-shell" } else { "interactive" };
            d.name.get_or_insert_with(|| made_up.into());
        }
    }
    // Up to 22.05 srun hands on the command alone, and salloc nothing.
    let handed_on = match source.command {
        Command::Srun if source.series < Series::V24_11 => source.arguments.get(..1),
        Command::Salloc if source.series < Series::V24_11 => None,
        _ => Some(source.arguments),
    };
    let handed_on = handed_on.unwrap_or(&[]);
    d.command = owned(handed_on.first().map(String::as_str));
    d.arguments = digest(handed_on.iter().skip(1).map(|a| a.as_bytes()));
    d.work_dir = Some(work_dir.into());
}

/// `SLURM_EXPORT_ENV` of the job's environment. sbatch sets it, unless it is set already; variables
/// of Slurm's own go along whatever `--export` says.
fn export(chosen: &Chosen, world: &World<'_>) -> Option<crate::request::Text<'static>> {
    let around = (world.environment)(crate::request::description::EXPORT_ENV);
    let asked = chosen.text("export").filter(|text| !text.eq_ignore_ascii_case("ALL"));
    around.or_else(|| asked.map(str::to_owned)).map(Into::into)
}
