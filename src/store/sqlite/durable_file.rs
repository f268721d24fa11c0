//! Files that appear complete or not at all.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use crate::store::contract::StoreError;
use crate::store::sqlite::error::ErrorMapper;

/// A new, empty file that only its owner can read, locked against other processes that write it too.
pub(super) struct NewFile {
    _lock: Flock<File>,
}

impl NewFile {
    /// Creates the file at `path`; one that an interrupted run left is emptied.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process writes it.
    pub(super) fn create(path: &Path, error_mapper: &ErrorMapper) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        // Emptied once it is locked.
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let to_store_error = |error: &io::Error| {
            error_mapper.io_to_store_error(&format!("cannot create `{}`", path.display()), error)
        };
        let file = options.open(path).map_err(|error| to_store_error(&error))?;
        let lock = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => lock,
            Err((_, nix::errno::Errno::EWOULDBLOCK)) => {
                return Err(StoreError::Locked(format!(
                    "`{}` is being written by another command",
                    path.display()
                )));
            }
            Err((_, errno)) => return Err(to_store_error(&errno.into())),
        };
        lock.set_len(0).map_err(|error| to_store_error(&error))?;
        // SQLite would apply what an interrupted run left to the new contents.
        for suffix in ["-wal", "-shm", "-journal"] {
            match fs::remove_file(beside(path, suffix)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(to_store_error(&error)),
                _ => {}
            }
        }
        Ok(Self { _lock: lock })
    }
}

/// Writes the file at `from` to the disk and renames it to `to` in the same folder.
pub(super) fn publish(from: &Path, to: &Path, error_mapper: &ErrorMapper) -> Result<(), StoreError> {
    let action = format!("cannot write `{}`", to.display());
    let publish = || -> io::Result<()> {
        File::open(from)?.sync_all()?;
        fs::rename(from, to)?;
        sync_folder_of(to)
    };
    publish().map_err(|error| error_mapper.io_to_store_error(&action, &error))
}

/// Writes the names in the folder of `path` to the disk.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Returns the folder of `path`.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Gives the file at `path` the owner of `reference`, so that root can restore for the user of the server. Others
/// cannot, and need not.
pub(super) fn copy_owner(path: &Path, reference: &Path) -> io::Result<()> {
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    let metadata = fs::metadata(reference)?;
    chown(path, Some(metadata.uid()), Some(metadata.gid()))
}

/// Whether both paths name the same existing file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Returns the path of the file beside `path` whose name is that of `path` and `suffix`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
