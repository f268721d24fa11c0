//! The SNMP trap channel.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use super::ber;
use super::ber::{
    encode_context_tagged, encode_integer, encode_octets, encode_oid, encode_sequence, encode_tagged,
};
use crate::domain::{MonitorId, NotificationKind, NotificationMethod, Phase, Timestamp};
use crate::net::{ConnectionTrace, Deadline, Endpoint, Net};
use crate::notify::dedup_key::dedup_key;
use crate::notify::outgoing_message::OutgoingMessage;
use crate::notify::send_error::SendError;

/// Default port of trap receivers.
const DEFAULT_TRAP_PORT: u16 = 162;

/// Default community.
const DEFAULT_COMMUNITY: &str = "public";

/// Most bytes of one text, so that all objects fit into one packet.
const MAX_TEXT_BYTES: usize = 110;

/// `enterpriseSpecific` (RFC 1157 4.1.6).
const ENTERPRISE_SPECIFIC: i64 = 6;

/// First object of every version 2c trap: the time since the start.
const SYS_UP_TIME_OID: &[u32] = &[1, 3, 6, 1, 2, 1, 1, 3, 0];

/// Second object of every version 2c trap: which trap it is.
const SNMP_TRAP_OID: &[u32] = &[1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0];

/// Tags of SMI types (RFC 2578 7.1).
const IP_ADDRESS_TAG: u8 = 0x40;

const TIME_TICKS_TAG: u8 = 0x43;

/// Sends traps.
pub(in crate::notify) struct TrapChannel {
    pub(in crate::notify) net: Arc<Net>,
    pub(in crate::notify) enterprise_oid: Vec<u32>,
    /// When the process started, for the uptime in traps.
    pub(in crate::notify) started_at: Timestamp,
}

impl TrapChannel {
    pub(in crate::notify) async fn send(
        &self,
        message: &OutgoingMessage,
        now: Timestamp,
        timeout: Duration,
    ) -> Result<(), SendError> {
        let deadline = Deadline::within(timeout);
        let (host, port) = parse_host_and_port(&message.recipient.address)
            .ok_or_else(|| SendError::permanent("the address is not a host with an optional port"))?;
        let mut trace = ConnectionTrace::default();
        let net = self.net.with_egress_principal(message.egress_principal);
        let resolved_addresses = net.resolve(&Endpoint::new(host, port), deadline, &mut trace).await?;
        let allowed = net.allowed_addresses(&resolved_addresses, Some(port), &mut trace)?;
        let address = allowed.first().ok_or_else(|| SendError::transient("the host name has no address"))?;
        let receiver_address = SocketAddr::new(*address, port);
        let socket = net.open_udp_socket(receiver_address)?;
        let source = socket.local_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |own| own.ip());
        let uptime_ticks =
            i64::try_from(now.since(self.started_at).as_millis() / 10).unwrap_or(i64::MAX) & 0xffff_ffff;
        let packet = build_trap_packet(message, &self.enterprise_oid, uptime_ticks, source);
        let send_result = deadline.enforce(Phase::Send, socket.send(&packet)).await?;
        send_result.map(drop).map_err(|error| SendError::transient(format!("{receiver_address}: {error}")))
    }
}

/// Parses `host`, `host:port`, `[v6]:port` or an address alone.
fn parse_host_and_port(text: &str) -> Option<(&str, u16)> {
    let found = crate::syntax::text_format::parse_service_address(text.trim(), &[])?;
    Some((found.host, found.port.unwrap_or(DEFAULT_TRAP_PORT)))
}

fn build_trap_packet(
    message: &OutgoingMessage,
    enterprise_oid: &[u32],
    uptime_ticks: i64,
    source_address: IpAddr,
) -> Vec<u8> {
    let recipient = &message.recipient;
    let community = [message.credential.0.as_str(), recipient.username.as_str(), DEFAULT_COMMUNITY];
    let community = community.into_iter().find(|text| !text.is_empty()).unwrap_or(DEFAULT_COMMUNITY);
    let kind = message.content.kind;
    let specific_trap = NotificationKind::ALL
        .iter()
        .position(|(candidate_kind, ..)| *candidate_kind == kind)
        .map_or(0, |index| index + 1);
    let specific_trap = u32::try_from(specific_trap).unwrap_or_default();
    let uptime_ticks = encode_tagged(TIME_TICKS_TAG, &ber::encode_unsigned_content(uptime_ticks));
    let (version, pdu) = if recipient.method == NotificationMethod::SnmpV1 {
        // Version 1 supports IPv4 agent addresses only.
        let agent_address = if let IpAddr::V4(agent_address) = source_address {
            agent_address
        } else {
            Ipv4Addr::UNSPECIFIED
        };
        let parts = [
            encode_oid(enterprise_oid),
            encode_tagged(IP_ADDRESS_TAG, &agent_address.octets()),
            encode_integer(ENTERPRISE_SPECIFIC),
            encode_integer(specific_trap.into()),
            uptime_ticks,
            encode_sequence(&message_varbinds(message, enterprise_oid)),
        ];
        (0, encode_context_tagged(4, &parts))
    } else {
        let trap_oid: Vec<u32> = [enterprise_oid, &[0, specific_trap]].concat();
        let mut bindings = vec![
            encode_varbind(SYS_UP_TIME_OID, uptime_ticks),
            encode_varbind(SNMP_TRAP_OID, encode_oid(&trap_oid)),
        ];
        bindings.extend(message_varbinds(message, enterprise_oid));
        // The request id, which no reply refers to.
        let request_id = i64::from(
            message.idempotency_key.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte))
                >> 1,
        );
        (
            1,
            encode_context_tagged(
                7,
                &[
                    encode_integer(request_id),
                    encode_integer(0),
                    encode_integer(0),
                    encode_sequence(&bindings),
                ],
            ),
        )
    };
    encode_sequence(&[encode_integer(version), encode_octets(community.as_bytes()), pdu])
}

fn encode_varbind(oid: &[u32], value: Vec<u8>) -> Vec<u8> {
    encode_sequence(&[encode_oid(oid), value])
}

fn message_varbinds(message: &OutgoingMessage, enterprise_oid: &[u32]) -> Vec<Vec<u8>> {
    let content = &message.content;
    let values = [
        encode_octets(truncate(&message.subject)),
        encode_octets(content.kind.name().as_bytes()),
        encode_integer(content.monitor_id.map_or(0, |MonitorId(id)| id.clamp(0, i32::MAX.into()))),
        encode_octets(truncate(&content.monitor_name)),
        encode_integer(content.status.0.into()),
        encode_octets(truncate(&content.status_text)),
        encode_octets(truncate(&content.location_name)),
        encode_octets(content.occurred_at.to_string().as_bytes()),
        encode_integer(content.consecutive_failures.into()),
        encode_octets(truncate(&content.target)),
        encode_octets(truncate(&message.idempotency_key)),
        encode_octets(truncate(&dedup_key(content, &message.idempotency_key))),
    ];
    let object_number = |index: usize| u32::try_from(index + 1).unwrap_or_default();
    let object =
        |(index, value)| encode_varbind(&[enterprise_oid, &[1, object_number(index)]].concat(), value);
    values.into_iter().enumerate().map(object).collect()
}

/// Returns the beginning of a text, whole characters only.
fn truncate(text: &str) -> &[u8] {
    &text.as_bytes()[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

/// Parses an object identifier such as `1.3.6.1.4.1.8072`; at least two arcs (X.660).
#[must_use]
pub fn parse_object_identifier(text: &str) -> Option<Vec<u32>> {
    let arcs: Vec<u32> = text.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    let is_valid = arcs.len() >= 2 && arcs.len() <= 100 && arcs[0] <= 2 && (arcs[0] == 2 || arcs[1] < 40);
    is_valid.then_some(arcs)
}
