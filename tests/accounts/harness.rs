//! An installation in a temporary folder.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use vigie::clock::FakeClock;
use vigie::domain::{ConfigRecord, ConfigRecordKind, CustomerId, MonitorType, Role, Timestamp, UserId};
use vigie::schema::{MonitorDocument, Origin, SecretMode};
use vigie::service::{AccountService, Caller, EntryPoint};
use vigie::store::{
    AuditEntry, AuditFilter, ConfigChange, ConfigStore, NewMonitor, Pagination, SqliteSettings, SqliteStore,
    seal_context,
};
use vigie::vault::Keyring;

/// 2026-03-01T00:00:00Z.
pub const START: i64 = 1_772_323_200;
pub const PASSWORD: &str = "correct horse";
pub const ALL: Pagination = Pagination::ALL;
pub const ONE: CustomerId = CustomerId(1);

pub struct Harness {
    pub folder: TempDir,
    pub store: Arc<SqliteStore>,
    pub accounts: Arc<AccountService>,
    pub clock: Arc<FakeClock>,
    pub keyring: Arc<Keyring>,
}

impl Harness {
    /// Creates an installation with the user `admin`.
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(open(folder.path()));
        let clock = Arc::new(FakeClock::new(Timestamp::from_seconds(START)));
        let keyring = Arc::new(Keyring::ephemeral());
        let accounts = service(&store, keyring.clone(), &clock);
        assert_eq!(accounts.ensure_first_admin(Some(PASSWORD.to_owned())).await, Ok(None));
        Self { folder, store, accounts: Arc::new(accounts), clock, keyring }
    }

    /// Returns the service of another server over the same store, with these keys.
    pub fn other_server(&self, keyring: Arc<Keyring>) -> AccountService {
        service(&self.store, keyring, &self.clock)
    }

    /// Creates another user of account 1, with the same password.
    pub async fn user(&self, login: &str, role: Role) -> UserId {
        self.accounts.add_user(&host(), ONE, login, role, PASSWORD).await.unwrap()
    }

    /// Logs in as `login` and returns its caller.
    pub async fn caller(&self, login: &str) -> Caller {
        let token = self.accounts.log_in(login, PASSWORD, ip(1)).await.unwrap().token;
        self.accounts.authenticate_bearer(&token, ip(1)).await.unwrap()
    }

    pub async fn record(&self, login: &str) -> ConfigRecord {
        self.store.record_by_unique_key(ConfigRecordKind::User, login.to_owned()).await.unwrap().unwrap()
    }

    /// Returns the audit trail of account 1, oldest first.
    pub async fn audit(&self) -> Vec<AuditEntry> {
        let filter = AuditFilter { customer: Some(ONE), ..AuditFilter::default() };
        let mut rows = self.store.audit_entries(filter, ALL).await.unwrap().items;
        rows.reverse();
        rows
    }

    /// Returns login and action of every audit entry.
    pub async fn actions(&self) -> Vec<String> {
        self.audit().await.iter().map(|row| format!("{} {}", row.login, row.action)).collect()
    }
}

fn service(store: &Arc<SqliteStore>, keyring: Arc<Keyring>, clock: &Arc<FakeClock>) -> AccountService {
    AccountService::new(store.clone(), store.clone(), store.clone(), keyring, clock.clone())
}

pub fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(&folder.join("vigie.db"), &SqliteSettings::default()).unwrap()
}

pub fn host() -> Caller {
    AccountService::host_admin_caller(ONE, EntryPoint::Cli)
}

/// Returns one of the addresses for documentation (RFC 5737).
pub fn ip(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

pub fn key_file(folder: &Path) -> PathBuf {
    folder.join("vigie.key")
}

/// Creates a website monitor with this password, its secrets sealed by `keyring`.
pub fn sealed_monitor(keyring: &Keyring, password: &str) -> ConfigChange {
    let values = json!({
        "name": "shop", "url": "http://127.0.0.1/", "interval": 5, "realm_userid": "anna", "realm_password": password,
    });
    let Value::Object(values) = values else { unreachable!() };
    let document = MonitorDocument::new(MonitorType::Website, values).unwrap();
    assert_eq!(document.to_non_default_fields(SecretMode::Omitted).get("realm_password"), None);
    let secrets = document.secrets().unwrap().to_string();
    ConfigChange::CreateMonitor(NewMonitor {
        customer: ONE,
        origin: Origin::Api,
        modified_at: Timestamp::from_seconds(START),
        metadata: vigie::schema::MonitorMetadata::default(),
        document: Arc::new(document),
        sealed_secrets: Some(keyring.seal(&seal_context("monitor", ONE), secrets.as_bytes())),
    })
}

/// Returns the opened secrets of every monitor; panics when one cannot be opened.
pub async fn opened(store: &SqliteStore, keyring: &Keyring) -> Vec<String> {
    let stored = store.stored_monitors().await.unwrap();
    let open = |sealed: Vec<u8>| keyring.open(&seal_context("monitor", ONE), &sealed).unwrap().to_vec();
    stored
        .into_iter()
        .filter_map(|stored| stored.sealed_secrets)
        .map(|s| String::from_utf8(open(s)).unwrap())
        .collect()
}

/// Returns a command for the binary, without any `VIGIE_` environment variables.
pub fn vigie(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.args(args).stdin(std::process::Stdio::null());
    command
}

pub fn fields(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { panic!("{value} is not an object") };
    fields
}
