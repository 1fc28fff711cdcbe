//! `--nodelist`: how many hosts a list such as `node[1-4,7],login1` names.

/// Number of different hosts; `None` where the text is no host list, or names a file (`/`) or a
/// node set (`{`), which the client reads in other ways.
pub fn count(text: &str) -> Option<u32> {
    // Slurm takes no more nodes than that (MAX_SLURM_NODES); a range is not spelled out beyond it.
    const LIMIT: usize = 1 << 16;
    if text.contains(['/', '{']) {
        return None;
    }
    let mut hosts = std::collections::HashSet::new();
    for item in items(text)? {
        expand(item, &mut hosts, LIMIT)?;
    }
    u32::try_from(hosts.len()).ok()
}

/// The items of the list: commas and blanks separate, but not within brackets.
fn items(text: &str) -> Option<Vec<&str>> {
    let mut items = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' | ' ' | '\t' | '\n' if depth == 0 => {
                items.push(text.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
        if !(0..=1).contains(&depth) {
            return None;
        }
    }
    items.push(text.get(start..)?);
    (depth == 0).then(|| items.into_iter().filter(|i| !i.is_empty()).collect())
}

/// Spells one item out. Brackets may stand several times (`r[1-2]n[1-8]`), which a loop over the
/// names so far handles without recursion.
fn expand(item: &str, hosts: &mut std::collections::HashSet<String>, limit: usize) -> Option<()> {
    let mut names = vec![String::new()];
    let mut rest = item;
    while let Some((head, tail)) = rest.split_once('[') {
        let (ranges, after) = tail.split_once(']')?;
        let mut longer = Vec::new();
        for range in ranges.split(',') {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            let width = low.len();
            let (low, high) = (low.parse::<u64>().ok()?, high.parse::<u64>().ok()?);
            if low > high || names.len().saturating_mul(usize::try_from(high - low).ok()?) > limit {
                return None;
            }
            for name in &names {
                longer.extend((low..=high).map(|n| format!("{name}{head}{n:0width$}")));
            }
            if longer.len() > limit {
                return None;
            }
        }
        names = longer;
        rest = after;
    }
    for name in names {
        hosts.insert(name + rest);
    }
    (hosts.len() <= limit).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hosts_are_counted_once() {
        for (text, n) in [
            ("node1", 1),
            ("node1,node2", 2),
            ("node[1-4]", 4),
            ("node[1-4,7]", 5),
            ("node[1-4],node3", 4),
            ("r[1-2]n[01-10]", 20),
            ("node[1-2],login", 3),
        ] {
            assert_eq!(count(text), Some(n), "{text}");
        }
        for text in ["node[1-", "node[4-1]", "./hosts", "{set}", "node]1["] {
            assert_eq!(count(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[a-c0-9,\\[\\]/{ -]{0,24}") {
            let _ = count(&text);
        }
    }
}
