//! Encryption of the secrets of monitors for their account.

use std::sync::Arc;

use serde_json::Value;
use zeroize::Zeroizing;

use crate::domain::CustomerId;
use crate::schema::{Monitor, MonitorDocument, SecretMode};
use crate::store::{StoredMonitor, seal_context};
use crate::vault::{Keyring, VaultError};

/// Encrypts the secrets of `document` for the account; `None` when it has none.
pub(super) fn encrypt_secrets(
    keyring: &Keyring,
    customer: CustomerId,
    document: &MonitorDocument,
) -> Option<Vec<u8>> {
    let plain = Zeroizing::new(document.secrets()?.to_string());
    Some(keyring.seal(&seal_context("monitor", customer), plain.as_bytes()))
}

/// Decrypts the secrets of `stored_monitor`.
pub(super) fn decrypt_secrets(
    keyring: &Keyring,
    stored_monitor: StoredMonitor,
) -> Result<Monitor, VaultError> {
    let StoredMonitor { mut monitor, sealed_secrets: sealed } = stored_monitor;
    let Some(sealed) = sealed else { return Ok(monitor) };
    let plain = keyring.open(&seal_context("monitor", monitor.customer), &sealed)?;
    let secrets: Value = serde_json::from_slice(&plain).map_err(|_| VaultError::AuthenticationFailed)?;
    let (monitor_type, stored) =
        (monitor.monitor_type(), monitor.document.to_non_default_fields(SecretMode::Omitted));
    monitor.document = Arc::new(
        MonitorDocument::with_secrets(monitor_type, stored, secrets)
            .map_err(|_| VaultError::AuthenticationFailed)?,
    );
    Ok(monitor)
}
