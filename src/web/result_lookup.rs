//! Finds the result of a page.

use super::page_auth::Viewer;
use super::page_state::PageState;
use crate::domain::{CheckResult, StoreError};

/// Returns the result if it exists and `viewer` may see it.
pub(super) async fn find_result(
    state: &PageState,
    viewer: Viewer,
    id: &str,
) -> Result<Option<CheckResult>, StoreError> {
    let Ok(id) = id.parse() else { return Ok(None) };
    match viewer.visible_account {
        Some(account) => state.status_queries.result_for_customer(account, id).await,
        None => state.status_queries.result(id).await,
    }
}
