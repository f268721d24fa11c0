//! Enrolment: an agent exchanges a secret of its location for a credential of its own.

use std::net::IpAddr;

use nkeys::{KeyPairType, XKey};
use serde_json::{Map, Value, json};

use super::agent_service::{AgentService, concurrent_change};
use super::enrolment_secrets::{EnrolmentSecrets, fingerprint};
use super::stored_agent::{StoredAgent, find_location, next_revision};
use crate::bus::nats::AgentGrant;
use crate::bus::nats::jwt::PublicKey;
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, LocationId, Permission, Revision};
use crate::schema::table::agents::AGENT;
use crate::schema::typed::request::AgentEnrolmentRequest;
use crate::service::accounts::AccountService;
use crate::service::caller::{Caller, EntryPoint, SavedObject, ServiceError};
use crate::store::{AuditObject, ConfigChange, ConfigRecordFilter, NewConfigRecord, Pagination, StoreError};

impl AgentService {
    /// Enrols an agent at the location of its secret, which is used up.
    ///
    /// # Errors
    /// Fails alike for a secret that is unknown, used or expired; for keys that are none or that another agent has; after
    /// too many guesses.
    pub async fn enrol(
        &self,
        request: AgentEnrolmentRequest<'_>,
        address: IpAddr,
    ) -> Result<AgentGrant, ServiceError> {
        self.trust()?;
        // Each address has a counter of its own: guesses from one do not delay the agents behind others.
        let login = format!("enrolment from {address}");
        let attempt = self.throttle.try_admit(&login, address, self.clock.now()).await?;
        let (user, exchange_key) = match parse_keys(&request) {
            Ok(keys) => keys,
            Err(error) => {
                self.throttle.uncount(&attempt, self.clock.now()).await;
                return Err(error);
            }
        };
        let _lock = self.edit_lock.lock().await;
        let now = self.clock.now();
        let (location, remaining) = self.find_location_of(request.secret).await?.ok_or_else(refused)?;
        self.throttle.record_success(&attempt, now).await?;
        let taken = self.config_store.record_by_unique_key(ConfigRecordKind::Agent, user.to_string()).await?;
        if taken.is_some() {
            let message = "An agent with this key is enrolled already; give the new one another folder";
            return Err(ServiceError::Conflict(message.to_owned()));
        }
        let mut keys = self.data_keys(LocationId(location.id)).await?;
        let fields = agent_fields(&request, &user, &exchange_key);
        let caller = enrolling_caller(location.customer, address);
        let mut audit = caller.audit_entry(
            now,
            "enrol",
            ConfigRecordKind::Agent.name(),
            AuditObject::CreatedInThisCall(0),
            request.name,
        );
        audit.after.clone_from(&fields);
        audit.after.insert("location_id".to_owned(), json!(location.id));
        let agent = NewConfigRecord {
            kind: ConfigRecordKind::Agent,
            customer: Some(location.customer),
            parent_id: Some(location.id),
            unique_key: Some(user.to_string()),
            created_at: now,
            created_by: caller.login.to_string(),
            fields: fields.clone(),
            private_data: None,
        };
        let used = ConfigRecord { private_data: Some(remaining.to_private_data()?), ..location.clone() };
        let mut changes = vec![ConfigChange::CreateRecord(agent.clone()), next_revision(&used, [], now)];
        if keys.newest().is_none() {
            changes.push(keys.add(&self.keyring, location.customer, now)?);
        }
        let ids = self.config_store.write_changes(changes, vec![audit]).await.map_err(concurrent_change)?;
        let record = ConfigRecord {
            id: ids.first().copied().unwrap_or_default(),
            kind: agent.kind,
            customer: location.customer,
            parent_id: agent.parent_id,
            unique_key: agent.unique_key,
            revision: Revision(1),
            created_at: now,
            created_by: agent.created_by,
            modified_at: now,
            fields,
            private_data: None,
        };
        tracing::info!(agent_id = record.id, location_id = location.id, "an agent enrolled");
        self.changed.notify_one();
        self.grant(&StoredAgent::from_record(record)?, &keys)
    }

    /// Makes another enrolment secret of `location`.
    ///
    /// # Errors
    /// Fails for a location of the settings or of another account, without the permission, and for too many unused ones.
    pub async fn create_enrolment_secret(
        &self,
        caller: &Caller,
        location: LocationId,
    ) -> Result<SavedObject, ServiceError> {
        caller.require_permission(Permission::Administer)?;
        let _lock = self.edit_lock.lock().await;
        let now = self.clock.now();
        let found = find_location(&*self.config_store, location).await?;
        let old = found.filter(|record| record.customer == caller.customer).ok_or(ServiceError::NotFound)?;
        let (secret, pending) = EnrolmentSecrets::of_location(&old).with_new(now)?;
        let changed = ConfigRecord { private_data: Some(pending.to_private_data()?), ..old.clone() };
        let name = old.fields.get("name").and_then(Value::as_str).unwrap_or_default();
        let audit = caller.audit_entry(
            now,
            "create_enrolment_secret",
            ConfigRecordKind::Location.name(),
            AuditObject::Id(location.0),
            name,
        );
        let change = next_revision(&changed, [], now);
        self.config_store.write_changes(vec![change], vec![audit]).await.map_err(concurrent_change)?;
        Ok(SavedObject {
            id: location.0,
            revision: old.revision.0 + 1,
            create_response_fields: secret.into_response_fields(),
            ..SavedObject::default()
        })
    }

    /// Returns the location with this secret, and its secrets without it. Looks at all locations in any case.
    async fn find_location_of(
        &self,
        secret: &str,
    ) -> Result<Option<(ConfigRecord, EnrolmentSecrets)>, StoreError> {
        let filter = ConfigRecordFilter::new(ConfigRecordKind::Location);
        let locations = self.config_store.records(filter, Pagination::ALL).await?;
        let now = self.clock.now();
        let mut found = None;
        for location in locations.items {
            if let Some(remaining) = EnrolmentSecrets::of_location(&location).without(secret, now) {
                found = Some((location, remaining));
            }
        }
        Ok(found)
    }
}

fn refused() -> ServiceError {
    let message = "The enrolment secret is unknown, used or expired; make a new one with POST /locations/{id}/enrolment-secrets";
    ServiceError::Forbidden(message.to_owned())
}

fn parse_keys(request: &AgentEnrolmentRequest<'_>) -> Result<(PublicKey, String), ServiceError> {
    let invalid = |path: &str, message: &str| {
        let kind = crate::syntax::ValidationErrorKind::Conflict;
        ServiceError::Invalid(vec![crate::syntax::ValidationError::new(
            kind,
            path,
            crate::syntax::node::Position::default(),
            message,
        )])
    };
    let user = PublicKey::parse(request.public_key, &KeyPairType::User)
        .map_err(|_| invalid("public_key", "`public_key` is not the NATS key of a user"))?;
    let text = request.exchange_key;
    // nkeys expects the exact length.
    let is_key = text.len() == 56 && text.starts_with('X') && XKey::from_public_key(text).is_ok();
    if !is_key {
        return Err(invalid("exchange_key", "`exchange_key` is not an X25519 key of NATS"));
    }
    Ok((user, text.to_owned()))
}

fn agent_fields(
    request: &AgentEnrolmentRequest<'_>,
    user: &PublicKey,
    exchange_key: &str,
) -> Map<String, Value> {
    let mut fields = AGENT.defaults();
    let values = [
        ("name", json!(request.name)),
        ("public_key", json!(user)),
        ("exchange_key", json!(exchange_key)),
        ("version", json!(request.version)),
        ("data_key", json!(0)),
        ("enrolled_with", json!(fingerprint(request.secret))),
    ];
    fields.extend(values.map(|(name, value)| (name.to_owned(), value)));
    fields
}

/// The new agent itself, for the audit trail.
fn enrolling_caller(customer: CustomerId, address: IpAddr) -> Caller {
    Caller {
        client_address: Some(address),
        login: std::sync::Arc::from("agent"),
        ..AccountService::host_admin_caller(customer, EntryPoint::ApiV3)
    }
}
