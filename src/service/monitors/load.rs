//! Loads monitors from the store at the start.

use super::monitor_secrets::decrypt_secrets;
use super::monitor_service::MonitorService;
use super::pause::register_pauses;
use crate::schema::{Monitor, Origin};
use crate::store::{StoreError, StoredMonitor};
use crate::vault::VaultError;

/// Loads all monitors that no file manages from the store into the monitor cache, with decrypted secrets.
///
/// # Errors
/// Errors of the store, and [`StoreError::Unusable`] when the key file lacks the key of a secret.
pub async fn load_monitors(service: &MonitorService) -> Result<Vec<Monitor>, StoreError> {
    let stored = service.dependencies.config_store.stored_monitors().await?;
    decrypt_and_cache_monitors(service, stored).await
}

/// Like [`load_monitors`], for monitors read already. A monitor with damaged secrets is left out, and an
/// error is logged.
pub async fn decrypt_and_cache_monitors(
    service: &MonitorService,
    stored: Vec<StoredMonitor>,
) -> Result<Vec<Monitor>, StoreError> {
    let mut monitors = Vec::new();
    for stored in stored {
        let id = stored.monitor.id;
        if matches!(stored.monitor.origin, Origin::File { .. }) {
            continue;
        }
        match decrypt_secrets(&service.dependencies.keyring, stored) {
            Ok(monitor) => monitors.push(monitor),
            Err(error @ (VaultError::UnknownKey(_) | VaultError::KeyFile(_))) => {
                return Err(StoreError::Unusable(format!("monitor {id}: {error}")));
            }
            Err(error) => {
                tracing::error!(monitor_id = %id, error = %error, "monitor skipped");
            }
        }
    }
    register_pauses(service, &monitors);
    service.dependencies.monitor_cache.apply(monitors.clone(), &[]);
    Ok(monitors)
}
