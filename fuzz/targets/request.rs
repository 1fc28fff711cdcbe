//! The request of an arbitrary job description: every number and every text is the client's to choose.
//!
//! The input is read as slurmctld's fields would be: a bit says whether a field is stated, then comes
//! its value; text that is not UTF-8 is replaced as at the hook.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use sluice::request::description::{Description, Message};
use sluice::request::{Request, Text};
use sluice_fuzz::judged;

fn text<'a>(u: &mut Unstructured<'a>) -> Result<Option<Text<'a>>> {
    if !u.ratio(1, 4)? {
        return Ok(None);
    }
    let length = u.int_in_range(0..=40)?;
    Ok(Some(String::from_utf8_lossy(u.bytes(length.min(u.len()))?)))
}

macro_rules! fill {
    ($u:ident, $d:ident; numbers: $($number:ident)*; texts: $($text:ident)*) => {
        $(if $u.ratio(1, 3)? { $d.$number = $u.arbitrary()?; })*
        $($d.$text = text($u)?;)*
    };
}

fn description<'a>(u: &mut Unstructured<'a>) -> Result<Description<'a>> {
    let mut d = Description { user_id: 1001, alloc_sid: 1, ..Description::default() };
    fill! { u, d;
        numbers: bitflags has_crontab_entry het_job_offset alloc_resp_port other_port env_size min_nodes
            max_nodes num_tasks ntasks_per_node ntasks_per_socket ntasks_per_core ntasks_per_tres
            cpus_per_task min_cpus pn_min_cpus overcommit sockets_per_node cores_per_socket
            threads_per_core core_spec pn_min_memory shared time_limit time_min requeue warn_flags
            warn_signal warn_time nice priority x11 group_id arguments spank;
        texts: tres_per_job tres_per_node tres_per_socket tres_per_task cpus_per_tres mem_per_tres
            partition qos account reservation array_inx std_out std_err dependency comment export
            justify lineage script features req_nodes exc_nodes licenses name work_dir submit_line
    }
    Ok(d)
}

fuzz_target!(|bytes: &[u8]| {
    let mut u = Unstructured::new(bytes);
    let (Ok(first), Ok(second)) = (description(&mut u), description(&mut u)) else { return };
    if first.too_long().is_some() {
        return;
    }
    let job = first.request(Message::Submit, 1001, false);
    judged(&job);
    let kept = job.kept();
    assert_eq!(kept.tres_per_job, job.tres_per_job);
    // And as a change of that job.
    let change: Request<'_> = second.request(Message::Update, 1001, false);
    for policy in sluice_fuzz::policies() {
        let verdict = sluice::update::judge(
            policy,
            sluice::update::Existing::Job(&job),
            &change,
            &sluice::cluster::UnknownCluster,
            sluice_fuzz::TODAY,
        );
        assert!(verdict.failed.is_empty(), "{:?}", verdict.failed);
        sluice_fuzz::told(policy, &verdict);
    }
});
