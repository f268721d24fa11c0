//! Lists saved views.

use serde_json::{Map, Value};

use super::record_context::RecordContext;
use super::record_json::record_to_json;
use super::view_access::is_visible;
use crate::domain::ConfigRecordKind;
use crate::service::caller::ServiceError;
use crate::store::{ConfigRecordFilter, Paginated, Pagination};

/// Lists those that the caller may see.
pub(super) async fn list_views(
    cx: &RecordContext<'_>,
    page: Pagination,
) -> Result<Paginated<Map<String, Value>>, ServiceError> {
    let filter = ConfigRecordFilter::new(ConfigRecordKind::View).for_customer(cx.caller.customer);
    let records = cx.dependencies.config_store.records(filter, Pagination::ALL).await?.items;
    let visible: Vec<_> = records.iter().filter(|record| is_visible(record, cx.caller)).collect();
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let shown = visible.iter().skip(offset).take(limit).map(|record| record_to_json(cx, record)).collect();
    Ok(Paginated { total: visible.len() as u64, items: shown })
}
