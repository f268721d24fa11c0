//! The use cases on what accounts have beside monitors. Each kind is a [`Resource`]: its fields stand in the
//! field table, its own rules in a file of this folder.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Caller, Directory, Refusal, Roster, Saved};
use crate::clock::Clock;
use crate::model::source::Node;
use crate::model::{RecordKind, Revision};
use crate::store::{Ledger, Listed, Page, RecordFilter};
use crate::vault::Keyring;

/// What the use cases work with.
#[derive(Clone)]
pub struct ResourceParts {
    /// Keeps the records.
    pub ledger: Arc<dyn Ledger>,
    /// The monitors that records are attached to.
    pub roster: Arc<Roster>,
    /// What is known of accounts; told when something of it changes.
    pub directory: Arc<Directory>,
    /// Seals private keys.
    pub vault: Arc<Keyring>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// Records of every kind, to be read and changed by users.
pub struct Resources {
    parts: ResourceParts,
}

impl Resources {
    /// Over `parts`.
    #[must_use]
    pub fn new(parts: ResourceParts) -> Self {
        Self { parts }
    }

    /// Records of `kind` that `caller` may see and `filter` names, in version 3 form.
    pub async fn list(
        &self,
        _caller: &Caller,
        _filter: RecordFilter,
        _page: Page,
    ) -> Result<Listed<Map<String, Value>>, Refusal> {
        let _ = &self.parts;
        todo!()
    }

    /// One of them, with its version.
    pub async fn one(
        &self,
        _caller: &Caller,
        _kind: RecordKind,
        _id: i64,
    ) -> Result<(Map<String, Value>, Revision), Refusal> {
        todo!()
    }

    /// Makes one.
    pub async fn create(&self, _caller: &Caller, _kind: RecordKind, _body: &Node) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Changes one.
    pub async fn patch(
        &self,
        _caller: &Caller,
        _kind: RecordKind,
        _id: i64,
        _body: &Node,
        _if_match: Option<Revision>,
    ) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Removes one.
    pub async fn delete(
        &self,
        _caller: &Caller,
        _kind: RecordKind,
        _id: i64,
        _if_match: Option<Revision>,
    ) -> Result<(), Refusal> {
        todo!()
    }

    /// Blackout bulk edit (interface.md 2.4): all or nothing.
    pub async fn bulk_edit_blackouts(&self, _caller: &Caller, _body: &Node) -> Result<(), Refusal> {
        todo!()
    }
}
