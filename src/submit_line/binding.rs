//! Bindings, frequencies and sampling: options that no rule reads, and that the client refuses where
//! they are wrong (slurm_resource_info.c, cpu_frequency.c, tres_bind.c, tres_frequency.c,
//! proc_args.c). What slurm.conf decides is not known: which governors are allowed.

use super::value::leading_number;

type Checked = Result<(), String>;

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

fn is_any_of(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// `--cpu-bind`, of srun alone.
pub fn cpu_bind(value: Option<&str>) -> Checked {
    const PLAIN: &[&str] = &[
        "q",
        "quiet",
        "v",
        "verbose",
        "one_thread",
        "no",
        "none",
        "rank",
        "rank_ldom",
        "socket",
        "sockets",
        "core",
        "cores",
        "thread",
        "threads",
        "ldom",
        "ldoms",
        "help",
    ];
    const LISTS: &[(&str, &str)] = &[
        ("map_cpu", "map_cpu"),
        ("mapcpu", "map_cpu"),
        ("mask_cpu", "mask_cpu"),
        ("maskcpu", "mask_cpu"),
        ("map_ldom", "map_ldom"),
        ("mapldom", "map_ldom"),
        ("mask_ldom", "mask_ldom"),
        ("maskldom", "mask_ldom"),
    ];
    bind("cpu-bind", value.unwrap_or(""), PLAIN, LISTS)
}

/// `--mem-bind`.
pub fn mem_bind(value: Option<&str>) -> Checked {
    const PLAIN: &[&str] = &[
        "p", "prefer", "nosort", "sort", "q", "quiet", "v", "verbose", "no", "none", "rank", "local", "help",
    ];
    const LISTS: &[(&str, &str)] =
        &[("map_mem", "map_mem"), ("mapmem", "map_mem"), ("mask_mem", "mask_mem"), ("maskmem", "mask_mem")];
    bind("mem-bind", value.unwrap_or(""), PLAIN, LISTS)
}

/// Words between commas; a comma before a number belongs to the list that it stands in.
fn bind(option: &str, text: &str, plain: &[&str], lists: &[(&str, &str)]) -> Checked {
    let mut words: Vec<String> = Vec::new();
    for part in text.split(',') {
        match words.last_mut() {
            Some(last) if part.starts_with(|c: char| c.is_ascii_digit()) => {
                last.push(',');
                last.push_str(part);
            }
            _ => words.push(part.to_owned()),
        }
    }
    for word in words.iter().flat_map(|word| word.split(';')) {
        if is_any_of(word, plain) {
            continue;
        }
        let Some((_, kind)) = lists.iter().find(|(name, _)| starts_with(word, name)) else {
            return Err(format!("unrecognized --{option} argument \"{word}\""));
        };
        match word.split_once([':', '=']).map(|(_, list)| list.split([':', '=']).next().unwrap_or("")) {
            Some(list) if !list.is_empty() => numbers(list, kind)?,
            _ => return Err(format!("missing list for \"--{option}={kind}:<list>\"")),
        }
    }
    Ok(())
}

/// A list of numbers, hexadecimal ones in a mask, each with how often behind a `*`.
fn numbers(list: &str, kind: &str) -> Checked {
    let mask = kind.starts_with("mask");
    let validates =
        |text: &str, is_valid: &dyn Fn(char) -> bool, shown: &str| match text.chars().find(|&c| !is_valid(c))
        {
            Some(c) => Err(format!("Failed to validate number: {shown}, the offending character is {c}")),
            None => Ok(()),
        };
    for item in list.split(',').filter(|item| !item.is_empty()) {
        let item = if mask { item.strip_prefix("0x").unwrap_or(item) } else { item };
        let (number, times) = match item.split_once('*') {
            Some((number, times)) => (number, Some(times)),
            None => (item, None),
        };
        if let Some(times) = times {
            validates(times, &|c| c.is_ascii_digit(), &format!("*{times}"))?;
            if !times.parse::<i64>().is_ok_and(|n| n > 0) {
                return Err(format!("Invalid {kind} multiplier: {times}"));
            }
        }
        validates(number, &|c| if mask { c.is_ascii_hexdigit() } else { c.is_ascii_digit() }, number)?;
    }
    Ok(())
}

/// `--cpu-freq=p1[-p2[:p3]]` up to 22.05.
pub fn cpu_freq_22_05(value: Option<&str>) -> Checked {
    cpu_freq_of(value.unwrap_or(""), false)
}

/// Later a range needs a governor that takes one.
pub fn cpu_freq(value: Option<&str>) -> Checked {
    cpu_freq_of(value.unwrap_or(""), true)
}

fn cpu_freq_of(text: &str, later: bool) -> Checked {
    const GOVERNORS: [&str; 6] = ["co", "perf", "pow", "user", "onde", "sche"];
    let is_governor = |text: &str| GOVERNORS.iter().any(|name| starts_with(text, name));
    let (range, governor) = match text.split_once(':') {
        Some((range, governor)) => (range, Some(governor)),
        None => (text, None),
    };
    let (low, high) = match range.split_once('-') {
        Some((low, high)) => (low, Some(high)),
        None => (range, None),
    };
    if is_governor(low) {
        if let Some(governor) = governor {
            return Err(format!("governor cannot be specified twice {low}{{-}}:{governor} in --cpu-freq"));
        }
    }
    let first = if is_governor(low) { None } else { Some(frequency(low)?) };
    if let Some(high) = high {
        // CpuFreqDef of slurm.conf would stand in for it.
        if later && governor.is_none() {
            return Err("You must explicitly choose a governor when defining a range.".to_owned());
        }
        if first.is_some_and(|first| frequency(high).is_ok_and(|last| last < first)) {
            return Err(format!("min cpu-frec ({low}) must be < max cpu-freq ({high})"));
        }
        frequency(high)?;
    }
    let Some(governor) = governor else { return Ok(()) };
    let user_space = starts_with(governor, "user");
    if high.is_none() && !(later && user_space) {
        return Err(format!("gov on cpu-frec ({governor}) illegal without max"));
    }
    if !is_governor(governor) {
        return Err(format!("illegal governor: {governor} on --cpu-freq"));
    }
    if later && user_space && high.is_some() {
        return Err(format!("{governor} governor does not support a range."));
    }
    Ok(())
}

/// kHz; names are greater than any number (slurm.h).
fn frequency(text: &str) -> Result<i64, String> {
    const NAMES: [(&str, i64); 5] = [
        ("lo", 0x8000_0001),
        ("him1", 0x8000_0004),
        ("highm1", 0x8000_0004),
        ("hi", 0x8000_0003),
        ("med", 0x8000_0002),
    ];
    let named = NAMES.iter().find(|(name, _)| starts_with(text, name)).map(|&(_, n)| n);
    let number = || leading_number(text).map(|(n, _)| n).filter(|&n| n != 0);
    named.or_else(number).ok_or_else(|| format!("unrecognized --cpu-freq argument \"{text}\""))
}

/// `--acctg-freq`: seconds, or what is sampled how often.
pub fn acctg_freq(value: Option<&str>) -> Checked {
    let is_valid = |part: &str| {
        let lower = part.to_ascii_lowercase();
        let named = ["energy=", "task=", "filesystem=", "network="]
            .iter()
            .any(|name| lower.split_once(name).is_some_and(|(_, number)| leading_number(number).is_some()));
        named || leading_number(part).is_some()
    };
    match value.unwrap_or("").split(',').find(|part| !part.is_empty() && !is_valid(part)) {
        Some(part) => Err(format!("Invalid --acctg-freq specification: {part}")),
        None => Ok(()),
    }
}

/// `--gpu-bind` up to 22.05, where one letter of some words is enough.
pub fn gpu_bind_22_05(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    let known = gpu_bind_is_valid(text, 1) || text.split(';').next().is_some_and(|t| gpu_bind_is_valid(t, 1));
    if known { Ok(()) } else { Err(format!("Invalid --gpu-bind argument: gpu:{text}")) }
}

/// Since 24.11.
pub fn gpu_bind(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    if gpu_bind_is_valid(text, 4) {
        Ok(())
    } else {
        Err(format!("Invalid --gpu-bind argument: gres/gpu:{text}"))
    }
}

fn gpu_bind_is_valid(text: &str, letters: usize) -> bool {
    let text = if starts_with(text, "verbose,") { text.get(8..).unwrap_or("") } else { text };
    let after = |name: &str| if starts_with(text, name) { text.get(name.len()..) } else { None };
    let list = |list: &str, mask| {
        let digit = |c: char| if mask { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
        list.split(',').filter(|item| !item.is_empty()).all(|item| {
            let item = if mask { item.strip_prefix("0x").unwrap_or(item) } else { item };
            let (number, times) = item.split_once('*').unwrap_or((item, "1"));
            number.chars().all(digit) && times.parse::<i64>().is_ok_and(|n| n >= 0)
        })
    };
    // What is no number is read as 0.
    let number = |text: &str| leading_number(text).is_none_or(|(n, _)| (0..i64::MAX).contains(&n));
    let later = letters > 1;
    let closest = if later { "closest" } else { "c" };
    let none = if later { "none" } else { "n" };
    starts_with(text, closest)
        || starts_with(text, none)
        || after("map_gpu:").is_some_and(|l| list(l, false))
        || after("mask_gpu:").is_some_and(|l| list(l, true))
        || (later && after("map:").is_some_and(|l| list(l, false)))
        || (later && after("mask:").is_some_and(|l| list(l, true)))
        || after("per_task:").is_some_and(number)
        || after("single:").is_some_and(number)
}

/// `--gpu-freq`.
pub fn gpu_freq(value: Option<&str>) -> Checked {
    let text = value.unwrap_or("");
    let known = |word: &str| {
        let number = word.parse::<i64>().is_ok_and(|n| (0..i64::MAX).contains(&n));
        number || ["low", "medium", "high", "highm1"].contains(&word)
    };
    let part = |part: &str| match part.split_once('=') {
        Some((name, word)) => name == "memory" && known(word),
        None => known(part) || part == "verbose",
    };
    let ok = !text.is_empty() && text.split(',').filter(|p| !p.is_empty()).all(part);
    if ok { Ok(()) } else { Err(format!("Invalid --gpu-freq argument: gpu:{text}")) }
}

/// `--propagate`: names of limits.
pub fn propagate(value: Option<&str>) -> Checked {
    const NAMES: [&str; 10] =
        ["CPU", "FSIZE", "DATA", "STACK", "CORE", "RSS", "NPROC", "NOFILE", "MEMLOCK", "AS"];
    let Some(text) = value.filter(|text| !["ALL", "NONE"].contains(text)) else { return Ok(()) };
    for name in text.split([',', ' ', '\t', '\n']).filter(|name| !name.is_empty()) {
        let name = name.strip_prefix("RLIMIT_").unwrap_or(name);
        if !NAMES.contains(&name) {
            return Err(format!("Bad rlimit name: {name}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bindings_are_words_and_lists() {
        for text in
            ["cores", "v,threads", "map_cpu:0,1,2", "mask_cpu=0x3,0xf*2", "rank_ldom", "quiet;sockets"]
        {
            assert_eq!(cpu_bind(Some(text)), Ok(()), "{text}");
        }
        assert_eq!(cpu_bind(Some("wrong")), Err("unrecognized --cpu-bind argument \"wrong\"".into()));
        assert_eq!(mem_bind(Some("map_mem")), Err("missing list for \"--mem-bind=map_mem:<list>\"".into()));
        assert_eq!(mem_bind(Some("rank,verbose")), Ok(()));
        assert_eq!(
            mem_bind(Some("map_mem:0,1z")),
            Err("Failed to validate number: 1z, the offending character is z".into())
        );
    }

    #[test]
    fn frequencies_are_numbers_names_and_governors() {
        for text in ["high", "2400000", "1000000-2400000", "performance", "low-high:performance", "low-high"]
        {
            assert_eq!(cpu_freq_22_05(Some(text)), Ok(()), "{text}");
        }
        assert!(cpu_freq(Some("low-high")).is_err(), "a range without a governor");
        assert_eq!(cpu_freq(Some("2400000:userspace")), Ok(()));
        for text in ["bad", "2400000-1000000", "low:performance", "performance:powersave", "low-high:bad", ""]
        {
            assert!(cpu_freq_22_05(Some(text)).is_err(), "{text}");
        }
        assert_eq!(gpu_freq(Some("high,memory=low,verbose")), Ok(()));
        assert!(gpu_freq(Some("wrong")).is_err() && gpu_freq(Some("memory=x")).is_err());
    }

    #[test]
    fn the_words_of_gpu_bind_grew_longer() {
        for text in ["closest", "single:2", "map_gpu:0,1", "mask_gpu:0x3", "verbose,none", "per_task:1"] {
            assert!(gpu_bind(Some(text)).is_ok() && gpu_bind_22_05(Some(text)).is_ok(), "{text}");
        }
        assert!(gpu_bind_22_05(Some("c")).is_ok() && gpu_bind(Some("c")).is_err());
        assert!(gpu_bind(Some("map:0,1")).is_ok() && gpu_bind_22_05(Some("map:0,1")).is_err());
        assert!(gpu_bind(Some("wrong")).is_err());
    }

    #[test]
    fn sampling_and_limits_are_named() {
        for text in ["30", "task=30", "energy=30,task=60", "0"] {
            assert_eq!(acctg_freq(Some(text)), Ok(()), "{text}");
        }
        assert_eq!(acctg_freq(Some("task=x")), Err("Invalid --acctg-freq specification: task=x".into()));
        assert_eq!(propagate(Some("RLIMIT_CORE,AS")), Ok(()));
        assert_eq!(propagate(Some("WRONG")), Err("Bad rlimit name: WRONG".into()));
        assert_eq!(propagate(None), Ok(()));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(map_cpu|mask_gpu|verbose|[0-9:,;*=-]|\\PC){0,8}") {
            let text = Some(text.as_str());
            let _ = (cpu_bind(text), mem_bind(text), cpu_freq(text), acctg_freq(text));
            let _ = (gpu_bind(text), gpu_bind_22_05(text), gpu_freq(text), propagate(text));
        }
    }
}
