//! What the last pages of metrics were made of: only what has changed since is read again.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use crate::domain::Revision;
use crate::service::error_budget_cache::ErrorBudgets;
use crate::sync::Mutex;

/// What pages of metrics share.
#[derive(Default)]
pub(in crate::service) struct MetricsCache {
    pub(super) budgets: BudgetCache,
}

/// Budgets of an agreement that were computed; `None` for an agreement that has none.
pub(super) struct ComputedBudgets {
    pub(super) revision: Revision,
    pub(super) computed_at: Instant,
    pub(super) budgets: Option<Arc<ErrorBudgets>>,
}

/// Budgets that were computed, by the id of the agreement.
#[derive(Default)]
pub(super) struct BudgetCache {
    pub(super) entries: Mutex<HashMap<i64, ComputedBudgets>>,
    /// Held while budgets are computed.
    pub(super) refresh_lock: tokio::sync::Mutex<()>,
}
