//! What is remembered of a monitor between its runs, and what a new answer, answerless time or a change of the
//! monitor does to it.

use serde::{Deserialize, Serialize};

use super::{Contacts, Effect, Heard, Policy};
use crate::model::{EpisodeId, LocationId, Timestamp, Verification};
use crate::schedule::Calendar;

/// What decisions are made by. Everything here is of the moment of the call.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// What the monitor says.
    pub policy: &'a Policy,
    /// Who there is.
    pub contacts: &'a Contacts,
    /// What is silenced.
    pub calendar: &'a Calendar,
    /// Locations without a live agent now.
    pub away: &'a [LocationId],
    /// Now.
    pub now: Timestamp,
}

/// What is remembered of one monitor. Its JSON is kept in the transaction of what follows from it; one that
/// [`Watch::is_idle`] need not be kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    /// The last run that was settled; late answers to it and those before it alert nobody.
    settled: Option<Timestamp>,
}

/// The state of a monitor, for people (issue: up, failing, down, unknown, blacked out; `Disabled` and paused are
/// seen from the monitor itself).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// No run was settled yet, or the last ones said nothing of the target.
    #[default]
    Unknown,
    /// The last settled run was good.
    Up,
    /// Some location fails, but not as many as the mode asks for; or a failure is being verified.
    Failing,
    /// An outage is open.
    Down,
    /// The last run fell into a blackout.
    BlackedOut,
}

impl Watch {
    /// Takes what a location found. Runs are settled in their order; an answer to a settled run changes nothing.
    pub fn take(&mut self, heard: Heard, terms: &Terms<'_>) -> Vec<Effect> {
        let _ = (heard, terms);
        todo!("h-alarm")
    }

    /// Takes the answer to an [`Effect::Verify`]; one that nobody waits for changes nothing.
    pub fn verified(
        &mut self,
        planned_at: Timestamp,
        answer: Verification,
        terms: &Terms<'_>,
    ) -> Vec<Effect> {
        let _ = (planned_at, answer, terms);
        todo!("h-alarm")
    }

    /// Lets time pass: closes runs whose time is over. Call at [`Watch::due`], also when late.
    pub fn tick(&mut self, terms: &Terms<'_>) -> Vec<Effect> {
        let _ = terms;
        todo!("h-alarm")
    }

    /// When [`Watch::tick`] has something to do next.
    #[must_use]
    pub fn due(&self) -> Option<Timestamp> {
        todo!("h-alarm")
    }

    /// The monitor was disabled, paused or removed: its outage ends without a clear, open runs are dropped.
    pub fn close(&mut self, now: Timestamp) -> Vec<Effect> {
        let _ = now;
        todo!("h-alarm")
    }

    /// Somebody acknowledged the open outage: it is told no more, but its end is.
    pub fn acknowledge(&mut self, episode: EpisodeId) -> bool {
        let _ = episode;
        todo!("h-alarm")
    }

    /// Verifications that were asked for and not answered, to be asked again after a restart.
    #[must_use]
    pub fn pending(&self) -> Vec<Effect> {
        todo!("h-alarm")
    }

    /// What a start of the process knows without a kept watch: the last answers of each location.
    pub fn resume(&mut self, last: &[Heard]) {
        let _ = (last, &mut self.settled);
        todo!("h-alarm")
    }

    /// Whether there is nothing to remember that [`Watch::resume`] would not bring back.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        todo!("h-alarm")
    }

    /// How the monitor is.
    #[must_use]
    pub fn health(&self) -> Health {
        todo!("h-alarm")
    }

    /// The open outage.
    #[must_use]
    pub fn episode(&self) -> Option<EpisodeId> {
        todo!("h-alarm")
    }
}
