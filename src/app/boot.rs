//! `vigie serve`: from settings to a running process, and its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::demo::Demo;
use super::desk::{Around, Desk};
use super::door::Door;
use super::host_token::{HostToken, remove_host_token, write_host_token};
use super::quiet::Quiet;
use super::reload::{Doors, RunningSet, Taken, refused};
use super::server::ServerTls;
use super::signals::{Signals, Wish};
use super::vitals::{Heart, WatchedIngest};
use super::watch::{self, Watch};
use super::{browsers, certificates, delivery, outposts, server, service};
use crate::agent::RunnerHandle;
use crate::api;
use crate::catalog::Roster;
use crate::clock::{Clock, SystemClock};
use crate::pipeline::{
    Bell, Delivery, Household, Housekeeper, IngestSettings, Ingestor, LookoutParts, Performance,
    PerformanceParts, TimeOfDay, Vitals,
};
use crate::service::View;
use crate::settings::{ServerSettings, Settings, Sources};
use crate::store::{Results, SqliteSettings, SqliteStore, Synchronous};
use crate::sync::Mutex;
use crate::syntax::FieldFault;
use crate::telemetry::{Metrics, init_logs, log_panics};
use crate::web::{self, Bounds, Gate, Site};

/// Name of the database in the data folder.
const DATABASE: &str = "vigie.db";
/// Time that the results of the last checks get to find a place in the queue to the store.
const LAST_RESULTS: Duration = Duration::from_secs(10);
/// Time that the store gets to take the last results.
const LAST_COMMITS: Duration = Duration::from_secs(30);
/// Time that messages on their way get to arrive; the others go out after the next start.
const LAST_MESSAGES: Duration = Duration::from_secs(5);
/// Time until a reload that the store did not take is tried again.
const AGAIN: Duration = Duration::from_secs(15);
/// Exit code after a second signal.
const AT_ONCE: i32 = 130;

/// What the command line says.
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
    /// Whether built-in targets and their monitors are added.
    pub demo: bool,
    /// The file with the password of the first admin.
    pub admin_password_file: Option<PathBuf>,
}

/// Runs until a signal ends it.
///
/// # Errors
/// When something in the way of a start has to be put right by a person; the message says what.
pub fn serve(options: ServeOptions) -> anyhow::Result<()> {
    // A second provider can only be another part of this process: then TLS works as well.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let sources = options.sources();
    let settings = Settings::load(&sources).map_err(|faults| refused(&faults))?;
    init_logs(&settings.log)?;
    log_panics();
    crate::net::warm_up();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(sources, settings, options))
}

impl ServeOptions {
    fn sources(&self) -> Sources {
        let text = |path: &PathBuf| path.display().to_string();
        let mut flags = Vec::new();
        flags.extend(self.data.as_ref().map(|path| ("data", text(path))));
        flags.extend(self.listen.clone().map(|listen| ("listen", listen)));
        if !self.monitors.is_empty() {
            let all: Vec<_> = self.monitors.iter().map(text).collect();
            flags.push(("monitors", all.join(",")));
        }
        Sources { file: self.config.clone(), environment: Vec::new(), flags }.with_environment()
    }
}

/// Where settings come from, with what the demo adds.
struct Origin {
    sources: Sources,
    demo: Option<Demo>,
}

impl Origin {
    fn settings(&self) -> Result<Settings, Vec<FieldFault>> {
        Settings::load(&self.sources).map(|settings| self.adorned(settings))
    }

    fn adorned(&self, mut settings: Settings) -> Settings {
        if let Some(demo) = &self.demo {
            demo.adorn(&mut settings);
        }
        settings
    }
}

async fn run(sources: Sources, settings: Settings, options: ServeOptions) -> anyhow::Result<()> {
    let mut signals = Signals::take()?;
    let demo = if options.demo { Some(Demo::start().await?) } else { None };
    let origin = Origin { sources, demo };
    let mut settings = origin.adorned(settings);
    tell(&origin, &settings);
    let listeners = server::bind(&settings.listen).await?;
    let tls = settings.server.tls.as_ref().map(|(certificate, key)| ServerTls::load(certificate, key));
    let tls = tls.transpose()?.map(Arc::new);
    settings.probe.browser = browsers::start(&settings).await;
    let house = Arc::clone(&settings.probe.browser);
    let outcome = match Parts::start(&settings).await {
        Ok(parts) => {
            let mut tasks = Tasks::default();
            let (drain, data) = (settings.engine.drain, settings.data.clone());
            let service = Served { listeners, tls, admin_password_file: options.admin_password_file };
            let lived = live(&origin, &parts, settings, service, &mut tasks, &mut signals).await;
            let lost = shut_down(parts, tasks, signals, drain, &data).await;
            lived.and_then(|()| {
                anyhow::ensure!(lost == 0, "{lost} results could not be kept");
                Ok(())
            })
        }
        Err(error) => Err(error),
    };
    browsers::end(&house).await;
    drop(origin);
    outcome?;
    tracing::info!("ended, no result was lost");
    Ok(())
}

/// What the process is reached by.
struct Served {
    listeners: Vec<TcpListener>,
    tls: Option<Arc<ServerTls>>,
    admin_password_file: Option<PathBuf>,
}

/// What runs beside the checks until `stop`.
#[derive(Default)]
struct Tasks {
    stop: CancellationToken,
    set: JoinSet<()>,
}

/// Serves and checks until a signal asks for the end. Whatever it started when it fails is left to [`shut_down`].
async fn live(
    origin: &Origin,
    parts: &Parts,
    settings: Settings,
    served: Served,
    tasks: &mut Tasks,
    signals: &mut Signals,
) -> anyhow::Result<()> {
    let Served { listeners, tls, admin_password_file } = served;
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
    parts.desk.first_admin(admin_password_file.as_deref(), &settings.data).await?;
    let data = settings.data.clone();
    let certificate = tls.as_ref().map(|tls| tls.fingerprint());
    let token = parts.desk.state.accounts.host_token();
    let host = HostToken { token, addresses: addresses.clone(), certificate };
    write_host_token(&data, &host)
        .with_context(|| format!("cannot write the host token into `{}`", data.display()))?;
    let stop = &tasks.stop;
    tasks.set.spawn(Arc::clone(&parts.desk).tick(stop.clone()));
    let router = parts.router(&settings.server);
    let service = server::Service { router, tls: tls.clone(), request_time: settings.server.request_time };
    tasks.set.spawn(server::serve(listeners, service, stop.clone()));
    if let Some(tls) = tls {
        let stop = stop.clone();
        let tell = move |tls: &ServerTls| {
            let host = HostToken { certificate: Some(tls.fingerprint()), ..host.clone() };
            if let Err(error) = write_host_token(&data, &host) {
                tracing::warn!(error = %error, "commands on this host do not know the new certificate");
            }
        };
        tasks.set.spawn(async move {
            if let Err(error) = tls.follow(stop, tell).await {
                tracing::error!(%error, "failed to watch the server certificate: a renewed one needs a restart");
            }
        });
    }
    {
        let (heart, runners) = (Arc::clone(&parts.heart), parts.runners.clone());
        let (results, stop): (Arc<dyn Results>, _) = (parts.store.clone(), stop.clone());
        tasks.set.spawn(async move { heart.beat(runners, results, stop).await });
    }
    let heart = Arc::clone(&parts.heart);
    let works = move || heart.is_loaded() && heart.alive().iter().all(|part| part.fault.is_none());
    delivery::heartbeat(&settings, Arc::clone(&parts.clock), works, stop.clone()).await?;
    let drain = settings.engine.drain;
    let scheme = if settings.server.tls.is_some() { "https" } else { "http" };
    let mut set = parts.running_set(settings).await?;
    parts.heart.loaded();
    for address in &addresses {
        tracing::info!(address = %address, version = env!("CARGO_PKG_VERSION"), "serving at {scheme}://{address}/");
    }
    let at = addresses.first().map(|address| format!(" at {scheme}://{address}/"));
    service::ready(&format!("Serving{}", at.unwrap_or_default()));
    let signal = attend(origin, &mut set, signals).await;
    tracing::info!(signal, "shutting down; running checks get {} s to end", drain.as_secs());
    Ok(())
}

/// Ends all that was started and keeps every result; returns how many were lost.
async fn shut_down(
    parts: Parts,
    mut tasks: Tasks,
    mut signals: Signals,
    drain: Duration,
    data: &Path,
) -> usize {
    service::stopping(drain + LAST_RESULTS + LAST_COMMITS + LAST_MESSAGES * 3 + Duration::from_secs(10));
    tokio::spawn(async move {
        let signal = signals.stop_again().await;
        tracing::warn!(signal, "a second signal: ending at once");
        std::process::exit(AT_ONCE);
    });
    let lost = parts.end(drain).await;
    tasks.stop.cancel();
    // A panic in one of them was told when it happened.
    while tasks.set.join_next().await.is_some() {}
    remove_host_token(data);
    parts.store.close().await;
    lost
}

/// Reloads on SIGHUP and when files change, until a signal asks for the end; answers its name.
async fn attend(origin: &Origin, set: &mut RunningSet, signals: &mut Signals) -> &'static str {
    let mut watch = Watch::default();
    watch.take(watched(origin, set).await);
    let (mut pause, mut again_at) = (watch::LOOK, None::<Instant>);
    loop {
        let mut asked = tokio::select! {
            wish = signals.next() => match wish {
                Wish::Stop(name) => return name,
                Wish::Reload => true,
            },
            () = tokio::time::sleep(pause) => false,
        };
        asked |= again_at.take_if(|at| *at <= Instant::now()).is_some();
        let began = Instant::now();
        let now = watched(origin, set).await;
        // Where there are very many files, looking at them is held to a twentieth of a core.
        pause = watch::LOOK.max(began.elapsed() * 20);
        if !asked && !watch.look(now.clone()) {
            continue;
        }
        service::reloading();
        let taken = set.reload(origin.settings()).await;
        let refused = "Serving; the last reload was refused, see the log";
        service::ready(if taken == Taken::Yes { "Serving" } else { refused });
        again_at = (taken == Taken::Later).then(|| Instant::now() + AGAIN);
        // The fingerprint from before reading: what changed since then is seen by the next looks. When the
        // places to look at changed, those of the new settings count.
        let places_changed = now.keys().ne(watched(origin, set).await.keys());
        watch.take(if places_changed && taken == Taken::Yes { watched(origin, set).await } else { now });
    }
}

async fn watched(origin: &Origin, set: &RunningSet) -> super::files::Fingerprint {
    let (file, monitors) = (origin.sources.file.clone(), set.settings().monitors.clone());
    watch::current(file, monitors, set.secret_files()).await
}

fn tell(origin: &Origin, settings: &Settings) {
    for (name, near) in origin.sources.strangers() {
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        tracing::warn!(setting = name, "the environment variable is no setting{hint}");
    }
    for address in settings.listen.iter().filter(|address| !address.ip().is_loopback()) {
        if settings.server.tls.is_none() {
            tracing::warn!(address = %address, "logins and tokens cross the network in plain text on this address; give the server a certificate, or let a proxy on this host speak TLS");
        }
        if settings.server.public_pages {
            tracing::warn!(address = %address, "status page and metrics are open to everybody who reaches this address");
        }
    }
    for folder in settings.monitors.iter().filter(|folder| !settings.monitors_named && !folder.exists()) {
        tracing::warn!(file = %folder.display(), "there is no monitors folder yet; make it, or name another with --monitors");
    }
}

/// The parts of the process, wired.
struct Parts {
    store: Arc<SqliteStore>,
    ingestor: Arc<Ingestor>,
    runners: Vec<RunnerHandle>,
    housekeeper: Mutex<Option<Housekeeper>>,
    view: Arc<View>,
    desk: Arc<Desk>,
    heart: Arc<Heart>,
    delivery: Mutex<Option<Delivery>>,
    /// Ends the watch over performance alerts.
    _performance: DropGuard,
    metrics: Arc<Metrics>,
    clock: Arc<dyn Clock>,
}

impl Parts {
    async fn start(settings: &Settings) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let metrics = Arc::new(Metrics::new());
        let store = Arc::new(open(settings).await?);
        let commits = Arc::new(WatchedIngest::new(store.clone()));
        let states = store.states().await?;
        let ingestor = Arc::new(Ingestor::start(
            commits.clone(),
            Arc::clone(&metrics),
            states,
            IngestSettings::default(),
        ));
        let quiet = Arc::new(Quiet::default());
        let outposts = outposts::start(settings, &ingestor, &quiet, &clock, &metrics)?;
        let runners = outposts.iter().map(|outpost| outpost.runner.clone()).collect();
        let nets = outposts.iter().map(|outpost| Arc::clone(&outpost.net)).collect();
        let locations: Vec<_> = outposts.iter().map(|outpost| outpost.location.clone()).collect();
        let roster = Arc::new(Roster::default());
        let view = Arc::new(View::new(store.clone(), Arc::clone(&roster), locations.clone()));
        let watching = Arc::clone(&ingestor);
        view.show_health(Arc::new(move |monitor| watching.health(monitor)));
        let bell = Bell::default();
        let around = Around {
            ledger: store.clone(),
            tokens: store.clone(),
            alarms: store.clone(),
            outbox: store.clone(),
            watchman: Arc::new(Door { bell: bell.clone(), ingestor: Arc::clone(&ingestor) }),
            roster: Arc::clone(&roster),
            view: Arc::clone(&view),
            outposts,
            quiet,
            ingestor: Arc::clone(&ingestor),
            clock: Arc::clone(&clock),
        };
        let desk = Arc::new(Desk::start(settings, around).await?);
        certificates::follow(&desk.state.resources, nets).await?;
        let lookout = LookoutParts {
            alarms: store.clone(),
            outbox: store.clone(),
            results: store.clone(),
            ledger: store.clone(),
            directory: Arc::clone(&desk.directory),
            planner: desk.planner.clone(),
            clock: Arc::clone(&clock),
            bell: bell.clone(),
        };
        ingestor.watch(lookout, settings.alerts.alarms).await?;
        let around = delivery::Around {
            store: Arc::clone(&store),
            addresses: desk.addresses(),
            clock: Arc::clone(&clock),
            metrics: Arc::clone(&metrics),
        };
        let delivery = Mutex::new(Some(delivery::start(settings, around, bell.clone())?));
        let performance = PerformanceParts {
            ledger: store.clone(),
            results: store.clone(),
            states: store.clone(),
            roster,
            directory: Arc::clone(&desk.state.directory),
            clock: Arc::clone(&clock),
            bell,
        };
        let end = CancellationToken::new();
        // Ends by itself after the token.
        drop(Performance::new(performance).await?.start(end.clone()));
        let household = Household {
            store: store.clone(),
            metrics: Arc::clone(&metrics),
            clock: Arc::clone(&clock),
            retention: settings.store.retention.clone(),
            accounts: Some(Arc::clone(&desk.state.accounts)),
        };
        let (hour, minute) = settings.store.retention_at;
        let housekeeper = Housekeeper::start(household, TimeOfDay { hour, minute }).await;
        let housekeeper = housekeeper.context("the calendar jobs cannot start")?;
        let heart = Arc::new(Heart::new(Arc::clone(&ingestor), commits, &locations));
        let housekeeper = Mutex::new(Some(housekeeper));
        Ok(Self {
            store,
            ingestor,
            runners,
            housekeeper,
            view,
            desk,
            heart,
            delivery,
            _performance: end.drop_guard(),
            metrics,
            clock,
        })
    }

    fn router(&self, server: &ServerSettings) -> axum::Router {
        let site = Site {
            view: Arc::clone(&self.view),
            vitals: self.heart.clone(),
            metrics: Arc::clone(&self.metrics),
            clock: Arc::clone(&self.clock),
        };
        let state = self.api_state();
        let gate = Gate { public: server.public_pages, accounts: Some(Arc::clone(&state.accounts)) };
        let pages = web::router(site, gate);
        let apis = pages
            // A nested router knows no path that is only a slash.
            .route(
                "/api/v3/",
                axum::routing::get(async || axum::response::Redirect::permanent("/api/v3/docs")),
            )
            .nest("/api/v3", once_loaded(api::v3::router(state.clone()), Arc::clone(&self.heart)))
            .nest("/legacy-api", once_loaded(api::legacy::router(state), Arc::clone(&self.heart)));
        let bounds = Bounds {
            body_bytes: server.body_bytes,
            request_time: server.request_time,
            tls: server.tls.is_some(),
        };
        web::guarded(apis, bounds)
    }

    fn api_state(&self) -> api::ApiState {
        self.desk.state.clone()
    }

    async fn running_set(&self, settings: Settings) -> anyhow::Result<RunningSet> {
        let doors = Doors {
            monitors: self.store.clone(),
            ledger: self.store.clone(),
            results: self.store.clone(),
            desk: Arc::clone(&self.desk),
            metrics: Arc::clone(&self.metrics),
            clock: Arc::clone(&self.clock),
        };
        RunningSet::start(doors, settings).await
    }

    /// Lets running checks end within `drain` and keeps every result; answers how many were lost.
    async fn end(&self, drain: Duration) -> usize {
        self.heart.drain();
        self.ingestor.ending();
        let housekeeper = self.housekeeper.lock().take();
        if let Some(housekeeper) = housekeeper
            && let Err(error) = housekeeper.stop().await
        {
            tracing::warn!(error = %error, "the calendar jobs did not stop");
        }
        // Without an end when the store takes nothing: then what waits is lost, and `drain` says how much.
        let ends = futures::future::join_all(self.runners.iter().map(|runner| runner.shutdown(drain)));
        if tokio::time::timeout(drain + LAST_RESULTS, ends).await.is_err() {
            tracing::warn!("the store takes no results; those that wait get a last chance");
        }
        let lost = self.ingestor.drain(LAST_COMMITS).await;
        // After the last results: what follows from them goes out while it is fresh.
        let delivery = self.delivery.lock().take();
        if let Some(delivery) = delivery {
            delivery.drain(LAST_MESSAGES).await;
        }
        lost
    }
}

/// `router`, which says that it is not ready until monitors are loaded: an empty list before would be believed.
fn once_loaded(router: axum::Router, heart: Arc<Heart>) -> axum::Router {
    router.layer(middleware::from_fn_with_state(heart, loaded))
}

async fn loaded(State(heart): State<Arc<Heart>>, request: Request, next: Next) -> Response {
    if heart.is_loaded() {
        return next.run(request).await;
    }
    let message = "The server is starting; its monitors are not loaded yet";
    api::ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response()
}

async fn open(settings: &Settings) -> anyhow::Result<SqliteStore> {
    let path = settings.data.join(DATABASE);
    let synchronous = if settings.store.full_sync { Synchronous::Full } else { Synchronous::Normal };
    let cache_bytes = settings.store.cache_bytes;
    let sqlite = SqliteSettings { synchronous, cache_bytes, ..SqliteSettings::default() };
    let shown = path.display().to_string();
    let opened = tokio::task::spawn_blocking(move || SqliteStore::open(&path, &sqlite)).await?;
    opened.with_context(|| format!("cannot open the database `{shown}`"))
}
