//! The settings of the process, validated.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::alerts::AlertSettings;
use super::bus::BusSettings;
use super::concurrency::ConcurrencySettings;
use super::controller::ControllerSettings;
use super::hosted_location::HostedLocation;
use super::server::ServerSettings;
use super::setting::Setting;
use super::store::StoreSettings;
use super::table::SETTINGS;
use crate::browser::BrowserPoolConfig;
use crate::catalog::MobileSettings;
use crate::domain::{Location, LocationId};
use crate::export::otlp::OtlpSettings;
use crate::net::{Endpoint, NetConfig, UpstreamProxy};
use crate::probe::ProbeBuildContext;
use crate::schema::validation_context::BillingPlan;
use crate::store::{DATABASE_FILE, StoreLocation};
use crate::telemetry::LogOptions;

/// The settings of the process, validated.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Addresses that serve pages, API and metrics.
    pub listen_addresses: Vec<SocketAddr>,
    /// Settings of that server.
    pub server: ServerSettings,
    /// Folder of the database (SQLite), the spool and keys.
    pub data_dir: PathBuf,
    /// Whether it was set by a flag or variable, or in the file to another value than the default.
    pub data_dir_is_set: bool,
    /// Folders and files of monitors.
    pub monitor_paths: Vec<PathBuf>,
    /// Whether they were set, as for `data_dir_is_set`, so that a missing one is an error.
    pub monitor_paths_are_set: bool,
    /// Billing plans; if there are none, any code is accepted.
    pub billing_plans: Vec<BillingPlan>,
    /// Logs.
    pub log: LogOptions,
    /// Limits of concurrent checks: total, light, heavy, per target, waiting.
    pub concurrency: ConcurrencySettings,
    /// The database.
    pub store: StoreSettings,
    /// The location of `location.*`.
    pub location: Location,
    /// Network of that location; the trust settings apply to checks at every location.
    pub net: NetConfig,
    /// Settings of the bus to agents on other hosts.
    pub bus: BusSettings,
    /// Settings of a controller, with `vigie controller`.
    pub controller: ControllerSettings,
    /// The share of this agent in the monitors of its location, with `vigie agent run`.
    pub agent_weight: u32,
    /// Whether that location verifies failures of monitors that run elsewhere.
    pub(super) can_verify: bool,
    /// The proxy of its checks.
    pub(super) location_proxy: Option<UpstreamProxy>,
    /// Targets that the location should always reach.
    pub(super) connectivity_targets: Vec<Endpoint>,
    /// The locations of `locations`, without trust settings.
    pub(super) other_locations: Vec<HostedLocation>,
    /// Proxies that monitors refer to, by id.
    pub proxies: BTreeMap<i64, UpstreamProxy>,
    /// Names and formats of the client certificates, by id.
    pub client_certificate_names: BTreeMap<i64, (String, &'static str)>,
    /// Settings that all checks share.
    pub probe: ProbeBuildContext,
    /// The browsers of this process.
    pub browser_pool_config: BrowserPoolConfig,
    /// Devices that browsers emulate.
    pub mobile_emulation: MobileSettings,
    /// Settings for alerts.
    pub alerts: AlertSettings,
    /// Settings of the export by OTLP; `None` without one.
    pub otlp: Option<OtlpSettings>,
    /// The raw value of every setting, for comparison.
    pub(super) raw_values: BTreeMap<&'static str, Value>,
}

impl Settings {
    /// Returns where the store is.
    #[must_use]
    pub fn store_location(&self) -> StoreLocation {
        let default = || StoreLocation::Sqlite(self.data_dir.join(DATABASE_FILE));
        self.store.location.clone().unwrap_or_else(default)
    }

    /// Returns every location that this process hosts, the default of accounts first.
    #[must_use]
    pub fn hosted_locations(&self) -> Vec<HostedLocation> {
        let first = HostedLocation {
            location: self.location.clone(),
            net: self.net.clone(),
            proxy: self.location_proxy.clone(),
            proxies: self.proxies.clone(),
            concurrency: self.concurrency,
            can_verify: self.can_verify,
            connectivity_targets: self.connectivity_targets.clone(),
        };
        let mut locations = vec![first];
        locations.extend(self.other_locations.iter().cloned());
        for other in locations.iter_mut().skip(1) {
            other.net.trust_config = self.net.trust_config.clone();
            other.proxies = self.proxies.clone();
        }
        locations
    }

    /// Returns the ids of the hosted locations, in the same order.
    #[must_use]
    pub fn location_ids(&self) -> Vec<i64> {
        let others = self.other_locations.iter().map(|other| other.location.id.0);
        std::iter::once(self.location.id.0).chain(others).collect()
    }

    /// Puts back the values that `old` has of all settings that a running process cannot change.
    pub fn keep_restart_only_settings(&mut self, old: &Self) {
        let new = std::mem::replace(self, old.clone());
        self.monitor_paths = new.monitor_paths;
        self.monitor_paths_are_set = new.monitor_paths_are_set;
        self.billing_plans = new.billing_plans;
        let browser_pool = Arc::clone(&old.probe.browser_pool);
        self.probe = ProbeBuildContext { browser_pool, ..new.probe };
        self.alerts = new.alerts;
        self.otlp = new.otlp;
        self.other_locations = new.other_locations;
        self.proxies = new.proxies;
        self.mobile_emulation = new.mobile_emulation;
        for setting in SETTINGS.iter().filter(|setting| setting.reloadable) {
            if let Some(value) = new.raw_values.get(setting.path) {
                self.raw_values.insert(setting.path, value.clone());
            }
        }
    }

    /// Returns what differs in `locations` from `old`: the ids of locations that are gone or changed, and the locations
    /// that are new or changed.
    #[must_use]
    pub fn changed_locations(&self, old: &Self) -> (Vec<LocationId>, Vec<HostedLocation>) {
        let entries = |settings: &Self| -> BTreeMap<i64, Value> {
            let list = settings.raw_values.get("locations").and_then(Value::as_array);
            let with_id = |entry: &Value| Some((entry.get("id")?.as_i64()?, entry.clone()));
            list.into_iter().flatten().filter_map(with_id).collect()
        };
        let (old_entries, new_entries) = (entries(old), entries(self));
        let stopped = old_entries.iter().filter(|(id, entry)| new_entries.get(id) != Some(entry));
        let is_new = |hosted: &HostedLocation| {
            let id = hosted.location.id.0;
            new_entries.get(&id).is_some_and(|entry| old_entries.get(&id) != Some(entry))
        };
        let started = self.hosted_locations().into_iter().skip(1).filter(is_new).collect();
        (stopped.map(|(id, _)| LocationId(*id)).collect(), started)
    }

    /// Returns the settings that differ between `self` and `other`.
    #[must_use]
    pub fn changed_settings(&self, other: &Self) -> Vec<&'static Setting> {
        SETTINGS
            .iter()
            .filter(|setting| self.raw_values.get(setting.path) != other.raw_values.get(setting.path))
            .collect()
    }
}
