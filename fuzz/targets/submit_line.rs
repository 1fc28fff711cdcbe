//! sbatch's grammar: a command line, a script and an environment of any text.
//!
//! The input is three parts at NUL bytes: words at line ends, the script, variables at line ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice::submit_line::{Command, CommandLine, Script, Series, World};
use sluice_fuzz::judged;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or("");
    let (words, script, variables) = (part(), part(), part());
    let argv: Vec<String> = words.split('\n').map(str::to_owned).collect();
    let Some(command) = argv.first().and_then(|name| Command::named(name)) else { return };
    let environment = |name: &str| {
        variables.lines().find_map(|v| v.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
    };
    let world = World { environment: &environment, directory: "/home/u", user_id: 1001, group_id: 1001 };
    for series in [Series::V22_05, Series::V24_11, Series::V26_05] {
        let line = CommandLine::new(command, series, &argv, &[]);
        let read = line.read(&world, Some(Script { path: "/home/u/job.sh", text: script }));
        for component in &read.components {
            judged(&component.request);
        }
    }
});
