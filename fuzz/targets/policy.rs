//! The policy loader, on any bytes; what it accepts is judged by.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice::policy::load::load_bytes;
use sluice::policy::resolve::NoDirectory;
use sluice::request::{Request, Tres};
use sluice_fuzz::TODAY;

fuzz_target!(|bytes: &[u8]| {
    match load_bytes("fuzz.toml", bytes, &NoDirectory, TODAY) {
        Ok(loaded) => {
            loaded.doubts.iter().for_each(|doubt| drop(doubt.to_string()));
            let plain = Request { partition: Some("gpu".into()), ..Request::default() };
            let gpus = Request { tres_per_job: Tres::new("gres/gpu:a100:2"), ..plain.clone() };
            // A policy may well want two things at once that cannot both be; no more than a verdict is
            // asked for here.
            for request in [&plain, &gpus] {
                let verdict =
                    sluice::judge::judge(&loaded.policy, request, &sluice::cluster::UnknownCluster, TODAY);
                assert!(verdict.failed.is_empty());
                sluice_fuzz::told(&loaded.policy, &verdict);
            }
        }
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
});
