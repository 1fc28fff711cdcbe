//! `sluice site-note`: a page of Markdown for a repository whose job scripts run on this cluster, for
//! the people and programs that write them.

mod file;
mod page;
mod skeleton;

use sluice::live::{Association, Live};
use sluice::policy::load::load_bytes;

use crate::options::{Common, SiteNote};
use crate::people::{self, System};
use crate::policy_file::{self, Text};
use crate::show::{self, Scope};
use crate::{Exit, Failure, output};

/// What the cluster says, where it is asked.
pub struct Cluster {
    /// Partitions, nodes and QoS.
    pub live: Live,
    /// What accounting knows of the user; none where it knows nothing.
    pub associations: Vec<Association>,
}

/// Writes the page to its file, or to standard output.
///
/// # Errors
/// A policy that cannot be loaded, a user whom nobody knows, a cluster that does not answer, a file
/// that was edited by hand.
pub fn run(common: &Common, verb: &SiteNote) -> Result<Exit, Failure> {
    let today = policy_file::today();
    let user = verb.user.as_deref().map(|name| people::person(Some(name)).map(|p| (name, p))).transpose()?;
    if let Some(path) = verb.output.as_deref().filter(|_| !verb.force) {
        file::may_be_replaced(path)?;
    }
    let Text { name, bytes, .. } = policy_file::read(common.policy.as_deref())?;
    let policy = load_bytes(&name, &bytes, &System, today).map_err(|e| e.to_string())?.policy;
    let written = show::words::written(&name, &bytes)?;
    let cluster = if verb.cluster {
        let live = crate::live::ask()?;
        let associations = match verb.user.as_deref() {
            Some(name) => crate::live::associations(name)?,
            None => Vec::new(),
        };
        Some(Cluster { live, associations })
    } else {
        None
    };
    let scope = Scope { partition: None, user };
    let page = page::page(&page::Source {
        policy: &policy,
        written: &written,
        scope: &scope,
        cluster: cluster.as_ref(),
        today,
    });
    match &verb.output {
        None => page.lines().for_each(output::line),
        Some(path) => match file::write(path, &page)? {
            file::Written::New => output::note(&format!("{} is written", path.display())),
            file::Written::Same => output::note(&format!("{} is up to date", path.display())),
        },
    }
    Ok(Exit::Yes)
}
