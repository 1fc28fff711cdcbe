//! Values of a policy file in Slurm's grammar.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

use crate::request::memory;

/// A whole number from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive(pub u64);

/// Memory in MB, more than none: `"500G"` or a number of MB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub u64);

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
