//! Whether this process may tell agents what to check.

use std::sync::Arc;

/// Says whether this process may tell agents what to check. A controller that has lost the lead must not.
pub type PublishPermission = Arc<dyn Fn() -> bool + Send + Sync>;
