//! Hosts: their tokens, their reports, and what is shown of them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call_limit::CallLimit;
use super::host_token::{NewHostSecret, is_secret_of};
use super::report_body::{ReportError, read_report};
use super::report_queue::ReportQueue;
use crate::catalog::record_settings::settings_from_record;
use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::domain::{
    ConfigRecord, ConfigRecordKind, CustomerId, HostId, HostReport, HostSpan, Permission, ReportToken,
    Revision,
};
use crate::schema::typed::record::HostSettings;
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::store::{AuditObject, ConfigChange, ConfigStore, HostStore, PushStore, StoreError};

/// Reports that a host may send in [`REPORT_WINDOW`]: one a second, and what its agent kept while it was cut off.
const MAX_REPORTS: u32 = 600;
const REPORT_WINDOW: Duration = Duration::from_secs(20);
/// How far after its sending a report may claim to be measured.
const MAX_AHEAD: Duration = Duration::from_mins(5);

/// Why a report is not taken.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportRefusal {
    /// The call failed.
    Call(ServiceError),
    /// The body cannot be used.
    Body(ReportError),
}

impl From<ServiceError> for ReportRefusal {
    fn from(error: ServiceError) -> Self {
        Self::Call(error)
    }
}

impl From<ReportError> for ReportRefusal {
    fn from(error: ReportError) -> Self {
        Self::Body(error)
    }
}

/// Dependencies of the use cases on hosts and pushes.
#[derive(Clone)]
pub struct HostServiceDependencies {
    /// Stores the hosts.
    pub config_store: Arc<dyn ConfigStore>,
    /// Stores their reports.
    pub host_store: Arc<dyn HostStore>,
    /// Stores pushes.
    pub push_store: Arc<dyn PushStore>,
    /// The monitors that hosts and pushes belong to.
    pub monitor_cache: Arc<MonitorCache>,
    /// Supplies the names of hosts.
    pub account_cache: Arc<AccountCache>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// The hosts of all accounts.
pub struct HostService {
    pub(super) dependencies: HostServiceDependencies,
    /// Held while a token is changed.
    edit_lock: tokio::sync::Mutex<()>,
    queue: ReportQueue,
    limit: CallLimit,
}

impl HostService {
    /// Creates the service.
    #[must_use]
    pub fn new(dependencies: HostServiceDependencies) -> Self {
        let queue = ReportQueue::new(Arc::clone(&dependencies.host_store));
        let limit = CallLimit::new(MAX_REPORTS, REPORT_WINDOW);
        Self { dependencies, edit_lock: tokio::sync::Mutex::new(()), queue, limit }
    }

    /// Takes a report that came with `token`; returns the seconds until the next one is expected.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] for a token that is none or revoked, [`ServiceError::NotFound`] for the host of
    /// another token, [`ServiceError::RateLimited`] for a flood, errors of the store; and for a report that is refused.
    pub async fn record_report(
        &self,
        token: &str,
        id: HostId,
        body: &[u8],
        is_gzip: bool,
    ) -> Result<u32, ReportRefusal> {
        let host = self.authenticate(token, id).await?;
        let now = self.dependencies.clock.now();
        self.limit.count(id.0, now).map_err(ServiceError::RateLimited)?;
        let settings: HostSettings<'_> = settings_from_record(&host).map_err(ServiceError::from)?;
        let sent = read_report(body, is_gzip)?;
        // The clock of the host may be off: what counts is how long before its sending it was measured.
        let age_us = sent.sent_at.as_micros().saturating_sub(sent.measured_at.as_micros());
        if age_us < 0 && age_us.unsigned_abs() > u64::try_from(MAX_AHEAD.as_micros()).unwrap_or(u64::MAX) {
            let message = "`at` is more than 5 minutes after `sent_at`: it is from the future";
            return Err(ReportError::Invalid(message.to_owned()).into());
        }
        let age = Duration::from_micros(u64::try_from(age_us).unwrap_or(0));
        if age > HostSpan::Report.retention() {
            let message = "it is older than 48 hours, and not kept any more";
            return Err(ReportError::Invalid(message.to_owned()).into());
        }
        let report = HostReport {
            host_id: id,
            sequence: sent.sequence,
            measured_at: now - age,
            received_at: now,
            agent_version: sent.agent_version,
            system: sent.system,
            values: sent.values,
            interval_s: settings.report_interval_s,
        };
        self.queue.record(report).await?;
        Ok(settings.report_interval_s)
    }

    async fn authenticate(&self, token: &str, id: HostId) -> Result<ConfigRecord, ServiceError> {
        let unknown = || {
            let message = "The token of the host is unknown or revoked; make a new one";
            ServiceError::Unauthenticated(message.to_owned())
        };
        let token = ReportToken::parse(token).map_err(|_| unknown())?;
        let host = self.find(token.host_id()).await?.filter(|host| is_secret_of(host, token.secret()));
        let host = host.ok_or_else(unknown)?;
        if token.host_id() == id { Ok(host) } else { Err(ServiceError::NotFound) }
    }

    async fn find(&self, id: HostId) -> Result<Option<ConfigRecord>, StoreError> {
        self.dependencies.config_store.record(ConfigRecordKind::Host, id.0).await
    }

    /// Returns the host of an account.
    pub(super) async fn find_of(
        &self,
        customer: CustomerId,
        id: HostId,
    ) -> Result<Option<ConfigRecord>, StoreError> {
        Ok(self.find(id).await?.filter(|host| host.customer == customer))
    }

    /// Gives a host a new token, in place of its last one.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a host of another account; errors of the store.
    pub async fn create_token(&self, caller: &Caller, id: HostId) -> Result<SavedObject, ServiceError> {
        let secret = NewHostSecret::generate();
        let token = secret.token_of(id);
        let saved = self.set_token(caller, id, Some(secret.hash), "create_token").await?;
        let fields = Map::from_iter([("token".to_owned(), json!(token))]);
        Ok(SavedObject { create_response_fields: fields, ..saved })
    }

    /// Takes the token of a host away: its reports are refused from then on.
    ///
    /// # Errors
    /// As [`Self::create_token`].
    pub async fn revoke_token(&self, caller: &Caller, id: HostId) -> Result<(), ServiceError> {
        self.set_token(caller, id, None, "revoke_token").await.map(|_| ())
    }

    async fn set_token(
        &self,
        caller: &Caller,
        id: HostId,
        hash: Option<Vec<u8>>,
        action: &'static str,
    ) -> Result<SavedObject, ServiceError> {
        caller.require_permission(Permission::Administer)?;
        let _lock = self.edit_lock.lock().await;
        let old = self.find_of(caller.customer, id).await?.ok_or(ServiceError::NotFound)?;
        let now = self.dependencies.clock.now();
        let expected = old.revision;
        let revision = Revision(expected.0 + 1);
        let name = old.fields.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let audit =
            caller.audit_entry(now, action, ConfigRecordKind::Host.name(), AuditObject::Id(id.0), name);
        let record = ConfigRecord { revision, modified_at: now, private_data: hash, ..old };
        let change = ConfigChange::UpdateRecord { record: Box::new(record), expected };
        self.dependencies.config_store.write_changes(vec![change], vec![audit]).await?;
        Ok(SavedObject { id: id.0, revision: revision.0, ..SavedObject::default() })
    }

    /// Returns the newest report of a host of the caller's account.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a host of another account.
    pub async fn newest_report(
        &self,
        caller: &Caller,
        id: HostId,
    ) -> Result<Option<HostReport>, ServiceError> {
        caller.require_permission(Permission::View)?;
        self.find_of(caller.customer, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(self.dependencies.host_store.host_state(id).await?)
    }
}
