//! `vigie controller`, from its settings to its shutdown.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::entry::{ControllerEntry, Role};
use super::forwarder::Forwarder;
use super::leader_election::LeaderElection;
use super::lease_validity::LeaseValidity;
use crate::app::database_failover::wait_for_failover;
use crate::app::http_front::HttpFront;
use crate::app::key_file::key_file_location;
use crate::app::reload::configuration_error;
use crate::app::running_server::RunningServer;
use crate::app::serve::{
    BackgroundTasks, SettingsLoader, handle_signals_and_reloads, log_startup_warnings, shut_down,
    start_server, start_work,
};
use crate::app::server::{self, ConnectionRules, ServerTls};
use crate::app::signals::{SignalRequest, Signals};
use crate::app::supervisor::Supervisor;
use crate::app::{browser_setup, host_names, systemd};
use crate::clock::SystemClock;
use crate::service::AccountService;
use crate::service::agents::TrustFile;
use crate::settings::{SettingSources, Settings};
use crate::store::{ControllerAddress, PostgresLocation, StoreLocation};
use crate::telemetry::{Metrics, init_logging, install_panic_hook};
use crate::vault::Keyring;

/// Options of `vigie controller` on the command line.
#[derive(Clone, Debug, Default)]
pub struct ControllerOptions {
    /// The settings file.
    pub config: Option<PathBuf>,
    /// Setting `data`.
    pub data: Option<PathBuf>,
    /// Setting `listen`.
    pub listen: Option<String>,
    /// Setting `controller.name`.
    pub name: Option<String>,
    /// Setting `controller.url`.
    pub url: Option<String>,
    /// File with the password of the first admin.
    pub admin_password_file: Option<PathBuf>,
}

/// How the process ends.
enum End {
    /// A signal stopped it.
    Stopped,
    /// It starts anew, with nothing of what it knew, for this reason.
    StartAnew(&'static str),
}

/// Another controller has taken the lead.
const LEAD_LOST: End = End::StartAnew("another controller leads");
/// The database may lack what this controller stored last.
const DATABASE_REPLACED: End =
    End::StartAnew("another server has taken the place of the database, which may lack the last commits");

/// Runs a controller until a signal stops it.
///
/// # Errors
/// Fails when it cannot start; the message says what to fix.
pub fn run_controller(options: ControllerOptions) -> anyhow::Result<()> {
    // A provider may be installed already by another part of this process; TLS works then too.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let sources = options.sources();
    let settings = Settings::load(&sources).map_err(|errors| configuration_error(&errors))?;
    let location = require_shared_services(&settings)?;
    init_logging(&settings.log)?;
    install_panic_hook();
    crate::net::warm_up_crypto();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let admin_password_file = options.admin_password_file;
    match runtime.block_on(run(sources, settings, location, admin_password_file))? {
        End::Stopped => {
            runtime.shutdown_timeout(std::time::Duration::from_secs(2));
            tracing::info!("shut down");
            Ok(())
        }
        End::StartAnew(reason) => {
            tracing::warn!("{reason}; starting anew as a standby");
            let program = std::env::current_exe().context("cannot find this program to start it anew")?;
            let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).exec();
            Err(error).context("cannot start anew")
        }
    }
}

impl ControllerOptions {
    fn sources(&self) -> SettingSources {
        let to_text = |path: &PathBuf| path.display().to_string();
        let flags = [
            ("data", self.data.as_ref().map(to_text)),
            ("listen", self.listen.clone()),
            ("controller.name", self.name.clone()),
            ("controller.url", self.url.clone()),
        ];
        let flags = flags.into_iter().filter_map(|(path, value)| Some((path, value?))).collect();
        SettingSources { file: self.config.clone(), flags, ..SettingSources::default() }.with_environment()
    }
}

/// Returns where the database of the controllers is.
///
/// # Errors
/// Fails for settings of a server that shares nothing with others.
fn require_shared_services(settings: &Settings) -> anyhow::Result<PostgresLocation> {
    let StoreLocation::Postgres(location) = settings.store_location() else {
        anyhow::bail!(
            "controllers share a PostgreSQL database, and `store.url` names none\nhint: set `store.url` to `postgres://USER@HOST:PORT/DATABASE`, or run `vigie serve` on a single host"
        );
    };
    anyhow::ensure!(
        !settings.monitor_paths_are_set,
        "a controller reads no monitor files: each would read its own\nhint: remove the setting `monitors`, and use `vigie apply DIR`"
    );
    Ok(location)
}

async fn run(
    sources: SettingSources,
    settings: Settings,
    location: PostgresLocation,
    admin_password_file: Option<PathBuf>,
) -> anyhow::Result<End> {
    let mut signals = Signals::install()?;
    let mut loader = SettingsLoader { sources, demo: None, leader_epoch: None };
    std::fs::create_dir_all(&settings.data_dir)
        .with_context(|| format!("cannot create the data folder `{}`", settings.data_dir.display()))?;
    let keyring = read_shared_keys(&settings)?;
    let listeners = server::bind_all(&settings.listen_addresses).await?;
    let tls = settings.server.tls_files.as_ref().map(|(certificate, key)| ServerTls::load(certificate, key));
    let tls = tls.transpose()?.map(Arc::new);
    let addresses =
        listeners.iter().map(tokio::net::TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
    let (address, own_address_changes) = watch::channel(own_address(&settings, &addresses, tls.as_deref())?);
    let (leader, current_leader) = watch::channel(None);
    let host_token = AccountService::new_host_token();
    let entry = Arc::new(ControllerEntry {
        name: address.borrow().name.clone(),
        role: watch::Sender::new(Role::Standby),
        leader: current_leader,
        forwarder: Forwarder::default(),
        keyring,
        clock: Arc::new(SystemClock),
        host_token: host_token.clone(),
        rules: ConnectionRules {
            is_tls: tls.is_some(),
            trusted_proxies: Arc::from(settings.server.trusted_proxies.as_slice()),
        },
    });
    let supervisor = Supervisor::new(Arc::new(Metrics::new()));
    let stop = CancellationToken::new();
    let front = HttpFront { listeners, tls: tls.clone(), host_token, data_dir: settings.data_dir.clone() };
    let (_, front_tasks) = front.start(entry.router(), &settings, &supervisor, &stop)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    for address in &addresses {
        tracing::info!(address = %address, controller = entry.name, "waiting for the lead; serving at {scheme}://{address}/");
    }
    systemd::notify_ready("Another controller leads");
    let mut election = LeaderElection {
        location,
        options: settings.store.options(),
        address: own_address_changes,
        leader,
        validity: LeaseValidity::default(),
        lease: None,
        is_failing: false,
    };
    if let Some(tls) = tls {
        tokio::spawn(follow_certificate(address, tls, stop.clone()));
    }
    let Some(epoch) = wait_to_lead(&mut election, &mut signals).await? else {
        stop.cancel();
        futures::future::join_all(front_tasks).await;
        return Ok(End::Stopped);
    };
    loader.leader_epoch = Some(epoch);
    let leading = Leading { loader: &loader, entry: &entry, epoch, admin_password_file };
    // Its state is large: on the heap.
    let end = Box::pin(leading.run(settings, election, signals)).await;
    stop.cancel();
    futures::future::join_all(front_tasks).await;
    end
}

/// Waits until this controller leads; `None` after a signal to stop.
async fn wait_to_lead(election: &mut LeaderElection, signals: &mut Signals) -> anyhow::Result<Option<i64>> {
    let mut waiting = std::pin::pin!(election.wait_to_lead());
    loop {
        tokio::select! {
            epoch = &mut waiting => return Ok(Some(epoch.context("cannot share the database")?)),
            request = signals.next() => match request {
                SignalRequest::Stop(signal) => {
                    tracing::info!(signal, "shutting down");
                    return Ok(None);
                }
                // A standby has nothing to reload.
                SignalRequest::Reload => {}
            },
        }
    }
}

/// The term in which this controller leads.
struct Leading<'a> {
    loader: &'a SettingsLoader,
    entry: &'a ControllerEntry,
    epoch: i64,
    admin_password_file: Option<PathBuf>,
}

impl Leading<'_> {
    async fn run(
        self,
        settings: Settings,
        mut election: LeaderElection,
        mut signals: Signals,
    ) -> anyhow::Result<End> {
        let mut settings = self.loader.with_additions(settings);
        tracing::info!(epoch = self.epoch, "leading");
        log_startup_warnings(self.loader, &settings);
        settings.probe.browser_pool = browser_setup::start_browser_pool(&settings).await;
        let pool = Arc::clone(&settings.probe.browser_pool);
        let (drain_timeout, data_dir) = (settings.concurrency.drain_timeout, settings.data_dir.clone());
        let stop_start = CancellationToken::new();
        let started = tokio::select! {
            started = start_server(&settings, &mut signals, &stop_start) => started,
            () = election.keep(self.epoch) => return Ok(LEAD_LOST),
        };
        let server = match started {
            Ok(server) => server,
            Err(error) => {
                election.release(self.epoch).await;
                return if stop_start.is_cancelled() { Ok(End::Stopped) } else { Err(error) };
            }
        };
        let mut tasks = BackgroundTasks::default();
        let validity = election.validity.clone();
        let outcome = tokio::select! {
            outcome = self.work(&server, settings, validity, &mut tasks, &mut signals) => outcome,
            () = election.keep(self.epoch) => {
                browser_setup::wait_for_browsers_to_exit(&pool).await;
                return Ok(LEAD_LOST);
            }
            () = wait_for_failover(&*server.store) => {
                self.entry.role.send_replace(Role::Standby);
                election.release(self.epoch).await;
                browser_setup::wait_for_browsers_to_exit(&pool).await;
                return Ok(DATABASE_REPLACED);
            }
        };
        let lost = tokio::select! {
            lost = shut_down(server, tasks, signals, drain_timeout, &data_dir) => lost,
            () = election.keep(self.epoch) => 0,
        };
        self.entry.role.send_replace(Role::Standby);
        election.release(self.epoch).await;
        browser_setup::wait_for_browsers_to_exit(&pool).await;
        outcome?;
        anyhow::ensure!(lost == 0, "{lost} results could not be stored");
        Ok(End::Stopped)
    }

    /// Works until a signal to stop, or until a part fails.
    async fn work(
        &self,
        server: &RunningServer,
        settings: Settings,
        validity: LeaseValidity,
        tasks: &mut BackgroundTasks,
        signals: &mut Signals,
    ) -> anyhow::Result<()> {
        server.services.ensure_first_admin(self.admin_password_file.as_deref(), &settings.data_dir).await?;
        server.services.api_state.account_service.set_host_token(&self.entry.host_token);
        tasks.handles.extend(server.spawn_background_jobs(&tasks.stop));
        let router = server.router(&settings.server, &tasks.stop);
        let drain_timeout = settings.concurrency.drain_timeout;
        let mut running_config =
            Box::pin(start_work(server, settings, tasks, Arc::new(move || validity.is_valid()))).await?;
        self.entry.role.send_replace(Role::Leading(router));
        systemd::notify_ready("Leading");
        tracing::info!(epoch = self.epoch, "monitors are planned; requests are served");
        tokio::select! {
            signal = handle_signals_and_reloads(self.loader, &mut running_config, signals) => {
                tracing::info!(signal, "shutting down; running checks may take {} s", drain_timeout.as_secs());
                Ok(())
            }
            failure = server.supervisor.wait_for_failure() => Err(failure.into()),
        }
    }
}

/// Reads the keys that all controllers have: those of secrets, and those of NATS.
fn read_shared_keys(settings: &Settings) -> anyhow::Result<Arc<Keyring>> {
    let keyring = Keyring::read_from(key_file_location(settings)).map_err(|error| {
        anyhow::anyhow!(
            "{error}\nhint: `vigie nats init DIR` makes a key file for the first controller; give the same file to the others"
        )
    })?;
    let trust = TrustFile::in_data_dir(&settings.data_dir).read(&keyring)?;
    anyhow::ensure!(
        trust.is_some(),
        "this controller has no keys of NATS in its data folder `{}`\nhint: run `vigie nats init DIR` for the first controller, and give the file `nats-trust.sealed` of its data folder to the others",
        settings.data_dir.display()
    );
    Ok(Arc::new(keyring))
}

/// Returns how the other controllers reach this one.
fn own_address(
    settings: &Settings,
    addresses: &[SocketAddr],
    tls: Option<&ServerTls>,
) -> anyhow::Result<ControllerAddress> {
    let scheme = if tls.is_some() { "https" } else { "http" };
    let url = if let Some(url) = &settings.controller.url {
        url.clone()
    } else {
        let specific = addresses.iter().find(|address| !address.ip().is_unspecified());
        let address = specific.context(
            "the other controllers cannot reach `listen`, which is no address of this host\nhint: set `controller.url` to the URL at which they reach it",
        )?;
        format!("{scheme}://{address}")
    };
    let has_only_host = Url::parse(&url).is_ok_and(|url| {
        let plain = url.username().is_empty() && url.password().is_none() && url.path() == "/";
        plain && url.query().is_none() && url.fragment().is_none() && url.scheme() == scheme
    });
    anyhow::ensure!(
        has_only_host,
        "`controller.url` must be `{scheme}://HOST:PORT`, without anything else, since this controller serves {scheme}"
    );
    let name = settings.controller.name.clone();
    let name = name.or_else(|| host_names::host_names().into_iter().next()).unwrap_or_else(|| url.clone());
    Ok(ControllerAddress { name, url, certificate_sha256: tls.map(ServerTls::certificate_sha256) })
}

/// Follows the certificate of this controller, which the others compare.
async fn follow_certificate(
    address: watch::Sender<ControllerAddress>,
    tls: Arc<ServerTls>,
    stop: CancellationToken,
) {
    const LOOK_INTERVAL: std::time::Duration = std::time::Duration::from_millis(500);
    while tokio::time::timeout(LOOK_INTERVAL, stop.cancelled()).await.is_err() {
        let current = Some(tls.certificate_sha256());
        address.send_if_modified(|address| {
            std::mem::replace(&mut address.certificate_sha256, current) != current
        });
    }
}
