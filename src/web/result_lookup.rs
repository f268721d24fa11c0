//! Finds the result that a page asks for.

use super::page_auth::Viewer;
use super::page_state::PageState;
use crate::domain::{CheckResult, StoreError};

/// The result, when there is one that `audience` may see.
pub(super) async fn find_result(
    site: &PageState,
    audience: Viewer,
    id: &str,
) -> Result<Option<CheckResult>, StoreError> {
    let Ok(id) = id.parse() else { return Ok(None) };
    match audience.account {
        Some(account) => site.queries.result_for_customer(account, id).await,
        None => site.queries.result(id).await,
    }
}
