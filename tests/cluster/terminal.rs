//! Types a scenario into the containers of one series.

use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::expect::{Names, matches};
use crate::scenario::{Scenario, Step};
use crate::series::Series;

/// What the names of the series' containers begin with: `test-cluster/run` sets it.
const CONTAINERS: &str = "SLUICE_CONTAINERS";
/// How long a command may take, in seconds. Generous, as all deadlines: three clusters may share two
/// cores with a compiler.
const LIMIT: u32 = 180;
/// How long `USER~$` is typed again.
const PATIENCE: Duration = Duration::from_secs(150);

pub struct Terminal {
    series: Series,
    containers: String,
    names: Names,
}

impl Terminal {
    pub fn new(series: Series) -> Terminal {
        let containers = std::env::var(CONTAINERS).unwrap_or_else(|_| format!("sluice-{series}"));
        let names = Names::from([("SERIES".to_owned(), series.to_string())]);
        Terminal { series, containers, names }
    }

    /// Plays the scenario on a cluster without jobs; says where it went wrong.
    pub fn play(mut self, scenario: &Scenario) -> Result<(), String> {
        self.must("reset-cluster", "the cluster cannot be put back to its start")?;
        for step in &scenario.steps {
            self.step(step)?;
        }
        // Nobody restarts it, so this also says that it did not die in between.
        self.must("pidof slurmctld", "slurmctld is dead")
    }

    fn must(&self, command: &str, otherwise: &str) -> Result<(), String> {
        let output = self.exec("root", "ctld", command);
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{otherwise}:\n{}", String::from_utf8_lossy(&output.stdout)))
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        let expected = step.expected(self.series);
        let exit = step.exit(self.series);
        let until = Instant::now() + PATIENCE;
        loop {
            let output = self.exec(&step.user, &step.container, &step.command);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let printed: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            let code = output.status.code().unwrap_or(-1);
            if let Some(names) = matches(&expected, &printed, &self.names).filter(|_| code == exit) {
                self.names = names;
                return Ok(());
            }
            if !step.patient || Instant::now() >= until {
                return Err(format!(
                    "{}: {}@{}$ {}\nexpected, exit {exit}:\n{}\nprinted, exit {code}:\n{}\n",
                    step.place,
                    step.user,
                    step.container,
                    step.command,
                    indent(&expected),
                    indent(&printed),
                ));
            }
            sleep(Duration::from_millis(500));
        }
    }

    /// Standard error comes in line with standard output, as at a terminal.
    fn exec(&self, user: &str, container: &str, command: &str) -> Output {
        let home = if user == "root" { "/root".to_owned() } else { format!("/home/{user}") };
        let mut docker = Command::new("timeout");
        docker.args(["--kill-after=5", &(LIMIT + 5).to_string(), "docker", "exec", "-u", user, "-w", &home]);
        for (name, value) in &self.names {
            docker.args(["-e", &format!("{name}={value}")]);
        }
        docker.args([&format!("{}-{container}", self.containers), "timeout", &LIMIT.to_string()]);
        docker.args(["bash", "-lc", &format!("exec 2>&1\n{command}")]);
        docker.output().expect("timeout and docker can be run")
    }
}

fn indent(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("    {line}\n")).collect()
}
