//! The file with the keys of NATS in the data folder, sealed with the keyring.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::nats_trust::NatsTrust;
use crate::vault::{KeyId, Keyring, VaultError};

/// Name of the file in the data folder.
const FILE_NAME: &str = "nats-trust.sealed";
/// Largest file, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Context of the seal.
const SEAL_CONTEXT: &str = "vigie/nats-trust";
/// Version of the content.
const FORMAT: u32 = 1;

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustFileError {
    /// It cannot be read or written.
    #[error("the NATS keys `{path}` {reason}")]
    File {
        /// Its path.
        path: String,
        /// What went wrong.
        reason: String,
    },
    /// It cannot be opened with the keyring.
    #[error("the NATS keys `{path}` cannot be opened: {error}")]
    Sealed {
        /// Its path.
        path: String,
        /// What went wrong.
        error: VaultError,
    },
}

/// The sealed file with the keys of NATS.
#[derive(Clone, Debug)]
pub struct TrustFile {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Content {
    format: u32,
    trust: NatsTrust,
}

impl TrustFile {
    /// Returns the file of the data folder `data_dir`; nothing is read.
    #[must_use]
    pub fn in_data_dir(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FILE_NAME) }
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the keys; `None` when there is no file.
    ///
    /// # Errors
    /// Fails when it cannot be read, or needs a key that the keyring lacks.
    pub fn read(&self, keyring: &Keyring) -> Result<Option<NatsTrust>, TrustFileError> {
        let Some(sealed) = self.read_sealed()? else { return Ok(None) };
        let plain = keyring
            .open(SEAL_CONTEXT, &sealed)
            .map_err(|error| TrustFileError::Sealed { path: self.path.display().to_string(), error })?;
        let content: Content =
            serde_json::from_slice(&plain).map_err(|_| self.error("hold nothing that can be read"))?;
        if content.format != FORMAT {
            return Err(self.error(format!("have format {}; this version reads {FORMAT}", content.format)));
        }
        Ok(Some(content.trust))
    }

    /// Returns the key that sealed the file; `None` when there is no file.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    pub fn sealing_key(&self) -> Result<Option<KeyId>, TrustFileError> {
        Ok(self.read_sealed()?.and_then(|sealed| Keyring::sealing_key_id(&sealed)))
    }

    /// Writes the file, which must not exist.
    ///
    /// # Errors
    /// Fails when it exists, and when it cannot be written.
    pub fn create(&self, keyring: &Keyring, trust: &NatsTrust) -> Result<(), TrustFileError> {
        let exists =
            self.path.try_exists().map_err(|error| self.error(format!("cannot be read: {error}")))?;
        if exists {
            return Err(self.error("exist already"));
        }
        let content = Content { format: FORMAT, trust: trust.clone() };
        let plain = serde_json::to_vec(&content).map(Zeroizing::new);
        let plain = plain.map_err(|error| self.error(format!("cannot be written: {error}")))?;
        self.write(&keyring.seal(SEAL_CONTEXT, &plain))
    }

    /// Seals the file again with the newest key; returns whether it changed.
    ///
    /// # Errors
    /// Fails when it cannot be read or written.
    pub fn reseal(&self, keyring: &Keyring) -> Result<bool, TrustFileError> {
        match self.read_sealed()?.and_then(|sealed| keyring.reseal(SEAL_CONTEXT, &sealed)) {
            Some(sealed) => self.write(&sealed).map(|()| true),
            None => Ok(false),
        }
    }

    fn read_sealed(&self) -> Result<Option<Vec<u8>>, TrustFileError> {
        let read_error = |error: std::io::Error| self.error(format!("cannot be read: {error}"));
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(read_error(error)),
        };
        let mut sealed = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut sealed).map_err(read_error)?;
        if sealed.len() as u64 > MAX_FILE_BYTES {
            return Err(self.error("are too large"));
        }
        Ok(Some(sealed))
    }

    /// Replaces the file; after a crash, either the old or the new file exists.
    fn write(&self, sealed: &[u8]) -> Result<(), TrustFileError> {
        let temporary = self.path.with_extension("sealed.new");
        let write = || -> std::io::Result<()> {
            match std::fs::remove_file(&temporary) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            self.copy_owner(&file)?;
            file.write_all(sealed)?;
            file.sync_all()?;
            std::fs::rename(&temporary, &self.path)?;
            File::open(self.parent())?.sync_all()
        };
        write().map_err(|error| self.error(format!("cannot be written: {error}")))
    }

    /// Gives `file` the owner of the data folder: root may set up a server that runs as another user.
    fn copy_owner(&self, file: &File) -> std::io::Result<()> {
        use std::os::unix::fs::MetadataExt;
        let owner = std::fs::metadata(self.parent())?;
        if !nix::unistd::geteuid().is_root() || owner.uid() == 0 {
            return Ok(());
        }
        std::os::unix::fs::fchown(file, Some(owner.uid()), Some(owner.gid()))
    }

    fn parent(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn error(&self, reason: impl Into<String>) -> TrustFileError {
        TrustFileError::File { path: self.path.display().to_string(), reason: reason.into() }
    }
}
