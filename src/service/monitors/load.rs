//! Monitors of the store come into memory at the start.

use super::monitor_context::MonitorContext;
use super::monitor_secrets::open_secrets;
use super::pause::register_pauses;
use crate::schema::{Monitor, Origin};
use crate::store::{StoreError, StoredMonitor};
use crate::vault::VaultError;

/// Reads all monitors that no file manages from the store into the roster, their secrets opened.
///
/// # Errors
/// As the store's, and [`StoreError::Unusable`] when the key file lacks the key of a secret.
pub async fn load_monitors(context: &MonitorContext) -> Result<Vec<Monitor>, StoreError> {
    let kept = context.dependencies.config.stored_monitors().await?;
    open_monitors(context, kept).await
}

/// As [`load_monitors`], where the store was read already. A monitor whose secrets are damaged is left out,
/// neither shown nor run, and the log says so.
pub async fn open_monitors(
    context: &MonitorContext,
    kept: Vec<StoredMonitor>,
) -> Result<Vec<Monitor>, StoreError> {
    let mut monitors = Vec::new();
    for kept in kept {
        let id = kept.monitor.id;
        if matches!(kept.monitor.origin, Origin::File { .. }) {
            continue;
        }
        match open_secrets(&context.dependencies.vault, kept) {
            Ok(monitor) => monitors.push(monitor),
            Err(error @ (VaultError::UnknownKey(_) | VaultError::KeyFile(_))) => {
                return Err(StoreError::Unusable(format!("monitor {id}: {error}")));
            }
            Err(error) => {
                tracing::error!(monitor_id = %id, error = %error, "monitor skipped");
            }
        }
    }
    register_pauses(context, &monitors);
    context.dependencies.monitors.apply(monitors.clone(), &[]);
    Ok(monitors)
}
