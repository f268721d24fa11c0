//! Context of one call on records: the caller, the kind of record and the account data.

use std::collections::HashMap;
use std::sync::Arc;

use super::agent_states::AgentStates;
use super::dependencies::ConfigRecordServiceDependencies;
use super::record_definition::RecordDefinition;
use crate::catalog::AccountSnapshot;
use crate::catalog::record_settings::settings_or_skip;
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, HostId, HostSummary, Timestamp};
use crate::schema::typed::record::LocationSettings;
use crate::service::caller::{Caller, ServiceError};
use crate::store::{AuditObject, NewAuditEntry};

/// Context of one call.
pub(super) struct RecordContext<'a> {
    pub(super) dependencies: &'a ConfigRecordServiceDependencies,
    pub(super) caller: &'a Caller,
    pub(super) definition: &'static RecordDefinition,
    pub(super) now: Timestamp,
    /// Account data.
    pub(super) account: Arc<AccountSnapshot>,
    /// Id of the parent in the request path; set for creates only.
    pub(super) parent_id: Option<i64>,
    /// What is known about agents; set to show agents and locations.
    pub(super) agent_states: AgentStates,
    /// The newest reports of hosts; set to show hosts.
    pub(super) host_summaries: HashMap<HostId, HostSummary>,
}

impl<'a> RecordContext<'a> {
    pub(super) async fn new(
        dependencies: &'a ConfigRecordServiceDependencies,
        caller: &'a Caller,
        definition: &'static RecordDefinition,
    ) -> Result<Self, ServiceError> {
        let account = dependencies.account_cache.account(caller.customer).await?;
        Ok(Self {
            dependencies,
            caller,
            definition,
            now: dependencies.clock.now(),
            account,
            parent_id: None,
            agent_states: AgentStates::default(),
            host_summaries: HashMap::new(),
        })
    }

    /// Whether the caller may see `record`: records of the account, except views of others alone, and shared locations.
    pub(super) fn can_see(&self, record: &ConfigRecord) -> bool {
        if record.kind == ConfigRecordKind::View {
            return super::view_access::is_visible(record, self.caller);
        }
        record.customer == self.caller.customer || is_shared_location(record)
    }

    /// Returns an audit entry about a record of this kind.
    pub(super) fn audit_entry(&self, action: &'static str, object: AuditObject, name: &str) -> NewAuditEntry {
        self.caller.audit_entry(self.now, action, self.definition.kind.name(), object, name)
    }
}

/// Whether `record` is a location of the host account that all accounts may use.
fn is_shared_location(record: &ConfigRecord) -> bool {
    record.kind == ConfigRecordKind::Location
        && record.customer == CustomerId::OPERATOR
        && settings_or_skip(record).is_some_and(|location: LocationSettings<'_>| !location.private)
}
