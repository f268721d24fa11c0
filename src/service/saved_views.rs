//! Saved views of the list of monitors, for the pages.

use super::caller::Caller;
use super::records::unique_name;
use super::records::view_access::{is_owner, is_visible};
use crate::catalog::record_settings::settings_or_skip;
use crate::domain::{ConfigRecord, ConfigRecordKind, Revision};
use crate::schema::typed::record::ViewSettings;
use crate::store::{ConfigRecordFilter, ConfigStore, Pagination, StoreError};

/// A saved view of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedView {
    /// Its id.
    pub id: i64,
    /// Display name.
    pub name: String,
    /// As in the address of the list, behind the `?`.
    pub query: String,
    /// Whether everybody of the account sees it.
    pub is_shared: bool,
    /// Whether who asks made it.
    pub is_own: bool,
    /// Its version.
    pub revision: Revision,
}

/// Returns the views that `caller` may see, by name.
pub(super) async fn saved_views(
    store: &dyn ConfigStore,
    caller: &Caller,
) -> Result<Vec<SavedView>, StoreError> {
    let filter = ConfigRecordFilter::new(ConfigRecordKind::View).for_customer(caller.customer);
    let records = store.records(filter, Pagination::ALL).await?.items;
    let mut views: Vec<_> = records.iter().filter_map(|record| visible_view(record, caller)).collect();
    views.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(views)
}

/// Returns the view with this id or name; `None` for one that `caller` may not see.
pub(super) async fn saved_view(
    store: &dyn ConfigStore,
    caller: &Caller,
    id_or_name: &str,
) -> Result<Option<SavedView>, StoreError> {
    let by_id = match id_or_name.parse() {
        Ok(id) => store.record(ConfigRecordKind::View, id).await?,
        Err(_) => None,
    };
    if let Some(view) = by_id.and_then(|record| visible_view(&record, caller)) {
        return Ok(Some(view));
    }
    let key = unique_name(caller.customer, id_or_name);
    let by_name = store.record_by_unique_key(ConfigRecordKind::View, key).await?;
    Ok(by_name.and_then(|record| visible_view(&record, caller)))
}

fn visible_view(record: &ConfigRecord, caller: &Caller) -> Option<SavedView> {
    if !is_visible(record, caller) {
        return None;
    }
    let ViewSettings { name, query, shared } = settings_or_skip(record)?;
    Some(SavedView {
        id: record.id,
        name: name.to_owned(),
        query: query.to_owned(),
        is_shared: shared,
        is_own: is_owner(record, caller),
        revision: record.revision,
    })
}
