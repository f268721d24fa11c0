//! Wires the parts of the process: store, agents, pipeline, pages and APIs.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::account_certificates::follow_certificates;
use super::alert_pipeline_handle::LocalAlertPipeline;
use super::combined_bus::CombinedBus;
use super::delivery_setup;
use super::demo_history::write_demo_history;
use super::host_probe_builder::HostProbeBuilder;
use super::ingestor_health::IngestorHealth;
use super::liveness::{Liveness, TimedIngest};
use super::location_agents::{AgentStarter, LocationAgents};
use super::otlp_setup::{OtlpCommitObserver, new_otlp_exporter};
use super::page_routes::page_routes;
use super::reload::{ReloadHandles, RunningConfig};
use super::reloadable_parts::ReloadableParts;
use super::remote_bus::{self, RemoteBusInputs};
use super::server::{ConnectionRules, record_client_connection};
use super::services::{ServiceInputs, Services};
use super::supervisor::{StatelessTask, Supervisor};
use crate::agent::MonitorSharing;
use crate::api;
use crate::bus::nats::PublishPermission;
use crate::catalog::MonitorCache;
use crate::clock::{Clock, SystemClock};
use crate::export::otlp::OtlpHandle;
use crate::notify::NotificationChannels;
use crate::pipeline::{
    AlertEngineDependencies, DeliveryHandle, DeliverySettings, DeliveryWakeup, HousekeepingRunner,
    HousekeepingScheduler, IngestDependencies, IngestSettings, Ingestor, PerformanceDependencies,
    PerformanceEvaluator, PerformanceTask, Planner, QuarantineRecorder, QuarantineRecorderDependencies,
    ResultSpool, TimeOfDay,
};
use crate::service::MonitorReader;
use crate::settings::{BusSettings, ServerSettings, Settings, property_label};
use crate::store::{
    self, DATABASE_FILE, ProcessLock, ResultStore, Store, StoreError, StoreLocation, StoreOptions,
};
use crate::sync::Mutex;
use crate::telemetry::{Metrics, TaskName, TaskRegistry};
use crate::web::{self, PageState, RequestLimits};

/// How long the results of the last checks may take to enter the ingest queue.
pub(super) const RESULT_DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the store may take to commit the last results; those that it does not take go into the spool.
pub(super) const COMMIT_DRAIN_TIMEOUT: Duration = Duration::from_secs(15);
/// How long deliveries in progress may take; the others are sent after the next start.
pub(super) const DELIVERY_DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the export of what waits may take; the rest is lost to its receiver.
pub(super) const OTLP_DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a start waits as long as a connection may take (`store.connect_seconds`) for a database that is away. systemd
/// then starts the server again, and again: with the default it never reaches the limit of its unit (`StartLimitBurst`).
const DATABASE_CONNECT_TIMEOUTS: u32 = 3;
const DATABASE_RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// Folder of what cannot be stored or processed, in the data folder.
const QUARANTINE_FOLDER: &str = "quarantine";
/// Folder of results that the store did not take, in the data folder unless a setting names another one.
const SPOOL_FOLDER: &str = "spool";

/// The parts of the process, wired.
pub(super) struct RunningServer {
    pub(super) store: Arc<dyn Store>,
    ingestor: Arc<Ingestor>,
    spool: Arc<ResultSpool>,
    pub(super) agents: Arc<LocationAgents>,
    pub(super) bus: Arc<CombinedBus>,
    agent_starter: Arc<AgentStarter>,
    channels: Arc<NotificationChannels>,
    delivery_settings: watch::Sender<DeliverySettings>,
    housekeeping_scheduler: Mutex<Option<HousekeepingScheduler>>,
    monitor_reader: Arc<MonitorReader>,
    pub(super) services: Arc<Services>,
    pub(super) liveness: Arc<Liveness>,
    delivery: Mutex<Option<DeliveryHandle>>,
    otlp: OtlpHandle,
    /// Stops the evaluation of performance alerts on drop.
    _performance_stop: DropGuard,
    /// Stops the start of first checks on drop.
    _first_checks_stop: DropGuard,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) supervisor: Arc<Supervisor>,
    /// Keeps other servers out of the data folder, where the spool is.
    _data_folder_lock: Option<ProcessLock>,
}

impl RunningServer {
    /// Starts the parts; waits for a database that is away until `stop`.
    pub(super) async fn start(settings: &Settings, stop: &CancellationToken) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let metrics = Arc::new(Metrics::new());
        let supervisor = Arc::new(Supervisor::new(Arc::clone(&metrics)));
        let data_folder_lock = lock_data_folder(settings)?;
        let store = open_store(settings, supervisor.registry(), stop).await?;
        let timed_ingest = Arc::new(TimedIngest::new(store.clone()));
        let location_states = store.location_states().await?;
        let monitor_cache = Arc::new(MonitorCache::default());
        let quarantine = QuarantineRecorderDependencies {
            folder: settings.data_dir.join(QUARANTINE_FOLDER),
            config_store: store.clone(),
            monitor_cache: Arc::clone(&monitor_cache),
            clock: Arc::clone(&clock),
        };
        let spool = open_spool(settings, &metrics, &clock).await?;
        let ingest_dependencies = IngestDependencies {
            store: timed_ingest.clone(),
            metrics: Arc::clone(&metrics),
            quarantine: QuarantineRecorder::new(Arc::clone(&metrics), quarantine),
            spool: Some(Arc::clone(&spool)),
            heartbeat: supervisor.heartbeat(TaskName::Ingest),
        };
        let (ingestor, ingest_task) =
            Ingestor::new(ingest_dependencies, location_states, IngestSettings::default());
        let ingestor = Arc::new(ingestor);
        supervisor.spawn(ingest_task);
        let agent_starter = AgentStarter {
            result_sink: ingestor.clone(),
            probe_builder: Arc::new(HostProbeBuilder::new(settings.probe.clone())),
            clock: Arc::clone(&clock),
            metrics: Arc::clone(&metrics),
            supervisor: Arc::clone(&supervisor),
            sharing: Arc::new(MonitorSharing::sole()),
        };
        let bus = Arc::new(CombinedBus::new(Arc::default()));
        let started = agent_starter.start(settings, settings.hosted_locations())?;
        let agents = Arc::new(LocationAgents::new(Arc::clone(bus.local()), started));
        let locations = agents.locations();
        let monitor_reader =
            Arc::new(MonitorReader::new(store.clone(), Arc::clone(&monitor_cache), locations.clone()));
        monitor_reader.set_health_lookup(Arc::new(IngestorHealth(Arc::clone(&ingestor))));
        let delivery_wakeup = DeliveryWakeup::default();
        let inputs = ServiceInputs {
            config_store: store.clone(),
            token_store: store.clone(),
            throttle_store: store.clone(),
            alert_store: store.clone(),
            host_store: store.clone(),
            push_store: store.clone(),
            outbox: store.clone(),
            alert_pipeline_handle: Arc::new(LocalAlertPipeline {
                delivery_wakeup: delivery_wakeup.clone(),
                ingestor: Arc::clone(&ingestor),
            }),
            monitor_cache: Arc::clone(&monitor_cache),
            monitor_reader: Arc::clone(&monitor_reader),
            bus: Arc::clone(&bus),
            probe_builder: Arc::clone(&agent_starter.probe_builder),
            last_known_accounts: Arc::default(),
            ingestor: Arc::clone(&ingestor),
            metrics: Arc::clone(&metrics),
            clock: Arc::clone(&clock),
        };
        let services = Arc::new(Services::wire(settings, inputs).await?);
        follow_certificates(&services.api_state.record_service, Arc::clone(&services.planner)).await?;
        let dependencies = AlertEngineDependencies {
            alert_store: store.clone(),
            outbox: store.clone(),
            result_store: store.clone(),
            config_store: store.clone(),
            account_cache: Arc::clone(&services.account_cache),
            planner: services.planner.clone(),
            clock: Arc::clone(&clock),
            delivery_wakeup: delivery_wakeup.clone(),
        };
        ingestor.enable_alerting(dependencies, settings.alerts.engine).await?;
        let inputs = delivery_setup::DeliveryInputs {
            store: Arc::clone(&store),
            destinations: services.destinations(),
            clock: Arc::clone(&clock),
            metrics: Arc::clone(&metrics),
            heartbeat: supervisor.heartbeat(TaskName::Delivery),
        };
        let (delivery, delivery_worker, channels) =
            delivery_setup::new_delivery(settings, inputs, delivery_wakeup.clone())?;
        supervisor.spawn(delivery_worker);
        let delivery_settings = delivery.settings_sender();
        let delivery = Mutex::new(Some(delivery));
        let performance_dependencies = PerformanceDependencies {
            config_store: store.clone(),
            result_store: store.clone(),
            alert_store: store.clone(),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&services.account_cache),
            clock: Arc::clone(&clock),
            delivery_wakeup,
        };
        let heartbeat = supervisor.heartbeat(TaskName::OtlpExport);
        let (otlp, otlp_exporter) =
            new_otlp_exporter(settings, Arc::clone(&clock), Arc::clone(&metrics), heartbeat)?;
        supervisor.spawn(otlp_exporter);
        ingestor.set_commit_observer(Arc::new(OtlpCommitObserver {
            handle: otlp.clone(),
            monitor_cache: Arc::clone(&monitor_cache),
            planner: services.planner.clone(),
            location_names: Mutex::default(),
        }));
        let stop_performance = CancellationToken::new();
        supervisor.spawn(PerformanceTask {
            evaluator: PerformanceEvaluator::new(performance_dependencies).await?,
            stop: stop_performance.clone(),
            heartbeat: supervisor.heartbeat(TaskName::PerformanceAlerts),
            needs_recovery: false,
        });
        let stop_first_checks = CancellationToken::new();
        let heartbeat = supervisor.heartbeat(TaskName::FirstChecks);
        supervisor.spawn(services.planner.first_check_task(stop_first_checks.clone(), heartbeat));
        let housekeeping_runner = HousekeepingRunner {
            housekeeping_store: store.clone(),
            metrics: Arc::clone(&metrics),
            clock: Arc::clone(&clock),
            retention: settings.store.retention.clone(),
            login_purger: Some(services.api_state.account_service.clone()),
            task_registry: Some(Arc::clone(supervisor.registry())),
        };
        let (hour, minute) = settings.store.cleanup_time_of_day;
        let housekeeping_scheduler =
            HousekeepingScheduler::start(housekeeping_runner, TimeOfDay { hour, minute }).await;
        let housekeeping_scheduler = housekeeping_scheduler.context("cannot start the calendar jobs")?;
        let tasks = Arc::clone(supervisor.registry());
        let liveness = Arc::new(Liveness::new(Arc::clone(&ingestor), timed_ingest, tasks, &locations));
        let housekeeping_scheduler = Mutex::new(Some(housekeeping_scheduler));
        Ok(Self {
            store,
            ingestor,
            spool,
            agents,
            bus,
            agent_starter: Arc::new(agent_starter),
            channels,
            delivery_settings,
            housekeeping_scheduler,
            monitor_reader,
            services,
            liveness,
            delivery,
            otlp,
            _performance_stop: stop_performance.drop_guard(),
            _first_checks_stop: stop_first_checks.drop_guard(),
            metrics,
            clock,
            supervisor,
            _data_folder_lock: data_folder_lock,
        })
    }

    /// Builds the routes; `stop` ends the streams of updates.
    pub(super) fn router(&self, server: &ServerSettings, stop: &CancellationToken) -> axum::Router {
        let labels = server.metrics_properties.iter().map(|name| property_label(name)).collect();
        self.metrics.set_property_labels(labels);
        if server.metrics_histograms {
            self.metrics.enable_monitor_histograms();
        }
        let page_state = PageState {
            monitor_reader: Arc::clone(&self.monitor_reader),
            health: self.liveness.clone(),
            metrics: Arc::clone(&self.metrics),
            metrics_properties: Arc::from(server.metrics_properties.as_slice()),
            max_monitor_series: server.metrics_series,
            metrics_permits: web::metrics_permits(),
            clock: Arc::clone(&self.clock),
        };
        let api_state = self.api_state();
        let pages = page_routes(&api_state, page_state, server, stop);
        let pages_and_apis = pages
            // A nested router does not match a path that is only a slash.
            .route(
                "/api/v3/",
                axum::routing::get(async || axum::response::Redirect::permanent("/api/v3/docs")),
            )
            .merge(unavailable_until_loaded(api::push::router(api_state.clone()), Arc::clone(&self.liveness)))
            .nest(
                "/api/v3",
                unavailable_until_loaded(api::v3::router(api_state.clone()), Arc::clone(&self.liveness)),
            )
            .nest(
                "/legacy-api",
                unavailable_until_loaded(api::legacy::router(api_state), Arc::clone(&self.liveness)),
            );
        let request_limits = RequestLimits {
            max_body_bytes: server.max_body_bytes,
            response_start_timeout: server.response_start_timeout,
            is_tls_only: server.tls_files.is_some(),
        };
        let rules = ConnectionRules {
            is_tls: server.tls_files.is_some(),
            trusted_proxies: Arc::from(server.trusted_proxies.as_slice()),
        };
        web::with_common_middleware(pages_and_apis, request_limits)
            .layer(middleware::from_fn_with_state(rules, record_client_connection))
    }

    fn api_state(&self) -> api::ApiState {
        self.services.api_state.clone()
    }

    pub(super) async fn start_running_config(
        &self,
        settings: Settings,
        heartbeat_url: watch::Sender<Option<String>>,
    ) -> anyhow::Result<RunningConfig> {
        let reloadable = ReloadableParts {
            agents: Arc::clone(&self.agents),
            agent_starter: Arc::clone(&self.agent_starter),
            planner: Arc::clone(&self.services.planner),
            monitor_reader: Arc::clone(&self.monitor_reader),
            ingestor: Arc::clone(&self.ingestor),
            channels: Arc::clone(&self.channels),
            delivery_settings: self.delivery_settings.clone(),
            heartbeat_url,
            otlp: self.otlp.clone(),
        };
        let handles = ReloadHandles {
            monitor_store: self.store.clone(),
            config_store: self.store.clone(),
            result_store: self.store.clone(),
            services: Arc::clone(&self.services),
            ingestor: Arc::clone(&self.ingestor),
            spool: Arc::clone(&self.spool),
            metrics: Arc::clone(&self.metrics),
            clock: Arc::clone(&self.clock),
            reloadable,
        };
        RunningConfig::start(handles, settings).await
    }

    /// Starts the periodic jobs and the watch over the parts, until `stop`.
    pub(super) fn spawn_background_jobs(&self, stop: &CancellationToken) -> [JoinHandle<()>; 2] {
        let supervisor = &self.supervisor;
        let (services, jobs_stop) = (Arc::clone(&self.services), stop.clone());
        let run_jobs = move |heartbeat| Arc::clone(&services).run_periodic_jobs(jobs_stop.clone(), heartbeat);
        let jobs = StatelessTask::new(supervisor.heartbeat(TaskName::Planner), run_jobs);
        let (liveness, agents) = (Arc::clone(&self.liveness), Arc::clone(&self.agents));
        let (results, stop): (Arc<dyn ResultStore>, _) = (self.store.clone(), stop.clone());
        let run_liveness = move |heartbeat| {
            let (liveness, agents) = (Arc::clone(&liveness), Arc::clone(&agents));
            let (results, stop) = (Arc::clone(&results), stop.clone());
            async move { liveness.run(agents, results, stop, heartbeat).await }
        };
        let liveness = StatelessTask::new(supervisor.heartbeat(TaskName::Liveness), run_liveness);
        [supervisor.spawn(jobs), supervisor.spawn(liveness)]
    }

    /// Starts to write the history of the demo, which goes on beside everything else.
    pub(super) fn spawn_demo_history(&self, stop: &CancellationToken) -> JoinHandle<()> {
        let planner: &dyn Planner = &*self.services.planner;
        let location = planner.agent_statuses().first().map(|status| status.location.id);
        tokio::spawn(write_demo_history(
            self.store.clone(),
            Arc::clone(&self.services.api_state.record_service),
            Arc::clone(self.services.api_state.monitor_service.monitor_cache()),
            location.unwrap_or(crate::domain::LocationId(1)),
            self.clock.now(),
            stop.clone(),
        ))
    }

    /// Starts to serve agents on other hosts until `stop`, if NATS is set up. Call it once the monitors are loaded.
    ///
    /// # Errors
    /// Fails for settings or keys of NATS that cannot be used.
    pub(super) async fn start_remote_bus(
        &self,
        settings: &BusSettings,
        may_publish: PublishPermission,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let inputs = RemoteBusInputs {
            agent_service: Arc::clone(&self.services.api_state.agent_service),
            host_service: Arc::clone(&self.services.api_state.host_service),
            bus: Arc::clone(&self.bus),
            receiver: self.ingestor.clone(),
            planner: Arc::clone(&self.services.planner),
            monitor_reader: Arc::clone(&self.monitor_reader),
            store: self.store.clone(),
            // Agents deliver the last ten minutes again after each start with an engine that cannot tell.
            database_timeline: self
                .store
                .timeline()
                .map_or_else(|| self.clock.now().to_string(), str::to_owned),
            may_publish,
            metrics: Arc::clone(&self.metrics),
            clock: Arc::clone(&self.clock),
            supervisor: Arc::clone(&self.supervisor),
        };
        remote_bus::start(settings, inputs, stop).await
    }

    /// Lets running checks finish within `drain_timeout` and stores every result; returns how many were lost.
    pub(super) async fn shut_down(&self, drain_timeout: Duration) -> usize {
        self.liveness.begin_drain();
        self.ingestor.begin_shutdown();
        let scheduler = self.housekeeping_scheduler.lock().take();
        if let Some(scheduler) = scheduler
            && let Err(error) = scheduler.stop().await
        {
            tracing::warn!(error = %error, "failed to stop the housekeeping jobs");
        }
        // Bounded, since the store may accept nothing: `drain` then reports the queued results as lost.
        let agents = self.agents.current();
        let shutdowns = futures::future::join_all(
            agents.iter().map(|hosted| hosted.agent.runner().shutdown(drain_timeout)),
        );
        if tokio::time::timeout(drain_timeout + RESULT_DRAIN_TIMEOUT, shutdowns).await.is_err() {
            tracing::warn!("the store does not accept results; trying once more to store the queued ones");
        }
        let lost = self.ingestor.drain(COMMIT_DRAIN_TIMEOUT).await;
        // After the last results, so that their notifications are still sent.
        let delivery = self.delivery.lock().take();
        if let Some(delivery) = delivery {
            delivery.drain(DELIVERY_DRAIN_TIMEOUT).await;
        }
        self.otlp.drain(OTLP_DRAIN_TIMEOUT).await;
        lost
    }
}

/// Makes `router` unavailable until monitors are loaded, since clients would trust an empty list.
fn unavailable_until_loaded(router: axum::Router, liveness: Arc<Liveness>) -> axum::Router {
    router.layer(middleware::from_fn_with_state(liveness, require_loaded))
}

async fn require_loaded(State(liveness): State<Arc<Liveness>>, request: Request, next: Next) -> Response {
    if liveness.is_loaded() {
        return next.run(request).await;
    }
    let message = "The server is starting; its monitors are not loaded yet";
    api::ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response()
}

async fn open_spool(
    settings: &Settings,
    metrics: &Arc<Metrics>,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<ResultSpool>> {
    let configured = settings.store.spool_dir.clone();
    let folder = configured.unwrap_or_else(|| settings.data_dir.join(SPOOL_FOLDER));
    let (bounds, metrics, clock) = (settings.store.spool, Arc::clone(metrics), Arc::clone(clock));
    let open = move || ResultSpool::open(folder, bounds, metrics, clock);
    let spool = tokio::task::spawn_blocking(open).await?;
    Ok(Arc::new(spool.context("cannot open the spool (setting `store.spool_dir`)")?))
}

/// Locks the data folder, unless its database does so.
fn lock_data_folder(settings: &Settings) -> anyhow::Result<Option<ProcessLock>> {
    if settings.store_location() == StoreLocation::Sqlite(settings.data_dir.join(DATABASE_FILE)) {
        return Ok(None);
    }
    Ok(Some(store::lock_data_folder(&settings.data_dir).context("cannot use the data folder")?))
}

/// Opens the store. A database that is away is waited for, since it may start later than this host.
async fn open_store(
    settings: &Settings,
    tasks: &Arc<TaskRegistry>,
    stop: &CancellationToken,
) -> anyhow::Result<Arc<dyn Store>> {
    let location = settings.store_location();
    let wait = settings.store.connect_timeout * DATABASE_CONNECT_TIMEOUTS;
    let give_up_at = Instant::now() + wait;
    let mut has_warned = false;
    loop {
        let options = StoreOptions { tasks: Some(Arc::clone(tasks)), ..settings.store.options() };
        let outcome = store::open_store(&location, options).await;
        match outcome {
            Err(error @ StoreError::Unavailable(_))
                if Instant::now() < give_up_at && !stop.is_cancelled() =>
            {
                if !has_warned {
                    let seconds = wait.as_secs();
                    tracing::warn!("the database is not available yet, retrying for {seconds} s: {error}");
                    has_warned = true;
                }
            }
            outcome => return outcome.with_context(|| format!("cannot open the database `{location}`")),
        }
        let _ = tokio::time::timeout(DATABASE_RETRY_INTERVAL, stop.cancelled()).await;
    }
}
