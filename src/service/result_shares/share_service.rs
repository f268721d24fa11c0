//! Makes, lists, opens and ends shares.

use std::sync::Arc;
use std::time::Duration;

use super::result_share::{ResultShare, share_fields};
use crate::clock::Clock;
use crate::domain::{
    CheckId, ConfigRecord, ConfigRecordFilter, ConfigRecordKind, CustomerId, Pagination, Permission,
    Timestamp, to_hex,
};
use crate::schema::table::shares::MAX_SHARE_DAYS;
use crate::service::accounts::{generate_token, hash_token};
use crate::service::caller::{Caller, ServiceError};
use crate::service::monitor_reader::MonitorReader;
use crate::store::{AuditObject, ConfigChange, ConfigStore, NewAuditEntry, NewConfigRecord, StoreError};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Most shares of an account that are live at once.
const MAX_LIVE_SHARES: usize = 1_000;
/// Records that are read, or removed in one transaction, at a time.
const BATCH_SIZE: u32 = 500;
/// Length of a token in bytes, as `generate_token` makes it; others are not even looked up.
const TOKEN_BYTES: usize = 43;
const SECONDS_PER_DAY: u64 = 86_400;

/// Dependencies of shares.
#[derive(Clone)]
pub struct ResultShareDependencies {
    /// Stores them.
    pub config_store: Arc<dyn ConfigStore>,
    /// Supplies the results.
    pub monitor_reader: Arc<MonitorReader>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// The shares of all accounts.
pub struct ResultShares {
    dependencies: ResultShareDependencies,
}

/// A share that was just made, with its token, which is not kept.
#[derive(Clone, PartialEq, Eq)]
pub struct NewResultShare {
    /// The share.
    pub share: ResultShare,
    /// The token of its link.
    pub token: String,
}

/// Omits the token.
impl std::fmt::Debug for NewResultShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewResultShare").field("share", &self.share).finish_non_exhaustive()
    }
}

impl ResultShares {
    /// Creates the service.
    #[must_use]
    pub fn new(dependencies: ResultShareDependencies) -> Self {
        Self { dependencies }
    }

    /// Shares a result of the caller's account for `days`.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when the account has too many live shares; [`ServiceError::NotFound`] for a result of
    /// another account.
    pub async fn create(
        &self,
        caller: &Caller,
        check_id: CheckId,
        days: u64,
    ) -> Result<NewResultShare, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        check_days(days)?;
        let reader = &self.dependencies.monitor_reader;
        let result =
            reader.result_for_customer(caller.customer, check_id).await?.ok_or(ServiceError::NotFound)?;
        let now = self.dependencies.clock.now();
        if self.shares(Some(caller.customer)).await?.len() >= MAX_LIVE_SHARES {
            let message =
                format!("The account has {MAX_LIVE_SHARES} shared results; end one before you share another");
            return Err(ServiceError::Conflict(message));
        }
        let token = generate_token();
        let expires_at = now + Duration::from_secs(days * SECONDS_PER_DAY);
        let fields = share_fields(&result, expires_at);
        let new_record = NewConfigRecord {
            kind: ConfigRecordKind::Share,
            customer: Some(caller.customer),
            parent_id: Some(result.monitor_id.0),
            unique_key: Some(unique_key(&token)),
            created_at: now,
            created_by: caller.login.to_string(),
            fields: fields.clone(),
            private_data: None,
        };
        let kind = ConfigRecordKind::Share.name();
        let monitor_name = &*result.monitor_name;
        let entry = caller.audit_entry(now, "create", kind, AuditObject::CreatedInThisCall(0), monitor_name);
        let entry = NewAuditEntry { after: fields, ..entry };
        let changes = vec![ConfigChange::CreateRecord(new_record)];
        let ids = self.dependencies.config_store.write_changes(changes, vec![entry]).await?;
        let not_stored = || ServiceError::Unavailable("The share could not be stored".to_owned());
        let share = ResultShare {
            id: ids.first().copied().ok_or_else(not_stored)?,
            customer: caller.customer,
            check_id,
            monitor_id: result.monitor_id,
            monitor_name: monitor_name.to_owned(),
            created_at: now,
            created_by: caller.login.to_string(),
            expires_at,
        };
        Ok(NewResultShare { share, token: token.to_string() })
    }

    /// Returns the live shares of the account `customer`, or of all accounts, the oldest first.
    pub async fn shares(&self, customer: Option<CustomerId>) -> Result<Vec<ResultShare>, StoreError> {
        let (mut shares, mut offset, now) = (Vec::new(), 0, self.dependencies.clock.now());
        loop {
            let records = self.read_batch(customer, offset).await?;
            offset += records.len() as u64;
            let found = records.iter().filter_map(ResultShare::from_record);
            shares.extend(found.filter(|share| share.is_live(now)));
            if records.len() < BATCH_SIZE as usize {
                return Ok(shares);
            }
        }
    }

    /// Ends a share of the caller's account.
    pub async fn revoke(&self, caller: &Caller, id: i64) -> Result<(), ServiceError> {
        caller.require_permission(Permission::Edit)?;
        let (record, share) = self.find(id).await?.ok_or(ServiceError::NotFound)?;
        let now = self.dependencies.clock.now();
        if share.customer != caller.customer || !share.is_live(now) {
            return Err(ServiceError::NotFound);
        }
        let kind = ConfigRecordKind::Share.name();
        let entry = caller.audit_entry(now, "delete", kind, AuditObject::Id(id), share.monitor_name);
        let entry = NewAuditEntry { before: record.fields.clone(), ..entry };
        match self.dependencies.config_store.write_changes(vec![removal(&record)], vec![entry]).await {
            // Somebody else ended it at the same time.
            Err(StoreError::Stale) => Err(ServiceError::NotFound),
            outcome => Ok(outcome.map(drop)?),
        }
    }

    /// Returns the account of the live share `id`.
    pub async fn customer_of(&self, id: i64) -> Result<Option<CustomerId>, StoreError> {
        Ok(self.find(id).await?.map(|(_, share)| share.customer))
    }

    /// Returns the live share whose link has this token.
    pub async fn share_by_token(&self, token: &str) -> Result<Option<ResultShare>, StoreError> {
        if token.len() != TOKEN_BYTES {
            return Ok(None);
        }
        let store = &self.dependencies.config_store;
        let record = store.record_by_unique_key(ConfigRecordKind::Share, unique_key(token)).await?;
        let share = record.as_ref().and_then(ResultShare::from_record);
        Ok(share.filter(|share| share.is_live(self.dependencies.clock.now())))
    }

    /// Removes shares that have ended; returns how many.
    pub async fn remove_expired(&self) -> Result<u64, StoreError> {
        let (mut removed, mut offset, now) = (0, 0, self.dependencies.clock.now());
        loop {
            let records = self.read_batch(None, offset).await?;
            let is_expired = |record: &&ConfigRecord| is_expired(record, now);
            let removals: Vec<_> = records.iter().filter(is_expired).map(removal).collect();
            // Those that stay are skipped in the next batch.
            offset += (records.len() - removals.len()) as u64;
            removed += removals.len() as u64;
            if !removals.is_empty() {
                match self.dependencies.config_store.write_changes(removals, Vec::new()).await {
                    // Another controller removes them.
                    Ok(_) | Err(StoreError::Stale) => {}
                    Err(error) => return Err(error),
                }
            }
            if records.len() < BATCH_SIZE as usize {
                return Ok(removed);
            }
        }
    }

    async fn find(&self, id: i64) -> Result<Option<(ConfigRecord, ResultShare)>, StoreError> {
        let record = self.dependencies.config_store.record(ConfigRecordKind::Share, id).await?;
        Ok(record.and_then(|record| ResultShare::from_record(&record).map(|share| (record, share))))
    }

    async fn read_batch(
        &self,
        customer: Option<CustomerId>,
        offset: u64,
    ) -> Result<Vec<ConfigRecord>, StoreError> {
        let filter = ConfigRecordFilter { customer, ..ConfigRecordFilter::new(ConfigRecordKind::Share) };
        let page = Pagination { limit: BATCH_SIZE, offset };
        Ok(self.dependencies.config_store.records(filter, page).await?.items)
    }
}

/// Returns the path of the page that the link with `token` opens, below the address of the server.
#[must_use]
pub fn shared_result_path(token: &str) -> String {
    format!("/shared/{token}")
}

fn unique_key(token: &str) -> String {
    to_hex(&hash_token(token))
}

fn removal(record: &ConfigRecord) -> ConfigChange {
    ConfigChange::RemoveRecord { kind: ConfigRecordKind::Share, id: record.id, expected: record.revision }
}

/// Whether the link has ended, or the record is invalid, so that no link can open it.
fn is_expired(record: &ConfigRecord, now: Timestamp) -> bool {
    ResultShare::from_record(record).is_none_or(|share| !share.is_live(now))
}

fn check_days(days: u64) -> Result<(), ServiceError> {
    if (1..=MAX_SHARE_DAYS.cast_unsigned()).contains(&days) {
        return Ok(());
    }
    let message = format!("`days` must be a number from 1 to {MAX_SHARE_DAYS}, not `{days}`");
    let (kind, position) = (ValidationErrorKind::Range, Position::default());
    Err(ServiceError::Invalid(vec![ValidationError::new(kind, "days", position, message)]))
}
