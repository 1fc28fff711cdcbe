//! What the Slurm of this machine says, where there is one. Nothing here needs it.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use sluice::submit_line::Series;
use sluice::submit_line::options::{Arity, Opt, plugin};

/// Folders in which slurm.conf stands, the likeliest first: `$SLURM_CONF`'s, then those that Slurm
/// and Debian's packages of it are built with, then what slurmd keeps of a configless cluster.
pub fn conf_dirs() -> Vec<PathBuf> {
    let named = std::env::var_os("SLURM_CONF").map(PathBuf::from);
    let named = named.and_then(|file| file.parent().map(PathBuf::from));
    let usual = ["/etc/slurm", "/etc/slurm-llnl", "/usr/local/etc", "/run/slurm/conf"].map(PathBuf::from);
    named.into_iter().chain(usual).collect()
}

/// Whether `--justify` is there to type: Sluice stands in plugstack.conf.
pub fn has_justify_option() -> bool {
    let names_it = |dir: &PathBuf| {
        let text = std::fs::read_to_string(dir.join("plugstack.conf")).unwrap_or_default();
        text.lines()
            .any(|line| line.trim_start().starts_with(['o', 'r']) && line.contains("job_submit_sluice"))
    };
    conf_dirs().iter().any(names_it)
}

/// The installed series.
pub fn installed_series() -> Option<Series> {
    let text = ask(&["--version"])?;
    Series::of_version(text.split_whitespace().nth(1)?)
}

/// Options that SPANK plugins add to sbatch, by its own help. Asked only where an option is known
/// to nobody else.
pub fn plugin_options() -> Vec<&'static Opt> {
    let help = ask(&["--help"]).unwrap_or_default();
    let own = help.lines().skip_while(|line| !line.starts_with("Options provided by plugins:")).skip(1);
    let section = own.take_while(|line| !line.trim().is_empty() && line.starts_with(' '));
    section.filter_map(option_of).collect()
}

/// `      --name=argument    what it does`
fn option_of(line: &str) -> Option<&'static Opt> {
    let name = line.trim_start().strip_prefix("--")?.split([' ', '\t']).next()?;
    let (name, arity) = match (name.split_once("[="), name.split_once('=')) {
        (Some((name, _)), _) => (name, Arity::Optional),
        (None, Some((name, _))) => (name, Arity::Required),
        (None, None) => (name, Arity::No),
    };
    // Needed until the command ends, which is at once.
    Some(Box::leak(Box::new(plugin(Box::leak(name.to_owned().into_boxed_str()), arity))))
}

/// What sbatch prints. It is not asked where it has no configuration: it would look for one in the
/// DNS and take seconds to find none.
fn ask(arguments: &[&str]) -> Option<String> {
    if !conf_dirs().iter().any(|dir| dir.join("slurm.conf").is_file()) {
        return None;
    }
    let output = Command::new(OsStr::new("sbatch"))
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_options_are_read_from_help() {
        let of = |line| option_of(line).map(|o| (o.name, o.arity));
        assert_eq!(
            of("      --container-image=[USER@][REGISTRY#]IMAGE"),
            Some(("container-image", Arity::Required))
        );
        assert_eq!(
            of("      --no-container-entrypoint    do not run it"),
            Some(("no-container-entrypoint", Arity::No))
        );
        assert_eq!(of("      --run-card[=PATH]   a card"), Some(("run-card", Arity::Optional)));
        assert_eq!(of("                              continued"), None);
    }
}
