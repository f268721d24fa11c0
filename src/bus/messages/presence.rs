//! The heartbeat of an agent.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use prost::Message;

use super::encoded_message::BusMessage;
use super::error::MessageError;
use super::field::{FieldOf, duration_us, micros, timestamp};
use super::message_kind::MessageKind;
use crate::bus::contract::{
    AgentLoad, AgentNetwork, AssignmentRevision, MAX_NETWORK_ENTRIES, MAX_NETWORK_TEXT_BYTES, Presence,
    SpoolLoad,
};
use crate::domain::{AgentId, LocationId};

/// Most bytes of the version of a program.
const MAX_VERSION_BYTES: usize = 64;
/// Largest weight of an agent, so that a hostile one cannot take every monitor of its location.
const MAX_WEIGHT: u32 = 100;

/// A heartbeat.
#[derive(Clone, PartialEq, Message)]
pub struct PresenceMessage {
    /// The location that the agent belongs to.
    #[prost(int64, tag = "1")]
    pub location_id: i64,
    /// Version of its program.
    #[prost(string, tag = "2")]
    pub version: String,
    /// When it was sent, by the clock of the agent.
    #[prost(sfixed64, tag = "3")]
    pub sent_at_us: i64,
    /// By how much the clock of the control plane is ahead; absent when it was not measured.
    #[prost(sint64, optional, tag = "4")]
    pub clock_offset_us: Option<i64>,
    /// Number of planned monitors.
    #[prost(uint64, tag = "5")]
    pub planned_monitors: u64,
    /// Number of checks that run, or whose result waits for delivery.
    #[prost(uint64, tag = "6")]
    pub running_checks: u64,
    /// Number of checks that wait for admission.
    #[prost(uint64, tag = "7")]
    pub waiting_checks: u64,
    /// Number of browsers that may run at once.
    #[prost(uint64, tag = "8")]
    pub browser_capacity: u64,
    /// Whether the agent reached none of its own-connectivity targets lately.
    #[prost(bool, tag = "9")]
    pub is_isolated: bool,
    /// The revision of the assignments that it has applied.
    #[prost(uint64, tag = "10")]
    pub assignment_revision: u64,
    /// Id of the agent; absent in the process of the control plane.
    #[prost(int64, optional, tag = "11")]
    pub agent_id: Option<i64>,
    /// Whether it is shutting down.
    #[prost(bool, tag = "12")]
    pub is_draining: bool,
    /// Its share of the monitors compared with the other agents; 0 counts as 1.
    #[prost(uint32, tag = "13")]
    pub weight: u32,
    /// The latest start of a check after its planned time, since the heartbeat before.
    #[prost(uint64, tag = "14")]
    pub lateness_us: u64,
    /// Number of results in its spool.
    #[prost(uint64, tag = "15")]
    pub spooled_results: u64,
    /// Bytes of its spool on disk.
    #[prost(uint64, tag = "16")]
    pub spool_bytes: u64,
    /// Number of results that its spool dropped since it started.
    #[prost(uint64, tag = "17")]
    pub dropped_results: u64,
    /// Number of captures that its spool dropped since it started.
    #[prost(uint64, tag = "18")]
    pub dropped_captures: u64,
    /// Number of results in its spool that it still has to send.
    #[prost(uint64, tag = "19")]
    pub waiting_results: u64,
    /// How it reaches targets; absent in heartbeats of older agents.
    #[prost(message, optional, tag = "20")]
    pub network: Option<AgentNetworkMessage>,
}

/// How an agent reaches targets.
#[derive(Clone, PartialEq, Message)]
pub struct AgentNetworkMessage {
    /// Source addresses of its connections.
    #[prost(string, repeated, tag = "1")]
    pub source_addresses: Vec<String>,
    /// Network interface of its connections; empty without one.
    #[prost(string, tag = "2")]
    pub interface: String,
    /// Its name servers; empty: those of its host.
    #[prost(string, repeated, tag = "3")]
    pub name_servers: Vec<String>,
    /// Host and port of its proxy; empty without one.
    #[prost(string, tag = "4")]
    pub proxy: String,
    /// Ids of the proxies that monitors can refer to.
    #[prost(int64, repeated, tag = "5")]
    pub proxy_ids: Vec<i64>,
    /// Networks that its checks may connect to.
    #[prost(string, repeated, tag = "6")]
    pub egress_allow: Vec<String>,
    /// Networks that its checks may not connect to.
    #[prost(string, repeated, tag = "7")]
    pub egress_deny: Vec<String>,
    /// Host and port of its connectivity targets.
    #[prost(string, repeated, tag = "8")]
    pub connectivity_targets: Vec<String>,
}

impl BusMessage for PresenceMessage {
    const KIND: MessageKind = MessageKind::Presence;
}

impl PresenceMessage {
    /// Creates the message of `presence`.
    #[must_use]
    pub fn from_presence(presence: &Presence) -> Self {
        Self {
            location_id: presence.location_id.0,
            version: presence.version.clone().into_owned(),
            sent_at_us: micros(presence.sent_at),
            clock_offset_us: presence.clock_offset_us,
            planned_monitors: presence.load.planned_monitors as u64,
            running_checks: presence.load.running_checks as u64,
            waiting_checks: presence.load.waiting_checks as u64,
            browser_capacity: presence.browser_capacity as u64,
            is_isolated: presence.is_isolated,
            assignment_revision: presence.assignment_revision.0,
            agent_id: presence.agent_id.map(|id| id.0),
            is_draining: presence.is_draining,
            weight: presence.weight,
            lateness_us: duration_us(presence.lateness),
            spooled_results: presence.spool.results,
            spool_bytes: presence.spool.bytes,
            dropped_results: presence.spool.dropped_results,
            dropped_captures: presence.spool.dropped_captures,
            waiting_results: presence.spool.waiting_results,
            network: (*presence.network != AgentNetwork::default())
                .then(|| AgentNetworkMessage::from_network(&presence.network)),
        }
    }

    /// Returns the heartbeat.
    ///
    /// # Errors
    /// Fails for a version that is too long, and for numbers that are too large.
    pub fn into_presence(self) -> Result<Presence, MessageError> {
        let field = |name| FieldOf(Self::KIND, name);
        let count = |name, number: u64| {
            usize::try_from(number).map_err(|_| field(name).invalid(format!("{number} is too large")))
        };
        if self.version.is_empty() || self.version.len() > MAX_VERSION_BYTES {
            let reason = format!("it has {} bytes, not 1 to {MAX_VERSION_BYTES}", self.version.len());
            return Err(field("version").invalid(reason));
        }
        Ok(Presence {
            location_id: LocationId(self.location_id),
            version: Cow::Owned(self.version),
            sent_at: timestamp(self.sent_at_us),
            clock_offset_us: self.clock_offset_us,
            load: AgentLoad {
                planned_monitors: count("planned_monitors", self.planned_monitors)?,
                running_checks: count("running_checks", self.running_checks)?,
                waiting_checks: count("waiting_checks", self.waiting_checks)?,
            },
            browser_capacity: count("browser_capacity", self.browser_capacity)?,
            is_isolated: self.is_isolated,
            assignment_revision: AssignmentRevision(self.assignment_revision),
            agent_id: self.agent_id.map(AgentId),
            is_draining: self.is_draining,
            weight: self.weight.clamp(1, MAX_WEIGHT),
            lateness: Duration::from_micros(self.lateness_us),
            spool: SpoolLoad {
                results: self.spooled_results,
                bytes: self.spool_bytes,
                dropped_results: self.dropped_results,
                dropped_captures: self.dropped_captures,
                waiting_results: self.waiting_results,
            },
            network: Arc::new(
                self.network.map(AgentNetworkMessage::into_network).transpose()?.unwrap_or_default(),
            ),
        })
    }
}

impl AgentNetworkMessage {
    fn from_network(network: &AgentNetwork) -> Self {
        Self {
            source_addresses: network.source_addresses.iter().map(ToString::to_string).collect(),
            interface: network.interface.clone(),
            name_servers: network.name_servers.clone(),
            proxy: network.proxy.clone(),
            proxy_ids: network.proxy_ids.clone(),
            egress_allow: network.egress_allow.clone(),
            egress_deny: network.egress_deny.clone(),
            connectivity_targets: network.connectivity_targets.clone(),
        }
    }

    /// Fails for addresses that are none, and for lists and texts that are too long.
    fn into_network(self) -> Result<AgentNetwork, MessageError> {
        let field = |name| FieldOf(MessageKind::Presence, name);
        let lists = [
            ("network.source_addresses", &self.source_addresses),
            ("network.name_servers", &self.name_servers),
            ("network.egress_allow", &self.egress_allow),
            ("network.egress_deny", &self.egress_deny),
            ("network.connectivity_targets", &self.connectivity_targets),
        ];
        for (name, list) in lists {
            if list.len() > MAX_NETWORK_ENTRIES || list.iter().any(|text| text.len() > MAX_NETWORK_TEXT_BYTES)
            {
                return Err(field(name).invalid(format!("it has {} entries, or too long ones", list.len())));
            }
        }
        if self.proxy_ids.len() > MAX_NETWORK_ENTRIES {
            return Err(field("network.proxy_ids").invalid(format!("it has {} ids", self.proxy_ids.len())));
        }
        if self.interface.len().max(self.proxy.len()) > MAX_NETWORK_TEXT_BYTES {
            return Err(field("network.proxy").invalid("it or the interface is too long"));
        }
        let parse = |text: &String| {
            text.parse()
                .map_err(|_| field("network.source_addresses").invalid(format!("`{text}` is no address")))
        };
        Ok(AgentNetwork {
            source_addresses: self.source_addresses.iter().map(parse).collect::<Result<_, _>>()?,
            interface: self.interface,
            name_servers: self.name_servers,
            proxy: self.proxy,
            proxy_ids: self.proxy_ids,
            egress_allow: self.egress_allow,
            egress_deny: self.egress_deny,
            connectivity_targets: self.connectivity_targets,
        })
    }
}
