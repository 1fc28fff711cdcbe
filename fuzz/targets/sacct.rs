//! `sluice replay` on any text: sacct's output and records alike.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use sluice::replay::{Options, Source, run};
use sluice::submit_line::Series;
use sluice_fuzz::policies;

fuzz_target!(|bytes: &[u8]| {
    let options = Options {
        policy: &policies()[0],
        against: Some(&policies()[1]),
        series: Series::V24_11,
        since: None,
        until: None,
        workers: 1,
        uid: &|_| Some(1001),
        name: &|_| None,
        progress: &|_| (),
    };
    let source = Source { name: "fuzz".to_owned(), reader: Box::new(Cursor::new(bytes.to_vec())) };
    if let Ok(report) = run(&options, vec![source]) {
        assert!(serde_json::to_string(&report).is_ok());
    }
});
