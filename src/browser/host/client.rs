//! A browser at a browser host, as the server sees it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::driver_connector::DriverConnector;
use super::messages::{HostEvent, MessageReader, OpenRequest, ServerNotice, write_message};
use crate::browser::chrome::LocalBrowser;
use crate::browser::driver_launch::DriverLaunchOptions;
use crate::browser::failure::launch_failure;
use crate::domain::{Failure, FailureKind, Phase};
use crate::forward_proxy::ConnectionRelay;
use crate::net::{Deadline, ProtectedService, protect_local_port};

/// A browser at a browser host. Dropping it ends the browser.
#[derive(Debug)]
pub(in crate::browser) struct HostedBrowser {
    /// Socket of the browser host.
    socket: PathBuf,
    session_name: String,
    driver_address: SocketAddr,
    proxy_address: SocketAddr,
    local_browser: LocalBrowser,
    events: MessageReader<BufReader<OwnedReadHalf>>,
    /// The host ends the browser when it is closed.
    control: OwnedWriteHalf,
    relay: ConnectionRelay,
    /// Its ports, which no check may reach.
    protected_ports: BTreeMap<u16, ProtectedService>,
}

impl HostedBrowser {
    /// Starts a driver at the host behind `socket`. Connections of its browser go to `relay`.
    ///
    /// # Errors
    /// Fails with [`FailureKind::NotConfigured`] (95) when no host listens there, [`FailureKind::BrowserTimedOut`] (89)
    /// when it does not answer in time, and with the failure of the host.
    pub(in crate::browser) async fn start(
        socket: &Path,
        launch: DriverLaunchOptions,
        relay: ConnectionRelay,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let host_failure = |kind, reason: &str| {
            let detail = format!("`browser.remote`: the browser host at `{}`: {reason}", socket.display());
            launch_failure(kind, detail)
        };
        let start = async {
            let stream = UnixStream::connect(socket).await.map_err(|error| {
                let hint =
                    "is `vigie browser-host` (vigie-webdriver.service) running, and may this user open it?";
                host_failure(FailureKind::NotConfigured, &format!("{error}; {hint}"))
            })?;
            let (reader, mut control) = stream.into_split();
            let mut events = MessageReader::new(BufReader::new(reader));
            let timeout_seconds = deadline.remaining().as_secs();
            let request = OpenRequest::Session { launch, timeout_seconds };
            write_message(&mut control, &request)
                .await
                .map_err(|error| connection_lost_failure(&error.to_string()))?;
            match events.next().await {
                Ok(Some(HostEvent::Started {
                    session_name,
                    driver_address,
                    proxy_address,
                    local_browser,
                })) => Ok(Self {
                    socket: socket.to_owned(),
                    session_name,
                    driver_address,
                    proxy_address,
                    local_browser,
                    events,
                    control,
                    relay,
                    protected_ports: BTreeMap::new(),
                }),
                Ok(Some(HostEvent::Failed { failure })) => Err(failure),
                Ok(_) => Err(host_failure(FailureKind::BrowserFailed, "it does not speak this protocol")),
                Err(error) => Err(host_failure(FailureKind::BrowserFailed, &error.to_string())),
            }
        };
        tokio::time::timeout_at(deadline.at, start)
            .await
            .unwrap_or_else(|_| Err(host_failure(FailureKind::BrowserTimedOut, "no driver in time")))
    }

    /// Returns a connector to the driver.
    pub(in crate::browser) fn driver_connector(&self) -> DriverConnector {
        DriverConnector { socket: self.socket.clone(), session_name: self.session_name.clone() }
    }

    /// Returns the URL of the driver, which is reached by [`Self::driver_connector`] only.
    pub(in crate::browser) fn driver_url(&self) -> String {
        format!("http://{}/", self.driver_address)
    }

    /// Returns the address at which the browser reaches its forward proxy.
    pub(in crate::browser) const fn proxy_address(&self) -> SocketAddr {
        self.proxy_address
    }

    /// Returns the program and the profile of the browser.
    pub(in crate::browser) const fn local_browser(&self) -> &LocalBrowser {
        &self.local_browser
    }

    /// Reports that the driver has opened the browser.
    pub(in crate::browser) async fn report_opened(&mut self) {
        // A lost connection is noticed by `wait_for_failure`.
        let _ = write_message(&mut self.control, &ServerNotice::Opened).await;
    }

    /// Handles the events of the host until the browser is lost; `peak_memory_bytes` is kept up to date. It must be
    /// polled while the browser is in use, since it passes on the browser's connections. Cancel-safe between two
    /// events.
    pub(in crate::browser) async fn wait_for_failure(&mut self, peak_memory_bytes: &AtomicU64) -> Failure {
        loop {
            match self.events.next().await {
                Ok(Some(HostEvent::Connection { number })) => {
                    if let Err(error) = self.relay_connection(number).await {
                        tracing::debug!(%error, "failed to take a connection of a hosted browser");
                    }
                }
                Ok(Some(HostEvent::Ports { ports })) => {
                    for port in ports {
                        self.protected_ports.entry(port).or_insert_with(|| protect_local_port(port));
                    }
                }
                Ok(Some(HostEvent::Memory { peak_bytes })) => {
                    peak_memory_bytes.fetch_max(peak_bytes, Ordering::Relaxed);
                }
                Ok(Some(HostEvent::Failed { failure })) => return failure,
                Ok(Some(HostEvent::Started { .. })) => {
                    return connection_lost_failure("it started the session twice");
                }
                Ok(None) => return connection_lost_failure("it ended"),
                Err(error) => return connection_lost_failure(&error.to_string()),
            }
        }
    }

    /// Opens the stream of the browser's connection `number`, and hands it to the forward proxy.
    async fn relay_connection(&self, number: u64) -> std::io::Result<()> {
        let mut stream = UnixStream::connect(&self.socket).await?;
        let request = OpenRequest::Connection { session_name: self.session_name.clone(), number };
        write_message(&mut stream, &request).await?;
        self.relay.send(stream);
        Ok(())
    }
}

fn connection_lost_failure(reason: &str) -> Failure {
    let detail = format!("the connection to the browser host was lost: {reason}");
    Failure::new(Phase::RunScript, FailureKind::BrowserFailed, detail)
}
