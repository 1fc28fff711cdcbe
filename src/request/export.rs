//! `--export`: the list as sbatch takes it apart.

/// The elements of the list, in order, empty ones left out. Commas within quotes separate nothing,
/// and quotes round a whole element go away, so that `"A=1,2"` is one element and `A="1,2"` is one
/// with its quotes in the value (env.c, `find_quote_token`, the same from 22.05 to 26.05).
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    let mut open = [false; 2];
    text.split(move |c| {
        match c {
            '\'' => open[0] = !open[0],
            '"' => open[1] = !open[1],
            _ => {}
        }
        c == ',' && open == [false; 2]
    })
    .map(unquoted)
    .filter(|e| !e.is_empty())
}

fn unquoted(element: &str) -> &str {
    let within = |quote: char| element.strip_prefix(quote)?.strip_suffix(quote);
    within('\'').or_else(|| within('"')).unwrap_or(element)
}

/// Names of the variables whose value is cut at a comma: one of the elements after the assignment is
/// neither an assignment nor the name of a variable. A cut that leaves nothing but good names
/// behind cannot be told from a list of variables, and is left out.
pub fn cut_values(text: &str) -> Vec<&str> {
    let mut cut = Vec::new();
    let mut assigned = None;
    for element in elements(text) {
        match (element.split_once('='), assigned) {
            (Some((name, _)), _) => assigned = Some(name.trim()),
            (None, Some(name)) if !may_be_variable(element.trim()) && !cut.contains(&name) => cut.push(name),
            (None, _) => {}
        }
    }
    cut
}

/// Whether an environment may hold a variable of this name: what every shell takes, and the names
/// under which bash exports functions.
fn may_be_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.is_empty()
        || name.starts_with("BASH_FUNC_")
        || (name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_keep_commas_and_go_away_round_a_whole_element() {
        let read = |text| elements(text).collect::<Vec<_>>();
        assert_eq!(read("ALL,A=1,B"), ["ALL", "A=1", "B"]);
        assert_eq!(read("ALL,\"A=1,2\",B"), ["ALL", "A=1,2", "B"]);
        assert_eq!(read("'A=1,2'"), ["A=1,2"]);
        assert_eq!(read("A=\"1,2\",B"), ["A=\"1,2\"", "B"]);
        assert_eq!(read("A='it\"s,so\"',B"), ["A='it\"s,so\"'", "B"]);
        assert_eq!(read(",A=,,"), ["A="]);
        assert_eq!(read("A='1,2"), ["A='1,2"]);
    }

    #[test]
    fn a_value_is_cut_where_no_variable_can_follow() {
        assert_eq!(cut_values("ALL,LAYERS=1,2,3"), ["LAYERS"]);
        assert_eq!(cut_values("FILES=a.txt,b.txt,SEEDS=1,2"), ["FILES", "SEEDS"]);
        assert_eq!(cut_values("A=x,HOME,2"), ["A"]);
        assert_eq!(cut_values("A=two,three words"), ["A"]);
        for fine in [
            "ALL",
            "NONE",
            "ALL,A=1,B=2",
            "A=1,HOME,PATH",
            "A=node1,node2",
            "ALL,\"A=1,2\"",
            "A=\"1,2\"",
            "A=1, HOME",
            "A=1,",
            "A=1,BASH_FUNC_module%%",
            "1,2",
            "",
        ] {
            assert!(cut_values(fine).is_empty(), "{fine}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[A-Z=,'\"0-9é ]{0,30}") {
            let _ = cut_values(&text);
        }

        #[test]
        fn a_quoted_assignment_is_never_cut(value in "[a-z0-9,./ ]{0,20}") {
            let list = format!("ALL,\"A={value}\",B=1");
            prop_assert!(cut_values(&list).is_empty());
        }
    }
}
