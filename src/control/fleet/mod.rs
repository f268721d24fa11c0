//! The use cases on monitors: create, edit, copy, remove, rest, many at once; each judged, sealed, kept with
//! its audit entry, planned, and only then answered.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Caller, Directory, Planner, Refusal, Roster, Saved};
use crate::clock::Clock;
use crate::model::intake::Form;
use crate::model::source::Node;
use crate::model::{Monitor, MonitorId, MonitorType, Revision, Timestamp};
use crate::store::{Ledger, StoreError};
use crate::vault::Keyring;

/// What the fleet is made of.
#[derive(Clone)]
pub struct FleetParts {
    /// Keeps what changes.
    pub ledger: Arc<dyn Ledger>,
    /// Everything in memory.
    pub roster: Arc<Roster>,
    /// What is known of accounts.
    pub directory: Arc<Directory>,
    /// Runs them.
    pub planner: Arc<dyn Planner>,
    /// Seals their secrets.
    pub vault: Arc<Keyring>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// All monitors, to be changed by users. Creating goes side by side; whatever touches what exists goes alone,
/// so that no update is lost.
pub struct Fleet {
    parts: FleetParts,
    /// Held to read by creates, to write by all else.
    turn: tokio::sync::RwLock<()>,
}

/// Which version a caller wants to change; `None` for whichever is there.
pub type IfMatch = Option<Revision>;

impl Fleet {
    /// A fleet of `parts`.
    #[must_use]
    pub fn new(parts: FleetParts) -> Self {
        Self { parts, turn: tokio::sync::RwLock::new(()) }
    }

    /// Reads all monitors that no file manages from the store into the roster, their secrets opened.
    pub async fn load(&self) -> Result<Vec<Monitor>, StoreError> {
        let _ = (&self.parts, &self.turn);
        todo!()
    }

    /// Every monitor in memory.
    #[must_use]
    pub fn roster(&self) -> &Arc<Roster> {
        &self.parts.roster
    }

    /// Makes a monitor of `kind`.
    pub async fn create(
        &self,
        _caller: &Caller,
        _kind: MonitorType,
        _form: Form,
        _body: &Node,
    ) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Changes one; `kind`, when given, has to be its type (else 404).
    pub async fn patch(
        &self,
        _caller: &Caller,
        _id: MonitorId,
        _kind: Option<MonitorType>,
        _form: Form,
        _body: &Node,
        _if_match: IfMatch,
    ) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Removes one; its results follow retention.
    pub async fn delete(&self, _caller: &Caller, _id: MonitorId, _if_match: IfMatch) -> Result<(), Refusal> {
        todo!()
    }

    /// Copies one under another name (interface.md 2.5, Monitor clone).
    pub async fn copy(&self, _caller: &Caller, _id: MonitorId, _body: &Node) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Turns the one-request form of an API monitor into step 1 (behaviour.md 1, convert-api).
    pub async fn convert_api(
        &self,
        _caller: &Caller,
        _id: MonitorId,
        _kind: MonitorType,
        _if_match: IfMatch,
    ) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Monitor bulk edit (interface.md 2.5): all or nothing.
    pub async fn bulk_edit(&self, _caller: &Caller, _body: &Node) -> Result<(), Refusal> {
        todo!()
    }

    /// Password bulk edit: all or nothing.
    pub async fn bulk_edit_passwords(&self, _caller: &Caller, _body: &Node) -> Result<(), Refusal> {
        todo!()
    }

    /// Script bulk edit: all or nothing.
    pub async fn bulk_edit_scripts(&self, _caller: &Caller, _body: &Node) -> Result<(), Refusal> {
        todo!()
    }

    /// Lets one rest until `until` without recording missed runs; files' monitors too.
    pub async fn pause(&self, _caller: &Caller, _id: MonitorId, _until: Timestamp) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Ends a rest.
    pub async fn resume(&self, _caller: &Caller, _id: MonitorId) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Plans those whose rest is over; called once a second or so.
    pub async fn wake(&self, _now: Timestamp) {
        todo!()
    }

    /// `vigie apply`: brings the applied monitors of the caller's account in line with `wanted`, or only says
    /// what it would do. All or nothing.
    pub async fn apply(
        &self,
        _caller: &Caller,
        _wanted: Vec<Applied>,
        _options: ApplyOptions,
    ) -> Result<Vec<AppliedChange>, Refusal> {
        todo!()
    }

    /// The version 3 object of `monitor` as `caller` sees it: every field of interface.md 2.1, computed ones
    /// too (fields.md 3), secrets masked.
    pub async fn show(
        &self,
        _caller: &Caller,
        _monitors: &[Monitor],
    ) -> Result<Vec<Map<String, Value>>, Refusal> {
        todo!()
    }
}

/// A monitor as a file of `vigie apply` wants it.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Unique over the files.
    pub key: String,
    /// Its type.
    pub kind: MonitorType,
    /// Its fields.
    pub body: Node,
}

/// How `vigie apply` goes about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyOptions {
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Remove what an earlier apply made and `wanted` does not have.
    pub prune: bool,
}

/// What an apply did, or would do, to one monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedChange {
    /// Its key.
    pub key: String,
    /// Its number; `None` when it was not made.
    pub id: Option<MonitorId>,
    /// `create`, `change`, `remove` or `none`.
    pub action: &'static str,
    /// The fields that differ, as they were; secrets masked.
    pub before: Map<String, Value>,
    /// The same as they are to be.
    pub after: Map<String, Value>,
    /// What its author should know.
    pub warnings: Vec<String>,
}
