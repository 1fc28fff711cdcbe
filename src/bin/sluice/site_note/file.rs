//! The page as a file: written whole or not at all, and never over what somebody has edited. Its last
//! line carries a digest of the rest, so that an edit shows.

use std::path::Path;

use sluice::digest::fnv1a;

use crate::Failure;
use crate::output::replace;
use crate::policy_file::reason;

/// What became of the file.
pub enum Written {
    /// It is another now.
    New,
    /// It said the same already.
    Same,
}

const MARK: &str = "<!-- sluice site-note ";

/// The page with its last line.
fn sealed(page: &str) -> String {
    format!(
        "{page}\n{MARK}{:016x}: written anew by the same command, as long as nobody edits it -->\n",
        fnv1a(page.bytes())
    )
}

/// Whether what stands there is as it was written, or nothing.
fn is_untouched(text: &str) -> bool {
    let body = text.rfind(MARK).and_then(|at| text.get(..at)).and_then(|body| body.strip_suffix('\n'));
    body.is_some_and(|body| sealed(body) == text)
}

/// Refuses where a file would be lost.
///
/// # Errors
/// A file that is no page of this command, or was edited since.
pub fn may_be_replaced(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    match std::fs::read(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(format!("cannot write {name}: {}", reason(&e))),
        Ok(bytes) if is_untouched(&String::from_utf8_lossy(&bytes)) => Ok(()),
        Ok(_) => Err(format!(
            "{name} was edited by hand, or is no site note, and is not written over: keep your text in another \
             file, or say --force"
        )),
    }
}

/// Writes the page.
///
/// # Errors
/// A folder that is not there or cannot be written.
pub fn write(path: &Path, page: &str) -> Result<Written, Failure> {
    let text = sealed(page);
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(Written::Same);
    }
    let failed = |e: std::io::Error| match (e.kind(), path.parent()) {
        (std::io::ErrorKind::NotFound, Some(folder)) => {
            format!("cannot write {}: there is no folder {}", path.display(), folder.display())
        }
        _ => format!("cannot write {}: {}", path.display(), reason(&e)),
    };
    replace(path, &text).map_err(failed)?;
    Ok(Written::New)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_shows() {
        let text = sealed("# A page\n\nwith lines\n");
        assert!(is_untouched(&text));
        for edited in [
            text.replace("lines", "lines of mine"),
            format!("{text}\nmine\n"),
            "# My own page\n".to_owned(),
            String::new(),
            text.replace("\r", "").replace("\n", "\r\n"),
        ] {
            assert!(!is_untouched(&edited), "{edited}");
        }
    }

    #[test]
    fn what_was_edited_is_kept() {
        let folder = std::env::temp_dir().join(format!("sluice-note-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("slurm-site.md");
        assert!(may_be_replaced(&path).is_ok());
        assert!(matches!(write(&path, "one\n"), Ok(Written::New)));
        assert!(may_be_replaced(&path).is_ok());
        assert!(matches!(write(&path, "one\n"), Ok(Written::Same)));
        assert!(matches!(write(&path, "two\n"), Ok(Written::New)));
        std::fs::write(&path, "mine\n").unwrap();
        assert!(may_be_replaced(&path).unwrap_err().contains("edited by hand"));
        let lost = write(&folder.join("no/where.md"), "x").err().unwrap();
        assert!(lost.contains("there is no folder"), "{lost}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
