//! Output and error paths: which parts Slurm fills in, and the user's own path corrected.
//!
//! Slurm's rules (slurmd/common/fname.c): `%` and a letter is filled in, a width may stand between
//! (`%4a`), `%%` is a percent sign, and one backslash anywhere switches all filling in off.

/// The widest that Slurm pads a number (`MAX_WIDTH`, fname.c).
const MAX_WIDTH: usize = 10;

/// A path as the user gave it, relative to the working directory where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPath<'t>(&'t str);

impl<'t> LogPath<'t> {
    /// `path` as slurmctld has it; sbatch puts `work_dir` in front of relative paths and the user
    /// never typed that.
    pub fn new(path: &'t str, work_dir: Option<&str>) -> Self {
        let typed = work_dir
            .filter(|dir| !dir.is_empty())
            .and_then(|dir| path.strip_prefix(dir.strip_suffix('/').unwrap_or(dir)))
            .and_then(|rest| rest.strip_prefix('/'))
            .filter(|rest| !rest.is_empty());
        LogPath(typed.unwrap_or(path))
    }

    /// The path as typed.
    pub fn as_str(self) -> &'t str {
        self.0
    }

    /// `/dev/null` throws the stream away, which no two tasks can disturb.
    pub fn is_null_device(self) -> bool {
        self.0 == "/dev/null"
    }

    /// Whether Slurm fills in `%` and this letter somewhere in the path.
    pub fn fills_in(self, letter: char) -> bool {
        self.filled_in().any(|l| l == letter)
    }

    /// The letters that Slurm fills in, in order.
    pub fn filled_in(self) -> impl Iterator<Item = char> {
        self.letters().map(|(_, _, letter)| letter)
    }

    /// Whether a backslash switches filling in off.
    pub fn is_literal(self) -> bool {
        self.0.contains('\\')
    }

    /// The path changed so that each task of each array writes a file of its own: `%j` (which is
    /// a task's own job id) becomes `%A_%a`, a lone `%A` or `%a` is completed, and a path without
    /// any gets `_%A_%a` before its suffix. Widths that the user gave to `%A` or `%a` stay.
    pub fn for_array(self) -> String {
        let plain = self.0.replace('\\', "");
        let path = LogPath(&plain);
        let has = |letter| path.fills_in(letter);
        match (has('A'), has('a')) {
            (true, true) => plain.clone(),
            (true, false) => path.replaced(&['A'], |spec| format!("{spec}_%a")),
            (false, true) => path.replaced(&['a'], |spec| format!("%A_{spec}")),
            (false, false) if has('j') || has('J') => path.replaced(&['j', 'J'], |_| "%A_%a".to_owned()),
            (false, false) => path.with_ids(),
        }
    }

    /// The path with everything filled in: `value` says what stands for a letter, a number being
    /// padded to the width that the user gave (`%4a`). A letter without a value stays as it is.
    pub fn filled(self, value: impl Fn(char) -> Option<String>) -> String {
        // Where a backslash switches filling in off, Slurm takes the backslashes away.
        if self.is_literal() {
            return self.0.replace('\\', "");
        }
        let part = |range| self.0.get(range).unwrap_or_default();
        let (mut filled, mut from) = (String::with_capacity(self.0.len()), 0);
        for (start, end, letter) in self.letters() {
            let text = part(from..start);
            filled.push_str(&text.replace("%%", "%"));
            let spec = part(start..end);
            let width = spec.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0).min(MAX_WIDTH);
            match value(letter) {
                Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => {
                    filled.push_str(&format!("{number:0>width$}"));
                }
                Some(text) => filled.push_str(&text),
                None => filled.push_str(spec),
            }
            from = end;
        }
        filled + &self.0.get(from..).unwrap_or_default().replace("%%", "%")
    }

    /// Each filled-in part: start and end in bytes, and its letter.
    fn letters(self) -> impl Iterator<Item = (usize, usize, char)> {
        let literal = self.is_literal();
        let mut rest = self.0.char_indices().peekable();
        std::iter::from_fn(move || {
            if literal {
                return None;
            }
            while let Some((start, c)) = rest.next() {
                if c != '%' {
                    continue;
                }
                while rest.next_if(|&(_, c)| c.is_ascii_digit()).is_some() {}
                // A letter Slurm does not know stays in the name as it is, and so does `%`.
                if let Some((at, letter)) = rest.next() {
                    if letter != '%' {
                        return Some((start, at + letter.len_utf8(), letter));
                    }
                }
            }
            None
        })
    }

    /// The path with the first part that is one of `letters` rewritten.
    fn replaced(self, letters: &[char], with: impl Fn(&str) -> String) -> String {
        let Some((start, end, _)) = self.letters().find(|(_, _, l)| letters.contains(l)) else {
            return self.with_ids();
        };
        let part = |range| self.0.get(range).unwrap_or_default();
        format!("{}{}{}", part(0..start), with(part(start..end)), self.0.get(end..).unwrap_or_default())
    }

    /// `_%A_%a` before the suffix of the file name.
    fn with_ids(self) -> String {
        let (dir, file) = match self.0.rfind('/') {
            Some(slash) => self.0.split_at(slash + 1),
            None => ("", self.0),
        };
        match file.rfind('.').filter(|&dot| dot > 0) {
            _ if file.is_empty() => format!("{dir}slurm-%A_%a.out"),
            Some(dot) => {
                let (stem, suffix) = file.split_at(dot);
                // A stem that ends in a bare '%' or '%4' would swallow what follows.
                format!("{dir}{stem}_%A_%a{suffix}")
            }
            None => format!("{dir}{file}_%A_%a"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> LogPath<'_> {
        LogPath::new(text, None)
    }

    #[test]
    fn the_working_directory_is_no_part_of_what_was_typed() {
        assert_eq!(LogPath::new("/home/u/logs/a.out", Some("/home/u")).as_str(), "logs/a.out");
        assert_eq!(LogPath::new("//log_%j.out", Some("/")).as_str(), "/log_%j.out");
        assert_eq!(LogPath::new("/scratch/a.out", Some("/home/u")).as_str(), "/scratch/a.out");
        assert_eq!(LogPath::new("/home/user2/a", Some("/home/u")).as_str(), "/home/user2/a");
    }

    #[test]
    fn widths_percent_signs_and_backslashes_are_read_as_slurm_reads_them() {
        assert!(path("o_%4A_%a").fills_in('A') && path("o_%4A_%03a").fills_in('a'));
        assert!(!path("o_%%a").fills_in('a'));
        assert!(path("o_%%%a").fills_in('a'));
        assert!(!path("o\\ x_%A_%a").fills_in('a'));
        assert!(!path("o_%").fills_in('a') && !path("o_%4").fills_in('a'));
    }

    #[test]
    fn the_remedy_is_the_users_own_path() {
        for (typed, remedy) in [
            ("logs/train-%j.out", "logs/train-%A_%a.out"),
            ("logs/train-%A.out", "logs/train-%A_%a.out"),
            ("out_%a.log", "out_%A_%a.log"),
            ("out_%4a.log", "out_%A_%4a.log"),
            ("out.log", "out_%A_%a.log"),
            ("run.d/out", "run.d/out_%A_%a"),
            (".hidden", ".hidden_%A_%a"),
            ("logs/", "logs/slurm-%A_%a.out"),
            ("a\\b_%A_%a", "ab_%A_%a"),
            ("%x_%j.%u", "%x_%A_%a.%u"),
            ("o_%%a", "o_%%a_%A_%a"),
        ] {
            assert_eq!(path(typed).for_array(), remedy, "{typed}");
        }
    }

    #[test]
    fn a_path_is_filled_in() {
        let filled = |text: &str| {
            path(text).filled(|letter| match letter {
                'A' => Some("120".to_owned()),
                'a' => Some("7".to_owned()),
                'x' => Some("my job".to_owned()),
                _ => None,
            })
        };
        assert_eq!(filled("cards/%A_%4a.json"), "cards/120_0007.json");
        assert_eq!(filled("%x-%a-%q.json"), "my job-7-%q.json");
        assert_eq!(filled("100%%_%a%%"), "100%_7%");
        assert_eq!(filled("a\\_%A"), "a_%A");
        assert_eq!(filled("%99a|%"), "0000000007|%");
    }

    proptest! {
        #[test]
        fn any_path_is_filled_in_without_a_panic(text in "\\PC{0,24}") {
            let _ = path(&text).filled(|_| Some("1".to_owned()));
        }

        #[test]
        fn the_remedy_is_right_for_any_path(text in "[a-zA-Z%0-9./\\\\_-]{0,24}") {
            let fixed = path(&text).for_array();
            prop_assert!(path(&fixed).fills_in('A') && path(&fixed).fills_in('a'), "{} -> {}", text, fixed);
        }
    }
}
