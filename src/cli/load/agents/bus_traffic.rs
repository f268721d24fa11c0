//! The traffic of the NATS server, as it tells users of the system's account (`$SYS.REQ.SERVER.PING`).

use std::sync::Arc;

use anyhow::Context;
use async_nats::Client;
use serde::Deserialize;

use crate::clock::SystemClock;
use crate::service::agents::NatsTrust;

/// Asks for the statistics of a server.
const STATISTICS_SUBJECT: &str = "$SYS.REQ.SERVER.PING";

/// Reads the traffic of the server.
pub(super) struct BusTraffic {
    client: Client,
}

#[derive(Deserialize)]
struct Reply {
    statsz: Statistics,
}

#[derive(Deserialize)]
struct Statistics {
    sent: Traffic,
    received: Traffic,
}

#[derive(Deserialize)]
struct Traffic {
    bytes: u64,
}

impl BusTraffic {
    /// Connects as a user of the system's account.
    pub(super) async fn connect(trust: &NatsTrust) -> anyhow::Result<Self> {
        let login = trust.system_login(Arc::new(SystemClock))?;
        let client = login.connect_options()?.connect(&trust.urls).await;
        Ok(Self { client: client.context("the statistics of the NATS server cannot be read")? })
    }

    /// Returns the bytes of all messages that the server received and sent since its start, with their headers and
    /// without the protocol around them.
    pub(super) async fn bytes(&self) -> anyhow::Result<u64> {
        let reply = self.client.request(STATISTICS_SUBJECT, "".into()).await;
        let reply = reply.context("the NATS server does not tell its statistics")?;
        let Reply { statsz } = serde_json::from_slice(&reply.payload)
            .context("the statistics of the NATS server cannot be read")?;
        Ok(statsz.received.bytes + statsz.sent.bytes)
    }
}
