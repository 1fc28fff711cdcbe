//! Memory as Slurm counts it: MB (2^20 bytes), in policy files and options alike.

use std::fmt;

/// `pn_min_memory` of `job_desc_msg_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// Neither `--mem` nor `--mem-per-cpu`.
    #[default]
    Unset,
    /// `--mem=0`: all memory of each node.
    WholeNode,
    /// `--mem`, MB on each node.
    PerNode(u64),
    /// `--mem-per-cpu`, MB for each CPU.
    PerCpu(u64),
}

impl Memory {
    /// Whether all memory of each node is asked for: `--mem=0`, and `--mem-per-cpu=0`, which
    /// slurmctld takes for the same (job_mgr.c).
    pub fn takes_all(self) -> bool {
        matches!(self, Memory::WholeNode | Memory::PerCpu(0))
    }
}

/// Reads `4G`, `500M`, `64000`, `1.5T`: Slurm's grammar for `--mem` (sbatch(1); `str_to_mbytes`):
/// a whole number with an optional unit K, M (the default), G or T, with or without a final B.
/// K rounds up to a whole MB. Returns MB.
pub fn parse_mb(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    match unit.to_ascii_lowercase().as_str() {
        "k" | "kb" => Some(number.div_ceil(1024)),
        "" | "m" | "mb" => Some(number),
        "g" | "gb" => number.checked_mul(1 << 10),
        "t" | "tb" => number.checked_mul(1 << 20),
        _ => None,
    }
}

/// Writes MB in the largest unit that keeps it whole: `60G`, `1500M`.
#[derive(Clone, Copy, Debug)]
pub struct Mb(pub u64);

impl fmt::Display for Mb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n != 0 && n % (1 << 20) == 0 => write!(f, "{}T", n >> 20),
            n if n != 0 && n % (1 << 10) == 0 => write!(f, "{}G", n >> 10),
            n => write!(f, "{n}M"),
        }
    }
}

/// MB of `4G`, `1.50G`, `16000M`: Slurm prints fractions, unlike the options of a client.
pub fn printed_mb(text: &str) -> Option<u64> {
    if let Some(mb) = parse_mb(text) {
        return Some(mb);
    }
    let unit = text.len().checked_sub(1)?;
    let (number, unit) = (text.get(..unit)?.parse::<f64>().ok()?, text.get(unit..)?);
    let factor = match unit {
        "K" => 1.0 / 1024.0,
        "M" => 1.0,
        "G" => 1024.0,
        "T" => 1024.0 * 1024.0,
        "P" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let mb = (number * factor).ceil();
    // Below 2^53 a whole number is exact.
    (0.0..9e15).contains(&mb).then_some(mb as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_those_of_slurm() {
        for (text, mb) in [
            ("0", 0),
            ("4096", 4096),
            ("4G", 4096),
            ("4g", 4096),
            ("4GB", 4096),
            ("1T", 1 << 20),
            ("1500M", 1500),
            ("1K", 1),
            ("1025K", 2),
        ] {
            assert_eq!(parse_mb(text), Some(mb), "{text}");
        }
        for text in ["", "G", "-1", "4X", "4 GB x", "1.5G", "99999999999999999999"] {
            assert_eq!(parse_mb(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(mb in 0u64..(1 << 40)) {
            prop_assert_eq!(parse_mb(&Mb(mb).to_string()), Some(mb));
        }
    }
}
