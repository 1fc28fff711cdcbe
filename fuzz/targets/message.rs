//! The words of a verdict, whatever its findings hold.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use sluice::date::Date;
use sluice::message;
use sluice::verdict::{
    Allowed, Bound, Complaint, Edit, Errno, Finding, Justify, Outcome, Place, PlannedEdit, Remedy, Topic, Verdict,
};
use sluice_fuzz::{policies, told};

const OPTIONS: [&str; 6] = ["cpus-per-gpu", "output", "qos", "partition", "exclusive", "mem"];
const RULES: [&str; 5] = ["cpus-per-gpu", "array-logs", "exclusive", "a-limit", "wrap"];

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let length = u.int_in_range(0..=200)?;
    Ok(String::from_utf8_lossy(u.bytes(length.min(u.len()))?).into_owned())
}

/// What rules state is already fit to be shown: what a user wrote went through `words::shown`.
fn shown(u: &mut Unstructured<'_>) -> Result<String> {
    Ok(sluice::words::shown(&text(u)?))
}

fn place(u: &mut Unstructured<'_>) -> Result<Place> {
    Ok(match u.int_in_range(0..=3)? {
        0 => Place::Partitions((0..u.int_in_range(0..=5)?).map(|_| text(u)).collect::<Result<_>>()?),
        1 => Place::GpuType(text(u)?),
        2 => Place::Qos(text(u)?),
        _ => Place::Site,
    })
}

fn remedy(u: &mut Unstructured<'_>) -> Result<Remedy> {
    let option = *u.choose(&OPTIONS)?;
    Ok(match u.int_in_range(0..=3)? {
        0 => Remedy::Use {
            option,
            value: text(u)?,
            bound: *u.choose(&[Bound::Exactly, Bound::OrLess, Bound::OrMore])?,
            instead_of: if u.arbitrary()? { vec!["mem", "gpus"] } else { Vec::new() },
        },
        1 => Remedy::Drop { option },
        2 => Remedy::DropFromList { option: "partition", names: vec![shown(u)?, shown(u)?] },
        _ => Remedy::Change(shown(u)?),
    })
}

fn finding(u: &mut Unstructured<'_>) -> Result<Finding> {
    let outcomes = [
        Outcome::Refused,
        Outcome::Refused,
        Outcome::Warned,
        Outcome::Audited,
        Outcome::Justified,
        Outcome::Covered,
        Outcome::Standing,
    ];
    Ok(Finding {
        rule: (*u.choose(&RULES)?).to_owned(),
        topic: *u.choose(&[Topic::Entitlement, Topic::Gpu, Topic::Habit])?,
        complaint: Complaint {
            quantity: "cpus",
            asked: shown(u)?,
            allowed: if u.arbitrary()? {
                Some(Allowed { place: place(u)?, verb: ("gives", "give"), what: shown(u)? })
            } else {
                None
            },
            excess: u.arbitrary()?,
            options: vec!["cpus-per-gpu"],
            remedies: (0..u.int_in_range(0..=4)?).map(|_| remedy(u)).collect::<Result<_>>()?,
            errno: Errno::AccessDenied,
            told_by: None,
        },
        outcome: u.choose(&outcomes)?.clone(),
        policy_line: u.int_in_range(0..=99)?,
        enforce_from: if u.arbitrary()? { Some(Date { year: 2027, month: 2, day: 1 }) } else { None },
        help: if u.arbitrary()? { Some(text(u)?) } else { None },
        justify: if u.arbitrary()? { Some(Justify { min_length: u.int_in_range(0..=400)? }) } else { None },
    })
}

fn verdict(u: &mut Unstructured<'_>) -> Result<Verdict> {
    let findings = (0..u.int_in_range(0..=12)?).map(|_| finding(u)).collect::<Result<_>>()?;
    let edits = (0..u.int_in_range(0..=3)?)
        .map(|_| {
            let edit = match u.int_in_range(0..=3)? {
                0 => Edit::CpusPerGpu(u.arbitrary()?),
                1 => Edit::MemoryPerGpu(u.arbitrary()?),
                2 => Edit::Requeue,
                _ => Edit::Qos(shown(u)?),
            };
            Ok(PlannedEdit { rule: "cpus-per-gpu", edit, made: u.arbitrary()? })
        })
        .collect::<Result<_>>()?;
    Ok(Verdict { findings, edits, ..Verdict::default() })
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(verdict) = verdict(&mut Unstructured::new(bytes)) else { return };
    told(&policies()[0], &verdict);
    let _ = message::one_line(&verdict);
});
