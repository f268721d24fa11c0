//! Lists what is stored and does not work under the settings, with the setting that allows it.

use super::egress_review::egress_denial_reasons;
use super::settings_reference_review::settings_object_problems;
use crate::domain::{ConfigRecord, ConfigRecordKind};
use crate::schema::Monitor;
use crate::settings::Settings;
use crate::store::{StoreError, StoreLocation, open_read_only_store};

/// Kinds of records that are reviewed.
pub(super) const REVIEWED_KINDS: [ConfigRecordKind; 2] =
    [ConfigRecordKind::Recipient, ConfigRecordKind::Certificate];

/// Returns what does not work among `monitors` and `records`, which are those of [`REVIEWED_KINDS`], in this order.
pub(super) fn stored_problems(
    settings: &Settings,
    monitors: &[Monitor],
    [recipients, certificates]: [&[ConfigRecord]; 2],
) -> Vec<String> {
    let mut problems = egress_denial_reasons(settings, monitors, recipients);
    problems.extend(settings_object_problems(settings, monitors, certificates));
    problems
}

/// Returns what does not work under `settings` in the database, if there is one.
///
/// # Errors
/// Fails when the database cannot be read.
pub async fn find_stored_config_problems(settings: &Settings) -> Result<Vec<String>, StoreError> {
    let location = settings.store_location();
    if matches!(&location, StoreLocation::Sqlite(path) if !path.exists()) {
        return Ok(Vec::new());
    }
    let store = open_read_only_store(&location, settings.store.options().for_command()).await?;
    let [recipients, certificates] = REVIEWED_KINDS;
    let (recipients, certificates) = (store.records(recipients).await?, store.records(certificates).await?);
    Ok(stored_problems(settings, &store.monitors().await?, [&recipients, &certificates]))
}
