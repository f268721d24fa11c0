//! Locations and agents together, for the page about them.

use serde_json::{Map, Value};

use super::config_record_service::ConfigRecordService;
use super::location_list::configured_locations;
use super::record_definition::record_definition;
use super::record_json::record_to_json;
use crate::domain::{ConfigRecordKind, CustomerId};
use crate::service::accounts::AccountService;
use crate::service::caller::{EntryPoint, ServiceError};
use crate::store::{ConfigRecordFilter, Pagination};

/// Locations and agents as version 3 objects.
#[derive(Clone, Debug, Default)]
pub struct LocationsOverview {
    /// Those of the settings, then the others by id.
    pub locations: Vec<Map<String, Value>>,
    /// Agents on other hosts that are not revoked, by id.
    pub agents: Vec<Map<String, Value>>,
}

impl ConfigRecordService {
    /// Returns the locations and agents that `account` may see; those of all accounts for `None`.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn locations_overview(
        &self,
        account: Option<CustomerId>,
    ) -> Result<LocationsOverview, ServiceError> {
        let caller =
            AccountService::host_admin_caller(account.unwrap_or(CustomerId::OPERATOR), EntryPoint::Pages);
        let mut overview = LocationsOverview::default();
        for kind in [ConfigRecordKind::Location, ConfigRecordKind::Agent] {
            let cx = self.showing_context(&caller, record_definition(kind), None).await?;
            let records = self
                .dependencies
                .config_store
                .records(ConfigRecordFilter::new(kind), Pagination::ALL)
                .await?;
            let visible = records.items.iter().filter(|record| account.is_none() || cx.can_see(record));
            let objects = visible.map(|record| record_to_json(&cx, record));
            if kind == ConfigRecordKind::Location {
                overview.locations = configured_locations(&cx).into_iter().chain(objects).collect();
            } else {
                overview.agents = objects.filter(|agent| agent["state"] != "revoked").collect();
            }
        }
        Ok(overview)
    }
}
