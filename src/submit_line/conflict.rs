//! Options that the client itself does not take together (`validate_options_salloc_sbatch_srun`,
//! slurm_opt.c; `_opt_verify`, each command's opt.c).
//!
//! Where one of two comes from the environment and the other does not, the first is dropped.

use super::chosen::Chosen;
use super::{Command, Place, Problem, ProblemKind, Series};

/// What is checked for one component.
pub struct Check<'c> {
    /// The options; those that lose are taken back.
    pub chosen: &'c mut Chosen,
    /// Where to say so.
    pub problems: &'c mut Vec<Problem>,
    /// Which client.
    pub command: Command,
    /// Of which series.
    pub series: Series,
}

impl Check<'_> {
    /// All of them, in the client's own order.
    pub fn all(&mut self) {
        if self.series >= Series::V26_05 {
            self.gres_and_gpus_per_node();
        }
        self.ntasks_per_gpu();
        self.specialized_cores();
        self.memory();
        if self.series >= Series::V24_11 {
            self.sharing();
            self.cpus_per_gpu();
        }
        self.hint();
        self.own();
    }

    fn refuse(&mut self, options: &[&'static str], words: impl Into<String>) {
        let last = options
            .iter()
            .copied()
            .filter(|o| self.chosen.is_set(o))
            .reduce(|a, b| if self.chosen.is_later(a, b) { a } else { b });
        let given = last.and_then(|o| self.chosen.get(o));
        let place: Option<Place> = given.map(|g| g.place);
        let option = given.map(|g| g.opt.name);
        self.problems.push(Problem { kind: ProblemKind::Conflict, option, place, message: words.into() });
    }

    fn gres_and_gpus_per_node(&mut self) {
        let gpus = self.chosen.text("gres").is_some_and(|g| {
            !g.eq_ignore_ascii_case("none") && super::gres::with_prefix(g, "gres/").contains("gres/gpu")
        });
        if gpus && self.chosen.is_set("gpus-per-node") {
            self.refuse(&["gpus-per-node", "gres"], "--gpus-per-node and --gres=gpu are mutually exclusive.");
        }
    }

    fn ntasks_per_gpu(&mut self) {
        const GPU: &str = "ntasks-per-gpu";
        const TRES: &str = "ntasks-per-tres";
        if ![GPU, TRES].into_iter().any(|o| self.chosen.is_set(o) || self.chosen.by_environment(o)) {
            return;
        }
        let (gpu, tres) = (self.chosen.int(GPU), self.chosen.int(TRES));
        let differ = gpu.is_some() && tres.is_some() && gpu != tres;
        let (gpu, tres) = (gpu.unwrap_or(0), tres.unwrap_or(0));
        if self.chosen.by_user(GPU) && self.chosen.by_user(TRES) && differ {
            let words =
                format!("Inconsistent values set to --ntasks-per-gpu={gpu} and --ntasks-per-tres={tres} ");
            self.refuse(&[GPU, TRES], words);
        } else if self.chosen.by_user(GPU) && self.chosen.by_environment(TRES) {
            self.chosen.forget(TRES);
        } else if self.chosen.by_user(TRES) && self.chosen.by_environment(GPU) {
            self.chosen.forget(GPU);
        } else if differ {
            let words = format!(
                "Inconsistent values set by environment variables SLURM_NTASKS_PER_GPU={gpu} and \
                 SLURM_NTASKS_PER_TRES={tres} "
            );
            self.refuse(&[GPU, TRES], words);
        }
        let per_task = self.chosen.text("tres-per-task");
        let has_gpus = per_task.is_some_and(|t| t.contains("gres/gpu"));
        let narrow = self.series >= Series::V26_05;
        if self.chosen.by_user("tres-per-task")
            || (self.chosen.by_environment("tres-per-task") && (has_gpus || !narrow))
        {
            self.excludes("tres-per-task", "SLURM_TRES_PER_TASK");
        }
        for (option, variable) in [
            ("gpus-per-task", "SLURM_GPUS_PER_TASK"),
            ("gpus-per-socket", "SLURM_GPUS_PER_SOCKET"),
            ("ntasks-per-node", "SLURM_NTASKS_PER_NODE"),
        ] {
            if self.chosen.is_set(option) || self.chosen.by_environment(option) {
                self.excludes(option, variable);
            }
        }
    }

    fn excludes(&mut self, option: &'static str, variable: &str) {
        let name = match self.chosen.by_user(option) {
            true => format!("--{option}"),
            false => variable.to_owned(),
        };
        let words = format!("{name} is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
        self.refuse(&[option], words);
    }

    fn specialized_cores(&mut self) {
        let (core, thread) = ("core-spec", "thread-spec");
        if self.chosen.by_user(core) && self.chosen.by_user(thread) {
            self.refuse(&[core, thread], "-S/--core-spec and --thred-spec options are mutually exclusive");
        } else if self.chosen.by_environment(core) && self.chosen.by_environment(thread) {
            let words = "Both --core-spec and --thread-spec set using environment variables. \
                         Those options are mutually exclusive.";
            self.refuse(&[core, thread], words);
        }
    }

    fn memory(&mut self) {
        const MEMORY: [&str; 3] = ["mem", "mem-per-cpu", "mem-per-gpu"];
        let by_user: Vec<_> = MEMORY.into_iter().filter(|o| self.chosen.by_user(o)).collect();
        match by_user.as_slice() {
            [] => {
                if MEMORY.iter().filter(|o| self.chosen.by_environment(o)).count() > 1 {
                    let words = "SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are \
                                 mutually exclusive.";
                    self.refuse(&MEMORY, words);
                }
            }
            [one] => {
                for option in MEMORY.iter().filter(|o| *o != one) {
                    self.chosen.forget(option);
                }
            }
            several => {
                let several = several.to_vec();
                self.refuse(&several, "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
            }
        }
    }

    fn sharing(&mut self) {
        if self.chosen.by_user("exclusive") && self.chosen.by_user("oversubscribe") {
            let words = "--exclusive and --oversubscribe options are mutually exclusive";
            self.refuse(&["exclusive", "oversubscribe"], words);
        }
    }

    fn cpus_per_gpu(&mut self) {
        let names_cpus =
            self.chosen.text("tres-per-task").is_some_and(|t| t.to_ascii_lowercase().contains("cpu"));
        let by = |set: &dyn Fn(&str) -> bool| set("cpus-per-task") || (names_cpus && set("tres-per-task"));
        let by_user = by(&|o| self.chosen.by_user(o));
        let by_environment = by(&|o| self.chosen.by_environment(o));
        let words = "--cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually exclusive";
        if (by_user && self.chosen.by_user("cpus-per-gpu"))
            || (by_environment && self.chosen.by_environment("cpus-per-gpu"))
        {
            self.refuse(&["cpus-per-gpu", "cpus-per-task", "tres-per-task"], words);
        } else if by_user && self.chosen.by_environment("cpus-per-gpu") {
            self.chosen.forget("cpus-per-gpu");
        } else if by_environment && self.chosen.by_user("cpus-per-gpu") {
            self.chosen.forget("cpus-per-task");
        }
    }

    /// `--hint` and what it stands for: the one that the user types beats the variable.
    fn hint(&mut self) {
        let mut rivals = vec!["ntasks-per-core", "threads-per-core", "extra-node-info"];
        if self.series >= Series::V26_05 {
            rivals.extend(["cores-per-socket", "sockets-per-node"]);
        }
        let by_user = rivals.iter().any(|o| self.chosen.by_user(o));
        if !self.chosen.is_set("hint") {
            return;
        }
        let variables = rivals.iter().any(|o| self.chosen.by_environment(o));
        if by_user || (self.chosen.by_environment("hint") && variables) {
            self.chosen.forget("hint");
        } else if self.chosen.by_user("hint") {
            // Taking --extra-node-info back takes back all that it may have set.
            for option in rivals.into_iter().chain(["cores-per-socket", "sockets-per-node"]) {
                self.chosen.forget(option);
            }
        }
        let unknown = self.chosen.text("hint").and_then(super::value::unknown_hint);
        if let Some(hint) = unknown {
            let words = format!("unrecognized --hint argument \"{hint}\", see --hint=help");
            self.refuse(&["hint"], words);
        }
    }

    /// What one command checks for itself.
    fn own(&mut self) {
        if self.chosen.is_set("quiet") && self.chosen.is_set("verbose") {
            self.refuse(&["quiet", "verbose"], "don't specify both --verbose (-v) and --quiet (-Q)");
        }
        if self.chosen.is_set("bb") && self.chosen.is_set("bbf") {
            let words = match self.command {
                Command::Salloc => "Cannot specify both --bb and --bbf",
                Command::Sbatch | Command::Srun => "Cannot specify both --burst-buffer and --bbf",
            };
            self.refuse(&["bb", "bbf"], words);
        }
        if self.series >= Series::V24_11 {
            let (core, thread) = (self.chosen.int("ntasks-per-core"), self.chosen.int("threads-per-core"));
            if let (Some(core), Some(thread)) = (core, thread) {
                if thread < core {
                    let words = format!(
                        "--ntasks-per-core ({core}) can not be bigger than --threads-per-core ({thread})"
                    );
                    self.refuse(&["ntasks-per-core", "threads-per-core"], words);
                }
            }
        }
        if self.command != Command::Srun {
            return;
        }
        if self.chosen.is_set("exact") && self.chosen.is_set("whole") {
            self.refuse(&["exact", "whole"], "--exact and --whole are mutually exclusive.");
        }
        if self.chosen.by_user("exclusive") && self.chosen.by_user("overlap") {
            self.refuse(&["exclusive", "overlap"], "--exclusive and --overlap are mutually exclusive");
        }
        if self.chosen.is_set("relative") && (self.chosen.is_set("exclude") || self.chosen.is_set("nodelist"))
        {
            self.refuse(&["relative"], "-r,--relative not allowed with -w,--nodelist or -x,--exclude.");
        }
        let streams: Vec<_> =
            ["error", "input", "output"].into_iter().filter(|o| self.chosen.is_set(o)).collect();
        if self.chosen.is_set("pty") && !streams.is_empty() {
            self.refuse(&streams, "--error/--input/--output are incompatible with --pty");
        }
    }
}
