//! `sacctmgr -nP show qos format=Name,Preempt,MaxWall` and `sacctmgr -nP show account
//! format=Account`: fields between bars, no heading.

use super::Qos;
use crate::request::TimeLimit;

/// The QoS.
pub fn qos(text: &str) -> Vec<Qos> {
    text.lines().filter_map(one).collect()
}

fn one(line: &str) -> Option<Qos> {
    let mut fields = line.split('|').map(str::trim);
    let name = fields.next().filter(|name| !name.is_empty())?;
    let preempts = fields.next().unwrap_or("");
    let max_time = fields.next().and_then(TimeLimit::parse).unwrap_or_default();
    let preempts = preempts.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect();
    Some(Qos { name: name.to_owned(), preempts, max_time })
}

/// The accounts.
pub fn accounts(text: &str) -> Vec<String> {
    let names = text.lines().map(|line| line.split('|').next().unwrap_or("").trim());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qos_come_with_what_they_push_aside() {
        let all = qos("normal||\nhigh|normal,scavenger|2-00:00:00\nscavenger||1-00:00:00\n\n");
        assert_eq!(all.len(), 3);
        assert_eq!(all[0], Qos { name: "normal".to_owned(), preempts: vec![], max_time: TimeLimit::Unset });
        assert_eq!(all[1].preempts, ["normal", "scavenger"]);
        assert_eq!(all[2].max_time, TimeLimit::Minutes(1440));
    }

    #[test]
    fn accounts_are_names() {
        assert_eq!(accounts("root\nphysics\n\n"), ["root", "physics"]);
        assert_eq!(accounts(""), [""; 0]);
    }
}
