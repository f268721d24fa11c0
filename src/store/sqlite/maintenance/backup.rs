//! Backs up an SQLite file while a server uses it.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::store::contract::StoreError;
use crate::store::maintenance::{BackupSummary, MaintenanceError};
use crate::store::sqlite::durable_file::{NewFile, beside, is_same_file, publish};
use crate::store::sqlite::error::ErrorMapper;

use super::page_copy::{OnProgress, copy_pages};

/// Writes a copy of the database at `path` to `file`: complete and checked, or not at all. An existing file is refused
/// unless `replaces_existing`. Blocks.
///
/// # Errors
/// [`MaintenanceError::Refused`] when `file` exists and must not be replaced or is the database itself.
pub fn back_up(
    path: &Path,
    file: &Path,
    replaces_existing: bool,
    on_progress: OnProgress<'_>,
) -> Result<BackupSummary, MaintenanceError> {
    let started_at = Instant::now();
    let error_mapper = ErrorMapper::new(path);
    if !path.exists() {
        return Err(error_mapper.unusable_error("the file does not exist").into());
    }
    if is_same_file(path, file) {
        let text = format!("`{}` is the database itself; name another file", file.display());
        return Err(MaintenanceError::Refused(text));
    }
    if file.is_dir() {
        let text = format!("`{}` is a folder; name a file in it", file.display());
        return Err(MaintenanceError::Refused(text));
    }
    if file.exists() && !replaces_existing {
        let text = format!("`{}` exists; name another file, or replace it with `--force`", file.display());
        return Err(MaintenanceError::Refused(text));
    }
    let partial = beside(file, ".partial");
    let new_file = NewFile::create(&partial, &ErrorMapper::new(file))?;
    let outcome = copy_pages(path, &partial, &error_mapper, on_progress)
        .and_then(|()| publish(&partial, file, &ErrorMapper::new(file)));
    if outcome.is_err() {
        // What is left of it takes space; the error of the copy is the one to report.
        let _ = fs::remove_file(&partial);
    }
    drop(new_file);
    outcome?;
    let size_bytes = fs::metadata(file)
        .map_err(|error| StoreError::Unusable(format!("`{}`: {error}", file.display())))?
        .len();
    Ok(BackupSummary { size_bytes, duration: started_at.elapsed() })
}
