//! The way of every change: sealed, kept with its audit entry, into the roster, planned.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::Fleet;
use crate::control::{AccountFacts, Caller, Refusal};
use crate::model::accept::Plan;
use crate::model::{CustomerId, Document, Monitor, Origin, Trail};

/// A change that was judged.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A new monitor of the caller's account.
    New {
        /// The word of the audit trail: `create`, `clone`, …
        action: &'static str,
        /// [`Origin::Api`] or [`Origin::Applied`].
        origin: Origin,
        /// Its fields, secrets revealed.
        document: Arc<Document>,
    },
    /// A new version of a monitor. Without a difference nothing is kept, and the version stays.
    Next {
        /// The word of the audit trail: `change`, `bulk-edit`, …
        action: &'static str,
        /// As it is in the roster.
        old: Box<Monitor>,
        /// Its fields to be, secrets revealed.
        document: Arc<Document>,
        /// Its trail to be; [`Fleet::save_all`] sets who changed it and its script.
        trail: Trail,
    },
    /// The end of a monitor.
    Gone {
        /// As it is in the roster.
        old: Box<Monitor>,
    },
}

/// How many monitors are being made, by account and plan.
pub(super) type Pending = Mutex<HashMap<(CustomerId, String), usize>>;

impl Fleet {
    /// Keeps all of `steps` or none, with an audit entry each, takes them into the roster and plans them. The
    /// caller of this holds [`Fleet::alone`], or [`Fleet::beside`] when all of `steps` are new. Answers the
    /// monitors as they are now, in the order of `steps`; of those that are gone, their last version.
    pub(super) async fn save_all(
        &self,
        _caller: &Caller,
        _steps: Vec<Step>,
    ) -> Result<Vec<Monitor>, Refusal> {
        let _ = (&self.parts, &self.turn, &self.pending);
        todo!()
    }

    /// The plans of the settings with the number of monitors that the caller's account has under each, for
    /// `Surroundings::plans`.
    pub(super) fn plans(&self, _caller: &Caller, _facts: &AccountFacts) -> Option<Vec<Plan>> {
        todo!()
    }
}
