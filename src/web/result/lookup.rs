//! Finds the result that a page shows, if the viewer may see it.

use crate::domain::{CheckResult, StoreError};
use crate::web::page_state::PageState;
use crate::web::viewer::{CaptureAccess, Viewer};

/// Returns the result if it exists and `viewer` may see it.
pub(in crate::web) async fn find_result(
    state: &PageState,
    viewer: &Viewer,
    id: &str,
) -> Result<Option<CheckResult>, StoreError> {
    let Ok(id) = id.parse() else { return Ok(None) };
    match viewer.visible_account {
        Some(account) => state.monitor_reader.result_for_customer(account, id).await,
        None => state.monitor_reader.result(id).await,
    }
}

/// Returns the result if it exists and `viewer` may see its captures; `None` hides the captures, not the result.
pub(super) async fn find_result_if_captures_visible(
    state: &PageState,
    viewer: &Viewer,
    id: &str,
) -> Result<Option<CheckResult>, StoreError> {
    let visible_account = match viewer.captures {
        CaptureAccess::Nobody => return Ok(None),
        CaptureAccess::Account(account) => Some(account),
        CaptureAccess::Everybody => None,
    };
    find_result(state, &Viewer { visible_account, ..viewer.clone() }, id).await
}
