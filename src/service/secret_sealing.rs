//! The encrypted secrets of the whole store: the keys they need, and re-encryption with the newest key.

use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::{ConfigStore, StoreError};
use crate::vault::{KeyFile, KeyId, Keyring, VaultError};

/// Number of secrets sealed with each key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealedSecretCounts {
    /// Secrets by key.
    pub count_by_key: BTreeMap<KeyId, u64>,
    /// Number of secrets whose encrypted form names no key.
    pub damaged_count: u64,
}

/// Why the keys cannot be used with the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealingError {
    /// The key file failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key file does not exist, but there are sealed secrets.
    #[error(
        "the key file `{path}` is missing, but the database holds {secrets} sealed secrets that need it\n\
         hint: put the file back from its copy, or name it with the setting `store.key_file`"
    )]
    MissingKeyFile {
        /// Expected path of the key file.
        path: String,
        /// Number of secrets that cannot be decrypted.
        secrets: u64,
    },
}

/// Counts the sealed secrets of the store by key. Reads all of them and changes none.
pub async fn count_sealed_secrets(config_store: &dyn ConfigStore) -> Result<SealedSecretCounts, StoreError> {
    let counts = Arc::new(Mutex::new(SealedSecretCounts::default()));
    let shared_counts = Arc::clone(&counts);
    let count = move |_: &str, sealed: &[u8]| {
        let mut counts = shared_counts.lock();
        match Keyring::sealing_key_id(sealed) {
            Some(key) => *counts.count_by_key.entry(key).or_default() += 1,
            None => counts.damaged_count += 1,
        }
        None
    };
    config_store.reseal(Arc::new(count)).await?;
    let mut counts = counts.lock();
    Ok(std::mem::take(&mut *counts))
}

/// Opens the key file. Creates it if it is missing and the store has no secrets yet; new keys could not
/// decrypt them. Also fails when the file lacks a key that a secret needs.
pub async fn open_keyring(
    config_store: &dyn ConfigStore,
    key_file: KeyFile,
) -> Result<Keyring, SealingError> {
    let counts = count_sealed_secrets(config_store).await?;
    if !key_file.exists()? && !counts.count_by_key.is_empty() {
        let path = key_file.path.display().to_string();
        return Err(SealingError::MissingKeyFile { path, secrets: counts.count_by_key.values().sum() });
    }
    let keyring = Keyring::read_or_create_from(key_file)?;
    let key_ids = keyring.key_ids();
    if let Some(missing) = counts.count_by_key.keys().find(|key| !key_ids.contains(key)) {
        return Err(VaultError::UnknownKey(*missing).into());
    }
    if counts.damaged_count > 0 {
        tracing::error!(secrets = counts.damaged_count, "sealed secrets are damaged; enter them again");
    }
    Ok(keyring)
}

/// Reseals all secrets with the newest key of `keyring`; returns how many changed. May be interrupted and repeated at
/// any time: old and new forms can be decrypted as long as both keys are in the file.
pub async fn reseal_all_secrets(
    config_store: &dyn ConfigStore,
    keyring: &Arc<Keyring>,
) -> Result<u64, StoreError> {
    let keyring = Arc::clone(keyring);
    config_store.reseal(Arc::new(move |context, sealed| keyring.reseal(context, sealed))).await
}
