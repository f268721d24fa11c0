//! Pauses a monitor for a time.

use crate::sync::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::create::saved;
use super::fleet::Fleet;
use super::save::Step;
use crate::domain::{MonitorId, Right, Timestamp};
use crate::schema::{Monitor, Trail};
use crate::service::caller::{Caller, Refusal, Saved};
use crate::syntax::source::Place;
use crate::syntax::{FieldFault, Rule};

/// Ends of rests that were not seen yet.
pub(super) type Resting = Mutex<BTreeSet<(Timestamp, MonitorId)>>;

impl Fleet {
    /// Lets one rest until `until` without recording missed runs; files' monitors too.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Faults`] when `until` is not ahead, and as the store's.
    pub async fn pause(&self, caller: &Caller, id: MonitorId, until: Timestamp) -> Result<Saved, Refusal> {
        caller.require(Right::Edit)?;
        if until <= self.parts.clock.now() {
            let message = format!("`until` must be ahead, not `{until}`");
            let fault = FieldFault::new(Rule::Range, "until", Place::default(), message);
            return Err(Refusal::Faults(vec![fault.given(until.to_string())]));
        }
        self.rest(caller, id, "pause", until).await
    }

    /// Ends a rest. One that does not rest stays as it is.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], and as the store's.
    pub async fn resume(&self, caller: &Caller, id: MonitorId) -> Result<Saved, Refusal> {
        caller.require(Right::Edit)?;
        let now = self.parts.clock.now();
        // Its end stays known: the slots before it are nobody's, also after a restart.
        self.rest(caller, id, "resume", now).await
    }

    async fn rest(
        &self,
        caller: &Caller,
        id: MonitorId,
        action: &'static str,
        until: Timestamp,
    ) -> Result<Saved, Refusal> {
        let _turn = self.alone().await;
        let old = self.own(caller, id)?;
        let now = self.parts.clock.now();
        let rests = old.trail.paused_until.is_some_and(|until| until > now);
        if action == "resume" && !rests {
            return saved(&[old], Vec::new());
        }
        let trail = Trail { paused_until: Some(until), ..(*old.trail).clone() };
        let document = Arc::clone(&old.document);
        let step = Step::Next { action, old: Box::new(old), document, trail, origin: None };
        let made = self.save_all(caller, vec![step]).await?;
        self.rests(&made);
        saved(&made, Vec::new())
    }

    /// Notes which of `monitors` rest, so that [`Fleet::wake`] finds them.
    pub fn rests(&self, monitors: &[Monitor]) {
        let now = self.parts.clock.now();
        let ends = monitors.iter().filter_map(|monitor| Some((monitor.trail.paused_until?, monitor.id)));
        let mut resting = self.resting.lock();
        resting.extend(ends.filter(|(until, _)| *until > now));
    }

    /// Plans those whose rest is over; called once a second or so.
    pub async fn wake(&self, now: Timestamp) {
        let over = {
            let mut resting = self.resting.lock();
            let ahead = resting.split_off(&(now + std::time::Duration::from_micros(1), MonitorId(i64::MIN)));
            std::mem::replace(&mut *resting, ahead)
        };
        if over.is_empty() {
            return;
        }
        let _turn = self.alone().await;
        let monitor = |(until, id): (Timestamp, MonitorId)| {
            self.parts.roster.get(id).filter(|monitor| monitor.trail.paused_until == Some(until))
        };
        let awake: Vec<Monitor> = over.into_iter().filter_map(monitor).collect();
        if !awake.is_empty()
            && let Err(error) = self.parts.planner.plan(awake, Vec::new()).await
        {
            tracing::debug!(error = %error, "monitors whose rest is over are planned at the next start");
        }
    }
}
