//! `--screenshots`: writes the captures of checks to files.

use std::fs;
use std::path::PathBuf;

use crate::cli::output::{self, UsageError};
use crate::domain::CheckResult;

/// A writable folder for captures.
pub(super) struct CaptureFolder(PathBuf);

impl CaptureFolder {
    /// Creates the folder and checks that it is writable before any check runs.
    pub(super) fn create(path: PathBuf) -> anyhow::Result<Self> {
        let result = fs::create_dir_all(&path).and_then(|()| require_writable(&path));
        match result {
            Ok(()) => Ok(Self(path)),
            Err(error) => {
                let message = format!("`{}` cannot be written to: {error}", path.display());
                Err(UsageError::with_hint(
                    message,
                    Some("name another folder after `--screenshots`".to_owned()),
                ))
            }
        }
    }

    /// Writes the captures of `results`; with several results, each gets its own folder.
    pub(super) fn write(&self, results: &[CheckResult]) -> anyhow::Result<()> {
        let mut file_count = 0;
        for (index, result) in results.iter().enumerate() {
            let folder =
                if results.len() > 1 { self.0.join(format!("check-{}", index + 1)) } else { self.0.clone() };
            for capture in &result.captures {
                let Some(content) = &capture.content else { continue };
                let path = folder.join(&capture.name);
                let write_result = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, content));
                write_result
                    .map_err(|error| anyhow::anyhow!("`{}` cannot be written: {error}", path.display()))?;
                file_count += 1;
            }
        }
        let files = if file_count == 1 { "file" } else { "files" };
        output::print_note(&format!("note: {file_count} {files} written to `{}`", self.0.display()));
        Ok(())
    }
}

/// Checks that a file can be written in `folder`.
fn require_writable(folder: &std::path::Path) -> std::io::Result<()> {
    let test_file = folder.join(format!(".vigie-{}", std::process::id()));
    fs::write(&test_file, b"")?;
    fs::remove_file(&test_file)
}
