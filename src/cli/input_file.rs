//! Reads the scripts, collections and projects that commands are given.

use std::path::Path;

use super::output::UsageError;
use crate::settings::read_config_text;
use crate::syntax::node::Position;

/// Longest script, collection or project that a monitor can have, in bytes (fields.md 2).
const MAX_FILE_BYTES: usize = 10 * 1024 * 1024;

/// Reads a script, a collection or a project.
///
/// # Errors
/// Returns why it cannot be read, or that it is too large, after its name.
pub(super) fn read_monitor_file(path: &Path) -> Result<String, String> {
    let name = path.display();
    match read_config_text(path) {
        Ok(text) if text.len() > MAX_FILE_BYTES => {
            Err(format!("{name}: is larger than {} MiB", MAX_FILE_BYTES >> 20))
        }
        Ok(text) => Ok(text),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// Refuses a path on the command line that does not exist.
///
/// # Errors
/// [`UsageError`] that names the path.
pub(super) fn require_existing(path: &Path) -> anyhow::Result<()> {
    // A path that cannot be looked up is reported by what reads it, with the reason.
    match path.try_exists() {
        Ok(false) => Err(UsageError::with_hint(format!("`{}` does not exist", path.display()), None)),
        _ => Ok(()),
    }
}

/// Returns `text` after the place in `file` that it is about: `file:line:column: text`.
pub(super) fn in_file(file: &Path, position: Position, text: &str) -> String {
    let name = file.display();
    if position.is_known() {
        format!("{name}:{}:{}: {text}", position.line, position.column)
    } else {
        format!("{name}: {text}")
    }
}
