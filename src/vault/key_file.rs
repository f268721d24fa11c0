//! The key file: text lines `id base64`, readable by its owner only, replaced atomically.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nix::fcntl::{Flock, FlockArg};
use zeroize::Zeroizing;

use super::error::{KeyId, VaultError};

/// A key of XChaCha20-Poly1305.
pub(super) type SealingKey = Zeroizing<[u8; 32]>;
/// All keys of a file; the last one seals.
pub(super) type KeySet = BTreeMap<KeyId, SealingKey>;

/// Largest key file, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 64 * 1024;
const FILE_HEADER: &str = "\
# The keys that seal the secrets in the database of Vigie: id and key, one per line.
# The key with the highest id seals, all keys open. Keep a copy of this file apart from the
# database: without it, the secrets are lost. `vigie key rotate` adds a key, `vigie key prune` removes old ones.
";

/// Location and kind of the key file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Whether systemd provides the file (`LoadCredential=`). Vigie never creates or changes such a file.
    pub is_systemd_credential: bool,
}

impl KeyFile {
    /// Describes a key file that Vigie manages at `path`; nothing is read or created.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_systemd_credential: false }
    }

    /// Finds the key file: the setting `store.key_file`, otherwise a systemd credential in the folder
    /// `credentials_dir`, otherwise the data folder.
    #[must_use]
    pub fn locate(configured_path: Option<&Path>, credentials_dir: Option<&Path>, data_dir: &Path) -> Self {
        const KEY_FILE_NAME: &str = "vigie.key";
        if let Some(path) = configured_path {
            return Self::new(path);
        }
        match credentials_dir.map(|folder| folder.join(KEY_FILE_NAME)).filter(|path| path.exists()) {
            Some(path) => Self { path, is_systemd_credential: true },
            None => Self::new(data_dir.join(KEY_FILE_NAME)),
        }
    }

    /// Whether the file exists.
    pub fn exists(&self) -> Result<bool, VaultError> {
        self.path.try_exists().map_err(|error| self.error(format!("cannot be accessed: {error}")))
    }

    pub(super) fn read(&self) -> Result<KeySet, VaultError> {
        let read_error = |error: std::io::Error| self.error(format!("cannot be read: {error}"));
        let file = File::open(&self.path).map_err(read_error)?;
        let mode = file.metadata().map_err(read_error)?.mode() & 0o7777;
        // systemd grants the service read access by an access list, which appears as permissions of the group.
        let forbidden_bits = if self.is_systemd_credential { 0o007 } else { 0o077 };
        if mode & forbidden_bits != 0 {
            let path = self.path.display();
            let text = format!("may be read by others (mode {mode:03o})\nhint: `chmod 600 {path}`");
            return Err(self.error(text));
        }
        let mut text = Zeroizing::new(String::new());
        file.take(MAX_KEY_FILE_BYTES + 1).read_to_string(&mut text).map_err(read_error)?;
        if text.len() as u64 > MAX_KEY_FILE_BYTES {
            return Err(self.error("is too large"));
        }
        parse_key_file(&text).map_err(|error| self.error(error))
    }

    /// Like [`KeyFile::read`]; if the file does not exist, creates it with the keys that `new_keys` returns.
    pub(super) fn read_or_create(&self, new_keys: impl FnOnce() -> KeySet) -> Result<KeySet, VaultError> {
        if self.exists()? || self.is_systemd_credential {
            return self.read();
        }
        let _lock = self.lock_dir()?;
        // Another process may have created it meanwhile.
        if self.exists()? {
            return self.read();
        }
        let keys = new_keys();
        self.write_atomically(&keys)?;
        Ok(keys)
    }

    /// Applies `change` to the keys of the file. After a crash, either the old or the new file exists.
    pub(super) fn update(&self, change: impl FnOnce(&mut KeySet)) -> Result<KeySet, VaultError> {
        if self.is_systemd_credential {
            return Err(
                self.error("is a credential of systemd; change it where `LoadCredential=` takes it from")
            );
        }
        let _lock = self.lock_dir()?;
        let mut keys = self.read()?;
        change(&mut keys);
        self.write_atomically(&keys)?;
        Ok(keys)
    }

    fn parent_dir(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Locks the folder, so that other processes cannot change a key file in it.
    fn lock_dir(&self) -> Result<Flock<File>, VaultError> {
        let to_error = |error: &dyn std::fmt::Display| {
            self.error(format!("cannot be created or changed in its folder: {error}"))
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(self.parent_dir())
            .map_err(|error| to_error(&error))?;
        let folder = File::open(self.parent_dir()).map_err(|error| to_error(&error))?;
        Flock::lock(folder, FlockArg::LockExclusive).map_err(|(_, errno)| to_error(&errno))
    }

    /// Replaces the file by one with `keys`; after a crash, either the old or the new file exists.
    fn write_atomically(&self, keys: &KeySet) -> Result<(), VaultError> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let temporary_path = self.parent_dir().join(name);
        self.write(&temporary_path, keys).map_err(|error| self.error(format!("cannot be written: {error}")))
    }

    /// Writes `keys` to `temporary_path` with the owner of the key file, then renames it to the key file.
    fn write(&self, temporary_path: &Path, keys: &KeySet) -> std::io::Result<()> {
        // Left over from a crash; it may contain a key that nothing is sealed with.
        match std::fs::remove_file(temporary_path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary_path)?;
        self.copy_owner(&file)?;
        file.write_all(render_key_file(keys).as_bytes())?;
        file.sync_all()?;
        std::fs::rename(temporary_path, &self.path)?;
        File::open(self.parent_dir())?.sync_all()
    }

    /// Gives `file` the owner of the current key file, or else of its folder: root may rotate the keys of a server that
    /// runs as another user.
    fn copy_owner(&self, file: &File) -> std::io::Result<()> {
        let owner = std::fs::metadata(&self.path).or_else(|_| std::fs::metadata(self.parent_dir()))?;
        let current = file.metadata()?;
        if current.uid() == owner.uid() || !nix::unistd::geteuid().is_root() {
            return Ok(());
        }
        std::os::unix::fs::fchown(file, Some(owner.uid()), Some(owner.gid()))
    }

    fn error(&self, text: impl std::fmt::Display) -> VaultError {
        VaultError::KeyFile(format!("the key file `{}` {text}", self.path.display()))
    }
}

fn render_key_file(keys: &KeySet) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(FILE_HEADER.len() + keys.len() * 64));
    text.push_str(FILE_HEADER);
    for (id, key) in keys {
        let encoded = Zeroizing::new(STANDARD.encode(key.as_slice()));
        text.push_str(&id.to_string());
        text.push(' ');
        text.push_str(&encoded);
        text.push('\n');
    }
    text
}

/// Parses the keys of a file. Errors never repeat the content of a line.
fn parse_key_file(text: &str) -> Result<KeySet, String> {
    let mut keys = KeySet::new();
    for (line_number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (id, key) = parse_key_line(line)
            .ok_or_else(|| format!("has no `id base64` of 32 bytes in line {line_number}"))?;
        if keys.insert(id, key).is_some() {
            return Err(format!("has key {id} twice, again in line {line_number}"));
        }
    }
    if keys.is_empty() { Err("holds no key".to_owned()) } else { Ok(keys) }
}

fn parse_key_line(line: &str) -> Option<(KeyId, SealingKey)> {
    let (id, encoded) = line.split_once(char::is_whitespace)?;
    let id = id.parse().ok().filter(|id| *id > 0)?;
    let bytes = Zeroizing::new(STANDARD.decode(encoded.trim()).ok()?);
    let mut key = SealingKey::default();
    if bytes.len() != key.len() {
        return None;
    }
    key.copy_from_slice(&bytes);
    Some((id, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_and_errors_name_the_line_but_not_the_key() {
        let keys = KeySet::from([(1, SealingKey::new([7; 32])), (12, SealingKey::new([9; 32]))]);
        assert_eq!(parse_key_file(&render_key_file(&keys)).unwrap(), keys);
        let valid = STANDARD.encode([7; 32]);
        for (text, error) in [
            (String::new(), "holds no key"),
            (format!("0 {valid}"), "in line 1"),
            (format!("# head\n\nx {valid}"), "in line 3"),
            ("1 c2hvcnQ=".to_owned(), "in line 1"),
            (valid.clone(), "in line 1"),
            (format!("1 {valid}\n1 {valid}"), "has key 1 twice, again in line 2"),
        ] {
            let message = parse_key_file(&text).unwrap_err();
            assert!(message.contains(error) && !message.contains(&valid), "{text}: {message}");
        }
    }

    #[test]
    fn the_setting_precedes_the_credential_which_precedes_the_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let data = Path::new("data");
        let default = KeyFile::locate(None, Some(folder.path()), data);
        assert_eq!(default, KeyFile::new("data/vigie.key"));
        std::fs::write(folder.path().join("vigie.key"), "").unwrap();
        let credential = KeyFile::locate(None, Some(folder.path()), data);
        assert!(credential.is_systemd_credential && credential.path.starts_with(folder.path()));
        let configured = KeyFile::locate(Some(Path::new("k")), Some(folder.path()), data);
        assert_eq!(configured, KeyFile::new("k"));
    }
}
