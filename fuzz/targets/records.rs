//! The reader of decision records, and of the status file; what is read is judged again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice::record::Record;
use sluice::status::Status;
use sluice_fuzz::judged;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(status) = serde_json::from_str::<Status>(text) {
        assert!(serde_json::to_string(&status).is_ok());
    }
    let Ok(record) = serde_json::from_str::<Record>(text) else { return };
    let line = record.to_line();
    assert!(!line.contains('\n'));
    assert!(serde_json::from_str::<Record>(&line).is_ok());
    if let Some(request) = record.request() {
        judged(&request);
    }
});
