use super::*;
use crate::policy::resolve::NoDirectory;

const TODAY: Date = Date { year: 2026, month: 11, day: 30 };

fn loaded(text: &str) -> Loaded {
    load("sluice.toml", text, &NoDirectory, TODAY).unwrap_or_else(|p| panic!("{p}"))
}

fn errors(text: &str) -> String {
    load("sluice.toml", text, &NoDirectory, TODAY).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn probe() {
    println!(
        "{}",
        errors(
            "schema = 1\n[partition.gpu]\ncpu_per_gpu = 4\nwhole_node = 5\nmax_time=\"x\"\nowner = { acounts = [] }\n[rule.exclusiv]\n[rule.exclusive]\nmod = 1\nallow=[\"x\"]\nwhen = { partition = [\"[\"], not = { not = {} } }\n[[exempt]]\nrules=[]\n[[limit]]\nname=\"x\"\nforbid=[\"parsable\"]\n"
        )
    );
}
