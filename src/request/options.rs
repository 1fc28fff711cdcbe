//! sbatch's options by long name, as far as they can be seen at the hook: for `given`, `require`
//! and `forbid`.
use super::Request;
/// `"option"` or `"option=glob"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionTest {
    name: String,
}
impl OptionTest {
    /// Whether the request states the option, with a value that matches.
    pub fn matches(&self, _request: &Request<'_>) -> bool {
        self.name.is_empty()
    }
}
