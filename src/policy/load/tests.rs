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
            "schema = 1\n[rule.exclusive]\nwhen = { partition = [\"[\"] }\n[rule.array-logs]\nwhen = { partition = [\"a\", \"[\"] }\n"
        )
    );
    println!(
        "{}",
        errors(
            "schema = 1\n[rule.exclusive]\nmode = enforce\nhelp=foo\n[rule.array-logs\nwhen = 3\n[partition.x]\ngpu_types = [1, 2\n[partition.y]\ncpus=4\n"
        )
    );
    println!("{}", errors("schema = 2\nx = 1"));
    println!("{}", errors(&format!("schema = 1\n[site]\nname = {}\n", "[".repeat(100000))));
}
