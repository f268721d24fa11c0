//! Sealed secrets of the store as a whole: which keys they need, and sealing them anew under the newest.

use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::{ConfigStore, StoreError};
use crate::vault::{KeyFile, KeyId, Keyring, VaultError};

/// How many secrets each key seals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealedSecrets {
    /// Secrets by key.
    pub by_key: BTreeMap<KeyId, u64>,
    /// What is nothing that was ever sealed: damaged bytes.
    pub damaged: u64,
}

/// Why the keys cannot be used with what the store holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealingError {
    /// The key file.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no key file, but there are secrets.
    #[error(
        "the key file `{path}` is missing, but the database holds {secrets} sealed secrets that need it\n\
         hint: put the file back from its copy, or name it with the setting `store.key_file`"
    )]
    MissingKeyFile {
        /// Where it should be.
        path: String,
        /// How many secrets cannot be opened.
        secrets: u64,
    },
}

/// Which keys the secrets of `ledger` are sealed with. Reads all of them, changes none.
pub async fn count_sealed(config: &dyn ConfigStore) -> Result<SealedSecrets, StoreError> {
    let found = Arc::new(Mutex::new(SealedSecrets::default()));
    let seen = Arc::clone(&found);
    let look = move |_: &str, sealed: &[u8]| {
        let mut found = seen.lock();
        match Keyring::sealing_key_id(sealed) {
            Some(key) => *found.by_key.entry(key).or_default() += 1,
            None => found.damaged += 1,
        }
        None
    };
    config.reseal(Arc::new(look)).await?;
    let mut found = found.lock();
    Ok(std::mem::take(&mut *found))
}

/// Opens the keys at `place`. Without a file there, makes one, but only when the store holds no secrets yet:
/// new keys would open none of them. Refuses as well when the file lacks a key that a secret needs.
pub async fn open_keyring(config: &dyn ConfigStore, key_file: KeyFile) -> Result<Keyring, SealingError> {
    let sealed = count_sealed(config).await?;
    if !key_file.exists()? && !sealed.by_key.is_empty() {
        let path = key_file.path.display().to_string();
        return Err(SealingError::MissingKeyFile { path, secrets: sealed.by_key.values().sum() });
    }
    let keyring = Keyring::read_or_create_from(key_file)?;
    let have = keyring.ids();
    if let Some(lost) = sealed.by_key.keys().find(|key| !have.contains(key)) {
        return Err(VaultError::UnknownKey(*lost).into());
    }
    if sealed.damaged > 0 {
        tracing::error!(secrets = sealed.damaged, "sealed secrets are damaged; enter them again");
    }
    Ok(keyring)
}

/// Seals everything under the newest key of `ring`; answers how many secrets changed. It may be ended at any
/// time and called again: old and new forms open as long as both keys are in the file.
pub async fn reseal_all(config: &dyn ConfigStore, keyring: &Arc<Keyring>) -> Result<u64, StoreError> {
    let keyring = Arc::clone(keyring);
    config.reseal(Arc::new(move |context, sealed| keyring.reseal(context, sealed))).await
}
