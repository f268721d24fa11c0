//! Bytes that are no message, and values that are none, are refused with what and where; unknown fields are ignored,
//! and stay in the bytes that are passed on.

use proptest::prelude::*;
use prost::encoding::{WireType, encode_key, encode_varint};
use vigie::bus::messages::{
    AssignedMonitorMessage, BusMessage, CheckOrderMessage, EncodedMessage, FirstCheckOrderMessage,
    MessageError, MessageKind, MissedRunsMessage, OrderReplyMessage, PresenceMessage, ReplyKind,
    ResultMessage,
};

use super::samples::{FlippingSealer, assigned, failed_result, presence, without_captures};

fn result_message() -> ResultMessage {
    ResultMessage::from_result(&failed_result()).unwrap()
}

/// Returns an envelope with these fields.
fn envelope(version: u64, kind: u64, message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (field, value) in [(1, version), (2, kind)] {
        encode_key(field, WireType::Varint, &mut bytes);
        encode_varint(value, &mut bytes);
    }
    encode_key(3, WireType::LengthDelimited, &mut bytes);
    encode_varint(message.len() as u64, &mut bytes);
    bytes.extend_from_slice(message);
    bytes
}

/// Appends a field that no version has.
fn with_unknown_field(mut bytes: Vec<u8>) -> Vec<u8> {
    encode_key(1999, WireType::LengthDelimited, &mut bytes);
    encode_varint(3, &mut bytes);
    bytes.extend_from_slice(b"new");
    bytes
}

#[test]
fn fields_of_a_newer_version_are_ignored_and_survive_in_what_is_passed_on() {
    let message = with_unknown_field(prost::Message::encode_to_vec(&result_message()));
    let bytes = with_unknown_field(envelope(1, u64::from(MessageKind::Result.number()), &message));
    let received = EncodedMessage::parse(bytes.clone()).unwrap();
    let result = received.decode::<ResultMessage>().unwrap().into_result().unwrap();
    assert_eq!(result, without_captures(&failed_result()));
    assert_eq!(received.as_bytes(), bytes, "it is passed on as it came");
}

#[test]
fn a_message_that_is_cut_off_is_refused_at_every_byte() {
    let bytes = result_message().to_bytes().unwrap();
    for end in 0..bytes.len() {
        let error = ResultMessage::from_bytes(&bytes[..end]).unwrap_err();
        assert!(matches!(error, MessageError::Malformed { .. }), "{end}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_bytes_make_a_reader_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        kind in proptest::sample::select(MessageKind::ALL),
    ) {
        let _ = EncodedMessage::parse(bytes.clone());
        let envelope = envelope(1, u64::from(kind.number()), &bytes);
        let _ = ResultMessage::from_bytes(&envelope).map(ResultMessage::into_result);
        let _ = CheckOrderMessage::from_bytes(&envelope).map(|order| order.into_order(&FlippingSealer));
        let _ = OrderReplyMessage::from_bytes(&envelope).map(OrderReplyMessage::into_reply);
        let _ = PresenceMessage::from_bytes(&envelope).map(PresenceMessage::into_presence);
    }

    #[test]
    fn damaged_bytes_make_no_reader_panic(position in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let mut bytes = result_message().to_bytes().unwrap();
        *position.get_mut(&mut bytes) ^= 1 << bit;
        let _ = ResultMessage::from_bytes(&bytes).map(ResultMessage::into_result);
    }
}

#[test]
fn an_envelope_that_cannot_be_used_is_refused_with_its_reason() {
    let result = u64::from(MessageKind::Result.number());
    for (bytes, expected) in [
        (Vec::new(), "the message cannot be decoded: it has no format version"),
        (
            envelope(2, result, b""),
            "the message has format version 2; this version reads up to 1: upgrade it",
        ),
        (envelope(1, 99, b""), "the message cannot be decoded: there is no kind of message 99"),
        (
            envelope(1, u64::from(MessageKind::Presence.number()), b""),
            "the message is `presence`, not `result`",
        ),
        (
            envelope(1, result, &vec![0; 960 * 1024 + 1]),
            "the message `result` has 983041 bytes, more than 983040",
        ),
    ] {
        assert_eq!(ResultMessage::from_bytes(&bytes).unwrap_err().to_string(), expected);
    }
    let error = ResultMessage::from_bytes(&envelope(1, result, b"\xff\xff")).unwrap_err().to_string();
    assert!(error.starts_with("the message `result` cannot be decoded: "), "{error}");
}

#[test]
fn a_result_with_a_value_that_cannot_be_used_is_refused_with_its_field() {
    let with = |change: fn(&mut ResultMessage)| {
        let mut changed = result_message();
        change(&mut changed);
        changed.into_result().unwrap_err().to_string()
    };
    for (error, expected) in [
        (with(|result| result.check_id ^= 1), "`check_id`: "),
        (with(|result| result.monitor_id += 1), "`check_id`: "),
        (with(|result| result.outcome = 0), "`outcome`: 0 is none of its 6 values"),
        (with(|result| result.outcome = 7), "`outcome`: 7 is none of its 6 values"),
        (with(|result| result.outcome = 5), "`missed`: "),
        (
            with(|result| {
                result.outcome = 5;
                result.missed = Some(MissedRunsMessage { reason: 6, run_count: 1, last_planned_at_us: 0 });
            }),
            "`missed.reason`: 6 is none of its 5 values",
        ),
        (with(|result| result.missed = Some(MissedRunsMessage::default())), "`missed.run_count`: "),
        (with(|result| result.trigger = 4), "`trigger`: "),
        (with(|result| result.status = 70_000), "`status`: 70000 is too large"),
        (with(|result| result.warning_status = Some(70_000)), "`warning_status`: "),
        (with(|result| result.monitor_type = "telnet".to_owned()), "`monitor_type`: `telnet` is not a "),
        (with(|result| result.address = Some("here".to_owned())), "`address`: `here` is not an address"),
        (with(|result| result.attempts[0].number = 300), "`attempts.number`: "),
        (with(|result| result.attempts[0].phases[0].phase = 200), "`attempts.phases.phase`: 200 is none"),
        (with(|result| result.attempts[1].failure_json = b"{".to_vec()), "`attempts.failure_json`: "),
        (with(|result| result.facts_json = b"[]".to_vec()), "`facts_json`: "),
        (with(|result| result.details_json = b"{\"steps\":1}".to_vec()), "`details_json`: "),
    ] {
        assert!(error.starts_with("the message `result` has an invalid field "), "{error}");
        assert!(error.contains(expected), "{error} lacks {expected}");
    }
}

#[test]
fn orders_and_replies_with_values_that_cannot_be_used_are_refused_with_their_field() {
    let monitor = || AssignedMonitorMessage::from_assigned(&assigned(), &FlippingSealer);
    let order = |change: fn(&mut AssignedMonitorMessage)| {
        let mut monitor = monitor();
        change(&mut monitor);
        let order = CheckOrderMessage { monitor: Some(monitor), timeout_us: 1 };
        order.into_order(&FlippingSealer).unwrap_err().to_string()
    };
    let timeout = |timeout_us| {
        let order = FirstCheckOrderMessage { monitor_id: 1, timeout_us, ..FirstCheckOrderMessage::default() };
        order.into_order().unwrap_err().to_string()
    };
    let reply = |reply| OrderReplyMessage { reply }.into_reply().unwrap_err().to_string();
    let no_monitor = CheckOrderMessage { monitor: None, timeout_us: 1 }.into_order(&FlippingSealer);
    let mut presence = PresenceMessage::from_presence(&presence());
    presence.version.clear();
    for (error, expected) in [
        (no_monitor.unwrap_err().to_string(), "the message `check_order` lacks the field `monitor`"),
        (order(|monitor| monitor.origin = 4), "`origin`: 4 is none of 1 to 3"),
        (order(|monitor| monitor.pool_position = 5), "[5, 5, 3] is no rotation"),
        (order(|monitor| monitor.pool_size = 70_000), "70000 is too large"),
        (order(|monitor| monitor.locations_per_run = 0), "[2, 5, 0] is no rotation"),
        (order(|monitor| monitor.fields_json = b"7".to_vec()), "`fields_json`: "),
        (order(|monitor| monitor.fields_json = b"{\"interval\":\"x\"}".to_vec()), "`fields_json`: "),
        (order(|monitor| monitor.sealed_secrets = Some(b"x".to_vec())), "`sealed_secrets`: it is sealed for"),
        (timeout(0), "`timeout_us`: 0 is not between 1 and 172800000000"),
        (timeout(u64::MAX), "`timeout_us`: "),
        (reply(None), "the message `order_reply` lacks the field `reply`"),
        (reply(Some(ReplyKind::Error(6))), "`error`: 6 is none of its 5 values"),
        (presence.into_presence().unwrap_err().to_string(), "`version`: it has 0 bytes, not 1 to 64"),
    ] {
        assert!(error.contains(expected), "{error} lacks {expected}");
    }
}
