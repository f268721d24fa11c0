//! `vigie serve`: from settings to a running process, and its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::demo::Demo;
use super::host_token::{HostToken, remove_host_token, write_host_token};
use super::parts::{LAST_COMMITS, LAST_MESSAGES, LAST_RESULTS, Parts};
use super::reload::{RunningSet, Taken, refused};
use super::server::ServerTls;
use super::signals::{Signals, Wish};
use super::watch::{self, Watch};
use super::{browsers, delivery, server, service};
use crate::settings::{SettingSources, Settings};
use crate::store::ResultStore;
use crate::syntax::ValidationError;
use crate::telemetry::HealthSource;
use crate::telemetry::{init_logs, install_panic_hook};

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
    install_panic_hook();
    crate::net::warm_up();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(sources, settings, options))
}

impl ServeOptions {
    fn sources(&self) -> SettingSources {
        let text = |path: &PathBuf| path.display().to_string();
        let mut flags = Vec::new();
        flags.extend(self.data.as_ref().map(|path| ("data", text(path))));
        flags.extend(self.listen.clone().map(|listen| ("listen", listen)));
        if !self.monitors.is_empty() {
            let all: Vec<_> = self.monitors.iter().map(text).collect();
            flags.push(("monitors", all.join(",")));
        }
        SettingSources { file: self.config.clone(), environment: Vec::new(), flags }.with_environment()
    }
}

/// Where settings come from, with what the demo adds.
struct Origin {
    sources: SettingSources,
    demo: Option<Demo>,
}

impl Origin {
    fn settings(&self) -> Result<Settings, Vec<ValidationError>> {
        Settings::load(&self.sources).map(|settings| self.adorned(settings))
    }

    fn adorned(&self, mut settings: Settings) -> Settings {
        if let Some(demo) = &self.demo {
            demo.adorn(&mut settings);
        }
        settings
    }
}

async fn run(sources: SettingSources, settings: Settings, options: ServeOptions) -> anyhow::Result<()> {
    let mut signals = Signals::take()?;
    let demo = if options.demo { Some(Demo::start().await?) } else { None };
    let origin = Origin { sources, demo };
    let mut settings = origin.adorned(settings);
    tell(&origin, &settings);
    let listeners = server::bind(&settings.listen).await?;
    let tls = settings.server.tls.as_ref().map(|(certificate, key)| ServerTls::load(certificate, key));
    let tls = tls.transpose()?.map(Arc::new);
    settings.probe.browser_pool = browsers::start(&settings).await;
    let house = Arc::clone(&settings.probe.browser_pool);
    let outcome = match Parts::start(&settings).await {
        Ok(parts) => {
            let mut tasks = Tasks::default();
            let (drain, data) = (settings.concurrency.drain_timeout, settings.data_dir.clone());
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
    parts.desk.first_admin(admin_password_file.as_deref(), &settings.data_dir).await?;
    let data = settings.data_dir.clone();
    let certificate = tls.as_ref().map(|tls| tls.fingerprint());
    let token = parts.desk.state.accounts.renew_host_token();
    let host = HostToken { token, addresses: addresses.clone(), certificate };
    write_host_token(&data, &host)
        .with_context(|| format!("cannot write the host token into `{}`", data.display()))?;
    let stop = &tasks.stop;
    tasks.set.spawn(Arc::clone(&parts.desk).tick(stop.clone()));
    let router = parts.router(&settings.server);
    let service = server::Service { router, tls: tls.clone(), request_time: settings.server.request_timeout };
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
        let (results, stop): (Arc<dyn ResultStore>, _) = (parts.store.clone(), stop.clone());
        tasks.set.spawn(async move { heart.beat(runners, results, stop).await });
    }
    let heart = Arc::clone(&parts.heart);
    let works = move || heart.is_loaded() && heart.liveness().iter().all(|part| part.reason.is_none());
    delivery::heartbeat(&settings, Arc::clone(&parts.clock), works, stop.clone()).await?;
    let drain = settings.concurrency.drain_timeout;
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
    let (file, monitors) = (origin.sources.file.clone(), set.settings().monitor_paths.clone());
    watch::current(file, monitors, set.secret_files()).await
}

fn tell(origin: &Origin, settings: &Settings) {
    for (name, near) in origin.sources.unknown_variables() {
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
    for folder in
        settings.monitor_paths.iter().filter(|folder| !settings.monitor_paths_are_set && !folder.exists())
    {
        tracing::warn!(file = %folder.display(), "there is no monitors folder yet; make it, or name another with --monitors");
    }
}
