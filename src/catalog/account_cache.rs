//! Caches the data of each account: locations, certificates, properties, contacts. It is loaded once and kept until it
//! changes.

use crate::sync::{Mutex, RwLock};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use super::active_performance_alerts::ActivePerformanceAlerts;
use super::alerting_settings;
use super::record_settings::{host_name, settings_from_record, settings_or_skip};
use crate::alerting::Contacts;
use crate::domain::{
    AllowedAccounts, ConfigRecord, ConfigRecordKind, CustomerId, Location, LocationId, MonitorType, Role,
};
use crate::evaluate::settle::Quorum;
use crate::schedule::BlackoutCalendar;
use crate::schema::Monitor;
use crate::schema::typed::record::{
    AccountSettings, CertificateKind, CertificateSettings, LocationSettings, PropertySettings,
    PropertyValueSettings,
};
pub use crate::schema::validation_context::PropertyDefinition;
use crate::schema::validation_context::{
    BillingPlan, BrowserLookup, SecurityTargetLookup, ValidationContext,
};
use crate::store::{ConfigRecordFilter, ConfigStore, Pagination, StoreError};
use crate::texts::Language;

/// Brand of accounts that have not chosen one; alerts start with it.
const DEFAULT_BRAND: &str = "Vigie";

/// A certificate that monitors of an account may refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSummary {
    /// Its name.
    pub name: String,
    /// `PEM` or `PKCS#12`: the format of the upload.
    pub format: String,
    /// Whether it is a client certificate (`ssl_cert_id`) or an authority (`ca_cert_id`).
    pub is_client: bool,
}

/// Mobile locations and emulation profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MobileSettings {
    /// Region of the mobile locations; `None` when there are none.
    pub region_id: Option<i64>,
    /// Names of the emulation profiles, by `subtype`.
    pub profile_names: BTreeMap<i64, String>,
    /// Host of the provider of devices, for monitors that name none; `None` when each must name it.
    pub provider_host: Option<String>,
}

/// Data from the settings and this build that all accounts share.
#[derive(Clone, Debug, Default)]
pub struct InstanceData {
    /// The locations of this process; the first is the default of accounts without their own.
    pub locations: Vec<Location>,
    /// Certificates of the settings, by id.
    pub certificates: BTreeMap<i64, CertificateSummary>,
    /// The accounts that may use them, by id.
    pub certificate_accounts: BTreeMap<i64, AllowedAccounts>,
    /// The accounts that may use the proxies of the settings, by the id of the proxy.
    pub proxies: BTreeMap<i64, AllowedAccounts>,
    /// Number of configured names that `name_to_resolve_id` may refer to.
    pub dns_name_count: usize,
    /// Billing plans; `None` when any code is valid.
    pub billing_plans: Option<Vec<BillingPlan>>,
    /// Types that this build can probe.
    pub supported_types: Vec<MonitorType>,
    /// Values of `use_ssl_version` that this build supports.
    pub supported_tls_versions: Vec<&'static str>,
    /// The browsers of the locations; `None` when they are not known.
    pub browsers: Option<Arc<dyn BrowserLookup>>,
    /// What security scans may scan; `None` when it is not known.
    pub security_targets: Option<Arc<dyn SecurityTargetLookup>>,
    /// Default number of days before a certificate expires.
    pub default_certificate_warning_days: u32,
    /// Mobile locations and profiles.
    pub mobile_emulation: MobileSettings,
}

impl InstanceData {
    /// Returns the certificates of the settings that `account` may use.
    fn certificates_for(&self, account: CustomerId) -> BTreeMap<i64, CertificateSummary> {
        let is_allowed =
            |id: &i64| self.certificate_accounts.get(id).is_some_and(|accounts| accounts.allows(account));
        let certificates = self.certificates.iter().filter(|(id, _)| is_allowed(id));
        certificates.map(|(id, certificate)| (*id, certificate.clone())).collect()
    }

    /// Returns the ids of the proxies of the settings that `account` may use.
    fn proxy_ids_for(&self, account: CustomerId) -> Vec<i64> {
        self.proxies.iter().filter(|(_, accounts)| accounts.allows(account)).map(|(id, _)| *id).collect()
    }
}

/// Data of one account.
#[derive(Clone, Debug)]
pub struct AccountSnapshot {
    /// Id of the account.
    pub customer_id: CustomerId,
    /// Time zone of window times (behaviour.md 1 "Times").
    pub time_zone: jiff::tz::TimeZone,
    /// Default location pool of its monitors; never empty.
    pub default_location_ids: Vec<i64>,
    /// Locations that it may use, shared ones and its own, by id.
    pub locations: BTreeMap<i64, Location>,
    /// Certificates that its monitors may refer to, by id.
    pub certificates: BTreeMap<i64, CertificateSummary>,
    /// Its properties, by id.
    pub properties: BTreeMap<i64, PropertyDefinition>,
    /// Names of its hosts that report metrics, by id.
    pub hosts: BTreeMap<i64, String>,
    /// Number of days before a certificate expires at which `Expiring` warns.
    pub certificate_warning_days: u32,
    /// Its name.
    pub name: String,
    /// Brand at the start of alerts.
    pub brand: String,
    /// Language of messages without a template.
    pub language: Language,
    /// How many locations must fail in mode SLA (MultiPOP).
    pub failure_quorum: Quorum,
    /// Its recipients and notifier groups.
    pub contacts: Arc<Contacts>,
    /// Its blackouts.
    pub blackout_calendar: Arc<BlackoutCalendar>,
    /// Data that all accounts share.
    pub shared: Arc<InstanceData>,
    // Id lists that `ValidationContext` borrows.
    location_ids: Vec<i64>,
    client_certificate_ids: Vec<i64>,
    certificate_authority_ids: Vec<i64>,
    proxy_ids: Vec<i64>,
    device_profile_ids: Vec<i64>,
}

impl AccountSnapshot {
    /// Returns the context for validating a monitor written by a user of `role`.
    #[must_use]
    pub fn validation_context(&self, role: Role) -> ValidationContext<'_> {
        ValidationContext {
            stored_locations_are_unknown: false,
            location_ids: Some(&self.location_ids),
            default_location_ids: &self.default_location_ids,
            client_certificate_ids: Some(&self.client_certificate_ids),
            certificate_authority_ids: Some(&self.certificate_authority_ids),
            properties: Some(&self.properties),
            hosts: Some(&self.hosts),
            proxy_ids: Some(&self.proxy_ids),
            device_profile_ids: Some(&self.device_profile_ids),
            dns_name_count: Some(self.shared.dns_name_count),
            billing_plans: self.shared.billing_plans.as_deref(),
            supported_types: Some(&self.shared.supported_types),
            supported_tls_versions: Some(&self.shared.supported_tls_versions),
            browsers: self.shared.browsers.as_deref(),
            security_targets: self.shared.security_targets.as_deref(),
            // The service knows them.
            monitors: None,
            monitor_id: None,
            requires_provider_host: self.shared.mobile_emulation.provider_host.is_none(),
            author_is_not_admin: !matches!(role, Role::Admin | Role::CoAdmin),
        }
    }
}

/// Caches the data of every account.
pub struct AccountCache {
    config_store: Arc<dyn ConfigStore>,
    shared: RwLock<Arc<InstanceData>>,
    cached_accounts: RwLock<CachedAccounts>,
    /// Loads in progress, so that an account is read once however many wait for it.
    load_locks: Mutex<HashMap<CustomerId, Weak<tokio::sync::Mutex<()>>>>,
    active_performance_alerts: ActivePerformanceAlerts,
}

/// The cached accounts.
#[derive(Default)]
struct CachedAccounts {
    accounts: HashMap<CustomerId, Arc<AccountSnapshot>>,
    /// Number of invalidations, so that data read before one is not cached after it.
    generation: u64,
    /// The number of the last invalidation of all accounts.
    all_invalidated_generation: u64,
    /// The number of the last invalidation of single accounts.
    invalidated_generation: HashMap<CustomerId, u64>,
}

impl CachedAccounts {
    /// Returns the number of the last invalidation that concerns `customer_id`.
    fn generation_of(&self, customer_id: CustomerId) -> u64 {
        self.invalidated_generation.get(&customer_id).map_or(self.all_invalidated_generation, |generation| {
            *generation.max(&self.all_invalidated_generation)
        })
    }
}

impl AccountCache {
    /// Creates a cache over `config_store`.
    #[must_use]
    pub fn new(config_store: Arc<dyn ConfigStore>, shared: InstanceData) -> Self {
        Self {
            config_store,
            shared: RwLock::new(Arc::new(shared)),
            cached_accounts: RwLock::default(),
            load_locks: Mutex::default(),
            active_performance_alerts: ActivePerformanceAlerts::default(),
        }
    }

    /// Returns the active performance alerts.
    #[must_use]
    pub fn active_performance_alerts(&self) -> &ActivePerformanceAlerts {
        &self.active_performance_alerts
    }

    /// Sets new shared data and invalidates the cache.
    pub fn update_shared(&self, shared: InstanceData) {
        *self.shared.write() = Arc::new(shared);
        self.invalidate_all();
    }

    /// Invalidates `customer_id`: one of its certificates, properties, recipients, groups or blackouts changed, or
    /// itself.
    pub fn invalidate(&self, customer_id: CustomerId) {
        let mut cached = self.cached_accounts.write();
        cached.accounts.remove(&customer_id);
        cached.generation += 1;
        let generation = cached.generation;
        cached.invalidated_generation.insert(customer_id, generation);
    }

    /// Invalidates every account: a location, which others may use too, or the settings changed.
    pub fn invalidate_all(&self) {
        let mut cached = self.cached_accounts.write();
        cached.accounts.clear();
        cached.invalidated_generation.clear();
        cached.generation += 1;
        cached.all_invalidated_generation = cached.generation;
    }

    /// Returns the number of invalidations; while it stays the same, no account has changed.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.cached_accounts.read().generation
    }

    /// Returns the number of the last invalidation that concerns `customer_id`; while it stays the same, the account
    /// has not changed.
    #[must_use]
    pub fn account_generation(&self, customer_id: CustomerId) -> u64 {
        self.cached_accounts.read().generation_of(customer_id)
    }

    /// Returns the data of `customer_id`.
    ///
    /// # Errors
    /// Fails when the store does.
    pub async fn account(&self, customer_id: CustomerId) -> Result<Arc<AccountSnapshot>, StoreError> {
        if let Ok(account) = self.cached_account(customer_id) {
            return Ok(account);
        }
        let load_lock = self.load_lock(customer_id);
        let _load_guard = load_lock.lock().await;
        // Another caller may have loaded it meanwhile.
        let generation = match self.cached_account(customer_id) {
            Ok(account) => return Ok(account),
            Err(generation) => generation,
        };
        let account = Arc::new(self.load_account(customer_id).await?);
        let mut cached = self.cached_accounts.write();
        if cached.generation_of(customer_id) == generation {
            cached.accounts.insert(customer_id, Arc::clone(&account));
        }
        Ok(account)
    }

    /// Returns the cached data of `customer_id`, or else the number of its last invalidation.
    fn cached_account(&self, customer_id: CustomerId) -> Result<Arc<AccountSnapshot>, u64> {
        let cached = self.cached_accounts.read();
        let account = cached.accounts.get(&customer_id).cloned();
        account.ok_or_else(|| cached.generation_of(customer_id))
    }

    /// Returns the lock that the load of `customer_id` holds.
    fn load_lock(&self, customer_id: CustomerId) -> Arc<tokio::sync::Mutex<()>> {
        let mut load_locks = self.load_locks.lock();
        if let Some(load_lock) = load_locks.get(&customer_id).and_then(Weak::upgrade) {
            return load_lock;
        }
        load_locks.retain(|_, load_lock| load_lock.strong_count() > 0);
        let load_lock = Arc::default();
        load_locks.insert(customer_id, Arc::downgrade(&load_lock));
        load_lock
    }

    async fn load_account(&self, customer_id: CustomerId) -> Result<AccountSnapshot, StoreError> {
        let shared_data = Arc::clone(&self.shared.read());
        let account_record = self.config_store.record(ConfigRecordKind::Customer, customer_id.0).await?;
        let locations = self.all_records(ConfigRecordFilter::new(ConfigRecordKind::Location)).await?;
        let properties = self
            .all_records(ConfigRecordFilter::new(ConfigRecordKind::Property).for_customer(customer_id))
            .await?;
        let certificates = self
            .all_records(ConfigRecordFilter::new(ConfigRecordKind::Certificate).for_customer(customer_id))
            .await?;
        let recipients = self
            .all_records(ConfigRecordFilter::new(ConfigRecordKind::Recipient).for_customer(customer_id))
            .await?;
        let groups = self
            .all_records(ConfigRecordFilter::new(ConfigRecordKind::NotifierGroup).for_customer(customer_id))
            .await?;
        let hosts = self
            .all_records(ConfigRecordFilter::new(ConfigRecordKind::Host).for_customer(customer_id))
            .await?;
        let blackouts = self
            .all_records(ConfigRecordFilter::new(ConfigRecordKind::Blackout).for_customer(customer_id))
            .await?;
        let shared_locations = shared_data.locations.iter().cloned();
        // Locations of account 1 are shared unless private; those of other accounts are their own.
        let is_usable = |record: &&ConfigRecord| {
            record.customer == customer_id
                || record.customer == CustomerId::OPERATOR
                    && settings_or_skip(record)
                        .is_some_and(|location: LocationSettings<'_>| !location.private)
        };
        let stored_locations = locations.iter().filter(is_usable).filter_map(location_from_record);
        let locations: BTreeMap<i64, Location> =
            shared_locations.chain(stored_locations).map(|location| (location.id.0, location)).collect();
        let mut snapshot = AccountSnapshot {
            customer_id,
            time_zone: jiff::tz::TimeZone::UTC,
            default_location_ids: Vec::new(),
            locations,
            certificates: shared_data.certificates_for(customer_id),
            properties: properties.iter().filter_map(property_from_record).collect(),
            hosts: hosts.iter().filter_map(host_name).collect(),
            certificate_warning_days: shared_data.default_certificate_warning_days,
            name: String::new(),
            brand: DEFAULT_BRAND.to_owned(),
            language: Language::default(),
            failure_quorum: Quorum::AtLeast(2),
            contacts: Arc::new(Contacts {
                recipients: recipients.iter().filter_map(alerting_settings::recipient_from_record).collect(),
                groups: groups.iter().filter_map(alerting_settings::group_from_record).collect(),
            }),
            blackout_calendar: Arc::new(BlackoutCalendar::new(jiff::tz::TimeZone::UTC, Vec::new())),
            shared: Arc::clone(&shared_data),
            location_ids: Vec::new(),
            client_certificate_ids: Vec::new(),
            certificate_authority_ids: Vec::new(),
            proxy_ids: shared_data.proxy_ids_for(customer_id),
            device_profile_ids: Vec::new(),
        };
        snapshot.certificates.extend(certificates.iter().filter_map(certificate_from_record));
        if let Some(account_record) = account_record {
            snapshot.apply_settings(&settings_from_record(&account_record)?);
        }
        let windows = blackouts.iter().filter_map(alerting_settings::blackout_from_record).collect();
        snapshot.blackout_calendar = Arc::new(BlackoutCalendar::new(snapshot.time_zone.clone(), windows));
        snapshot.build_id_lists();
        Ok(snapshot)
    }

    async fn all_records(&self, filter: ConfigRecordFilter) -> Result<Vec<ConfigRecord>, StoreError> {
        Ok(self.config_store.records(filter, Pagination::ALL).await?.items)
    }
}

impl AccountSnapshot {
    /// Applies the settings of the account.
    fn apply_settings(&mut self, settings: &AccountSettings<'_>) {
        match jiff::tz::TimeZone::get(settings.time_zone) {
            Ok(zone) => self.time_zone = zone,
            Err(_) if settings.time_zone.is_empty() => {}
            Err(error) => {
                tracing::warn!(customer_id = %self.customer_id, error = %error, "unknown time zone; used UTC");
            }
        }
        settings.name.unwrap_or_default().clone_into(&mut self.name);
        if !settings.brand.is_empty() {
            settings.brand.clone_into(&mut self.brand);
        }
        self.language = Language::from_code(settings.language).unwrap_or_default();
        self.failure_quorum = alerting_settings::quorum_from_threshold(settings.multipop_threshold);
        let ids = settings.default_locations.iter().map(|location| location.id.0);
        self.default_location_ids = ids.filter(|id| self.locations.contains_key(id)).collect();
        self.certificate_warning_days =
            settings.certificate_warning_days.unwrap_or(self.certificate_warning_days);
    }

    fn build_id_lists(&mut self) {
        if self.default_location_ids.is_empty() {
            let first = self.shared.locations.first().map(|location| location.id.0);
            self.default_location_ids = first.or(self.locations.keys().next().copied()).into_iter().collect();
        }
        self.location_ids = self.locations.keys().copied().collect();
        let certificate_ids = |is_client: bool| {
            self.certificates
                .iter()
                .filter(move |(_, certificate)| certificate.is_client == is_client)
                .map(|(id, _)| *id)
        };
        (self.client_certificate_ids, self.certificate_authority_ids) =
            (certificate_ids(true).collect(), certificate_ids(false).collect());
        self.device_profile_ids = self.shared.mobile_emulation.profile_names.keys().copied().collect();
    }

    /// Returns the locations of `monitor`: its own or else those of the account.
    #[must_use]
    pub fn location_pool_ids(&self, monitor: &Monitor) -> Vec<i64> {
        let own_ids = monitor.document.location_ids();
        if own_ids.is_empty() {
            self.default_location_ids.clone()
        } else {
            own_ids.iter().map(|id| id.0).collect()
        }
    }

    /// Returns how many locations of its pool are in the mobile region (fields.md 3).
    #[must_use]
    pub fn mobile_location_count(&self, monitor: &Monitor) -> usize {
        let Some(region) = self.shared.mobile_emulation.region_id else { return 0 };
        let is_mobile =
            |id: &i64| self.locations.get(id).is_some_and(|location| location.region_code == region);
        self.location_pool_ids(monitor).iter().filter(|id| is_mobile(id)).count()
    }

    /// Returns the name of the emulation profile of `monitor`; empty when it has none, or one not in the settings.
    #[must_use]
    pub fn mobile_profile_name(&self, monitor: &Monitor) -> &str {
        let profile = self.shared.mobile_emulation.profile_names.get(&monitor.document.subtype());
        profile.map(String::as_str).unwrap_or_default()
    }
}

fn location_from_record(record: &ConfigRecord) -> Option<Location> {
    let settings: LocationSettings<'_> = settings_or_skip(record)?;
    Some(Location { id: LocationId(record.id), name: settings.name.to_owned(), region_code: settings.region })
}

fn certificate_from_record(record: &ConfigRecord) -> Option<(i64, CertificateSummary)> {
    let settings: CertificateSettings<'_> = settings_or_skip(record)?;
    let summary = CertificateSummary {
        name: settings.name.to_owned(),
        format: settings.format.unwrap_or_default().to_owned(),
        is_client: settings.kind == CertificateKind::Client,
    };
    Some((record.id, summary))
}

fn property_from_record(record: &ConfigRecord) -> Option<(i64, PropertyDefinition)> {
    let settings: PropertySettings<'_> = settings_or_skip(record)?;
    let value = |value: &PropertyValueSettings<'_>| Some((value.id?, value.value.to_owned()));
    let definition = PropertyDefinition {
        name: settings.name.to_owned(),
        values: settings.values.iter().filter_map(value).collect(),
    };
    Some((record.id, definition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{SqliteSettings, SqliteStore};

    fn cache(folder: &tempfile::TempDir) -> AccountCache {
        let store = SqliteStore::open(&folder.path().join("vigie.db"), &SqliteSettings::default()).unwrap();
        AccountCache::new(Arc::new(store), InstanceData::default())
    }

    #[tokio::test]
    async fn a_change_of_one_account_leaves_the_others_cached() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        let [changed, other] = [CustomerId(2), CustomerId(3)];
        let before = [cache.account(changed).await.unwrap(), cache.account(other).await.unwrap()];
        let generations = [cache.account_generation(changed), cache.account_generation(other)];
        cache.invalidate(changed);
        assert!(!Arc::ptr_eq(&before[0], &cache.account(changed).await.unwrap()));
        assert!(Arc::ptr_eq(&before[1], &cache.account(other).await.unwrap()));
        assert!(cache.account_generation(changed) > generations[0]);
        assert_eq!(cache.account_generation(other), generations[1]);
        cache.invalidate_all();
        assert!(!Arc::ptr_eq(&before[1], &cache.account(other).await.unwrap()));
        assert!(cache.account_generation(other) > generations[1]);
    }

    #[tokio::test]
    async fn an_account_is_read_once_however_many_wait_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        let reads = futures::future::join_all((0..20).map(|_| cache.account(CustomerId(2)))).await;
        let first = reads[0].as_ref().unwrap();
        assert!(reads.iter().all(|read| Arc::ptr_eq(first, read.as_ref().unwrap())));
        assert!(cache.load_locks.lock().values().all(|load| load.strong_count() == 0), "no load is left");
    }
}
