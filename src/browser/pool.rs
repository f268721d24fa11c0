//! The pool of browsers of this process: its capacity, and how browsers are opened.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fantoccini::{Client, ClientBuilder, error::NewSessionError};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use super::capabilities::session_capabilities;
use super::chrome::LocalBrowser;
use super::config::{BrowserPoolConfig, RemoteWebDriver};
use super::driver_launch::DriverLaunchOptions;
use super::driver_start::{DriverStarter, StartedDriver};
use super::facts::browser_facts;
use super::failure::launch_failure;
use super::host::HostedBrowser;
use super::process::{BrowserProcess, ProcessResources};
use super::remote::ProtectedDrivers;
use super::session_options::{BrowserKind, SessionOptions};
use super::tls_policy::intercepts_tls;
use super::{addon, binaries, chrome, failure, firefox, remote};
use crate::domain::{BrowserFacts, Failure, FailureKind, Phase};
use crate::forward_proxy::{AllowedClients, BlockedHosts, ForwardProxy, ForwardProxyConfig};
use crate::net::{Deadline, Net, TlsOptions};
use crate::subprocess::browser_profile::BrowserProfile;
use crate::subprocess::os_user::OsUser;
use crate::subprocess::process_table::ProcessTable;
use crate::subprocess::response_limit_connector::ResponseLimitConnector;
use crate::subprocess::{browser_profile, process_group, procfs};

/// How long a check waits for a free browser of this host, in addition to the limit of its script.
pub const FREE_BROWSER_TIMEOUT: Duration = Duration::from_mins(2);

/// An open browser.
#[derive(Debug)]
pub struct OpenBrowser {
    /// The client of its driver.
    pub driver_client: Client,
    /// The facts about it.
    pub facts: BrowserFacts,
    /// Its processes.
    pub browser_process: BrowserProcess,
    /// The address of its driver, if it is local.
    pub driver_address: Option<SocketAddr>,
}

/// A session with its browser, before it was asked for its facts.
struct OpenedSession {
    client: Client,
    process: BrowserProcess,
    driver_address: Option<SocketAddr>,
}

/// The pool of browsers; a process has one.
#[derive(Debug)]
pub struct BrowserPool {
    config: BrowserPoolConfig,
    profiles_folder: PathBuf,
    /// One permit for each local browser that may be open.
    browser_permits: Arc<Semaphore>,
    capacity: u32,
    /// Number of orphans that were removed before the first browser was opened; unset until then.
    orphans_reaped: OnceCell<usize>,
    process_table: Arc<ProcessTable>,
    protected_drivers: ProtectedDrivers,
}

impl Default for BrowserPool {
    fn default() -> Self {
        Self::new(BrowserPoolConfig::default())
    }
}

impl BrowserPool {
    /// Creates a pool, without starting a browser or creating a file yet.
    #[must_use]
    pub fn new(mut config: BrowserPoolConfig) -> Self {
        if config.os_user.is_none()
            && let Some(name) = OsUser::default_name()
        {
            config.os_user = Some(name.to_owned());
            // As root it would have none either.
            config.use_sandbox &= procfs::allows_user_namespaces();
        }
        let total_memory_bytes =
            config.max_memory_bytes_total.or_else(|| procfs::host_memory_bytes().map(|bytes| bytes / 2));
        let browsers_in_memory = total_memory_bytes.unwrap_or(0) / config.max_memory_bytes_per_browser.max(1);
        let capacity = u32::try_from(browsers_in_memory.clamp(1, 1000)).unwrap_or(1);
        let default_folder =
            || std::env::temp_dir().join(format!("vigie-browsers-{}", nix::unistd::geteuid()));
        let folder = config.profiles_folder.clone().unwrap_or_else(default_folder);
        // Drivers have another working directory, so the path must be absolute.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let permits = Arc::new(Semaphore::new(capacity as usize));
        Self {
            config,
            profiles_folder: folder,
            browser_permits: permits,
            capacity,
            orphans_reaped: OnceCell::new(),
            process_table: Arc::default(),
            protected_drivers: ProtectedDrivers::default(),
        }
    }

    /// Whether browsers of this host run as root.
    #[must_use]
    pub fn runs_as_root(&self) -> bool {
        OsUser::lookup(self.config.os_user.as_deref()).is_ok_and(OsUser::is_root)
    }

    /// Keeps all checks from the remote drivers. Blocks while their names are resolved.
    pub fn protect_remote_drivers(&self) {
        self.protected_drivers.protect_all(&self.config.remotes);
    }

    /// Returns how many local browsers may be open at once.
    #[must_use]
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Returns how many checks may run at once; unlimited when there are remote end points.
    #[must_use]
    pub fn max_concurrent_checks(&self) -> usize {
        if self.config.remotes.is_empty() { self.capacity as usize } else { usize::MAX }
    }

    /// Returns how long a browser may take to start, in addition to [`FREE_BROWSER_TIMEOUT`].
    #[must_use]
    pub const fn start_timeout(&self) -> Duration {
        self.config.start_timeout
    }

    /// Returns the browser to use: `chosen`, or without a choice Firefox, or whichever is available.
    ///
    /// # Errors
    /// Fails with [`FailureKind::BrowserNotInstalled`] (95), naming what is missing.
    pub fn choose_browser(&self, chosen: Option<BrowserKind>) -> Result<BrowserKind, Failure> {
        if let Some(chosen) = chosen {
            return self.check_available(chosen).map(|()| chosen);
        }
        let preferences = [BrowserKind::Firefox, BrowserKind::Chrome, BrowserKind::InternetExplorer];
        if let Some(available) = preferences.into_iter().find(|kind| self.check_available(*kind).is_ok()) {
            return Ok(available);
        }
        let reasons: Vec<String> = [BrowserKind::Firefox, BrowserKind::Chrome]
            .into_iter()
            .filter_map(|kind| Some(format!("{}: {}", kind.name(), self.check_available(kind).err()?.detail)))
            .collect();
        let detail = format!("this location has no browser ({})", reasons.join("; "));
        Err(launch_failure(FailureKind::BrowserNotInstalled, detail))
    }

    /// Checks whether a browser of this kind is available.
    ///
    /// # Errors
    /// Fails with [`FailureKind::BrowserNotInstalled`] (95), naming what is missing.
    pub fn check_available(&self, kind: BrowserKind) -> Result<(), Failure> {
        self.executable_or_endpoint(kind).map(drop)
    }

    /// Returns the program or the end point of a browser of this kind.
    ///
    /// # Errors
    /// Fails like [`Self::check_available`].
    pub fn executable_or_endpoint(&self, kind: BrowserKind) -> Result<String, Failure> {
        match self.find_remote(kind) {
            Some(remote) => Ok(remote.url.to_string()),
            None => {
                binaries::find_binaries(&self.config, kind).map(|found| display_path(&found.browser_path))
            }
        }
    }

    fn find_remote(&self, kind: BrowserKind) -> Option<&RemoteWebDriver> {
        self.config.remotes.iter().find(|remote| remote.browser_kind == kind)
    }

    /// Returns the configuration of the forward proxy of a browser.
    ///
    /// # Errors
    /// Fails with [`FailureKind::NotConfigured`] (95) when the user does not exist, or when a remote browser cannot
    /// reach the proxy.
    pub fn proxy_config(
        &self,
        options: &SessionOptions,
        blocked_hosts: BlockedHosts,
    ) -> Result<ForwardProxyConfig, Failure> {
        let defaults = ForwardProxyConfig::default();
        let remote = self.find_remote(options.browser_kind);
        let (listen_address, allowed_clients) = match remote {
            None => (defaults.listen_address, AllowedClients::LocalBrowser(self.os_user_id()?)),
            // Its connections come over the socket of the host, and none over the listener.
            Some(remote) if remote.browser_host_socket().is_some() => {
                (defaults.listen_address, AllowedClients::Networks(Vec::new()))
            }
            Some(remote) => {
                let listen_address = remote.forward_proxy_address.ok_or_else(|| {
                    let detail = "`browser.remote`: `forward_host` is required to enforce the \
                                  egress policy of this location";
                    launch_failure(FailureKind::NotConfigured, detail)
                })?;
                (listen_address, AllowedClients::Networks(remote.client_networks.clone()))
            }
        };
        let tls = intercepts_tls(options).then(|| TlsOptions {
            verify_certificate: options.verify_certificates,
            ca_id: options.ca_id,
            client_certificate_id: options.client_certificate_id,
            ..TlsOptions::default()
        });
        Ok(ForwardProxyConfig {
            listen_address,
            listen_ports: remote.and_then(|remote| remote.forward_proxy_ports.clone()),
            allowed_clients,
            address_family: options.address_family,
            upstream_proxy_id: options.upstream_proxy_id,
            blocked_hosts,
            tls_interception: tls,
            trace_id: options.trace_id,
        })
    }

    /// Kills the browsers left by an earlier process, removes their profiles, and returns how many there were. Blocks.
    pub fn reap_orphans(&self) -> usize {
        reap_orphans(&self.profiles_folder)
    }

    /// Waits until all browsers are closed; returns false when that takes longer than `timeout`.
    pub async fn wait_until_all_closed(&self, timeout: Duration) -> bool {
        tokio::time::timeout(timeout, self.browser_permits.acquire_many(self.capacity)).await.is_ok()
    }

    /// Starts a driver and a browser with a new profile in their own process group, and opens a session. The caller
    /// must serve `forward_proxy` while this future runs: the driver answers only after the browser's first requests
    /// were answered.
    ///
    /// # Errors
    /// Fails with [`FailureKind::BrowserNotInstalled`] (95) when the browser or driver is missing, or their versions
    /// do not match, [`FailureKind::NotConfigured`] (95) when they cannot be started with the settings,
    /// [`FailureKind::BrowserTimedOut`] (89) when they are not ready in time or no browser became free, and
    /// [`FailureKind::BrowserFailed`] (90) when they exit or refuse.
    pub async fn open_browser(
        &self,
        options: &SessionOptions,
        net: &Net,
        forward_proxy: &ForwardProxy,
        deadline: Deadline,
    ) -> Result<OpenBrowser, Failure> {
        let OpenedSession { client, process, driver_address } = match self.find_remote(options.browser_kind) {
            None => self.open_local(options, forward_proxy, deadline).await?,
            Some(remote) => match remote.browser_host_socket() {
                Some(socket) => self.open_at_host(socket, options, forward_proxy, deadline).await?,
                None => self.open_remote(remote, options, net, forward_proxy, deadline).await?,
            },
        };
        let facts = browser_facts(&client, options).await;
        Ok(OpenBrowser { driver_client: client, facts, browser_process: process, driver_address })
    }

    /// Opens a session with a browser at a WebDriver end point on another host.
    async fn open_remote(
        &self,
        remote: &RemoteWebDriver,
        options: &SessionOptions,
        net: &Net,
        forward_proxy: &ForwardProxy,
        deadline: Deadline,
    ) -> Result<OpenedSession, Failure> {
        let start_deadline = Deadline::within(self.config.start_timeout.min(deadline.remaining()));
        let open = async {
            let protected = &self.protected_drivers;
            let client =
                remote::open_remote_session(remote, options, net, forward_proxy, protected, start_deadline)
                    .await?;
            let prepared = self.prepare_session(&client, options).await;
            prepared.map_err(|error| failure::prepare_session_failure(&error, ""))?;
            Ok(client)
        };
        let client = tokio::time::timeout_at(start_deadline.at, open).await;
        let client = client.unwrap_or_else(|_| Err(start_timeout_failure(start_deadline, "")))?;
        Ok(OpenedSession { client, process: BrowserProcess::remote(), driver_address: None })
    }

    /// Opens a session with a browser of the browser host (`vigie browser-host`) behind `socket`.
    async fn open_at_host(
        &self,
        socket: &Path,
        options: &SessionOptions,
        forward_proxy: &ForwardProxy,
        deadline: Deadline,
    ) -> Result<OpenedSession, Failure> {
        let launch = DriverLaunchOptions::from_options(options);
        let start_deadline = Deadline::within(FREE_BROWSER_TIMEOUT.min(deadline.remaining()));
        let hosted = HostedBrowser::start(socket, launch, forward_proxy.relay(), start_deadline).await?;
        let start_deadline = Deadline::within(self.config.start_timeout.min(deadline.remaining()));
        let mut builder = ClientBuilder::new(hosted.driver_connector());
        builder.capabilities(session_capabilities(
            options,
            hosted.proxy_address(),
            Some(hosted.local_browser()),
        ));
        let driver_url = hosted.driver_url();
        let connect = builder.connect(&driver_url);
        let mut process = BrowserProcess::hosted(hosted);
        let client = self.open_session(connect, options, &mut process, start_deadline).await?;
        process.mark_opened().await;
        Ok(OpenedSession { client, process, driver_address: None })
    }

    async fn open_local(
        &self,
        options: &SessionOptions,
        forward_proxy: &ForwardProxy,
        deadline: Deadline,
    ) -> Result<OpenedSession, Failure> {
        let launch = DriverLaunchOptions::from_options(options);
        let (mut driver, start_deadline) = self.start_driver(launch, deadline).await?;
        if let Some(browser_sockets) = driver.process.socket_owner() {
            forward_proxy.set_socket_owner(browser_sockets);
        }
        let capabilities =
            session_capabilities(options, forward_proxy.listen_address(), Some(&driver.local_browser));
        let mut builder = ClientBuilder::new(ResponseLimitConnector::new());
        builder.capabilities(capabilities);
        let address = format!("http://{}", driver.address);
        let connect = builder.connect(&address);
        let client = self.open_session(connect, options, &mut driver.process, start_deadline).await?;
        driver.process.mark_opened().await;
        Ok(OpenedSession { client, process: driver.process, driver_address: Some(driver.address) })
    }

    /// Connects to the driver, which starts the browser, and prepares the session; meanwhile watches the processes.
    async fn open_session(
        &self,
        connect: impl Future<Output = Result<Client, NewSessionError>>,
        options: &SessionOptions,
        process: &mut BrowserProcess,
        start_deadline: Deadline,
    ) -> Result<Client, Failure> {
        let session = async {
            let connected = tokio::select! {
                connected = connect => connected,
                browser_failure = process.wait_for_failure() => return Err(browser_failure),
            };
            let client = connected
                .map_err(|error| failure::session_not_created_failure(&error, &process.driver_output()))?;
            let prepared = tokio::select! {
                prepared = self.prepare_session(&client, options) => prepared,
                browser_failure = process.wait_for_failure() => return Err(browser_failure),
            };
            prepared.map_err(|error| failure::prepare_session_failure(&error, &process.driver_output()))?;
            Ok(client)
        };
        let opened = tokio::time::timeout_at(start_deadline.at, session).await;
        let client =
            opened.unwrap_or_else(|_| Err(start_timeout_failure(start_deadline, &process.driver_output())));
        client.map_err(|failure| Failure { phase: Phase::Launch, ..failure })
    }

    /// Starts a driver on this host with a new profile, and waits until it listens. Returns the deadline for its
    /// browser too.
    ///
    /// # Errors
    /// Fails like [`Self::open_browser`].
    pub(super) async fn start_driver(
        &self,
        launch: DriverLaunchOptions,
        deadline: Deadline,
    ) -> Result<(StartedDriver, Deadline), Failure> {
        self.reap_orphans_once().await;
        let binaries = binaries::find_binaries(&self.config, launch.browser_kind)?;
        let os_user = OsUser::lookup(self.config.os_user.as_deref())?;
        let permit = self.acquire_permit(deadline).await?;
        let start_deadline = Deadline::within(self.config.start_timeout.min(deadline.remaining()));
        let profile = self.create_profile(&os_user)?;
        let local_browser = LocalBrowser {
            browser_path: binaries.browser_path.clone(),
            data_dir: profile.data_dir(),
            use_sandbox: self.config.use_sandbox && !os_user.is_root(),
        };
        let starter = DriverStarter { binaries: &binaries, launch, os_user, niceness: self.config.niceness };
        let (process_group, driver_log) = starter.start(&profile)?;
        let resources =
            ProcessResources { process_group: Some(process_group), profile, browser_permit: permit };
        let mut process = BrowserProcess::new(
            resources,
            Some(driver_log),
            self.config.max_memory_bytes_per_browser,
            Arc::clone(&self.process_table),
        );
        let port = tokio::time::timeout_at(start_deadline.at, starter.wait_for_port(&mut process)).await;
        let port =
            port.unwrap_or_else(|_| Err(start_timeout_failure(start_deadline, &process.driver_output())));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port?));
        process.block_checks_from_ports().await;
        Ok((StartedDriver { process, address, local_browser }, start_deadline))
    }

    /// Returns the id of the user that browsers of this host run as.
    ///
    /// # Errors
    /// Fails with [`FailureKind::NotConfigured`] (95) when the user does not exist.
    pub(super) fn os_user_id(&self) -> Result<u32, Failure> {
        Ok(OsUser::lookup(self.config.os_user.as_deref())?.uid)
    }

    /// Acquires the permit for one more browser, after [`FREE_BROWSER_TIMEOUT`] at most.
    async fn acquire_permit(&self, deadline: Deadline) -> Result<OwnedSemaphorePermit, Failure> {
        let timeout = FREE_BROWSER_TIMEOUT.min(deadline.remaining());
        let permit = tokio::time::timeout(timeout, Arc::clone(&self.browser_permits).acquire_owned()).await;
        permit.ok().and_then(Result::ok).ok_or_else(|| {
            let detail = format!(
                "all {} browsers that fit into memory were in use for {} s",
                self.capacity,
                timeout.as_secs()
            );
            launch_failure(FailureKind::BrowserTimedOut, detail)
        })
    }

    /// Removes orphans before the first browser of this process is opened; terminal commands do it at no other time.
    async fn reap_orphans_once(&self) {
        let folder = self.profiles_folder.clone();
        let reap =
            || async { tokio::task::spawn_blocking(move || reap_orphans(&folder)).await.unwrap_or_default() };
        self.orphans_reaped.get_or_init(reap).await;
    }

    /// Prepares the session, and then its first window.
    async fn prepare_session(
        &self,
        client: &Client,
        options: &SessionOptions,
    ) -> Result<(), fantoccini::error::CmdError> {
        if options.browser_kind == BrowserKind::Firefox {
            addon::install_addon(client, &options.emulation.extra_headers).await?;
        }
        self.prepare_window(client, options).await
    }

    /// Prepares the current window of `client`: sets its size and emulated header fields, and refuses downloads.
    /// [`Self::open_browser`] prepares the first window; windows opened by the page must be prepared separately.
    ///
    /// # Errors
    /// Fails with the driver's error.
    pub async fn prepare_window(
        &self,
        client: &Client,
        options: &SessionOptions,
    ) -> Result<(), fantoccini::error::CmdError> {
        match options.browser_kind {
            BrowserKind::Chrome => chrome::prepare_window(client, &options.emulation).await,
            BrowserKind::Firefox => firefox::prepare_window(client, &options.emulation).await,
            BrowserKind::InternetExplorer => Ok(()),
        }
    }

    fn create_profile(&self, os_user: &OsUser) -> Result<BrowserProfile, Failure> {
        let folder = &self.profiles_folder;
        let created = browser_profile::create_profiles_dir(folder, os_user)
            .and_then(|()| BrowserProfile::create(folder, os_user));
        created.map_err(|error| {
            let detail = format!("`browser.folder`: `{}` cannot be used: {error}", folder.display());
            launch_failure(FailureKind::NotConfigured, detail)
        })
    }
}

pub(super) fn start_timeout_failure(start_deadline: Deadline, driver_output: &str) -> Failure {
    let detail = format!("not ready within {} s", start_deadline.timeout.as_secs_f32());
    launch_failure(FailureKind::BrowserTimedOut, failure::with_driver_output(&detail, driver_output))
}

fn reap_orphans(folder: &Path) -> usize {
    // Without the folder there are no orphans.
    let Ok(orphaned) = BrowserProfile::find_orphans(folder) else { return 0 };
    let count = orphaned.len();
    for profile in orphaned {
        let profile_name = profile.name().to_owned();
        if !process_group::kill_orphans(&profile) {
            tracing::warn!(profile = profile_name, "failed to end the processes of a browser");
        }
        if let Err(error) = profile.remove() {
            tracing::warn!(profile = profile_name, %error, "failed to remove the profile of a browser");
        }
    }
    count
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
