//! Comma lists of names: partitions everywhere, QoS since 24.11, reservations.

/// The names in a comma list, trimmed, empty ones left out (Slurm skips them too).
pub fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|n| !n.is_empty())
}

/// The list without `name`, for "drop it from the list".
pub fn without(list: &str, name: &str) -> String {
    names(list).filter(|n| *n != name).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trimmed_and_empty_ones_left_out() {
        assert_eq!(names("gpu, debug,,").collect::<Vec<_>>(), ["gpu", "debug"]);
        assert_eq!(names("").count(), 0);
        assert_eq!(without("own,lent,own2", "lent"), "own,own2");
    }
}
