//! `vigie serve`: runs the process from its settings to its shutdown.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::database_failover::wait_for_failover;
use super::demo::Demo;
use super::file_watch::{self, FileWatch};
use super::host_token::remove_host_token;
use super::http_front::HttpFront;
use super::reload::{ReloadOutcome, RunningConfig, configuration_error};
use super::running_server::{
    COMMIT_DRAIN_TIMEOUT, DELIVERY_DRAIN_TIMEOUT, OTLP_DRAIN_TIMEOUT, RESULT_DRAIN_TIMEOUT, RunningServer,
};
use super::server::ServerTls;
use super::sign_in_link::print_sign_in_link;
use super::signals::{SignalRequest, Signals};
use super::supervisor::StatelessTask;
use super::{browser_setup, delivery_setup, server, systemd};
use crate::bus::nats::PublishPermission;
use crate::settings::{SettingSources, Settings};
use crate::syntax::ValidationError;
use crate::telemetry::{HealthSource, TaskName, init_logging, install_panic_hook};

/// Delay before a reload that the store rejected is retried.
const RELOAD_RETRY_DELAY: Duration = Duration::from_secs(15);
/// How long background tasks may take to end.
const TASK_END_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the store may take to close.
const STORE_CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long threads may block the end of the process.
const THREAD_END_TIMEOUT: Duration = Duration::from_secs(2);
/// Exit code after a second signal.
const FORCED_EXIT_CODE: i32 = 130;

/// Options of `vigie serve` on the command line.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// The settings file.
    pub config: Option<PathBuf>,
    /// Setting `data`.
    pub data: Option<PathBuf>,
    /// Setting `monitors`.
    pub monitors: Vec<PathBuf>,
    /// Setting `listen`.
    pub listen: Option<String>,
    /// Whether to add built-in targets and their monitors.
    pub demo: bool,
    /// File with the password of the first admin.
    pub admin_password_file: Option<PathBuf>,
    /// Setting `bus.urls`.
    pub bus: Vec<String>,
}

/// Runs the server until a signal stops it.
///
/// # Errors
/// Fails when the server cannot start; the message says what to fix.
pub fn serve(options: ServeOptions) -> anyhow::Result<()> {
    // A provider may be installed already by another part of this process; TLS works then too.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let sources = options.sources();
    let settings = Settings::load(&sources).map_err(|errors| configuration_error(&errors))?;
    init_logging(&settings.log)?;
    install_panic_hook();
    crate::net::warm_up_crypto();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(sources, settings, options));
    runtime.shutdown_timeout(THREAD_END_TIMEOUT);
    outcome
}

impl ServeOptions {
    fn sources(&self) -> SettingSources {
        let to_text = |path: &PathBuf| path.display().to_string();
        let mut flags = Vec::new();
        flags.extend(self.data.as_ref().map(|path| ("data", to_text(path))));
        flags.extend(self.listen.clone().map(|listen| ("listen", listen)));
        if !self.bus.is_empty() {
            flags.push(("bus.urls", self.bus.join(",")));
        }
        if !self.monitors.is_empty() {
            let paths: Vec<_> = self.monitors.iter().map(to_text).collect();
            flags.push(("monitors", paths.join(",")));
        }
        SettingSources { file: self.config.clone(), flags, ..SettingSources::default() }.with_environment()
    }
}

/// Source of the settings, including additions of the demo or of a controller that leads.
pub(super) struct SettingsLoader {
    pub(super) sources: SettingSources,
    pub(super) demo: Option<Demo>,
    /// The epoch of the controller that this process is.
    pub(super) leader_epoch: Option<i64>,
}

impl SettingsLoader {
    pub(super) fn load(&self) -> Result<Settings, Vec<ValidationError>> {
        Settings::load(&self.sources).map(|settings| self.with_additions(settings))
    }

    pub(super) fn with_additions(&self, mut settings: Settings) -> Settings {
        if let Some(demo) = &self.demo {
            demo.apply_to(&mut settings);
        }
        if self.leader_epoch.is_some() {
            settings.store.leader_epoch = self.leader_epoch;
            settings.monitor_paths.clear();
        }
        settings
    }
}

async fn run(sources: SettingSources, settings: Settings, options: ServeOptions) -> anyhow::Result<()> {
    let mut signals = Signals::install()?;
    let demo = if options.demo { Some(Demo::start().await?) } else { None };
    let settings_loader = SettingsLoader { sources, demo, leader_epoch: None };
    let mut settings = settings_loader.with_additions(settings);
    log_startup_warnings(&settings_loader, &settings);
    let listeners = server::bind_all(&settings.listen_addresses).await?;
    let tls = settings.server.tls_files.as_ref().map(|(certificate, key)| ServerTls::load(certificate, key));
    let tls = tls.transpose()?.map(Arc::new);
    settings.probe.browser_pool = browser_setup::start_browser_pool(&settings).await;
    let pool = Arc::clone(&settings.probe.browser_pool);
    let stop_start = CancellationToken::new();
    let outcome = match start_server(&settings, &mut signals, &stop_start).await {
        Ok(server) => {
            let mut tasks = BackgroundTasks::default();
            let (drain_timeout, data_dir) = (settings.concurrency.drain_timeout, settings.data_dir.clone());
            let inputs = ServerInputs { listeners, tls, admin_password_file: options.admin_password_file };
            let run_outcome = if stop_start.is_cancelled() {
                Ok(())
            } else {
                // Its state is large: on the heap.
                Box::pin(run_until_stopped(
                    &settings_loader,
                    &server,
                    settings,
                    inputs,
                    &mut tasks,
                    &mut signals,
                ))
                .await
            };
            let lost = shut_down(server, tasks, signals, drain_timeout, &data_dir).await;
            run_outcome.and_then(|()| {
                anyhow::ensure!(lost == 0, "{lost} results could not be stored");
                Ok(())
            })
        }
        Err(error) if stop_start.is_cancelled() => {
            tracing::warn!(error = format!("{error:#}"), "stopped before the start was complete");
            Ok(())
        }
        Err(error) => Err(error),
    };
    browser_setup::wait_for_browsers_to_exit(&pool).await;
    drop(settings_loader);
    outcome?;
    tracing::info!("shut down; no result was lost");
    Ok(())
}

/// Starts the parts of the server. A signal to stop cancels `stop`, which ends the wait for a database that is away.
pub(super) async fn start_server(
    settings: &Settings,
    signals: &mut Signals,
    stop: &CancellationToken,
) -> anyhow::Result<RunningServer> {
    // Its state is large: on the heap.
    let mut start = Box::pin(RunningServer::start(settings, stop));
    loop {
        tokio::select! {
            outcome = &mut start => return outcome,
            request = signals.next() => match request {
                SignalRequest::Stop(signal) => {
                    tracing::info!(signal, "stopping before the start is complete");
                    stop.cancel();
                }
                // The files are read later in the start.
                SignalRequest::Reload => {}
            },
        }
    }
}

/// Listeners and credentials of the server.
struct ServerInputs {
    listeners: Vec<TcpListener>,
    tls: Option<Arc<ServerTls>>,
    admin_password_file: Option<PathBuf>,
}

/// Background tasks that run until `stop`.
#[derive(Default)]
pub(super) struct BackgroundTasks {
    pub(super) stop: CancellationToken,
    pub(super) handles: Vec<JoinHandle<()>>,
}

/// Serves and runs checks until a stop signal. When it fails, [`shut_down`] stops everything it started.
async fn run_until_stopped(
    settings_loader: &SettingsLoader,
    server: &RunningServer,
    settings: Settings,
    inputs: ServerInputs,
    tasks: &mut BackgroundTasks,
    signals: &mut Signals,
) -> anyhow::Result<()> {
    let supervisor = &server.supervisor;
    let ServerInputs { listeners, tls, admin_password_file } = inputs;
    server.services.ensure_first_admin(admin_password_file.as_deref(), &settings.data_dir).await?;
    let front = HttpFront {
        listeners,
        tls,
        host_token: server.services.api_state.account_service.renew_host_token(),
        data_dir: settings.data_dir.clone(),
    };
    let stop = &tasks.stop;
    tasks.handles.extend(server.spawn_background_jobs(stop));
    let router = server.router(&settings.server, stop);
    let (addresses, handles) = front.start(router, &settings, supervisor, stop)?;
    tasks.handles.extend(handles);
    let drain_timeout = settings.concurrency.drain_timeout;
    let has_data_folder = settings.data_dir_is_set;
    let scheme = if settings.server.tls_files.is_some() { "https" } else { "http" };
    let mut running_config = Box::pin(start_work(server, settings, tasks, Arc::new(|| true))).await?;
    for address in &addresses {
        tracing::info!(address = %address, version = env!("CARGO_PKG_VERSION"), "serving at {scheme}://{address}/");
    }
    if settings_loader.demo.is_some()
        && let Some(address) = addresses.first()
    {
        print_sign_in_link(&server.services, scheme, *address);
        // Data of an earlier start have a history of their own.
        if !has_data_folder {
            tasks.handles.push(server.spawn_demo_history(&tasks.stop));
        }
    }
    let address_text = addresses.first().map(|address| format!(" at {scheme}://{address}/"));
    systemd::notify_ready(&format!("Serving{}", address_text.unwrap_or_default()));
    tokio::select! {
        signal = handle_signals_and_reloads(settings_loader, &mut running_config, signals) => {
            tracing::info!(signal, "shutting down; running checks may take {} s", drain_timeout.as_secs());
            Ok(())
        }
        failure = supervisor.wait_for_failure() => Err(failure.into()),
        () = wait_for_failover(&*server.store) => Err(anyhow::anyhow!(
            "another server has taken the place of the database, which may lack the last commits; start this one anew"
        )),
    }
}

/// Plans the monitors and starts everything that goes on beside requests. `may_publish` says whether this process may
/// still tell agents what to check.
pub(super) async fn start_work(
    server: &RunningServer,
    settings: Settings,
    tasks: &mut BackgroundTasks,
    may_publish: PublishPermission,
) -> anyhow::Result<RunningConfig> {
    let (clock, stop) = (Arc::clone(&server.clock), &tasks.stop);
    let (heartbeat_url, url_receiver) = watch::channel(settings.alerts.heartbeat_url.clone());
    {
        let requests = delivery_setup::HeartbeatRequests::new(&settings, url_receiver, clock, stop.clone())?;
        let (requests, liveness) = (Arc::new(requests), Arc::clone(&server.liveness));
        let send_heartbeats = move |heartbeat| {
            let (requests, liveness) = (Arc::clone(&requests), Arc::clone(&liveness));
            async move { requests.run(|| is_ready(liveness.as_ref()), heartbeat).await }
        };
        let supervisor = &server.supervisor;
        let heartbeat = supervisor.heartbeat(TaskName::Heartbeat);
        tasks.handles.push(supervisor.spawn(StatelessTask::new(heartbeat, send_heartbeats)));
    }
    let bus_settings = settings.bus.clone();
    let running_config = server.start_running_config(settings, heartbeat_url).await?;
    server.start_remote_bus(&bus_settings, may_publish, stop.clone()).await?;
    server.liveness.set_loaded();
    Ok(running_config)
}

/// Whether the process is alive and can do its work.
fn is_ready(health: &impl HealthSource) -> bool {
    [health.liveness(), health.readiness()].concat().iter().all(|condition| condition.unmet_reason.is_none())
}

/// Stops everything that was started and stores every result; returns how many were lost.
pub(super) async fn shut_down(
    server: RunningServer,
    mut tasks: BackgroundTasks,
    mut signals: Signals,
    drain_timeout: Duration,
    data_dir: &Path,
) -> usize {
    systemd::notify_stopping(
        drain_timeout
            + RESULT_DRAIN_TIMEOUT
            + COMMIT_DRAIN_TIMEOUT
            + DELIVERY_DRAIN_TIMEOUT * 3
            + OTLP_DRAIN_TIMEOUT
            + Duration::from_secs(10),
    );
    tokio::spawn(async move {
        let signal = signals.second_stop().await;
        tracing::warn!(signal, "second signal received, exiting at once");
        std::process::exit(FORCED_EXIT_CODE);
    });
    let lost = server.shut_down(drain_timeout).await;
    tasks.stop.cancel();
    // A task that hangs must not keep the process.
    let ended = futures::future::join_all(std::mem::take(&mut tasks.handles));
    if tokio::time::timeout(TASK_END_TIMEOUT, ended).await.is_err() {
        tracing::error!("a task did not end in time");
    }
    remove_host_token(data_dir);
    if tokio::time::timeout(STORE_CLOSE_TIMEOUT, server.store.close()).await.is_err() {
        tracing::error!("the store could not be closed in time; the next start recovers it");
    }
    lost
}

/// Reloads on SIGHUP and when files change, until a stop signal; returns its name.
pub(super) async fn handle_signals_and_reloads(
    settings_loader: &SettingsLoader,
    running_config: &mut RunningConfig,
    signals: &mut Signals,
) -> &'static str {
    let mut watch = FileWatch::default();
    watch.accept(current_fingerprint(settings_loader, running_config).await);
    let (mut poll_delay, mut retry_at) = (file_watch::POLL_INTERVAL, None::<Instant>);
    loop {
        let mut is_reload_requested = tokio::select! {
            request = signals.next() => match request {
                SignalRequest::Stop(name) => return name,
                SignalRequest::Reload => true,
            },
            () = tokio::time::sleep(poll_delay) => false,
        };
        is_reload_requested |= retry_at.take_if(|at| *at <= Instant::now()).is_some();
        let started = Instant::now();
        let fingerprint = current_fingerprint(settings_loader, running_config).await;
        // Limits polling to a twentieth of a core when there are very many files.
        poll_delay = file_watch::POLL_INTERVAL.max(started.elapsed() * 20);
        if !is_reload_requested && !watch.detect_settled_change(fingerprint.clone()) {
            continue;
        }
        systemd::notify_reloading();
        let outcome = running_config.reload(settings_loader.load()).await;
        let rejected_status = "Serving; the last reload was rejected, see the log";
        systemd::notify_ready(if outcome == ReloadOutcome::Applied { "Serving" } else { rejected_status });
        retry_at = (outcome == ReloadOutcome::RetryLater).then(|| Instant::now() + RELOAD_RETRY_DELAY);
        // Uses the fingerprint from before reading, so that the next polls see later changes. When the watched paths
        // changed, those of the new settings count.
        let paths_changed =
            fingerprint.keys().ne(current_fingerprint(settings_loader, running_config).await.keys());
        watch.accept(if paths_changed && outcome == ReloadOutcome::Applied {
            current_fingerprint(settings_loader, running_config).await
        } else {
            fingerprint
        });
    }
}

async fn current_fingerprint(
    settings_loader: &SettingsLoader,
    running_config: &RunningConfig,
) -> super::monitor_files::Fingerprint {
    let (file, monitors) =
        (settings_loader.sources.file.clone(), running_config.settings().monitor_paths.clone());
    file_watch::current_fingerprint(file, monitors, running_config.secret_files()).await
}

pub(super) fn log_startup_warnings(settings_loader: &SettingsLoader, settings: &Settings) {
    for (name, similar_name) in settings_loader.sources.unknown_variables() {
        let hint =
            similar_name.map(|similar_name| format!("; did you mean `{similar_name}`?")).unwrap_or_default();
        tracing::warn!(setting = name, "unknown setting in an environment variable{hint}");
    }
    for address in settings.listen_addresses.iter().filter(|address| !address.ip().is_loopback()) {
        if settings.server.tls_files.is_none() {
            tracing::warn!(address = %address, "logins and tokens cross the network in plain text on this address; configure a certificate, or put a TLS proxy on this host in front");
        }
        if settings.server.public_pages {
            tracing::warn!(address = %address, "the pages are open to everyone who reaches this address");
        }
    }
    for folder in
        settings.monitor_paths.iter().filter(|folder| !settings.monitor_paths_are_set && !folder.exists())
    {
        tracing::warn!(file = %folder.display(), "the monitors folder does not exist; create it, or name another with --monitors");
    }
}
