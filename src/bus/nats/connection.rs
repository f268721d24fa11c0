//! A connection to NATS. It reconnects by itself; what is published meanwhile fails or waits for it.

use std::time::Duration;

use async_nats::ConnectOptions;
use async_nats::connection::State;
use async_nats::jetstream;

use super::subjects::AGENT_API_PREFIX;

/// How long a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the connection is probed. Two probes without a reply end it.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// Longest pause between two attempts to connect.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(4);
/// Most published messages whose acknowledgement is outstanding.
const MAX_UNACKNOWLEDGED: usize = 1_024;

/// Why the bus cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NatsError {
    /// The first connection failed.
    #[error("cannot connect to NATS at {urls}: {reason}")]
    Connect {
        /// The addresses of the servers.
        urls: String,
        /// What the client found.
        reason: String,
    },
    /// A stream or bucket cannot be used.
    #[error("NATS does not {operation}: {reason}")]
    JetStream {
        /// What was tried.
        operation: &'static str,
        /// What the server said.
        reason: String,
    },
}

impl NatsError {
    /// Returns the error of `operation`, for `map_err`.
    pub(super) fn of<E: std::fmt::Display>(operation: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::JetStream { operation, reason: error.to_string() }
    }
}

/// A connection to NATS.
#[derive(Clone, Debug)]
pub struct NatsConnection {
    client: async_nats::Client,
    jetstream: jetstream::Context,
}

impl NatsConnection {
    /// Connects to the servers `urls` for the control plane. It returns before there is a connection when there is none
    /// yet.
    ///
    /// # Errors
    /// Fails for a URL that cannot be used.
    pub async fn open(urls: &[String], options: ConnectOptions) -> Result<Self, NatsError> {
        Self::open_with(urls, options, None).await
    }

    /// Like [`NatsConnection::open`], for an agent: it reaches streams under a prefix of its own.
    ///
    /// # Errors
    /// Fails for a URL that cannot be used.
    pub async fn open_for_agent(urls: &[String], options: ConnectOptions) -> Result<Self, NatsError> {
        Self::open_with(urls, options, Some(AGENT_API_PREFIX)).await
    }

    async fn open_with(
        urls: &[String],
        options: ConnectOptions,
        api_prefix: Option<&str>,
    ) -> Result<Self, NatsError> {
        let options = options
            .retry_on_initial_connect()
            .request_timeout(Some(REQUEST_TIMEOUT))
            .ping_interval(PING_INTERVAL)
            .max_reconnects(None)
            .ignore_discovered_servers()
            .reconnect_delay_callback(reconnect_delay)
            .event_callback(log_event);
        let servers =
            urls.iter().map(|url| url.parse::<async_nats::ServerAddr>()).collect::<Result<Vec<_>, _>>();
        let to_error = |reason: String| NatsError::Connect { urls: urls.join(", "), reason };
        let servers = servers.map_err(|error| to_error(error.to_string()))?;
        let client = options.connect(servers).await.map_err(|error| to_error(error_chain(&error)))?;
        let jetstream = jetstream::ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .ack_timeout(REQUEST_TIMEOUT)
            .max_ack_inflight(MAX_UNACKNOWLEDGED);
        let jetstream = match api_prefix {
            Some(prefix) => jetstream.api_prefix(prefix).build(client.clone()),
            None => jetstream.build(client.clone()),
        };
        Ok(Self { client, jetstream })
    }

    /// Returns the client.
    #[must_use]
    pub fn client(&self) -> &async_nats::Client {
        &self.client
    }

    /// Returns what uses streams.
    #[must_use]
    pub fn jetstream(&self) -> &jetstream::Context {
        &self.jetstream
    }

    /// Whether there is a connection now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }
}

/// Returns the pause before an attempt to connect: short at first, longer after failures in a row.
fn reconnect_delay(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).min(6);
    (Duration::from_millis(50) * 2_u32.pow(doublings)).min(MAX_RECONNECT_DELAY)
}

async fn log_event(event: async_nats::Event) {
    match event {
        async_nats::Event::Connected => tracing::info!("connected to NATS"),
        async_nats::Event::Disconnected => tracing::warn!("the connection to NATS ended; trying again"),
        async_nats::Event::SlowConsumer(_) => {
            tracing::warn!("messages of NATS were dropped: they came faster than they were taken");
        }
        event => tracing::warn!(event = %event, "NATS reported a problem"),
    }
}

/// Returns the messages of `error` and its causes.
fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut messages: Vec<String> = causes.map(ToString::to_string).collect();
    messages.dedup();
    messages.join(": ")
}
