//! One session at a browser host: its driver, its browser, and the connections of the browser.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncWrite, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::messages::{HostEvent, MessageReader, ServerNotice, write_message};
use crate::browser::driver_launch::DriverLaunchOptions;
use crate::browser::driver_start::StartedDriver;
use crate::browser::failure::launch_failure;
use crate::browser::pool::BrowserPool;
use crate::browser::process::BrowserProcess;
use crate::browser::session_options::BrowserKind;
use crate::domain::{Failure, FailureKind};
use crate::forward_proxy::AllowedClients;
use crate::net::Deadline;
use crate::sync::Mutex;

/// Most connections of a browser that wait for the server.
const MAX_WAITING_CONNECTIONS: usize = 256;
/// Time between two reports of ports and memory.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);
/// Longest time that a server may ask to wait for a driver.
const MAX_START_TIMEOUT: Duration = Duration::from_mins(10);

/// The sessions of a host, by name.
pub(super) type Sessions = Mutex<HashMap<String, Arc<HostedSession>>>;

/// A session that has started.
#[derive(Debug)]
pub(super) struct HostedSession {
    driver_address: SocketAddr,
    next_connection_number: AtomicU64,
    /// Connections of the browser to its forward proxy that the server has not taken yet.
    waiting_connections: Mutex<HashMap<u64, TcpStream>>,
}

impl HostedSession {
    pub(super) const fn driver_address(&self) -> SocketAddr {
        self.driver_address
    }

    /// Removes a waiting connection.
    pub(super) fn take_connection(&self, number: u64) -> Option<TcpStream> {
        self.waiting_connections.lock().remove(&number)
    }

    /// Lets `stream` wait for the server; returns its number, or `None` when too many wait.
    fn add_connection(&self, stream: TcpStream) -> Option<u64> {
        let mut waiting_connections = self.waiting_connections.lock();
        if waiting_connections.len() >= MAX_WAITING_CONNECTIONS {
            return None;
        }
        let number = self.next_connection_number.fetch_add(1, Ordering::Relaxed);
        waiting_connections.insert(number, stream);
        Some(number)
    }
}

/// Starts a driver and reports what happens until the server closes `control`, the browser is lost, or `stop`.
pub(super) async fn run_session(
    pool: &BrowserPool,
    sessions: &Sessions,
    control: BufReader<UnixStream>,
    launch: DriverLaunchOptions,
    timeout_seconds: u64,
    stop: CancellationToken,
) -> io::Result<()> {
    let (reader, mut writer) = control.into_inner().into_split();
    let mut notices = MessageReader::new(BufReader::new(reader));
    let opened = Notify::new();
    let deadline = Deadline::within(Duration::from_secs(timeout_seconds).min(MAX_START_TIMEOUT));
    let started = tokio::select! {
        started = start_driver_and_listen(pool, launch, deadline) => started,
        () = read_notices_until_closed(&mut notices, &opened) => return Ok(()),
        () = stop.cancelled() => return Ok(()),
    };
    let (driver, listener) = match started {
        Ok(started) => started,
        Err(failure) => return write_message(&mut writer, &HostEvent::Failed { failure }).await,
    };
    let StartedDriver { mut process, address, local_browser } = driver;
    let name = random_name()?;
    let session = Arc::new(HostedSession {
        driver_address: address,
        next_connection_number: AtomicU64::new(1),
        waiting_connections: Mutex::default(),
    });
    sessions.lock().insert(name.clone(), Arc::clone(&session));
    let proxy_address = listener.local_addr()?;
    let started = HostEvent::Started {
        session_name: name.clone(),
        driver_address: address,
        proxy_address,
        local_browser,
    };
    let reported = async {
        write_message(&mut writer, &started).await?;
        let browser = ReportedBrowser { session: &session, process: &mut process, opened: &opened };
        report_until_lost(pool, browser, &listener, &mut writer).await
    };
    let result = tokio::select! {
        result = reported => result,
        () = read_notices_until_closed(&mut notices, &opened) => Ok(()),
        () = stop.cancelled() => Ok(()),
    };
    sessions.lock().remove(&name);
    process.kill_and_remove().await;
    result
}

/// Starts a driver, and listens for the connections of its browser to the forward proxy.
async fn start_driver_and_listen(
    pool: &BrowserPool,
    launch: DriverLaunchOptions,
    deadline: Deadline,
) -> Result<(StartedDriver, TcpListener), Failure> {
    if launch.browser_kind == BrowserKind::InternetExplorer {
        let detail = "Internet Explorer is available at a remote WebDriver only";
        return Err(launch_failure(FailureKind::NotConfigured, detail.to_owned()));
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(|error| launch_failure(FailureKind::NoSocketLeft, error.to_string()))?;
    let (driver, _) = pool.start_driver(launch, deadline).await?;
    Ok((driver, listener))
}

/// A browser about which the host reports.
struct ReportedBrowser<'a> {
    session: &'a HostedSession,
    process: &'a mut BrowserProcess,
    /// Notified when the server has opened its session.
    opened: &'a Notify,
}

/// Accepts the browser's connections; reports them, its ports, memory and loss. Ends then, or when the server is gone.
async fn report_until_lost(
    pool: &BrowserPool,
    browser: ReportedBrowser<'_>,
    listener: &TcpListener,
    writer: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    let ReportedBrowser { session, process, opened } = browser;
    let (events, mut received) = mpsc::channel(MAX_WAITING_CONNECTIONS);
    let socket_owner = process.socket_owner();
    let allowed_clients = pool.os_user_id().map(AllowedClients::LocalBrowser).map_err(io::Error::other)?;
    let proxy_address = listener.local_addr()?;
    let accept = async {
        loop {
            let (stream, client) = listener.accept().await?;
            if allowed_clients.allows_connection(client, proxy_address, socket_owner.clone()).await
                && let Some(number) = session.add_connection(stream)
            {
                // The receiver is dropped only with this future.
                let _ = events.send(HostEvent::Connection { number }).await;
            }
        }
    };
    let watch = async {
        let mut peak_bytes = 0;
        let mut ports = Vec::new();
        loop {
            let is_opened = tokio::select! {
                failure = process.wait_for_failure() => return failure,
                () = opened.notified() => true,
                () = tokio::time::sleep(REPORT_INTERVAL) => false,
            };
            if is_opened {
                process.mark_opened().await;
            } else {
                process.block_checks_from_ports().await;
            }
            let found: Vec<u16> = process.protected_ports().chain([proxy_address.port()]).collect();
            if found != ports {
                ports.clone_from(&found);
                let _ = events.send(HostEvent::Ports { ports: found }).await;
            }
            if let Some(bytes) = process.peak_memory_bytes().filter(|bytes| *bytes > peak_bytes) {
                peak_bytes = bytes;
                let _ = events.send(HostEvent::Memory { peak_bytes }).await;
            }
        }
    };
    let send = async {
        while let Some(event) = received.recv().await {
            write_message(writer, &event).await?;
        }
        Ok(())
    };
    let failure = tokio::select! {
        failure = watch => failure,
        result = accept => return result,
        result = send => return result,
    };
    write_message(writer, &HostEvent::Failed { failure }).await
}

/// Reads the notices of the server until it closes the connection.
async fn read_notices_until_closed(notices: &mut MessageReader<impl AsyncBufRead + Unpin>, opened: &Notify) {
    while let Ok(Some(ServerNotice::Opened)) = notices.next().await {
        opened.notify_one();
    }
}

/// Returns a name that nobody can guess.
fn random_name() -> io::Result<String> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
