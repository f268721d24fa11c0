//! Dependencies of the pages of shared results.

use std::sync::Arc;

use crate::service::ResultShares;
use crate::web::page_auth::PageAuth;
use crate::web::page_state::PageState;

/// Dependencies of the pages of shared results.
#[derive(Clone)]
pub struct SharesState {
    /// Monitors and results.
    pub pages: PageState,
    /// Who may do what.
    pub auth: PageAuth,
    /// The shares.
    pub result_shares: Arc<ResultShares>,
}
