//! Shell globs over names: `*`, `?`, `[abc]`, `[a-z]`, `[!x]`.
//!
//! A pattern is compiled once, when the policy is loaded. Matching keeps one place to go back to and
//! neither recurses nor allocates: at worst it takes the length of the pattern times that of the name.

use std::hash::{Hash, Hasher};

/// A compiled pattern. Equal where the text is.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    /// Empty where the pattern is a plain name, which is compared as it is.
    tokens: Box<[Token]>,
    literal_len: usize,
}

/// One element of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// Any text, also none.
    Star,
    /// One character.
    One(Set),
}

/// The characters that one place of a name may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Set {
    Any,
    Literal(char),
    Class { negated: bool, ranges: Box<[(char, char)]> },
}

impl Glob {
    /// Compiles `text`. The error is a clause that says what is wrong with the pattern.
    pub fn new(text: &str) -> Result<Glob, String> {
        if text.is_empty() {
            return Err("an empty name matches nothing".to_owned());
        }
        if text.chars().any(char::is_control) {
            return Err("a name holds no control characters".to_owned());
        }
        let mut tokens = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            tokens.push(match c {
                // Several stars in a row are one.
                '*' if tokens.last() == Some(&Token::Star) => continue,
                '*' => Token::Star,
                '?' => Token::One(Set::Any),
                '[' => {
                    let (set, rest) = Set::class(chars.as_str())?;
                    chars = rest.chars();
                    Token::One(set)
                }
                c => Token::One(Set::Literal(c)),
            });
        }
        let literal = |t: &&Token| matches!(t, Token::One(Set::Literal(_)));
        let literal_len = tokens.iter().filter(literal).count();
        if literal_len == tokens.len() {
            tokens.clear();
        }
        Ok(Glob { text: text.to_owned(), tokens: tokens.into(), literal_len })
    }

    /// Whether `name` matches as a whole; in ASCII without regard to case where `fold_case`.
    pub fn matches(&self, name: &str, fold_case: bool) -> bool {
        if self.is_literal() {
            return if fold_case { self.text.eq_ignore_ascii_case(name) } else { self.text == name };
        }
        let mut at = 0;
        let mut rest = name.chars();
        // Where the last star stands, and the text that it has not swallowed yet.
        let mut back: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            match self.tokens.get(at) {
                Some(Token::Star) => {
                    at += 1;
                    back = Some((at, rest.clone()));
                    continue;
                }
                Some(Token::One(set)) if rest.next().is_some_and(|c| set.accepts(c, fold_case)) => {
                    at += 1;
                    continue;
                }
                None if rest.as_str().is_empty() => return true,
                _ => {}
            }
            // Let the last star swallow one character more.
            let Some((after_star, from)) = &mut back else { return false };
            if from.next().is_none() {
                return false;
            }
            at = *after_star;
            rest = from.clone();
        }
    }

    /// Whether some name matches both patterns.
    pub fn overlaps(&self, other: &Glob, fold_case: bool) -> bool {
        if self.is_literal() {
            return other.matches(&self.text, fold_case);
        }
        if other.is_literal() {
            return self.matches(&other.text, fold_case);
        }
        // All pairs of places that one name can lead to, each visited once.
        let (rows, columns) = (self.tokens.len(), other.tokens.len());
        let mut seen = vec![false; (rows + 1).saturating_mul(columns + 1)];
        let mut todo = vec![(0, 0)];
        while let Some((i, j)) = todo.pop() {
            match seen.get_mut(i * (columns + 1) + j) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            match (self.tokens.get(i), other.tokens.get(j)) {
                (None, None) => return true,
                (Some(Token::Star), Some(Token::Star)) => todo.extend([(i + 1, j), (i, j + 1)]),
                (Some(Token::Star), Some(Token::One(_))) => todo.extend([(i + 1, j), (i, j + 1)]),
                (Some(Token::One(_)), Some(Token::Star)) => todo.extend([(i, j + 1), (i + 1, j)]),
                (Some(Token::Star), None) => todo.push((i + 1, j)),
                (None, Some(Token::Star)) => todo.push((i, j + 1)),
                (Some(Token::One(a)), Some(Token::One(b))) if a.meets(b, fold_case) => {
                    todo.push((i + 1, j + 1));
                }
                _ => {}
            }
        }
        false
    }

    /// Whether the pattern is a plain name.
    pub fn is_literal(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Number of literal characters: how specific the pattern is.
    pub fn literal_len(&self) -> usize {
        self.literal_len
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Set {
    /// Reads a class behind its `[`, and returns what follows the `]`.
    fn class(text: &str) -> Result<(Set, &str), String> {
        let (negated, body) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if body.starts_with('^') {
            return Err("`[^...]` is written `[!...]`".to_owned());
        }
        let mut ranges = Vec::new();
        let mut chars = body.chars();
        loop {
            let first = match chars.next() {
                None => return Err("`[` without its `]`".to_owned()),
                // A `]` that comes first is one of the characters.
                Some(']') if !ranges.is_empty() => {
                    return Ok((Set::Class { negated, ranges: ranges.into() }, chars.as_str()));
                }
                Some(c) => c,
            };
            let mut ahead = chars.clone();
            match (ahead.next(), ahead.next()) {
                (Some('-'), Some(last)) if last != ']' => {
                    if last < first {
                        return Err(format!("`{first}-{last}` runs backwards"));
                    }
                    ranges.push((first, last));
                    chars = ahead;
                }
                _ => ranges.push((first, first)),
            }
        }
    }

    fn accepts(&self, c: char, fold_case: bool) -> bool {
        match self {
            Set::Any => true,
            Set::Literal(l) => *l == c || (fold_case && l.eq_ignore_ascii_case(&c)),
            Set::Class { negated, ranges } => {
                let within = |c: char| ranges.iter().any(|(first, last)| (*first..=*last).contains(&c));
                let found = within(c)
                    || (fold_case && (within(c.to_ascii_lowercase()) || within(c.to_ascii_uppercase())));
                found != *negated
            }
        }
    }

    /// Whether some character is in both. If any is, then one that starts a range of either, or
    /// follows the end of one.
    fn meets(&self, other: &Set, fold_case: bool) -> bool {
        let candidates = self.edges().chain(other.edges());
        candidates
            .flat_map(|c| [c, c.to_ascii_lowercase(), c.to_ascii_uppercase()])
            .any(|c| self.accepts(c, fold_case) && other.accepts(c, fold_case))
    }

    fn edges(&self) -> impl Iterator<Item = char> {
        let ranges: &[(char, char)] = match self {
            Set::Class { ranges, .. } => ranges,
            Set::Any | Set::Literal(_) => &[],
        };
        let literal = match self {
            Set::Literal(c) => Some(*c),
            Set::Any | Set::Class { .. } => None,
        };
        let after = |c: char| char::from_u32(u32::from(c).saturating_add(1));
        // The last three start what is left when letters of both cases are taken out.
        let starts = ['\0', '[', '{'];
        ranges
            .iter()
            .flat_map(move |&(first, last)| [Some(first), after(last)])
            .flatten()
            .chain(literal)
            .chain(starts)
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl Hash for Glob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn glob(text: &str) -> Glob {
        Glob::new(text).unwrap()
    }

    #[test]
    fn names_match_as_a_whole() {
        for (pattern, name, matches) in [
            ("gpu", "gpu", true),
            ("gpu", "gpu2", false),
            ("gpu", "xgpu", false),
            ("gpu*", "gpu", true),
            ("gpu*", "gpu-long", true),
            ("*gpu", "my-gpu", true),
            ("*gpu", "my-gpus", false),
            ("a*b*c", "a--b--b--c", true),
            ("a*b*c", "a--c--b", false),
            ("?pu", "gpu", true),
            ("?pu", "pu", false),
            ("node[0-9]", "node7", true),
            ("node[0-9]", "nodex", false),
            ("node[!0-9]", "nodex", true),
            ("node[!0-9]", "node7", false),
            ("[]x]", "]", true),
            ("[a-]", "-", true),
            ("[*]", "*", true),
            ("[*]", "x", false),
            ("**", "", true),
            ("caf?", "caf\u{e9}", true),
        ] {
            assert_eq!(glob(pattern).matches(name, false), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn case_is_folded_where_slurm_folds_it() {
        assert!(glob("Physics*").matches("physics-2", true));
        assert!(!glob("Physics*").matches("physics-2", false));
        assert!(glob("[a-c]x").matches("BX", true));
        assert!(!glob("[!a-c]x").matches("BX", true));
    }

    #[test]
    fn a_bad_pattern_says_what_is_wrong() {
        for (pattern, error) in [
            ("", "an empty name matches nothing"),
            ("gpu[0-9", "`[` without its `]`"),
            ("[", "`[` without its `]`"),
            ("[]", "`[` without its `]`"),
            ("[!]", "`[` without its `]`"),
            ("[z-a]", "`z-a` runs backwards"),
            ("[^a]", "`[^...]` is written `[!...]`"),
            ("a\nb", "a name holds no control characters"),
        ] {
            assert_eq!(Glob::new(pattern).unwrap_err(), error, "{pattern:?}");
        }
    }

    #[test]
    fn the_literal_length_counts_what_is_fixed() {
        assert_eq!(glob("phys-*").literal_len(), 5);
        assert_eq!(glob("p[hx]?s").literal_len(), 2);
        assert!(glob("gpu").is_literal() && !glob("gpu?").is_literal());
    }

    #[test]
    fn overlap_is_whether_one_name_matches_both() {
        for (a, b, overlap) in [
            ("gpu*", "*long", true),
            ("gpu*", "cpu*", false),
            ("gpu-?", "gpu-[a-f]", true),
            ("gpu-[0-9]", "gpu-[a-f]", false),
            ("gpu-[!0-9]", "gpu-[0-9]", false),
            ("gpu-[!0-9]", "gpu-[!a-z]", true),
            ("a*b", "a?", true),
            ("a*bb", "a?", false),
            ("GPU*", "gpu*", false),
            ("gpu", "g*", true),
        ] {
            assert_eq!(glob(a).overlaps(&glob(b), false), overlap, "{a} {b}");
            assert_eq!(glob(b).overlaps(&glob(a), false), overlap, "{b} {a}");
        }
        assert!(glob("GPU*").overlaps(&glob("gpu*"), true));
    }

    #[test]
    fn many_stars_do_not_blow_up() {
        let pattern = glob(&"a*".repeat(200));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(5000)), false) || pattern.literal_len() == 200);
        assert!(!glob(&format!("{}b", "a*".repeat(200))).matches(&"a".repeat(5000), false));
        assert!(
            glob(&format!("{}x", "a*".repeat(300))).overlaps(&glob(&format!("{}?", "a*".repeat(300))), false)
        );
    }

    /// The definition, word for word.
    fn naive(pattern: &[Token], name: &[char], fold: bool) -> bool {
        match (pattern, name) {
            ([], []) => true,
            ([Token::Star, rest @ ..], _) => (0..=name.len()).any(|n| naive(rest, &name[n..], fold)),
            ([Token::One(set), rest @ ..], [c, name @ ..]) => {
                set.accepts(*c, fold) && naive(rest, name, fold)
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matching_is_what_the_definition_says(
            pattern in "([abAB*?]|\\[!?[a-b][ab]\\]|\\[A-b\\]){1,7}", name in "[abAB^]{0,8}", fold: bool,
        ) {
            let glob = glob(&pattern);
            let chars: Vec<char> = name.chars().collect();
            let expected = if glob.is_literal() {
                if fold { pattern.eq_ignore_ascii_case(&name) } else { pattern == name }
            } else {
                naive(&glob.tokens, &chars, fold)
            };
            prop_assert_eq!(glob.matches(&name, fold), expected, "{} {}", pattern, name);
        }

        #[test]
        fn overlap_is_found_by_trying_names(
            a in "([abA*?]|\\[!?[a-b]\\]){1,4}", b in "([abA*?]|\\[!?[a-b]\\]){1,4}", fold: bool,
        ) {
            let (a, b) = (glob(&a), glob(&b));
            // Names over an alphabet with one character that no pattern names.
            let mut names: Vec<String> = vec![String::new()];
            let mut found = false;
            for _ in 0..=4 {
                found |= names.iter().any(|n| a.matches(n, fold) && b.matches(n, fold));
                names = names.iter().flat_map(|n| "abAx".chars().map(move |c| format!("{n}{c}"))).collect();
            }
            // Whatever both match, both match in a name of no more characters than they have places.
            let longer = a.tokens.len() + b.tokens.len() > 4;
            prop_assert!(found == a.overlaps(&b, fold) || (longer && !found));
        }

        #[test]
        fn any_pattern_and_name_are_handled_without_a_panic(pattern in "\\PC{0,12}", name in "\\PC{0,12}") {
            if let Ok(glob) = Glob::new(&pattern) {
                let _ = (glob.matches(&name, true), glob.overlaps(&glob, true));
            }
        }
    }
}
