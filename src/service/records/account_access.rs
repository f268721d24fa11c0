//! Reads and changes the caller's account, and reads what belongs to it: events, time zone, locations.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::config_record_service::ConfigRecordService;
use crate::domain::{ConfigRecordKind, EventSeries, EventSeriesQuery, Location, Revision};
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::syntax::node::Node;

impl ConfigRecordService {
    /// Returns the account: `GET /account`.
    pub async fn account(&self, caller: &Caller) -> Result<(Map<String, Value>, Revision), ServiceError> {
        self.get(caller, ConfigRecordKind::Customer, caller.customer.0).await
    }

    /// Changes the account: `PATCH /account`.
    pub async fn update_account(
        &self,
        caller: &Caller,
        body: &Node,
        if_match: Option<Revision>,
    ) -> Result<SavedObject, ServiceError> {
        self.patch(caller, ConfigRecordKind::Customer, caller.customer.0, body, if_match).await
    }

    /// Returns the events of the account as series: `GET /events/series`.
    pub async fn event_series(
        &self,
        caller: &Caller,
        query: EventSeriesQuery,
    ) -> Result<EventSeries, ServiceError> {
        crate::service::events::event_series(&*self.dependencies.config_store, caller, query).await
    }

    /// Returns the time zone of window times of the caller's account.
    pub async fn time_zone(&self, caller: &Caller) -> Result<TimeZone, ServiceError> {
        Ok(self.dependencies.account_cache.account(caller.customer).await?.time_zone.clone())
    }

    /// Returns the locations that the caller's account may use, by id.
    pub async fn available_locations(
        &self,
        caller: &Caller,
    ) -> Result<BTreeMap<i64, Location>, ServiceError> {
        Ok(self.dependencies.account_cache.account(caller.customer).await?.locations.clone())
    }
}
