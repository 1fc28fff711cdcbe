//! The values of a policy file: memory and times in Slurm's grammar, numbers per GPU, name patterns.
//!
//! Each says what it expects in words that finish the sentence "invalid value for `key`: expected".

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor, value::MapAccessDeserializer,
};
use toml::Spanned;

use super::condition::GpuCount;
use super::glob::Glob;
use crate::request::{TimeLimit, memory, time};
use crate::verdict::Justify;

/// A whole number from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive(pub u64);

/// Memory in MB, more than none: `"500G"` or a number of MB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub u64);

/// A time limit: `"2-00:00:00"`, `"UNLIMITED"`, or a number of minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub TimeLimit);

/// A name with or without a glob in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(pub Glob);

/// `justify = true`, `false`, or `{ min_length = 20 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Justification(pub Option<Justify>);

/// A key that is not allowed where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {}

/// What one GPU brings, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerGpu<T> {
    /// A bare number: default and maximum.
    Both(T),
    /// `{ default = 4, max = 8 }` or `{ exact = 14 }`.
    Table(PerGpuTable<T>),
}

/// The long form of [`PerGpu`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerGpuTable<T> {
    /// Filled in.
    pub default: Option<T>,
    /// At most.
    pub max: Option<T>,
    /// Just this.
    pub exact: Option<T>,
}

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Positive;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 1 on")
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Positive, E> {
                match u64::try_from(n) {
                    Ok(n) if n > 0 => Ok(Positive(n)),
                    _ => Err(E::invalid_value(Unexpected::Signed(n), &self)),
                }
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Positive, E> {
                if n > 0 { Ok(Positive(n)) } else { Err(E::invalid_value(Unexpected::Unsigned(n), &self)) }
            }
        }
        deserializer.deserialize_u64(V)
    }
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Memory;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("memory such as \"500G\", or a number of MB")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Memory, E> {
                match memory::parse_mb(text) {
                    Some(mb) if mb > 0 => Ok(Memory(mb)),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Memory, E> {
                match u64::try_from(n) {
                    Ok(mb) if mb > 0 => Ok(Memory(mb)),
                    _ => Err(E::invalid_value(Unexpected::Signed(n), &self)),
                }
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Time;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a time such as \"2-00:00:00\" or \"4:00:00\", a number of minutes, or \"UNLIMITED\"",
                )
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
                let text = text.trim();
                // For Slurm zero is no limit. Whoever writes zero in a policy means something else.
                match TimeLimit::parse(text).filter(|_| time::parse_minutes(text) != Some(0)) {
                    Some(limit) => Ok(Time(limit)),
                    None => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Time, E> {
                match u32::try_from(n) {
                    Ok(minutes) if minutes > 0 && minutes < 0xffff_fffe => {
                        Ok(Time(TimeLimit::Minutes(minutes)))
                    }
                    _ => Err(E::invalid_value(Unexpected::Signed(n), &self)),
                }
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Pattern;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name in quotes")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Pattern, E> {
                Glob::new(text).map(Pattern).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(V)
    }
}

impl<'de> Deserialize<'de> for GpuCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = GpuCount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true`, `false`, a number, or a range such as \"2-3\" or \"5-\"")
            }
            fn visit_bool<E: Error>(self, any: bool) -> Result<GpuCount, E> {
                Ok(if any { GpuCount { min: 1, max: None } } else { GpuCount { min: 0, max: Some(0) } })
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<GpuCount, E> {
                let count = u64::try_from(n).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))?;
                Ok(GpuCount { min: count, max: Some(count) })
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<GpuCount, E> {
                let number = |t: &str| t.trim().parse::<u64>().ok();
                let range = match text.split_once('-') {
                    None => number(text).map(|n| (n, Some(n))),
                    Some((min, "")) => number(min).map(|min| (min, None)),
                    Some((min, max)) => number(min).zip(number(max)).map(|(min, max)| (min, Some(max))),
                };
                match range {
                    Some((min, max)) if max.is_none_or(|max| min <= max) => Ok(GpuCount { min, max }),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for Justification {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            min_length: Positive,
        }
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Justification;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true`, `false`, or `{ min_length = 20 }`")
            }
            fn visit_bool<E: Error>(self, allowed: bool) -> Result<Justification, E> {
                Ok(Justification(allowed.then_some(Justify { min_length: 1 })))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Justification, A::Error> {
                let Table { min_length } = Table::deserialize(MapAccessDeserializer::new(map))?;
                // slurmctld takes comments of up to 1024 bytes (job_mgr.c), `justify: ` included.
                match usize::try_from(min_length.0) {
                    Ok(min_length) if min_length <= 500 => Ok(Justification(Some(Justify { min_length }))),
                    _ => Err(A::Error::custom("a comment has room for a reason of 500 characters at most")),
                }
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("`not` cannot stand inside `not`"))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerGpu<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for V<T> {
            type Value = PerGpu<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount, `{ default = ..., max = ... }` or `{ exact = ... }`")
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<PerGpu<T>, E> {
                T::deserialize(serde::de::value::I64Deserializer::new(n)).map(PerGpu::Both)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<PerGpu<T>, E> {
                T::deserialize(serde::de::value::StrDeserializer::new(text)).map(PerGpu::Both)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PerGpu<T>, A::Error> {
                PerGpuTable::deserialize(MapAccessDeserializer::new(map)).map(PerGpu::Table)
            }
        }
        deserializer.deserialize_any(V(PhantomData))
    }
}

/// A list of patterns with their places.
pub type Patterns = Vec<Spanned<Pattern>>;
