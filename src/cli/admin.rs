//! Access to users, accounts and keys: through the database in the data folder when no server uses it, otherwise
//! through that server with its host token.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;
use zeroize::Zeroizing;

use super::api_client::{ApiClient, ErrorResponse, ListResponse, ServerArgs};
use super::output::{self, InvalidInput, UsageError};
use super::token;
use super::trust::ServerTrust;
use crate::app::{HostTokenFile, read_host_token};
use crate::clock::SystemClock;
use crate::domain::{ConfigRecord, CustomerId, Role};
use crate::schema::typed::record::{AccountNameSettings, UserSettings, parse_record};
use crate::service::{AccountService, EntryPoint, ServiceError};
use crate::settings::{SettingSources, Settings};
use crate::store::{self, Store, StoreError, StoreLocation};
use crate::vault::Keyring;

/// Options that select the data folder.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct DataArgs {
    /// Settings file, which names the data folder [default: the variable `VIGIE_CONFIG`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data folder [default: that of the settings, vigie-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Options that select the data folder or the server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct BackendArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// Access to users and accounts.
pub(super) enum AdminBackend {
    /// The database itself.
    Database(Arc<dyn Store>, Box<AccountService>),
    /// A server; with its host token, when known, to act for other accounts too.
    Server(Box<ApiClient>, Option<HostServer>),
}

/// A server whose host token is known.
pub(super) struct HostServer {
    url: Url,
    host_token: HostTokenFile,
}

/// A user as shown in lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
pub(super) struct UserRow {
    pub(super) id: i64,
    pub(super) login: String,
    #[serde(default)]
    pub(super) name: String,
    pub(super) role: String,
    pub(super) enabled: bool,
    pub(super) locked: bool,
}

/// An account as shown in lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
pub(super) struct CustomerRow {
    pub(super) id: i64,
    pub(super) name: String,
}

/// The account that the host token acts for unless another one is named.
const OPERATOR_ACCOUNT: i64 = CustomerId::OPERATOR.0;
impl DataArgs {
    /// Loads the settings, with this data folder.
    pub(super) fn load_settings(&self) -> anyhow::Result<Settings> {
        let flags = self.data.iter().map(|path| ("data", path.display().to_string())).collect();
        let file = super::settings::config_file_from_flag_or_env(self.config.clone());
        let sources = SettingSources { file, flags, ..SettingSources::default() }.with_environment();
        Settings::load(&sources).map_err(|errors| InvalidInput(errors).into())
    }
}

/// Opens the database of `settings`, which has to exist; `None` when another process uses it.
pub(super) async fn open_store(settings: &Settings) -> anyhow::Result<Option<Arc<dyn Store>>> {
    let location = settings.store_location();
    if is_missing(&location) {
        let hint = "name the data folder with `--data DIR`; `vigie serve` creates one";
        let text = match &settings.store.location {
            None => format!("there is no database in `{}`", settings.data_dir.display()),
            Some(location) => format!("there is no database at `{location}`"),
        };
        return Err(UsageError::with_hint(text, Some(hint.to_owned())));
    }
    match store::open_store(&location, settings.store.options().for_command()).await {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Locked(_)) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot open the database `{location}`")),
    }
}

/// Whether `location` names a file that does not exist.
pub(super) fn is_missing(location: &StoreLocation) -> bool {
    matches!(location, StoreLocation::Sqlite(path) if !path.exists())
}

impl BackendArgs {
    /// Opens the database or the server that the options name.
    pub(super) async fn open_backend(&self) -> anyhow::Result<AdminBackend> {
        if self.server.is_server_given() {
            return Ok(AdminBackend::Server(Box::new(self.server.connect().await?), None));
        }
        let settings = self.data.load_settings()?;
        let data_folder = &settings.data_dir;
        if self.data.data.is_none()
            && is_missing(&settings.store_location())
            && let Some(host_server) =
                token::find_host_token_for(&self.server.server_url()?).and_then(HostServer::new)
        {
            let message = format!(
                "no database in `{}`; using the server at {}",
                data_folder.display(),
                host_server.url
            );
            output::print_note(&message);
            return Ok(AdminBackend::Server(
                Box::new(host_server.connect(OPERATOR_ACCOUNT).await?),
                Some(host_server),
            ));
        }
        if let Some(store) = open_store(&settings).await? {
            // Only logins need the keys of the server, and commands do not log in.
            let keyring = Arc::new(Keyring::ephemeral());
            let clock = Arc::new(SystemClock);
            let account_service =
                AccountService::new(store.clone(), store.clone(), store.clone(), keyring, clock);
            return Ok(AdminBackend::Database(store, Box::new(account_service)));
        }
        let host_server = HostServer::from_data_folder(data_folder)?;
        let client = host_server.connect(OPERATOR_ACCOUNT).await?;
        Ok(AdminBackend::Server(Box::new(client), Some(host_server)))
    }
}

impl HostServer {
    fn from_data_folder(data_folder: &Path) -> anyhow::Result<Self> {
        let host_server = read_host_token(data_folder).and_then(Self::new);
        let Some(host) = host_server else {
            bail!(
                "another process uses `{}`, and its host token cannot be read\n\
                 hint: run this as the user of the server, or name it with `--server URL`",
                data_folder.display()
            );
        };
        Ok(host)
    }

    /// `None` when the address of the server is not known.
    fn new(host_token: HostTokenFile) -> Option<Self> {
        let address = connectable_address(*host_token.addresses.first()?);
        let url = Url::parse(&format!("{}://{address}/", host_token.scheme())).ok()?;
        Some(Self { url, host_token })
    }

    /// Connects to the server to act for `customer`.
    async fn connect(&self, customer: i64) -> anyhow::Result<ApiClient> {
        let token = match customer {
            OPERATOR_ACCOUNT => self.host_token.token.clone(),
            other => format!("{}~{other}", self.host_token.token),
        };
        let trust =
            ServerTrust { pinned_sha256: self.host_token.certificate_sha256, ..ServerTrust::default() };
        ApiClient::connect(self.url.clone(), Some(token), trust).await
    }
}

/// Returns the address to connect to for a server that listens on `address`.
fn connectable_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

impl AdminBackend {
    /// Creates a user and returns its id. Without a `customer`, the user belongs to the account of the token, or to
    /// account 1.
    pub(super) async fn add_user(
        &mut self,
        customer: Option<i64>,
        login: &str,
        role: Role,
        password: &str,
    ) -> anyhow::Result<i64> {
        match self {
            Self::Database(_, accounts) => {
                let customer = CustomerId(customer.unwrap_or(OPERATOR_ACCOUNT));
                let caller = AccountService::host_admin_caller(customer, EntryPoint::Cli);
                let id = accounts.add_user(&caller, customer, login, role, password).await;
                Ok(id.map_err(|error| describe_error(error, &format!("account `{customer}`")))?.0)
            }
            Self::Server(server, host_server) => {
                let body = json!({"login": login, "role": role.name(), "password": password});
                parse_created_id(
                    &call_for_customer(
                        server,
                        host_server.as_ref(),
                        customer,
                        Method::POST,
                        "users",
                        Some(&body),
                    )
                    .await?,
                )
            }
        }
    }

    /// Lists the users of an account. Without a `customer`, the account is chosen as in [`AdminBackend::add_user`].
    pub(super) async fn list_users(&mut self, customer: Option<i64>) -> anyhow::Result<Vec<UserRow>> {
        match self {
            Self::Database(_, accounts) => {
                let customer = CustomerId(customer.unwrap_or(OPERATOR_ACCOUNT));
                let users = accounts
                    .users(&AccountService::host_admin_caller(customer, EntryPoint::Cli), customer)
                    .await;
                let users = users.map_err(|error| describe_error(error, &format!("account `{customer}`")))?;
                users.iter().map(UserRow::from_record).collect()
            }
            Self::Server(server, host_server) => {
                let response =
                    call_for_customer(server, host_server.as_ref(), customer, Method::GET, "users", None)
                        .await?;
                Ok(serde_json::from_value::<ListResponse<UserRow>>(response)?.results)
            }
        }
    }

    /// Sets a new password for a user. A user who changes their own needs the current one.
    pub(super) async fn set_password(
        &mut self,
        login: &str,
        password: &str,
        current_password: Option<Zeroizing<String>>,
    ) -> anyhow::Result<()> {
        if let Self::Database(_, accounts) = self {
            let caller = AccountService::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Cli);
            let result = accounts.set_password(&caller, login, password).await;
            return result.map_err(|error| describe_error(error, &format!("user `{login}`")));
        }
        let mut change = json!({"password": password});
        if let Some(current_password) = current_password {
            change["current_password"] = json!(*current_password);
        }
        self.update_user(login, change).await
    }

    /// Enables or disables a user.
    pub(super) async fn set_enabled(&mut self, login: &str, enabled: bool) -> anyhow::Result<()> {
        if let Self::Database(_, accounts) = self {
            let caller = AccountService::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Cli);
            let result = accounts.set_enabled(&caller, login, enabled).await;
            return result.map_err(|error| describe_error(error, &format!("user `{login}`")));
        }
        self.update_user(login, json!({"enabled": enabled})).await
    }

    /// Creates an account and returns its id.
    pub(super) async fn add_customer(&mut self, name: &str) -> anyhow::Result<i64> {
        match self {
            Self::Database(_, accounts) => {
                let id = accounts
                    .add_customer(
                        &AccountService::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Cli),
                        name,
                    )
                    .await;
                Ok(id.map_err(|error| describe_error(error, "account"))?.0)
            }
            Self::Server(server, _) => parse_created_id(
                &server.send_request(Method::POST, "customers", &[], Some(&json!({"name": name}))).await?,
            ),
        }
    }

    /// Lists all accounts.
    pub(super) async fn list_customers(&mut self) -> anyhow::Result<Vec<CustomerRow>> {
        match self {
            Self::Database(_, accounts) => {
                let records = accounts
                    .customers(&AccountService::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Cli))
                    .await;
                let to_row = |record: &ConfigRecord| -> anyhow::Result<CustomerRow> {
                    let settings: AccountNameSettings<'_> = parse_record(record)?;
                    Ok(CustomerRow { id: record.id, name: settings.name.to_owned() })
                };
                records.map_err(|error| describe_error(error, "account"))?.iter().map(to_row).collect()
            }
            Self::Server(server, _) => {
                Ok(server.get::<ListResponse<CustomerRow>>("customers", &[]).await?.results)
            }
        }
    }

    /// Writes pending changes and releases the data folder.
    pub(super) async fn close(self) {
        if let Self::Database(store, _) = self {
            store.close().await;
        }
    }

    /// Changes the user `login`, whichever account it belongs to.
    async fn update_user(&mut self, login: &str, change: Value) -> anyhow::Result<()> {
        // A token of `vigie login` has access to its own account only.
        let has_own_account_only = matches!(self, Self::Server(_, None));
        let customer_ids = if has_own_account_only {
            vec![None]
        } else {
            self.list_customers().await?.iter().map(|row| Some(row.id)).collect()
        };
        for customer in customer_ids {
            let normalized_login = crate::service::normalize_login(login);
            let users = self.list_users(customer).await?;
            let Some(user) =
                users.iter().find(|user| crate::service::normalize_login(&user.login) == normalized_login)
            else {
                continue;
            };
            let Self::Server(server, host_server) = self else { break };
            let path = format!("users/{}", user.id);
            call_for_customer(server, host_server.as_ref(), customer, Method::PATCH, &path, Some(&change))
                .await?;
            return Ok(());
        }
        Err(describe_error(ServiceError::NotFound, &format!("user `{login}`")))
    }
}

impl UserRow {
    fn from_record(record: &ConfigRecord) -> anyhow::Result<Self> {
        let settings: UserSettings<'_> = parse_record(record)?;
        Ok(Self {
            id: record.id,
            login: settings.login.to_owned(),
            name: settings.name.to_owned(),
            role: settings.role_name.to_owned(),
            enabled: settings.enabled,
            locked: settings.locked,
        })
    }
}

/// Sends a request on behalf of `customer`. The host token can act for every account, other tokens only for their own.
async fn call_for_customer(
    client: &mut ApiClient,
    host_server: Option<&HostServer>,
    customer: Option<i64>,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> anyhow::Result<Value> {
    match (host_server, customer) {
        (Some(host_server), Some(customer)) if customer != OPERATOR_ACCOUNT => {
            let result = host_server.connect(customer).await?.send_request(method, path, &[], body).await;
            result.map_err(|error| match ErrorResponse::response_status(&error) {
                Some(StatusCode::NOT_FOUND) => {
                    describe_error(ServiceError::NotFound, &format!("account `{customer}`"))
                }
                _ => error,
            })
        }
        (None, Some(customer)) => {
            let own_account: CustomerRow = client.get("account", &[]).await?;
            if own_account.id != customer {
                let text = format!("the token belongs to account `{}`, not to `{customer}`", own_account.id);
                let hint = "leave `--customer` out, log in as a user of that account, or run this on the host of the server without `--server`";
                return Err(UsageError::with_hint(text, Some(hint.to_owned())));
            }
            client.send_request(method, path, &[], body).await
        }
        _ => client.send_request(method, path, &[], body).await,
    }
}

/// Reads the id from the response to a create (behaviour.md 1).
fn parse_created_id(response: &Value) -> anyhow::Result<i64> {
    let id = response.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
    id.context("the response of the server has no id")
}

/// Describes `service_error`; `object` names the missing object.
fn describe_error(service_error: ServiceError, object: &str) -> anyhow::Error {
    match service_error {
        ServiceError::Invalid(errors) => InvalidInput(errors).into(),
        ServiceError::NotFound => {
            let hint = object.starts_with("account").then(|| "`vigie customer list` shows them".to_owned());
            UsageError::with_hint(format!("there is no such {object}"), hint)
        }
        ServiceError::Conflict(text) | ServiceError::Forbidden(text) | ServiceError::Unavailable(text) => {
            anyhow::anyhow!(text)
        }
        ServiceError::StoreFailed(error) => error.into(),
        other => anyhow::anyhow!("the server refused the request: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_on_all_addresses_is_reached_on_this_host() {
        for (listens, reached) in
            [("0.0.0.0:7979", "127.0.0.1:7979"), ("[::]:80", "[::1]:80"), ("192.0.2.1:1", "192.0.2.1:1")]
        {
            assert_eq!(connectable_address(listens.parse().unwrap()), reached.parse().unwrap());
        }
    }

    #[tokio::test]
    async fn a_folder_without_a_database_is_refused_and_left_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::load(&SettingSources {
            flags: vec![("data", folder.path().display().to_string())],
            ..SettingSources::default()
        });
        let error = open_store(&settings.unwrap()).await.err().unwrap();
        assert!(error.is::<UsageError>() && error.to_string().contains("hint: "), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
