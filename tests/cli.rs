//! The command as people type it. Each `.trycmd` file is a session; its `.in` folder is where it
//! runs.

#[test]
fn sessions_go_as_written() {
    let cases = trycmd::TestCases::new();
    // No Slurm of this machine, and nobody's own settings.
    cases.env("SLURM_CONF", "/nonexistent/slurm.conf").env("NO_COLOR", "1").env("SLUICE_POLICY", "");
    cases.env("TZ", "UTC");
    cases.case("tests/cli/*.trycmd");
}
