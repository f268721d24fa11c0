//! The keyring: the newest key seals, all keys open.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use aws_lc_rs::rand;
use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305};
use zeroize::{Zeroize, Zeroizing};

use super::error::{KeyId, VaultError};
use super::key_file::{KeyFile, KeySet, SealingKey};
use super::signature;
use super::signature::{MAC_TAG_BYTES, MacTag};
use crate::sync::RwLock;

/// Format of sealed bytes: this version byte, the key id (4 bytes, big-endian), the nonce, the ciphertext with its tag.
const FORMAT_VERSION: u8 = 1;
const NONCE_BYTES: usize = 24;
const AEAD_TAG_BYTES: usize = 16;
/// Version byte and key id.
const HEADER_BYTES: usize = 1 + 4;

/// All keys of a key file.
pub struct Keyring {
    keys: RwLock<KeySet>,
    /// `None` for keys that are not stored.
    key_file: Option<KeyFile>,
}

impl Keyring {
    /// Reads the key file at `path`.
    pub fn read(path: &Path) -> Result<Self, VaultError> {
        Self::read_from(KeyFile::new(path))
    }

    /// Like [`Keyring::read`]; if the file does not exist, creates it with mode 0600 and one new key.
    pub fn read_or_create(path: &Path) -> Result<Self, VaultError> {
        Self::read_or_create_from(KeyFile::new(path))
    }

    /// Reads the key file `key_file`.
    pub fn read_from(key_file: KeyFile) -> Result<Self, VaultError> {
        Ok(Self { keys: RwLock::new(key_file.read()?), key_file: Some(key_file) })
    }

    /// Like [`Keyring::read_from`]; creates the file if it does not exist and is not a credential.
    pub fn read_or_create_from(key_file: KeyFile) -> Result<Self, VaultError> {
        let keys = key_file.read_or_create(|| KeySet::from([(1, new_key())]))?;
        Ok(Self { keys: RwLock::new(keys), key_file: Some(key_file) })
    }

    /// Creates one new key that is not stored: for tests, and for a server that stores nothing.
    #[must_use]
    pub fn ephemeral() -> Self {
        Self { keys: RwLock::new(KeySet::from([(1, new_key())])), key_file: None }
    }

    /// Takes keys that are stored elsewhere, such as the data keys of a location.
    #[must_use]
    pub fn from_keys(keys: &BTreeMap<KeyId, Zeroizing<[u8; 32]>>) -> Self {
        Self { keys: RwLock::new(keys.clone()), key_file: None }
    }

    /// Reads the key file again, as after `vigie key rotate`, and returns whether the keys changed. The old keys stay
    /// when the file cannot be used.
    pub fn reload(&self) -> Result<bool, VaultError> {
        let Some(key_file) = &self.key_file else { return Ok(false) };
        let new_keys = key_file.read()?;
        let has_changed = self.with_keys(|keys| *keys != new_keys);
        if has_changed {
            *self.keys.write() = new_keys;
        }
        Ok(has_changed)
    }

    /// Adds a key to the file, which seals from now on, and returns its id.
    pub fn add_key(&self) -> Result<KeyId, VaultError> {
        let add_key = |keys: &mut KeySet| {
            let id = keys.last_key_value().map_or(1, |(id, _)| id.saturating_add(1));
            // When the ids are used up, an insert would overwrite the key that seals everything.
            keys.entry(id).or_insert_with(new_key);
        };
        self.update(add_key)?;
        Ok(self.newest_key_id())
    }

    /// Removes keys from the file, but never the newest. The caller ensures that they seal nothing any more.
    pub fn remove(&self, key_ids: &[KeyId]) -> Result<(), VaultError> {
        self.update(|keys| {
            let newest = keys.last_key_value().map(|(id, _)| *id);
            keys.retain(|id, _| Some(*id) == newest || !key_ids.contains(id));
        })
    }

    /// Returns the ids of the keys, the newest last.
    #[must_use]
    pub fn key_ids(&self) -> Vec<KeyId> {
        self.with_keys(|keys| keys.keys().copied().collect())
    }

    /// Returns the id of the newest key, which seals.
    #[must_use]
    pub fn newest_key_id(&self) -> KeyId {
        self.with_keys(|keys| keys.last_key_value().map_or(0, |(id, _)| *id))
    }

    /// Returns the id of the key that sealed `sealed`; `None` when the bytes are not a sealed secret.
    #[must_use]
    pub fn sealing_key_id(sealed: &[u8]) -> Option<KeyId> {
        let (version, after_version) = sealed.split_first()?;
        let id = after_version.first_chunk::<4>()?;
        (*version == FORMAT_VERSION && sealed.len() >= HEADER_BYTES + NONCE_BYTES + AEAD_TAG_BYTES)
            .then(|| KeyId::from_be_bytes(*id))
    }

    /// Seals `plaintext` with the newest key, bound to `context`. Returns version, key id, nonce, ciphertext, tag.
    #[must_use]
    pub fn seal(&self, context: &str, plaintext: &[u8]) -> Vec<u8> {
        self.with_keys(|keys| {
            keys.last_key_value().map(|(key_id, key)| seal_with_key(*key_id, key, context, plaintext))
        })
        .unwrap_or_default()
    }

    /// Opens a secret that [`Keyring::seal`] sealed for the same `context`.
    pub fn open(&self, context: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let key_id = Self::sealing_key_id(sealed).ok_or(VaultError::AuthenticationFailed)?;
        self.with_keys(|keys| {
            let key = keys.get(&key_id).ok_or(VaultError::UnknownKey(key_id))?;
            open_with_key(key_id, key, context, &sealed[HEADER_BYTES..])
                .ok_or(VaultError::AuthenticationFailed)
        })
    }

    /// Seals `sealed` again with the newest key; `None` when it already uses that key, or cannot be opened.
    #[must_use]
    pub fn reseal(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        if Self::sealing_key_id(sealed)? == self.newest_key_id() {
            return None;
        }
        self.open(context, sealed).ok().map(|plain| self.seal(context, &plain))
    }

    /// Signs `message` for `purpose` with the newest key. Without the key, a signature looks random.
    #[must_use]
    pub fn sign(&self, purpose: &str, message: &[u8]) -> MacTag {
        let sign_with_newest =
            |keys: &KeySet| keys.last_key_value().and_then(|(_, key)| signature::sign(key, purpose, message));
        // Random bytes never verify, so a failure to sign gives a signature that nothing accepts.
        self.with_keys(sign_with_newest).unwrap_or_else(|| {
            let mut bytes = [0; MAC_TAG_BYTES];
            fill_random(&mut bytes);
            bytes
        })
    }

    /// Signs `message` for `purpose` with each key, the oldest first.
    #[must_use]
    pub fn sign_with_each_key(&self, purpose: &str, message: &[u8]) -> Vec<MacTag> {
        self.with_keys(|keys| {
            keys.values().filter_map(|key| signature::sign(key, purpose, message)).collect()
        })
    }

    /// Whether `signature` is a signature of `message` for `purpose` by any of the keys. Signatures made before a
    /// rotation stay valid until `vigie key prune` removes the key.
    #[must_use]
    pub fn verify(&self, purpose: &str, message: &[u8], signature: &[u8]) -> bool {
        self.with_keys(|keys| keys.values().any(|key| signature::verify(key, purpose, message, signature)))
    }

    fn update(&self, change: impl FnOnce(&mut KeySet)) -> Result<(), VaultError> {
        let mut keys = self.keys.write();
        match &self.key_file {
            Some(key_file) => *keys = key_file.update(change)?,
            None => change(&mut keys),
        }
        Ok(())
    }

    fn with_keys<T>(&self, read: impl FnOnce(&KeySet) -> T) -> T {
        read(&self.keys.read())
    }
}

/// Prints the ids of the keys and nothing else.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("ids", &self.key_ids()).finish_non_exhaustive()
    }
}

fn new_key() -> SealingKey {
    let mut key = SealingKey::default();
    fill_random(key.as_mut_slice());
    key
}

/// Fills `bytes` with random bytes. If the system has none, aws-lc ends the process: a key or nonce is never weak.
fn fill_random(bytes: &mut [u8]) {
    while rand::fill(bytes).is_err() {}
}

fn seal_with_key(key_id: KeyId, key: &SealingKey, context: &str, plaintext: &[u8]) -> Vec<u8> {
    // With capacity for the tag, so that reallocation does not leave plaintext behind.
    let mut ciphertext = Vec::with_capacity(plaintext.len() + AEAD_TAG_BYTES);
    ciphertext.extend_from_slice(plaintext);
    let mut nonce = [0; NONCE_BYTES];
    fill_random(&mut nonce);
    let cipher = XChaCha20Poly1305::new((&**key).into());
    if cipher.encrypt_in_place((&nonce).into(), &associated_data(key_id, context), &mut ciphertext).is_err() {
        // Fails only above 256 GiB. Partly encrypted bytes must not be returned; an empty result never opens.
        ciphertext.zeroize();
        return ciphertext;
    }
    [&[FORMAT_VERSION], key_id.to_be_bytes().as_slice(), &nonce, &ciphertext].concat()
}

/// Opens the bytes after the header of a sealed secret.
fn open_with_key(
    key_id: KeyId,
    key: &SealingKey,
    context: &str,
    nonce_and_ciphertext: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, body) = nonce_and_ciphertext.split_first_chunk::<NONCE_BYTES>()?;
    let mut body = Zeroizing::new(body.to_vec());
    let cipher = XChaCha20Poly1305::new((&**key).into());
    cipher.decrypt_in_place(nonce.into(), &associated_data(key_id, context), &mut *body).ok()?;
    Some(body)
}

/// Returns the associated data of sealed bytes: their header, and their context.
fn associated_data(key_id: KeyId, context: &str) -> Vec<u8> {
    [&[FORMAT_VERSION], key_id.to_be_bytes().as_slice(), context.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_secret_opens_only_for_its_context() {
        let keyring = Keyring::ephemeral();
        for plain in [&b""[..], b"hunter2", &vec![0; 100_000]] {
            let sealed = keyring.seal("vigie/monitor/1", plain);
            assert_eq!(keyring.open("vigie/monitor/1", &sealed).unwrap().as_slice(), plain);
            assert_eq!(keyring.open("vigie/monitor/2", &sealed), Err(VaultError::AuthenticationFailed));
            assert_ne!(sealed, keyring.seal("vigie/monitor/1", plain), "the nonce came twice");
        }
        assert_eq!(
            Keyring::ephemeral().open("a", &keyring.seal("a", b"x")),
            Err(VaultError::AuthenticationFailed)
        );
    }

    #[test]
    fn every_changed_bit_and_every_truncation_is_detected() {
        let keyring = Keyring::ephemeral();
        let sealed = keyring.seal("a", b"secret");
        for bit in 0..sealed.len() * 8 {
            let mut forged = sealed.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert!(keyring.open("a", &forged).is_err(), "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert!(keyring.open("a", &sealed[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn the_newest_key_seals_and_old_ones_open() {
        let keyring = Keyring::ephemeral();
        let old = keyring.seal("a", b"secret");
        assert_eq!(keyring.reseal("a", &old), None, "it is under the newest key");
        assert_eq!(keyring.add_key(), Ok(2));
        assert_eq!(keyring.open("a", &old).unwrap().as_slice(), b"secret");
        let new = keyring.reseal("a", &old).unwrap();
        assert_eq!((Keyring::sealing_key_id(&old), Keyring::sealing_key_id(&new)), (Some(1), Some(2)));
        keyring.remove(&[1, 2]).unwrap();
        assert_eq!(keyring.key_ids(), [2], "the newest key was removed");
        assert_eq!(keyring.open("a", &old), Err(VaultError::UnknownKey(1)));
        assert_eq!(keyring.open("a", &new).unwrap().as_slice(), b"secret");
        assert_eq!(keyring.reseal("a", &old), None);
    }

    #[test]
    fn a_signature_verifies_only_for_its_text_and_purpose_and_survives_a_rotation() {
        let keyring = Keyring::ephemeral();
        let signature = keyring.sign("trip", b"7 1000");
        keyring.add_key().unwrap();
        let signatures = keyring.sign_with_each_key("trip", b"7 1000");
        assert_eq!(signatures, [signature, keyring.sign("trip", b"7 1000")]);
        assert!(keyring.verify("trip", b"7 1000", &signature));
        assert_ne!(keyring.sign("trip", b"7 1000"), signature, "the newest key does not sign");
        assert!(!keyring.verify("trip", b"8 1000", &signature));
        assert!(!keyring.verify("other", b"7 1000", &signature));
        assert!(!Keyring::ephemeral().verify("trip", b"7 1000", &signature));
        for bit in 0..signature.len() * 8 {
            let mut forged = signature;
            forged[bit / 8] ^= 1 << (bit % 8);
            assert!(!keyring.verify("trip", b"7 1000", &forged), "bit {bit}");
        }
        for length in 0..signature.len() {
            assert!(!keyring.verify("trip", b"7 1000", &signature[..length]), "{length} bytes");
        }
        keyring.remove(&[1]).unwrap();
        assert!(!keyring.verify("trip", b"7 1000", &signature), "its key was removed");
    }

    #[test]
    fn debug_shows_ids_only() {
        assert_eq!(format!("{:?}", Keyring::ephemeral()), "Keyring { ids: [1], .. }");
    }
}
