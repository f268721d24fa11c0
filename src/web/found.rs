//! Finds the result that a page asks for.

use super::gate::Audience;
use super::site::Site;
use crate::domain::{CheckResult, StoreError};

/// The result, when there is one that `audience` may see.
pub(super) async fn found(
    site: &Site,
    audience: Audience,
    id: &str,
) -> Result<Option<CheckResult>, StoreError> {
    let Ok(id) = id.parse() else { return Ok(None) };
    match audience.account {
        Some(account) => site.view.result_for_customer(account, id).await,
        None => site.view.result(id).await,
    }
}
