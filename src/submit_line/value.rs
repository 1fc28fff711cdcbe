//! Values as the clients read them: numbers, node counts, signals, and what each option refuses.
//!
//! Every check answers in the client's own words (proc_args.c, slurm_opt.c). Times and memory have
//! their grammar in `request`.

pub use crate::request::number::{is_space, leading_number};
use crate::request::{TimeLimit, memory};

/// `parse_int`: a whole number, above zero where `positive`. `name` is what the message calls it.
pub fn int(name: &str, text: &str, positive: bool) -> Result<i64, String> {
    let (number, rest) = leading_number(text).unwrap_or((0, text));
    if !rest.is_empty() || number < 0 || (positive && number == 0) {
        return Err(format!("Invalid numeric value \"{text}\" for {name}."));
    }
    if number >= i64::from(i32::MAX) {
        return Err(format!("Numeric argument ({number}) too large for {name}."));
    }
    Ok(number)
}

/// `str_to_mbytes`, MB.
pub fn mb(text: &str) -> Option<u64> {
    // strtoll passes over leading blanks and a plus sign; what follows the unit must be its end.
    let text = text.trim_start_matches(is_space);
    let text = text.strip_prefix('+').unwrap_or(text);
    if text.ends_with(is_space) { None } else { memory::parse_mb(text) }
}

/// A time limit, which unlike a policy's may also end in its dash: `2-` is two days.
pub fn time_limit(text: &str) -> Option<TimeLimit> {
    match text.strip_suffix('-') {
        Some(days) if !days.contains('-') => TimeLimit::parse(&format!("{days}-0")),
        _ => TimeLimit::parse(text),
    }
}

/// `--nodes`: the smallest and largest number; `None` for the second where there is no upper end.
pub fn node_count(text: &str) -> Result<(u32, u32), String> {
    let invalid = |part: &str| format!("\"{part}\" is not a valid node count");
    if text.contains([',', ':']) {
        let sizes = node_sizes(text).ok_or_else(|| invalid(text))?;
        return Ok(sizes);
    }
    let (min, max) = match text.split_once('-') {
        Some((min, max)) => {
            let low = nodes(min).ok_or_else(|| invalid(min))?.unwrap_or(1);
            let high = nodes(max).ok_or_else(|| invalid(max))?;
            // str_to_nodes answers -1 where there is no number, which the client then compares.
            (low, high)
        }
        None => match nodes(text) {
            Some(Some(n)) => (n, Some(n)),
            _ => return Err(invalid(text)),
        },
    };
    match max {
        Some(max) if max == 0 || max >= min => Ok((min, max)),
        max => {
            let max = max.map_or(-1, i64::from);
            Err(format!("Maximum node count {max} is less than minimum node count {min}"))
        }
    }
}

/// One end of a node count: `Some(None)` where it is blank, `None` where it is no number.
fn nodes(text: &str) -> Option<Option<u32>> {
    let Some((number, rest)) = leading_number(text) else {
        return text.chars().all(is_space).then_some(None);
    };
    let (number, rest) = match rest.as_bytes().first() {
        Some(b'k' | b'K') => (number.saturating_mul(1024), rest.get(1..).unwrap_or("")),
        _ => (number, rest),
    };
    let (number, rest) = match rest.as_bytes().first() {
        Some(b'm' | b'M') => (number.saturating_mul(1024 * 1024), rest.get(1..).unwrap_or("")),
        _ => (number, rest),
    };
    if !rest.chars().all(is_space) {
        return None;
    }
    Some(u32::try_from(number).ok().filter(|&n| n <= i32::MAX as u32))
}

/// `--nodes=1,5-9:2` (23.02 and later): the smallest and the largest size named.
fn node_sizes(text: &str) -> Option<(u32, u32)> {
    let mut ends = (u32::MAX, 0u32);
    for item in text.split(',') {
        let (bounds, step) = match item.split_once(':') {
            Some((bounds, step)) => (bounds, step.parse::<u32>().ok().filter(|&s| s > 0)?),
            None => (item, 1),
        };
        let (low, high) = match bounds.split_once('-') {
            Some((low, high)) => (low.parse::<u32>().ok()?, high.parse::<u32>().ok()?),
            None => {
                let n = bounds.parse::<u32>().ok()?;
                (n, n)
            }
        };
        // MAX_JOB_SIZE_BITMAP of slurm_opt.h.
        if low > high || high >= 1_000_000 {
            return None;
        }
        let last = high - (high - low) % step;
        ends = (ends.0.min(low), ends.1.max(last));
    }
    Some(ends)
}

/// `--signal=[R][B]:SIG[@SECONDS]`: number, seconds, whether only the batch shell gets it.
pub fn signal_option(text: &str) -> Option<(u16, u16, bool)> {
    let mut rest = text;
    let mut batch = false;
    for flag in ['R', 'B', 'R'] {
        if let Some(after) = rest.strip_prefix([flag, flag.to_ascii_lowercase()]) {
            batch |= flag == 'B';
            rest = after;
        }
    }
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let (name, time) = match rest.split_once('@') {
        Some((name, time)) => (name, Some(time)),
        None => (rest, None),
    };
    let number = u16::try_from(signal_number(name)?).ok().filter(|&n| n > 0)?;
    let seconds = match time {
        None => 60,
        Some(time) => {
            let (seconds, end) = leading_number(time).unwrap_or((0, time));
            u16::try_from(seconds).ok().filter(|_| end.is_empty())?
        }
    };
    Some((number, seconds, batch))
}

/// The number of a signal by name, with or without `SIG`, or by number (Linux, as on every Slurm).
pub fn signal_number(name: &str) -> Option<i64> {
    if let Some((number, rest)) = leading_number(name) {
        return rest.chars().all(is_space).then_some(number).filter(|&n| n != 0);
    }
    let name = name.trim_matches(is_space).to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    const NAMES: &[(&str, i64)] = &[
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("KILL", 9),
        ("ALRM", 14),
        ("TERM", 15),
        ("CHLD", 17),
        ("USR1", 10),
        ("USR2", 12),
        ("PIPE", 13),
        ("URG", 23),
        ("CONT", 18),
        ("STOP", 19),
        ("TSTP", 20),
        ("TTIN", 21),
        ("TTOU", 22),
        ("XCPU", 24),
    ];
    NAMES.iter().find(|(n, _)| *n == name).map(|&(_, number)| number)
}

/// `-B sockets[:cores[:threads]]`; `None` in a place is `*`.
pub fn socket_core_thread(text: &str) -> Result<[Option<u16>; 3], String> {
    let mut counts = [None; 3];
    let places = ["first arg of -B", "second arg of -B", "third arg of -B"];
    for ((part, place), count) in text.split(':').zip(places).zip(counts.iter_mut()) {
        *count = range_low(part, place)?;
    }
    Ok(counts)
}

/// `get_resource_arg_range`: the lower end of `n`, `n-m`, `*`.
fn range_low(text: &str, place: &str) -> Result<Option<u16>, String> {
    if text.is_empty() || text.starts_with('*') {
        return Ok(None);
    }
    let invalid = || format!("Invalid numeric value \"{text}\" for {place}.");
    let (low, rest) = leading_number(text).unwrap_or((0, text));
    if low < 0 {
        return Err(invalid());
    }
    match rest.strip_prefix('-') {
        None if !rest.is_empty() => return Err(invalid()),
        None => {}
        Some(high) => match leading_number(high) {
            Some((high, "")) if high > 0 => {}
            _ => return Err(invalid()),
        },
    }
    u16::try_from(low).map(Some).map_err(|_| format!("Numeric argument ({low}) too large for {place}."))
}

// ---- checks of the table: what the client says to a value that it does not take

type Checked = Result<(), String>;

fn refuse(condition: bool, words: impl FnOnce() -> String) -> Checked {
    if condition { Err(words()) } else { Ok(()) }
}

fn invalid(option: &str) -> String {
    format!("Invalid --{option} specification")
}

fn whole_number(name: &str, value: Option<&str>) -> Checked {
    value.map_or(Ok(()), |v| int(name, v, false).map(|_| ()))
}

pub(super) fn time(value: Option<&str>) -> Checked {
    refuse(value.and_then(time_limit).is_none(), || invalid("time"))
}

pub(super) fn time_min(value: Option<&str>) -> Checked {
    refuse(value.and_then(time_limit).is_none(), || invalid("time-min"))
}

pub(super) fn delay_boot(value: Option<&str>) -> Checked {
    refuse(value.and_then(time_limit).is_none(), || invalid("delay-boot"))
}

/// Lists of sizes came with 23.02.
pub(super) fn nodes_22_05(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    match text.find([',', ':']) {
        Some(_) => Err(format!("\"{text}\" is not a valid node count")),
        None => nodes_option(value),
    }
}

pub(super) fn nodes_option(value: Option<&str>) -> Checked {
    node_count(value.unwrap_or("")).map(|_| ())
}

/// `shared` of `job_desc_msg_t` for `--exclusive[=...]`.
pub fn exclusive_number(value: Option<&str>) -> Option<u16> {
    const NUMBERS: &[(&str, u16)] =
        &[("exclusive", 0), ("allocation", 0), ("oversubscribe", 1), ("user", 2), ("mcs", 3), ("topo", 4)];
    let Some(text) = value else { return Some(0) };
    NUMBERS.iter().find(|(name, _)| text.eq_ignore_ascii_case(name)).map(|&(_, number)| number)
}

pub(super) fn exclusive(value: Option<&str>) -> Checked {
    refuse(exclusive_number(value).is_none(), || invalid("exclusive"))
}

/// `=allocation` came with 26.05.
pub(super) fn exclusive_24_11(value: Option<&str>) -> Checked {
    refuse(is_any_of(value, &["allocation"]), || invalid("exclusive"))?;
    exclusive(value)
}

/// `=topo` came with 24.05.
pub(super) fn exclusive_22_05(value: Option<&str>) -> Checked {
    refuse(is_any_of(value, &["topo"]), || invalid("exclusive"))?;
    exclusive_24_11(value)
}

pub(super) fn nice(value: Option<&str>) -> Checked {
    // NICE_OFFSET - 3.
    const LIMIT: i64 = 0x8000_0000 - 3;
    let number = value.and_then(leading_number).map_or(0, |(n, _)| n);
    refuse(number.unsigned_abs() > LIMIT.unsigned_abs(), || {
        format!("Invalid --nice value, out of range (+/- {LIMIT})")
    })
}

fn is_any_of(value: Option<&str>, names: &[&str]) -> bool {
    value.is_some_and(|v| names.iter().any(|n| v.eq_ignore_ascii_case(n)))
}

pub(super) fn no_kill(value: Option<&str>) -> Checked {
    refuse(value.is_some() && !is_any_of(value, &["set", "off", "no"]), || invalid("no-kill"))
}

pub(super) fn open_mode(value: Option<&str>) -> Checked {
    let known = value.is_some_and(|v| v.starts_with(['a', 'A', 't', 'T']));
    refuse(!known, || invalid("open-mode"))
}

pub(super) fn priority(value: Option<&str>) -> Checked {
    let Some(text) = value.filter(|v| !v.eq_ignore_ascii_case("TOP")) else { return Ok(()) };
    let number = leading_number(text).map_or(0, |(n, _)| n);
    refuse(number < 0, || "Priority must be >= 0".to_owned())?;
    refuse(number >= 0xffff_fffe, || "Priority must be < 4294967294".to_owned())
}

pub(super) fn requeue(value: Option<&str>) -> Checked {
    refuse(value.is_some_and(|v| !v.is_empty()) && !is_any_of(value, &["expedite"]), || invalid("requeue"))
}

pub(super) fn signal(value: Option<&str>) -> Checked {
    refuse(value.and_then(signal_option).is_none(), || invalid("signal"))
}

/// srun and salloc know no `B:` up to 25.11.
pub(super) fn signal_of_all(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    let text = text.strip_prefix(['R', 'r']).unwrap_or(text);
    refuse(text.starts_with(['B', 'b']), || invalid("signal"))?;
    signal(value)
}

pub(super) fn kill_on_invalid_dep(value: Option<&str>) -> Checked {
    refuse(!is_any_of(value, &["yes", "no"]), || invalid("kill-on-invalid-dep"))
}

pub(super) fn wait_all_nodes(value: Option<&str>) -> Checked {
    let number = int("--wait-all-nodes", value.unwrap_or(""), false)?;
    refuse(number > 1, || invalid("wait-all-nodes"))
}

pub(super) fn oom_kill_step(value: Option<&str>) -> Checked {
    refuse(value.is_some_and(|v| !matches!(v, "0" | "1")), || invalid("oom-kill-step"))
}

pub(super) fn segment(value: Option<&str>) -> Checked {
    refuse(value.is_none_or(|v| v.parse::<u16>().is_err()), || invalid("segment"))
}

pub(super) fn treewidth(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    let known = text.eq_ignore_ascii_case("off") || text.parse::<u16>().is_ok();
    refuse(!known, || format!("Invalid --treewidth value: {text}"))
}

pub(super) fn mem_update(value: Option<&str>) -> Checked {
    let Some((margin, delay)) = value.unwrap_or("").split_once('@') else {
        return Err("--mem-update requires MARGIN@DELAY format".to_owned());
    };
    let fits = |n: u32| (1..=u32::from(u16::MAX)).contains(&n);
    let margin = margin.parse::<u32>().is_ok_and(fits);
    let delay = crate::request::time::parse_minutes(delay).is_some_and(fits);
    refuse(!(margin && delay), || invalid("mem-update"))
}

pub(super) fn extra_node_info(value: Option<&str>) -> Checked {
    socket_core_thread(value.unwrap_or("")).map(|_| ())
}

/// The first word of `--hint` that is none. The client looks only when all options are read.
pub fn unknown_hint(text: &str) -> Option<String> {
    const HINTS: &[&str] = &["compute_bound", "memory_bound", "multithread", "nomultithread", "help"];
    text.split(',').find(|h| !is_any_of(Some(h), HINTS)).map(str::to_owned)
}

pub(super) fn switches(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    int("--switches", text.split('@').next().unwrap_or(text), true).map(|_| ())
}

pub(super) fn immediate(value: Option<&str>) -> Checked {
    whole_number("immediate", value)
}

pub(super) fn kill_command(value: Option<&str>) -> Checked {
    refuse(value.is_some_and(|v| signal_number(v).is_none()), || invalid("kill-command"))
}

pub(super) fn kill_on_bad_exit(value: Option<&str>) -> Checked {
    whole_number("--kill-on-bad-exit", value)
}

pub(super) fn resv_ports(value: Option<&str>) -> Checked {
    whole_number("--resv-port", value)
}

pub(super) fn accel_bind(value: Option<&str>) -> Checked {
    refuse(!value.unwrap_or("").contains(['v', 'g', 'n']), || invalid("accel-bind"))
}

pub(super) fn get_user_env(value: Option<&str>) -> Checked {
    let Some(text) = value else { return Ok(()) };
    let rest = leading_number(text).map_or(text, |(_, rest)| rest);
    refuse(!rest.is_empty() && !rest.starts_with(['s', 'S', 'l', 'L']), || invalid("get-user-env"))
}

pub(super) fn mail_type(value: Option<&str>) -> Checked {
    const TYPES: &[&str] = &[
        "NONE",
        "ARRAY_TASKS",
        "BEGIN",
        "END",
        "FAIL",
        "INVALID_DEPEND",
        "REQUEUE",
        "ALL",
        "STAGE_OUT",
        "TIME_LIMIT",
        "TIME_LIMIT_90",
        "TIME_LIMIT_80",
        "TIME_LIMIT_50",
    ];
    let known = value.unwrap_or("").split(',').any(|t| is_any_of(Some(t), TYPES));
    // ARRAY_TASKS alone is taken too: one known word is enough.
    refuse(!known, || invalid("mail-type"))
}

pub(super) fn profile(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    let lower = text.to_ascii_lowercase();
    let known = ["none", "all", "energy", "task", "lustre", "network"].iter().any(|p| lower.contains(p));
    refuse(!known, || format!("invalid --profile={text} option"))
}

pub(super) fn gres_flags(value: Option<&str>) -> Checked {
    const FLAGS: &[&str] = &[
        "allow-task-sharing",
        "disable-binding",
        "enforce-binding",
        "multiple-tasks-per-sharing",
        "one-task-per-sharing",
    ];
    let flags: Vec<&str> = value.unwrap_or("").split(',').filter(|f| !f.is_empty()).collect();
    if let Some(flag) = flags.iter().find(|f| !is_any_of(Some(f), FLAGS)) {
        return Err(format!("Invalid --gres-flags specification: {flag}"));
    }
    let has = |name: &str| flags.iter().any(|f| f.eq_ignore_ascii_case(name));
    refuse(has("disable-binding") && has("enforce-binding"), || {
        "Invalid --gres-flags combo: disable-binding and enforce-binding are mutually exclusive.".to_owned()
    })
}

pub(super) fn gres_flags_22_05(value: Option<&str>) -> Checked {
    refuse(!is_any_of(value, &["disable-binding", "enforce-binding"]), || invalid("gres-flags"))
}

pub(super) fn distribution(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    if text.get(..5).is_some_and(|p| p.eq_ignore_ascii_case("plane")) {
        // A size may also come from SLURM_DIST_PLANESIZE, so only a wrong one is refused.
        return match text.split_once('=') {
            Some((_, size)) if size.parse::<i32>().is_ok_and(|n| n > 0) => Ok(()),
            Some(_) => Err("Invalid plane size or size not specified".to_owned()),
            None => Ok(()),
        };
    }
    let levels = text.split(',').next().unwrap_or(text);
    let known =
        |part: &str| is_any_of(Some(part), &["block", "cyclic", "fcyclic", "arbitrary", "hostfile", "*"]);
    let is_flag = |part: &str| is_any_of(Some(part), &["pack", "nopack"]);
    let ok = levels.split(':').all(known) || is_flag(levels);
    refuse(!ok, || invalid("distribution"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_strtol_reads_them() {
        assert_eq!(leading_number(" 12x"), Some((12, "x")));
        assert_eq!(leading_number("-3"), Some((-3, "")));
        assert_eq!(leading_number("+4"), Some((4, "")));
        assert_eq!(leading_number("x"), None);
        assert_eq!(leading_number("99999999999999999999"), Some((i64::MAX, "")));
    }

    #[test]
    fn whole_numbers_are_refused_in_the_clients_words() {
        assert_eq!(int("--ntasks", "4", true), Ok(4));
        assert_eq!(int("--ntasks", "0", true), Err("Invalid numeric value \"0\" for --ntasks.".into()));
        assert_eq!(int("--ntasks", "4x", true), Err("Invalid numeric value \"4x\" for --ntasks.".into()));
        assert_eq!(int("--core-spec", "", false), Ok(0));
        assert_eq!(
            int("--ntasks", "2147483647", true),
            Err("Numeric argument (2147483647) too large for --ntasks.".into())
        );
    }

    #[test]
    fn node_counts_are_numbers_ranges_and_lists() {
        assert_eq!(node_count("2"), Ok((2, 2)));
        assert_eq!(node_count("2-4"), Ok((2, 4)));
        assert_eq!(node_count("1k"), Ok((1024, 1024)));
        assert_eq!(node_count("1,4-8:2"), Ok((1, 8)));
        assert_eq!(node_count("-4"), Ok((1, 4)));
        assert_eq!(node_count("2-0"), Ok((2, 0)));
        for text in ["", "x", "4-2", "2-", "2x", "1,,2", "0x2"] {
            assert!(node_count(text).is_err(), "{text}");
        }
        assert_eq!(node_count("4-2").unwrap_err(), "Maximum node count 2 is less than minimum node count 4");
        assert_eq!(node_count("x").unwrap_err(), "\"x\" is not a valid node count");
    }

    #[test]
    fn signals_come_by_name_and_number_with_flags_and_time() {
        assert_eq!(signal_option("USR1"), Some((10, 60, false)));
        assert_eq!(signal_option("B:USR1@120"), Some((10, 120, true)));
        assert_eq!(signal_option("RB:SIGTERM@0"), Some((15, 0, true)));
        assert_eq!(signal_option("BR:12"), Some((12, 60, true)));
        assert_eq!(signal_option("10@30"), Some((10, 30, false)));
        for text in ["", "FOO", "USR1@x", "USR1@70000", "0", "B:"] {
            assert_eq!(signal_option(text), None, "{text}");
        }
    }

    #[test]
    fn topology_counts_are_read_from_one_option() {
        assert_eq!(socket_core_thread("2:8:1"), Ok([Some(2), Some(8), Some(1)]));
        assert_eq!(socket_core_thread("*:4"), Ok([None, Some(4), None]));
        assert_eq!(socket_core_thread("2-4"), Ok([Some(2), None, None]));
        assert!(socket_core_thread("a").is_err() && socket_core_thread("2-x").is_err());
    }
}
