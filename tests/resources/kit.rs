//! The resource service over a store in its own folder, with two accounts.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use vigie::catalog::{AccountCache, InstanceData, MonitorCache};
use vigie::clock::{Clock, FakeClock};
use vigie::domain::{
    CapturedFile, CheckResult, ConfigRecord, ConfigRecordKind, CustomerId, Location, LocationId, MonitorId,
    MonitorType, Revision, Role, Timestamp, UserId,
};
use vigie::pipeline::{AgentStatus, PlanError, PlanFuture, Planner};
use vigie::schema::reader::InputFormat;
use vigie::schema::validate::validate_new;
use vigie::schema::validation_context::ValidationContext;
use vigie::schema::{Monitor, MonitorMetadata, Origin};
use vigie::service::{
    AccountService, Caller, ConfigRecordService, ConfigRecordServiceDependencies, EntryPoint, SavedObject,
    ServiceError,
};
use vigie::store::{
    AuditEntry, AuditFilter, ConfigChange, ConfigRecordFilter, ConfigStore, NewConfigRecord, Pagination,
    SqliteSettings, SqliteStore,
};
use vigie::syntax::node::Node;
use vigie::vault::Keyring;

/// Noon of the first day of 2026, a Thursday.
pub const NOON: i64 = 1_767_268_800;

pub const ALL: Pagination = Pagination::ALL;

/// A planner that only reports agents: one at each location of the settings, unless a test changes them.
#[derive(Default)]
pub struct FakePlanner(pub Mutex<Vec<AgentStatus>>);

impl Planner for FakePlanner {
    fn apply_monitor_changes(&self, _: Vec<Monitor>, _: Vec<MonitorId>) -> PlanFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn request_first_checks(&self, _: &[Monitor]) {}

    fn run_check_now(&self, _: Monitor, _: LocationId) -> PlanFuture<'_, CheckResult> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn run_traceroute(&self, _: Monitor, _: LocationId, _: Option<IpAddr>) -> PlanFuture<'_, CapturedFile> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn agent_statuses(&self) -> Vec<AgentStatus> {
        self.0.lock().unwrap().clone()
    }
}

pub struct Kit {
    pub planner: Arc<FakePlanner>,
    _folder: TempDir,
    pub store: Arc<SqliteStore>,
    pub resources: ConfigRecordService,
    pub monitors: Arc<MonitorCache>,
    pub accounts: Arc<AccountCache>,
    pub vault: Arc<Keyring>,
    pub clock: Arc<FakeClock>,
    /// A second account.
    pub other: CustomerId,
}

impl Kit {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vigie.db");
        let store = Arc::new(SqliteStore::open(&path, &SqliteSettings::default()).unwrap());
        let location = |id: i64, name: &str| Location {
            id: LocationId(id),
            name: name.to_owned(),
            region_code: id * 10,
        };
        let facts = InstanceData {
            locations: vec![location(1, "north"), location(2, "south")],
            ..InstanceData::default()
        };
        let planner = Arc::new(FakePlanner::default());
        let agent = |location: &Location| AgentStatus {
            location: location.clone(),
            is_alive: true,
            is_isolated: false,
            can_verify: false,
        };
        *planner.0.lock().unwrap() = facts.locations.iter().map(agent).collect();
        let accounts = Arc::new(AccountCache::new(store.clone(), facts));
        let monitors = Arc::new(MonitorCache::default());
        let clock = Arc::new(FakeClock::new(Timestamp::from_seconds(NOON)));
        let vault = Arc::new(Keyring::ephemeral());
        let resources = ConfigRecordService::new(ConfigRecordServiceDependencies {
            config_store: store.clone(),
            host_store: store.clone(),
            monitor_cache: monitors.clone(),
            account_cache: accounts.clone(),
            keyring: vault.clone(),
            planner: planner.clone(),
            account_service: Arc::new(AccountService::new(
                store.clone(),
                store.clone(),
                store.clone(),
                vault.clone(),
                clock.clone(),
            )),
            metrics: Arc::default(),
            clock: clock.clone(),
        });
        let other = NewConfigRecord {
            kind: ConfigRecordKind::Customer,
            customer: None,
            parent_id: None,
            unique_key: Some("other".to_owned()),
            created_at: clock.now(),
            created_by: "host".to_owned(),
            fields: object(json!({"name": "other"})),
            private_data: None,
        };
        let ids = store.write_changes(vec![ConfigChange::CreateRecord(other)], Vec::new()).await.unwrap();
        let other = CustomerId(ids[0]);
        Self { planner, _folder: folder, store, resources, monitors, accounts, vault, clock, other }
    }

    pub async fn create(
        &self,
        caller: &Caller,
        kind: ConfigRecordKind,
        body: Value,
    ) -> Result<SavedObject, ServiceError> {
        self.resources.create(caller, kind, &Node::from(body)).await
    }

    /// Creates an object that must be accepted; returns its id.
    pub async fn create_valid(&self, kind: ConfigRecordKind, body: Value) -> i64 {
        let created = self.create(&admin(), kind, body.clone()).await;
        created.unwrap_or_else(|error| panic!("{body}: {error:?}")).id
    }

    pub async fn patch(
        &self,
        caller: &Caller,
        kind: ConfigRecordKind,
        id: i64,
        body: Value,
    ) -> Result<SavedObject, ServiceError> {
        self.resources.patch(caller, kind, id, &Node::from(body), None).await
    }

    pub async fn delete(&self, caller: &Caller, kind: ConfigRecordKind, id: i64) -> Result<(), ServiceError> {
        self.resources.delete(caller, kind, id, None).await
    }

    pub async fn get(&self, kind: ConfigRecordKind, id: i64) -> Value {
        Value::Object(self.resources.get(&admin(), kind, id).await.unwrap().0)
    }

    pub async fn list(&self, caller: &Caller, filter: ConfigRecordFilter) -> Vec<Value> {
        let found = self.resources.list(caller, filter, ALL).await.unwrap();
        assert_eq!(found.total, found.items.len() as u64);
        found.items.into_iter().map(Value::Object).collect()
    }

    /// Returns the stored record.
    pub async fn record(&self, kind: ConfigRecordKind, id: i64) -> Option<ConfigRecord> {
        self.store.record(kind, id).await.unwrap()
    }

    /// Returns the audit trail of account 1, newest first.
    pub async fn audit_trail(&self) -> Vec<AuditEntry> {
        let filter = AuditFilter { customer: Some(CustomerId(1)), ..AuditFilter::default() };
        self.store.audit_entries(filter, ALL).await.unwrap().items
    }

    /// Adds a monitor of `customer` with the fields `more`.
    pub fn monitor(&self, id: i64, customer: CustomerId, more: Value) {
        let mut body = json!({"name": "m", "billing_plancode": "p", "url": "https://a.example/"});
        body.as_object_mut().unwrap().extend(object(more));
        let context = ValidationContext::default();
        let created =
            validate_new(MonitorType::WebsiteSsl, InputFormat::V3, &Node::from(body), &context).unwrap();
        let monitor = Monitor {
            id: MonitorId(id),
            customer,
            origin: Origin::Api,
            revision: Revision(1),
            modified_at: self.clock.now(),
            document: Arc::new(created.document),
            metadata: Arc::new(MonitorMetadata::default()),
        };
        self.monitors.apply(vec![monitor], &[]);
    }

    pub fn stranger(&self) -> Caller {
        caller(self.other, 900, "stranger", Role::Admin)
    }
}

pub fn admin() -> Caller {
    caller(CustomerId(1), 1000, "anna", Role::Admin)
}

pub fn as_role(role: Role) -> Caller {
    caller(CustomerId(1), 1001, "bert", role)
}

fn caller(customer: CustomerId, user: i64, login: &str, role: Role) -> Caller {
    let address = Some("192.0.2.7".parse().unwrap());
    Caller {
        customer,
        user_id: UserId(user),
        login: Arc::from(login),
        role,
        token_scopes: None,
        client_address: address,
        entry_point: EntryPoint::ApiV3,
    }
}

pub fn object(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { panic!("{value}") };
    fields
}

/// Returns the messages of a refused body, none when the call succeeded.
pub fn messages<T: std::fmt::Debug>(outcome: Result<T, ServiceError>) -> Vec<String> {
    match outcome {
        Ok(_) => Vec::new(),
        Err(ServiceError::Invalid(errors)) => errors.iter().map(ToString::to_string).collect(),
        Err(other) => panic!("{other:?}"),
    }
}

/// Returns the message of a conflict.
pub fn conflict<T: std::fmt::Debug>(outcome: Result<T, ServiceError>) -> String {
    match outcome {
        Err(ServiceError::Conflict(message)) => message,
        other => panic!("{other:?}"),
    }
}

/// Returns the message of a forbidden call.
pub fn forbidden<T: std::fmt::Debug>(outcome: Result<T, ServiceError>) -> String {
    match outcome {
        Err(ServiceError::Forbidden(message)) => message,
        other => panic!("{other:?}"),
    }
}

/// Returns a text of `characters` characters of two bytes each.
pub fn long(characters: usize) -> String {
    "ü".repeat(characters)
}

/// Asserts that each body is refused with exactly these messages.
pub async fn assert_refused(kit: &Kit, kind: ConfigRecordKind, cases: &[(Value, &[&str])]) {
    for (body, expected) in cases {
        let outcome = kit.create(&admin(), kind, body.clone()).await;
        let brief: String = body.to_string().chars().take(200).collect();
        assert!(outcome.is_err(), "{brief}");
        assert_eq!(messages(outcome), *expected, "{brief}");
    }
}

/// Asserts that only `creators` may create an object from `body`, and that every role but `REPORTONLY` may list them.
pub async fn assert_roles(
    kit: &Kit,
    kind: ConfigRecordKind,
    body: impl Fn(Role) -> Value,
    creators: &[Role],
) {
    for role in Role::ALL {
        let outcome = kit.create(&as_role(role), kind, body(role)).await;
        assert_eq!(outcome.is_ok(), creators.contains(&role), "{role}: {outcome:?}");
        if !creators.contains(&role) {
            assert_eq!(forbidden(outcome), format!("The role {role} does not permit this"));
        }
        let listed = kit.resources.list(&as_role(role), ConfigRecordFilter::new(kind), ALL).await;
        assert_eq!(listed.is_ok(), role != Role::ReportOnly, "{role}");
    }
}

/// Asserts that `id` does not exist for another account.
pub async fn assert_isolated(kit: &Kit, kind: ConfigRecordKind, id: i64, body: Value) {
    let stranger = kit.stranger();
    assert_eq!(kit.resources.get(&stranger, kind, id).await.err(), Some(ServiceError::NotFound));
    assert_eq!(kit.patch(&stranger, kind, id, body).await.err(), Some(ServiceError::NotFound));
    assert_eq!(kit.delete(&stranger, kind, id).await.err(), Some(ServiceError::NotFound));
    assert!(kit.record(kind, id).await.is_some());
    let listed = kit.list(&stranger, ConfigRecordFilter::new(kind)).await;
    assert!(listed.iter().all(|row| row["id"] != id), "{listed:?}");
}
