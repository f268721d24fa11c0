//! Accounts (customers) of an installation, created and listed by the host alone.

use serde_json::{Map, json};

use super::account_service::AccountService;
use crate::catalog::record_settings::settings_or_skip;
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, UserId};
use crate::schema::typed::record::AccountNameSettings;
use crate::service::caller::{Caller, ServiceError};
use crate::store::{AuditObject, ConfigChange, ConfigRecordFilter, NewConfigRecord, Pagination, StoreError};
use crate::syntax::node::Position;
use crate::syntax::text_format::is_control_or_bidi;
use crate::syntax::{ValidationError, ValidationErrorKind};

impl AccountService {
    /// Creates an account without users and returns its id. For the host alone.
    pub async fn add_customer(&self, caller: &Caller, name: &str) -> Result<CustomerId, ServiceError> {
        require_host(caller)?;
        let name = name.trim();
        if !(1..=255).contains(&name.chars().count()) || name.contains(is_control_or_bidi) {
            let message = "a name has 1 to 255 characters, without control characters and characters that change the direction of text";
            return Err(vec![ValidationError::new(
                ValidationErrorKind::Length,
                "name",
                Position::default(),
                message,
            )]
            .into());
        }
        // The first account is created with the database and has no unique key.
        let has_this_name = |other: &ConfigRecord| {
            let other: Option<AccountNameSettings<'_>> = settings_or_skip(other);
            other.is_some_and(|other| other.name.to_lowercase() == name.to_lowercase())
        };
        if self.customers(caller).await?.iter().any(has_this_name) {
            return Err(name_conflict(name));
        }
        let (now, fields) = (self.clock.now(), Map::from_iter([("name".to_owned(), json!(name))]));
        let record = NewConfigRecord {
            kind: ConfigRecordKind::Customer,
            customer: None,
            parent_id: None,
            unique_key: Some(name.to_lowercase()),
            created_at: now,
            created_by: caller.login.to_string(),
            fields: fields.clone(),
            private_data: None,
        };
        let mut audit_entry =
            caller.audit_entry(now, "create", "customer", AuditObject::CreatedInThisCall(0), name);
        audit_entry.after = fields;
        let write_result = self
            .config_store
            .write_changes(vec![ConfigChange::CreateRecord(record)], vec![audit_entry])
            .await;
        match write_result {
            Ok(ids) => ids.first().map(|id| CustomerId(*id)).ok_or(ServiceError::NotFound),
            Err(StoreError::AlreadyExists(_)) => Err(name_conflict(name)),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns all accounts, ordered by id. For the host alone.
    pub async fn customers(&self, caller: &Caller) -> Result<Vec<ConfigRecord>, ServiceError> {
        require_host(caller)?;
        let all = Pagination::ALL;
        Ok(self.config_store.records(ConfigRecordFilter::new(ConfigRecordKind::Customer), all).await?.items)
    }
}

fn name_conflict(name: &str) -> ServiceError {
    ServiceError::Conflict(format!("An account with the name `{name}` already exists"))
}

fn require_host(caller: &Caller) -> Result<(), ServiceError> {
    if caller.user_id == UserId::HOST {
        return Ok(());
    }
    Err(ServiceError::Forbidden(
        "Accounts are managed on the server's host, with `vigie customer`".to_owned(),
    ))
}
