//! `sacctmgr -nP show qos format=Name,Preempt,MaxWall` and `sacctmgr -nP show account
//! format=Account`: fields between bars, no heading.

use super::{Association, Qos};
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

/// `sacctmgr -nP show user NAME withassoc format=DefaultAccount,Account,DefaultQOS,QOS`: the
/// associations of one user, each account once.
pub fn associations(text: &str) -> Vec<Association> {
    let mut all: Vec<Association> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [default, account, default_qos, qos, ..] = fields.as_slice() else { continue };
        if account.is_empty() || all.iter().any(|a| a.account == *account) {
            continue;
        }
        all.push(Association {
            account: (*account).to_owned(),
            default: default == account,
            default_qos: Some(*default_qos).filter(|name| !name.is_empty()).map(str::to_owned),
            qos: qos.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        });
    }
    all
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
    fn associations_name_their_account_once() {
        let all = associations(
            "bio|physics||normal,high\nbio|bio|high|normal,high,scavenger\nbio|bio|high|normal\n|||\n",
        );
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].default, &all[0].default_qos), (false, &None));
        assert_eq!(
            (all[1].default, all[1].default_qos.as_deref(), all[1].qos.len()),
            (true, Some("high"), 3)
        );
    }

    #[test]
    fn accounts_are_names() {
        assert_eq!(accounts("root\nphysics\n\n"), ["root", "physics"]);
        assert_eq!(accounts(""), [""; 0]);
    }
}
