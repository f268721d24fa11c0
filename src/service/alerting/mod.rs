//! Outages and messages as users see them: lists, acknowledging, sending a dead letter again, test messages, and
//! templates that are tried.

mod episodes;
mod messages;
mod tried;

use std::sync::Arc;

use super::{Caller, Refusal};
use crate::catalog::{Directory, Roster};
use crate::clock::Clock;
use crate::domain::{EpisodeId, MonitorId};
use crate::schema::Monitor;
use crate::store::{Alarms, Answer, AuditObject, Ledger, Outbox};

/// The door to what decides about alerts and to what delivers messages.
pub trait Watchman: Send + Sync + 'static {
    /// Somebody acknowledged the open outage `episode` of `monitor`, which is kept already: it is told no more,
    /// but its end is.
    fn acknowledged(&self, monitor: MonitorId, episode: EpisodeId) -> Answer<'_, ()>;

    /// There is something new to be delivered.
    fn ring(&self);
}

/// Where nothing decides and nothing delivers, as in tests of the APIs.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWatchman;

impl Watchman for NoWatchman {
    fn acknowledged(&self, _: MonitorId, _: EpisodeId) -> Answer<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn ring(&self) {}
}

/// What the use cases work with.
#[derive(Clone)]
pub struct AlertingParts {
    /// Outages.
    pub alarms: Arc<dyn Alarms>,
    /// Messages.
    pub outbox: Arc<dyn Outbox>,
    /// Keeps who did what.
    pub ledger: Arc<dyn Ledger>,
    /// Decides and delivers.
    pub watchman: Arc<dyn Watchman>,
    /// The monitors.
    pub roster: Arc<Roster>,
    /// What is known of accounts.
    pub directory: Arc<Directory>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// Outages and messages, for users.
pub struct Alerting {
    parts: AlertingParts,
}

impl Alerting {
    /// Over `parts`.
    #[must_use]
    pub fn new(parts: AlertingParts) -> Self {
        Self { parts }
    }

    /// Keeps in the audit trail what `caller` did.
    async fn audit(
        &self,
        caller: &Caller,
        action: &'static str,
        object: &'static str,
        id: i64,
        name: &str,
    ) -> Result<(), Refusal> {
        let now = self.parts.clock.now();
        let entry = caller.entry(now, action, object, AuditObject::Id(id), name);
        self.parts.ledger.write(Vec::new(), vec![entry]).await?;
        Ok(())
    }

    /// The monitor of the caller's account with this number.
    fn own(&self, caller: &Caller, monitor: i64) -> Option<Monitor> {
        self.parts.roster.of(caller.customer, MonitorId(monitor))
    }
}
