//! File operations of the spool, each with kill points, at which its test kills the process.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Creates a file that only this user can read; its name is on disk once this returns.
pub(super) fn create(path: &Path) -> io::Result<File> {
    kill_point();
    let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
    kill_point();
    sync_folder(path)?;
    Ok(file)
}

/// Appends `bytes` and waits until they are on disk.
pub(super) fn append(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    kill_point();
    if cfg!(test) {
        // A process that is killed may leave any part of them.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        file.write_all(first)?;
        kill_point();
        file.write_all(second)?;
    } else {
        file.write_all(bytes)?;
    }
    kill_point();
    file.sync_data()
}

/// Cuts the file to `length` bytes.
pub(super) fn truncate(path: &Path, length: u64) -> io::Result<()> {
    kill_point();
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    kill_point();
    file.sync_all()
}

/// Removes a file; that it comes back after a power cut does no harm.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    kill_point();
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(not(test))]
const fn kill_point() {}

#[cfg(test)]
fn kill_point() {
    super::kill_tests::die_at_planned_kill_point();
}
