//! What the fuzz targets share: the policies that they judge by, and what holds of every judgement.

use std::sync::OnceLock;

use sluice::cluster::UnknownCluster;
use sluice::date::Date;
use sluice::judge::judge;
use sluice::message::{self, Context, WIDTH};
use sluice::policy::load::load;
use sluice::policy::resolve::NoDirectory;
use sluice::policy::{EXAMPLE, Policy};
use sluice::request::Request;
use sluice::verdict::Verdict;

pub const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

/// The example, and one with every rule and a limit on everything.
pub fn policies() -> &'static [Policy] {
    static POLICIES: OnceLock<Vec<Policy>> = OnceLock::new();
    POLICIES.get_or_init(|| {
        let all = include_str!("../all-rules.toml");
        let read = |text| load("fuzz", text, &NoDirectory, TODAY).map_err(|p| p.to_string());
        [EXAMPLE, all].map(|text| read(text).expect("a policy").policy).into()
    })
}

/// Judges by every policy.
pub fn judged(request: &Request<'_>) {
    for policy in policies() {
        hold(policy, request);
    }
}

/// Judges, and checks what holds whatever was asked.
pub fn hold(policy: &Policy, request: &Request<'_>) {
    let verdict = judge(policy, request, &UnknownCluster, TODAY);
    assert!(verdict.failed.is_empty(), "a rule failed: {:?}", verdict.failed);
    told(policy, &verdict);
    // What is filled in is not filled in again.
    let mut edited = request.clone();
    verdict.edits_to_make().for_each(|edit| edited.apply(edit));
    if verdict.edits_to_make().next().is_some() {
        let again = judge(policy, &edited, &UnknownCluster, TODAY);
        let twice = again.edits_to_make().find(|e| verdict.edits_to_make().any(|f| f == *e));
        assert!(twice.is_none(), "filled in again: {twice:?}");
        assert!(again.accepts(), "refused for what was filled in: {:?}", again.findings);
    }
}

/// The message: printable ASCII, as narrow and as short as is promised.
pub fn told(policy: &Policy, verdict: &Verdict) {
    for subject in ["job", "change"] {
        let context =
            Context { site: &policy.site, subject, reference: Some("7f3a9c21"), justify_option: subject == "job" };
        let lines = message::lines(verdict, &context);
        let bytes: usize = lines.iter().map(|l| l.len() + 1).sum();
        assert!(lines.len() <= 24 && bytes <= 2048, "{} lines, {bytes} bytes", lines.len());
        for line in &lines {
            let plain = line.bytes().all(|b| (0x20..0x7f).contains(&b));
            assert!(plain && line.len() <= WIDTH && !line.is_empty(), "{line:?}");
        }
    }
}
