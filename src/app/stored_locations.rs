//! Locations of monitor files that were made through the API, which only the store knows.

use crate::catalog::AccountCache;
use crate::domain::LocationId;
use crate::schema::monitor_file::FileMonitor;
use crate::store::StoreError;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Returns errors for monitors at locations that their account does not have.
///
/// # Errors
/// Fails when the accounts cannot be read.
pub(super) async fn stored_location_errors(
    monitors: &[FileMonitor],
    account_cache: &AccountCache,
) -> Result<Vec<ValidationError>, StoreError> {
    let mut errors = Vec::new();
    for monitor in monitors {
        let stored = monitor.document.location_ids().into_iter().filter(|location| location.is_stored());
        let stored: Vec<LocationId> = stored.collect();
        if stored.is_empty() {
            continue;
        }
        let account = account_cache.account(monitor.customer).await?;
        for location in stored.iter().filter(|location| !account.locations.contains_key(&location.0)) {
            let message = format!("`locations`: account {} has no location `{location}`", monitor.customer);
            let error =
                ValidationError::new(ValidationErrorKind::Conflict, "locations", monitor.position, message);
            errors.push(
                error.with_file(&monitor.file).with_hint("`vigie locations` lists them with their ids"),
            );
        }
    }
    Ok(errors)
}
