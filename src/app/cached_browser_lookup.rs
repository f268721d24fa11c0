//! The browsers that the pool of this process can open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::browser::{BrowserKind, BrowserPool};
use crate::schema::validation_context::BrowserLookup;
use crate::sync::Mutex;

/// How long a look at the disk counts: a list of monitors asks for each of them.
const MAX_AGE: Duration = Duration::from_secs(5);

/// The reason for each browser that is missing, and when that was found.
type MissingReasons = (Instant, Vec<(BrowserKind, Option<String>)>);

/// Looks for the browsers of this process, again after each installation.
#[derive(Debug)]
pub(super) struct CachedBrowserLookup {
    pool: Arc<BrowserPool>,
    /// What the last look at the disk found, if there was one.
    last_missing_reasons: Mutex<Option<MissingReasons>>,
}

impl CachedBrowserLookup {
    /// Looks for the browsers of `pool`.
    pub(super) fn new(pool: Arc<BrowserPool>) -> Self {
        Self { pool, last_missing_reasons: Mutex::default() }
    }
}

impl BrowserLookup for CachedBrowserLookup {
    fn missing_reason(&self, name: &str) -> Option<String> {
        let kind = BrowserKind::from_name(name)?;
        let mut last_missing_reasons = self.last_missing_reasons.lock();
        if last_missing_reasons.as_ref().is_none_or(|(found_at, _)| found_at.elapsed() >= MAX_AGE) {
            let reason = |kind| self.pool.check_available(kind).err().map(|failure| failure.detail);
            *last_missing_reasons =
                Some((Instant::now(), BrowserKind::ALL.map(|kind| (kind, reason(kind))).into()));
        }
        let (_, reasons) = last_missing_reasons.as_ref()?;
        reasons.iter().find(|(browser_kind, _)| *browser_kind == kind).and_then(|(_, reason)| reason.clone())
    }
}
