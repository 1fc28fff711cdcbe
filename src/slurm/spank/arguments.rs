//! The plugin's arguments in plugstack.conf.

use std::ffi::{CString, c_char, c_int};

use crate::slurm::log;
use crate::words::shown;

/// What the line in plugstack.conf says behind the plugin's path.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// `index_vars=NAME,...`: goes before the policy's, and needs no policy file on nodes. Empty
    /// switches the check off.
    pub index_vars: Option<Vec<CString>>,
    /// What is wrong. The rest holds all the same.
    problems: Vec<String>,
}

impl Arguments {
    /// # Safety
    /// `argv` is NULL or an array of `argc` texts.
    pub unsafe fn read(argc: c_int, argv: *const *const c_char) -> Arguments {
        let count = if argv.is_null() { 0 } else { usize::try_from(argc).unwrap_or(0) };
        let mut arguments = Arguments::default();
        for i in 0..count {
            // SAFETY: within the array, by the caller's promise.
            let text = unsafe { crate::slurm::strings::read(*argv.add(i)) };
            arguments.take(&text.unwrap_or_default());
        }
        arguments
    }

    fn take(&mut self, argument: &str) {
        match argument.split_once('=') {
            Some(("index_vars", list)) => {
                let names = self.index_vars.get_or_insert_default();
                for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
                    match variable(name) {
                        Some(name) => names.push(name),
                        None => {
                            let name = shown(name);
                            self.problems
                                .push(format!("{name} in index_vars is no name of an environment variable"));
                        }
                    }
                }
            }
            _ => self
                .problems
                .push(format!("unknown argument {}; known is index_vars=NAME,...", shown(argument))),
        }
    }

    /// Says what is wrong: to the admin, who tries a client or reads slurmd's log.
    pub fn complain(&self) {
        for problem in &self.problems {
            log::error(&format!("plugstack.conf: {problem}"));
        }
    }
}

/// A variable that a shell can set.
pub fn variable(name: &str) -> Option<CString> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (starts && plain).then(|| CString::new(name).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[CString]) -> Vec<&str> {
        list.iter().map(|n| n.to_str().unwrap()).collect()
    }

    fn read(arguments: &[&str]) -> Arguments {
        let texts: Vec<CString> = arguments.iter().map(|a| CString::new(*a).unwrap()).collect();
        let pointers: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
        // SAFETY: as many texts as are said to be there.
        unsafe { Arguments::read(pointers.len() as c_int, pointers.as_ptr()) }
    }

    #[test]
    fn variables_are_read_and_all_else_is_named() {
        assert_eq!(read(&[]), Arguments::default());
        let good = read(&["index_vars=TASK_INDEX, B", "index_vars=C"]);
        assert_eq!(names(&good.index_vars.unwrap()), ["TASK_INDEX", "B", "C"]);
        assert_eq!(read(&["index_vars="]).index_vars, Some(Vec::new()));
        let bad = read(&["index_var=A", "index_vars=A,1B", "x"]);
        assert_eq!(names(bad.index_vars.as_deref().unwrap()), ["A"]);
        assert_eq!(
            bad.problems,
            [
                "unknown argument index_var=A; known is index_vars=NAME,...",
                "1B in index_vars is no name of an environment variable",
                "unknown argument x; known is index_vars=NAME,...",
            ]
        );
    }

    #[test]
    fn no_argument_list_is_an_empty_one() {
        // SAFETY: NULL is what is tested.
        unsafe {
            assert_eq!(Arguments::read(3, std::ptr::null()), Arguments::default());
            assert_eq!(Arguments::read(-1, [std::ptr::null()].as_ptr()), Arguments::default());
        }
    }
}
