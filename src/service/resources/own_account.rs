//! Reads and changes the account of the caller.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::records::Resources;
use crate::domain::{Location, RecordKind, Revision};
use crate::service::caller::{Caller, Refusal, Saved};
use crate::syntax::source::Node;

impl Resources {
    /// `GET /account`.
    pub async fn account(&self, caller: &Caller) -> Result<(Map<String, Value>, Revision), Refusal> {
        self.one(caller, RecordKind::Customer, caller.customer.0).await
    }

    /// `PATCH /account`.
    pub async fn change_account(
        &self,
        caller: &Caller,
        body: &Node,
        if_match: Option<Revision>,
    ) -> Result<Saved, Refusal> {
        self.patch(caller, RecordKind::Customer, caller.customer.0, body, if_match).await
    }

    /// Zone of the window times of the caller's account.
    pub async fn time_zone(&self, caller: &Caller) -> Result<TimeZone, Refusal> {
        Ok(self.parts.directory.facts(caller.customer).await?.time_zone.clone())
    }

    /// The locations that the caller's account may use, by id.
    pub async fn usable_locations(&self, caller: &Caller) -> Result<BTreeMap<i64, Location>, Refusal> {
        Ok(self.parts.directory.facts(caller.customer).await?.locations.clone())
    }
}
