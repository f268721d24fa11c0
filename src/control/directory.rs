//! What is known of each account: locations, certificates, properties, defaults; read once, kept until it
//! changes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

pub use crate::model::accept::KnownProperty;
use crate::model::accept::{Plan, Surroundings};
use crate::model::{CustomerId, Location, MonitorType, Role};
use crate::store::{Ledger, StoreError};

/// A certificate that monitors of an account may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownCertificate {
    /// What people call it.
    pub name: String,
    /// `PEM` or `PKCS#12`: as it came in.
    pub format: String,
    /// Whether it is a client certificate (`ssl_cert_id`) or an authority (`ca_cert_id`).
    pub client: bool,
}

/// What the settings and this build make known to every account.
#[derive(Clone, Debug, Default)]
pub struct Common {
    /// The locations that this process hosts; the first is the default of accounts without their own.
    pub locations: Vec<Location>,
    /// Certificates of the settings, by id.
    pub certificates: BTreeMap<i64, KnownCertificate>,
    /// How many names there are behind `name_to_resolve_id`.
    pub dns_names: usize,
    /// Billing plans; `None` when any code will do.
    pub plans: Option<Vec<Plan>>,
    /// Types that this build can probe.
    pub probed: Vec<MonitorType>,
    /// Values of `use_ssl_version` that this build can speak.
    pub spoken_versions: Vec<&'static str>,
    /// Days before a certificate's end, where an account says nothing.
    pub certificate_days: u32,
}

/// What is known of one account.
#[derive(Clone, Debug)]
pub struct AccountFacts {
    /// Whose.
    pub customer: CustomerId,
    /// Zone of window times (behaviour.md 1 "Times").
    pub time_zone: jiff::tz::TimeZone,
    /// Pool of monitors without their own; never empty.
    pub default_locations: Vec<i64>,
    /// Locations that it may use: shared ones and its own, by id.
    pub locations: BTreeMap<i64, Location>,
    /// Certificates that its monitors may name, by id.
    pub certificates: BTreeMap<i64, KnownCertificate>,
    /// Its properties, by id.
    pub properties: BTreeMap<i64, KnownProperty>,
    /// Days before a certificate's end at which `Expiring` warns.
    pub certificate_days: u32,
    /// What all accounts have in common.
    pub common: Arc<Common>,
    // Ids as `Surroundings` wants them.
    location_ids: Vec<i64>,
    client_ids: Vec<i64>,
    authority_ids: Vec<i64>,
}

impl AccountFacts {
    /// What the rules on monitors have to know when a user of `role` writes one.
    #[must_use]
    pub fn surroundings(&self, role: Role) -> Surroundings<'_> {
        Surroundings {
            locations: Some(&self.location_ids),
            default_locations: &self.default_locations,
            certificates: Some(&self.client_ids),
            authorities: Some(&self.authority_ids),
            properties: Some(&self.properties),
            proxies: Some(&[]),
            dns_names: Some(self.common.dns_names),
            plans: self.common.plans.as_deref(),
            probed: Some(&self.common.probed),
            spoken_versions: Some(&self.common.spoken_versions),
            no_admin: !matches!(role, Role::Admin | Role::CoAdmin),
        }
    }
}

/// Knows every account.
pub struct Directory {
    ledger: Arc<dyn Ledger>,
    common: RwLock<Arc<Common>>,
    known: RwLock<HashMap<CustomerId, Arc<AccountFacts>>>,
}

impl Directory {
    /// A directory over `ledger`.
    #[must_use]
    pub fn new(ledger: Arc<dyn Ledger>, common: Common) -> Self {
        Self { ledger, common: RwLock::new(Arc::new(common)), known: RwLock::default() }
    }

    /// Takes new settings; everything is read anew.
    pub fn settle(&self, common: Common) {
        *self.common.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(common);
        self.forget();
    }

    /// Forgets what was read: a location, certificate, property or account changed.
    pub fn forget(&self) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What is known of `customer`.
    pub async fn facts(&self, _customer: CustomerId) -> Result<Arc<AccountFacts>, StoreError> {
        let _ = (&self.ledger, &self.known);
        todo!()
    }
}
