//! The secrets of a monitor, sealed for its account, and opened again.

use std::sync::Arc;

use serde_json::Value;
use zeroize::Zeroizing;

use crate::domain::CustomerId;
use crate::schema::{Document, Monitor, Secrets};
use crate::store::{StoredMonitor, seal_context};
use crate::vault::{Keyring, VaultError};

/// The secrets of `document`, sealed for the account; `None` when it has none.
pub(super) fn seal_secrets(vault: &Keyring, customer: CustomerId, document: &Document) -> Option<Vec<u8>> {
    let plain = Zeroizing::new(document.secrets()?.to_string());
    Some(vault.seal(&seal_context("monitor", customer), plain.as_bytes()))
}

/// `kept` with its secrets.
pub(super) fn open_secrets(vault: &Keyring, kept: StoredMonitor) -> Result<Monitor, VaultError> {
    let StoredMonitor { mut monitor, sealed } = kept;
    let Some(sealed) = sealed else { return Ok(monitor) };
    let plain = vault.open(&seal_context("monitor", monitor.customer), &sealed)?;
    let secrets: Value = serde_json::from_slice(&plain).map_err(|_| VaultError::AuthenticationFailed)?;
    let (kind, stored) = (monitor.kind(), monitor.document.stored(Secrets::Omitted));
    monitor.document = Arc::new(
        Document::with_secrets(kind, stored, secrets).map_err(|_| VaultError::AuthenticationFailed)?,
    );
    Ok(monitor)
}
