//! Runs an agent from its settings to its shutdown.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::time::Instant;

use super::agent_network::agent_network;
use super::agent_port::{AgentPort, AgentPortParts};
use super::stored_assignments;
use super::token_renewal::{self, HttpsRenewal, RenewedSealer};
use crate::agent::{
    AssignmentFiles, MonitorSharing, OutboxDependencies, ResultOutbox, StoredAssignments, SyncedClock,
};
use crate::app::host_probe_builder::HostProbeBuilder;
use crate::app::key_file::key_file_location;
use crate::app::location_agents::AgentStarter;
use crate::app::reload::configuration_error;
use crate::app::report_sources::RemoteReports;
use crate::app::signals::{SignalRequest, Signals};
use crate::app::supervisor::Supervisor;
use crate::app::{browser_setup, systemd};
use crate::bus::contract::{BusFuture, ResultSink};
use crate::bus::nats::{
    AgentBus, AgentBusDependencies, AgentCredential, AgentIdentity, NatsConnection, NatsResultTransport,
    measure_clock_offset,
};
use crate::clock::{Clock, SystemClock};
use crate::domain::{CheckResult, Location, Timestamp};
use crate::settings::{HostedLocation, SettingSources, Settings};
use crate::spool::Spool;
use crate::telemetry::{Metrics, TaskName, init_logging, install_panic_hook};
use crate::vault::Keyring;

/// Folders in the data folder.
const SPOOL_FOLDER: &str = "spool";
const ASSIGNMENTS_FOLDER: &str = "assignments";
/// How long an agent that shuts down waits for the other agents to take over its monitors.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);
/// How often it looks whether they did.
const HANDOVER_LOOK: Duration = Duration::from_millis(100);
/// How long the last results may take to reach the disk and the bus.
const OUTBOX_DRAIN_TIMEOUT: Duration = Duration::from_secs(15);
/// How long threads may block the end of the process.
const THREAD_END_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the first measurement of the clock may take before checks start.
const FIRST_MEASUREMENT_TIMEOUT: Duration = Duration::from_secs(3);
/// Exit code after a second signal.
const FORCED_EXIT_CODE: i32 = 130;

/// Options of `vigie agent run` on the command line.
pub struct AgentOptions {
    /// The settings file.
    pub config: Option<PathBuf>,
    /// Setting `data`.
    pub data: Option<PathBuf>,
    /// Renews an expired token over HTTPS.
    pub renew_over_https: HttpsRenewal,
}

/// Runs the agent until a signal stops it.
///
/// # Errors
/// Fails when the agent cannot start; the message says what to fix.
pub fn run_agent(options: AgentOptions) -> anyhow::Result<()> {
    // A provider may be installed already by another part of this process; TLS works then too.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let data = options.data.as_ref().map(|path| ("data", path.display().to_string()));
    let sources = SettingSources {
        file: options.config.clone(),
        flags: data.into_iter().collect(),
        ..SettingSources::default()
    };
    let settings =
        Settings::load(&sources.with_environment()).map_err(|errors| configuration_error(&errors))?;
    init_logging(&settings.log)?;
    install_panic_hook();
    crate::net::warm_up_crypto();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(settings, options.renew_over_https));
    runtime.shutdown_timeout(THREAD_END_TIMEOUT);
    outcome
}

async fn run(mut settings: Settings, renew_over_https: HttpsRenewal) -> anyhow::Result<()> {
    let mut signals = Signals::install()?;
    let credential = AgentCredential::read(&settings.data_dir)?;
    settings.probe.browser_pool = browser_setup::start_browser_pool(&settings).await;
    let pool = Arc::clone(&settings.probe.browser_pool);
    let outcome = match RunningAgent::start(&settings, credential, None).await {
        Ok((agent, stored)) => {
            systemd::notify_ready("Running checks");
            let outcome = tokio::select! {
                outcome = agent.serve(stored, renew_over_https, wait_for_stop(&mut signals)) => outcome,
                () = feed_watchdog() => Ok(()),
            };
            agent.shut_down(&mut signals).await;
            outcome
        }
        Err(error) => Err(error),
    };
    browser_setup::wait_for_browsers_to_exit(&pool).await;
    outcome?;
    tracing::info!("shut down; what is not delivered is in the spool");
    Ok(())
}

/// Called with each result before the outbox takes it.
pub type ResultObserver = Arc<dyn Fn(&CheckResult) + Send + Sync>;

/// The parts of the agent, wired.
pub(super) struct RunningAgent {
    identity: AgentIdentity,
    credential: AgentCredential,
    pub(super) connection: NatsConnection,
    sealer: Arc<RenewedSealer>,
    host_clock: Arc<dyn Clock>,
    clock: Arc<SyncedClock>,
    sharing: Arc<MonitorSharing>,
    pub(super) port: Arc<AgentPort>,
    assignment_storage: Arc<AssignmentFiles>,
    supervisor: Arc<Supervisor>,
    data_dir: PathBuf,
    drain_timeout: Duration,
}

impl RunningAgent {
    /// Starts the parts; returns them, and the assignments on disk. `observer` is shown each result.
    pub(super) async fn start(
        settings: &Settings,
        credential: AgentCredential,
        observer: Option<ResultObserver>,
    ) -> anyhow::Result<(Self, StoredAssignments)> {
        let identity =
            AgentIdentity { location_id: credential.location_id(), agent_id: credential.agent_id() };
        let host_clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let clock = Arc::new(SyncedClock::new(host_clock.now()));
        let metrics = Arc::new(Metrics::new());
        let supervisor = Arc::new(Supervisor::new(Arc::clone(&metrics)));
        let sealer = Arc::new(RenewedSealer::new(credential.clone())?);
        let keyring = Arc::new(Keyring::read_or_create_from(key_file_location(settings))?);
        let (assignment_storage, stored) =
            AssignmentFiles::open(settings.data_dir.join(ASSIGNMENTS_FOLDER), keyring)
                .context("the folder of the assignments cannot be used")?;
        let spool_dir = settings.store.spool_dir.clone();
        let spool_dir = spool_dir.unwrap_or_else(|| settings.data_dir.join(SPOOL_FOLDER));
        let spool = Spool::open(&spool_dir, settings.store.spool)
            .context("the spool (setting `store.spool_dir`) cannot be used")?;
        let options = credential.connect_options()?;
        let connection = NatsConnection::open_for_agent(&credential.nats_urls(), options).await?;
        let (outbox, outbox_tasks) = ResultOutbox::new(OutboxDependencies {
            spool,
            transport: Arc::new(NatsResultTransport::new(connection.clone(), identity)),
            clock: Arc::clone(&host_clock),
            heartbeat: supervisor.heartbeat(TaskName::Outbox),
        });
        drop(supervisor.spawn(outbox_tasks));
        let sharing = Arc::new(MonitorSharing::shared(identity.agent_id));
        let result_sink: Arc<dyn ResultSink> = match observer {
            Some(observer) => Arc::new(ObservedOutbox { observer, outbox: Arc::clone(&outbox) }),
            None => outbox.clone(),
        };
        let probe_builder = HostProbeBuilder::new(settings.probe.clone());
        let reports = RemoteReports { connection: connection.clone(), identity };
        probe_builder.set_report_source(Arc::new(reports));
        let starter = AgentStarter {
            result_sink,
            probe_builder: Arc::new(probe_builder),
            clock: clock.clone(),
            metrics: Arc::clone(&metrics),
            supervisor: Arc::clone(&supervisor),
            sharing: Arc::clone(&sharing),
        };
        let own_location = own_location(settings, identity).context("the settings have no location")?;
        let network = Arc::new(agent_network(&own_location));
        let started = starter.start(settings, vec![own_location])?;
        let agent = started.into_iter().next().context("the settings have no location")?.agent;
        let port = Arc::new(AgentPort::new(AgentPortParts {
            agent_id: identity.agent_id,
            agent,
            outbox,
            host_clock: Arc::clone(&host_clock),
            weight: settings.agent_weight,
            metrics,
            network,
        }));
        let started = Self {
            identity,
            credential,
            connection,
            sealer,
            host_clock,
            clock,
            sharing,
            port,
            assignment_storage: Arc::new(assignment_storage),
            supervisor,
            data_dir: settings.data_dir.clone(),
            drain_timeout: settings.concurrency.drain_timeout,
        };
        Ok((started, stored))
    }

    /// Checks until `stop` with its reason, or until a task cannot go on. Then end it with [`Self::drain`].
    pub(super) async fn serve(
        &self,
        stored: StoredAssignments,
        renew_over_https: HttpsRenewal,
        stop: impl Future<Output = &'static str>,
    ) -> anyhow::Result<()> {
        self.step_clock().await;
        let applied = stored_assignments::apply(stored, self.port.as_ref(), self.sealer.as_ref()).await;
        let (port, host_clock, clock) =
            (Arc::clone(&self.port), Arc::clone(&self.host_clock), Arc::clone(&self.clock));
        let bus = AgentBus::new(AgentBusDependencies {
            connection: self.connection.clone(),
            identity: self.identity,
            port: self.port.clone(),
            reports: self.port.parts.outbox.clone(),
            sealer: self.sealer.clone(),
            assignment_storage: self.assignment_storage.clone(),
            applied,
            host_clock: Arc::clone(&self.host_clock),
            on_clock_offset: Box::new(move |offset_us| {
                port.set_clock_offset(offset_us);
                clock.approach(control_time(host_clock.as_ref(), offset_us));
            }),
            heartbeat: self.supervisor.heartbeat(TaskName::Bus),
        });
        drop(self.supervisor.spawn(bus));
        tracing::info!(
            location_id = self.identity.location_id.0,
            agent_id = self.identity.agent_id.0,
            version = env!("CARGO_PKG_VERSION"),
            "the agent runs"
        );
        let renewal = (self.data_dir.clone(), renew_over_https);
        tokio::select! {
            reason = stop => {
                tracing::info!(signal = reason, "shutting down; the other agents of the location take over");
                Ok(())
            }
            failure = self.supervisor.wait_for_failure() => Err(failure.into()),
            () = token_renewal::run(&self.credential, &self.connection, &self.sealer, renewal) => Ok(()),
        }
    }

    /// Sets the clock to that of the control plane before anything is scheduled, if it can be reached soon.
    async fn step_clock(&self) {
        let measured = measure_clock_offset(&self.connection, self.identity, self.host_clock.as_ref());
        if let Ok(Some(offset_us)) = tokio::time::timeout(FIRST_MEASUREMENT_TIMEOUT, measured).await {
            self.clock.step_to(control_time(self.host_clock.as_ref(), offset_us));
        }
    }

    /// Shuts down; a second signal ends the process at once.
    async fn shut_down(&self, signals: &mut Signals) {
        systemd::notify_stopping(
            HANDOVER_TIMEOUT + self.drain_timeout + OUTBOX_DRAIN_TIMEOUT + Duration::from_secs(10),
        );
        tokio::select! {
            () = self.drain() => {}
            signal = signals.second_stop() => {
                tracing::warn!(signal, "second signal received, exiting at once");
                std::process::exit(FORCED_EXIT_CODE);
            }
        }
    }

    /// Hands the monitors over to the other agents, finishes running checks, and keeps every result.
    async fn drain(&self) {
        self.port.begin_drain();
        let give_up_at = Instant::now() + HANDOVER_TIMEOUT;
        while self.sharing.is_member_from(self.clock.now()) && Instant::now() < give_up_at {
            tokio::time::sleep(HANDOVER_LOOK).await;
        }
        self.finish_checks().await;
        if tokio::time::timeout(OUTBOX_DRAIN_TIMEOUT, self.port.parts.outbox.drain()).await.is_err() {
            tracing::error!("the last results did not reach the disk in time");
        }
    }

    /// Starts no more checks, and waits for those that run. The outbox goes on.
    pub(super) async fn finish_checks(&self) {
        self.port.parts.agent.runner().shutdown(self.drain_timeout).await;
    }
}

/// The outbox, and who is shown its results.
struct ObservedOutbox {
    observer: ResultObserver,
    outbox: Arc<ResultOutbox>,
}

impl ResultSink for ObservedOutbox {
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()> {
        (self.observer)(&result);
        self.outbox.deliver(result)
    }
}

/// Returns the time of the control plane, which is `offset_us` microseconds ahead of this host.
fn control_time(host_clock: &dyn Clock, offset_us: i64) -> Timestamp {
    Timestamp::from_micros(host_clock.now().as_micros().saturating_add(offset_us))
}

/// Returns the location of this agent, with the network and the limits of the settings.
fn own_location(settings: &Settings, identity: AgentIdentity) -> Option<HostedLocation> {
    let configured = settings.hosted_locations().into_iter().next()?;
    let location = Location { id: identity.location_id, ..configured.location };
    Some(HostedLocation { location, ..configured })
}

async fn wait_for_stop(signals: &mut Signals) -> &'static str {
    loop {
        match signals.next().await {
            SignalRequest::Stop(signal) => return signal,
            SignalRequest::Reload => {
                tracing::warn!("an agent reads its settings at its start only; start it again");
            }
        }
    }
}

/// Tells systemd that the process makes progress, for ever.
async fn feed_watchdog() {
    let Some(timeout) = systemd::watchdog_timeout() else { return std::future::pending().await };
    loop {
        systemd::notify_watchdog();
        tokio::time::sleep(timeout / 3).await;
    }
}
