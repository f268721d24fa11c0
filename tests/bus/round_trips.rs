//! Every value is the same after it went over the bus, and secrets go sealed.

use std::net::SocketAddr;
use std::time::Duration;

use proptest::prelude::*;
use vigie::bus::contract::{
    AssignmentBatch, AssignmentRevision, AssignmentUpdate, CheckOrder, FirstCheckOrder, OrderError,
    RefusedAssignment, TracerouteOrder,
};
use vigie::bus::messages::{
    AssignmentsMessage, BusMessage, CheckOrderMessage, CommittedChecksMessage, EncodedMessage,
    FirstCheckOrderMessage, MessageError, MessageKind, OrderReply, OrderReplyMessage, PresenceMessage,
    RefusedAssignmentMessage, ResultMessage, TracerouteOrderMessage,
};
use vigie::domain::{
    CapturedFile, CheckId, CheckMetadata, CheckResult, CheckTrigger, LocationId, MonitorId, MonitorType,
    Outcome, Revision, Status, Timestamp, Verdict,
};
use vigie::schedule::BlackoutTarget;

use super::samples::{
    FlippingSealer, assigned, at, attempt, failed_result, missed_result, presence, updates, without_captures,
};

fn over_the_bus<M: BusMessage>(message: &M) -> M {
    let bytes = message.to_bytes().unwrap();
    assert_eq!(EncodedMessage::parse(bytes.clone()).unwrap().kind(), M::KIND);
    M::from_bytes(&bytes).unwrap()
}

fn result_over_the_bus(result: &CheckResult) -> CheckResult {
    over_the_bus(&ResultMessage::from_result(result).unwrap()).into_result().unwrap()
}

#[test]
fn results_are_the_same_without_their_captures() {
    for result in [failed_result(), missed_result()] {
        assert_eq!(result_over_the_bus(&result), without_captures(&result));
    }
}

fn any_address() -> impl Strategy<Value = Option<SocketAddr>> {
    prop_oneof![
        Just(None),
        any::<(std::net::IpAddr, u16)>().prop_map(|(ip, port)| Some(SocketAddr::new(ip, port)))
    ]
}

prop_compose! {
    fn any_result()(
        (monitor_id, location_id, revision) in any::<(i64, i64, i64)>(),
        (planned_at, started_at) in any::<(i64, i64)>(),
        monitor_type in proptest::sample::select(MonitorType::ALL),
        // A missed run has more than an outcome.
        outcome in proptest::sample::select(vec![Outcome::Ok, Outcome::Warning, Outcome::Error, Outcome::Unknown, Outcome::Blackout]),
        trigger in proptest::sample::select(&CheckTrigger::ALL),
        (status, warning_status) in any::<(u16, Option<u16>)>(),
        (name, status_text) in ("\\PC{0,40}", proptest::option::of("\\PC{0,40}")),
        reasons in proptest::collection::vec("\\PC{0,40}", 0..4),
        duration_us in any::<u64>(),
        address in any_address(),
        attempts in 0..3_u8,
    ) -> CheckResult {
        let metadata = CheckMetadata {
            monitor_id: MonitorId(monitor_id),
            monitor_name: name.into(),
            revision: Revision(revision),
            monitor_type,
            location_id: LocationId(location_id),
        };
        let (planned_at, started_at) = (Timestamp::from_micros(planned_at), Timestamp::from_micros(started_at));
        let (status, warning_status) = (Status(status), warning_status.map(Status));
        let verdict = Verdict { outcome, status, warning_status, reasons };
        let result = CheckResult::without_attempts(metadata, planned_at, started_at, verdict);
        CheckResult {
            trigger,
            status_text: status_text.unwrap_or_else(|| result.status_text.clone()),
            duration_us,
            address,
            attempts: (1..=attempts).map(|number| attempt(number, None)).collect(),
            ..result
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_result_is_the_same(result in any_result()) {
        prop_assert_eq!(result_over_the_bus(&result), result);
    }
}

#[test]
fn assignments_are_the_same_and_their_secrets_are_sealed() {
    let (previous_revision, revision) = (AssignmentRevision(899), AssignmentRevision(900));
    let batch = AssignmentBatch { previous_revision, revision, updates: updates() };
    let message = AssignmentsMessage::from_batch(&batch, &FlippingSealer).unwrap();
    let bytes = message.to_bytes().unwrap();
    for secret in [&b"pa55word"[..], b"PRIVATE KEY"] {
        assert!(!bytes.windows(secret.len()).any(|part| part == secret));
    }
    let received = over_the_bus(&message).into_batch(&FlippingSealer).unwrap();
    assert_eq!((received.previous_revision, received.revision), (previous_revision, revision));
    let [
        AssignmentUpdate::SetAccount(account),
        AssignmentUpdate::SetCertificates(certificates),
        AssignmentUpdate::Assign(monitor),
        AssignmentUpdate::Unassign { monitor_id: MonitorId(5), cancel_running: true },
    ] = received.updates.as_slice()
    else {
        panic!("{:?}", received.updates)
    };
    assert_eq!(monitor, &assigned());
    assert_eq!(certificates[0].pem, super::samples::certificate().pem);
    assert!(certificates[0].is_client && certificates[0].id == 8);
    let (sent, calendar) = (super::samples::account(), &account.blackout_calendar);
    assert_eq!(account.customer_id, sent.customer_id);
    assert_eq!(calendar.time_zone(), sent.blackout_calendar.time_zone());
    let target = BlackoutTarget::Monitor(MonitorId(4711));
    assert_eq!(calendar.windows_for(target), sent.blackout_calendar.windows_for(target));
    assert_eq!(calendar.windows().count(), 2, "what concerns alerts stays with the control plane");
}

#[test]
fn secrets_of_another_monitor_are_refused() {
    let batch = AssignmentBatch {
        previous_revision: AssignmentRevision(0),
        revision: AssignmentRevision(1),
        updates: vec![AssignmentUpdate::Assign(assigned())],
    };
    let mut message = AssignmentsMessage::from_batch(&batch, &FlippingSealer).unwrap();
    let Some(vigie::bus::messages::UpdateKind::Assign(monitor)) = &mut message.updates[0].update else {
        unreachable!()
    };
    monitor.monitor_id += 1;
    let error = message.into_batch(&FlippingSealer).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the message `assignments` has an invalid field `sealed_secrets`: it is sealed for something else"
    );
}

#[test]
fn orders_and_their_replies_are_the_same() {
    let (timeout, monitor_id) = (Duration::from_micros(12_345_678), MonitorId(4711));
    let order = CheckOrder { monitor: assigned(), timeout };
    let received =
        over_the_bus(&CheckOrderMessage::from_order(&order, &FlippingSealer)).into_order(&FlippingSealer);
    let received = received.unwrap();
    assert_eq!((received.monitor, received.timeout), (assigned(), timeout));
    let order = FirstCheckOrder { monitor_id, planned_at: at(5), timeout };
    assert_eq!(over_the_bus(&FirstCheckOrderMessage::from_order(&order)).into_order(), Ok(order));
    for address in [None, Some("2001:db8::1".parse().unwrap())] {
        let order = TracerouteOrder { monitor: assigned(), address, timeout };
        let message = TracerouteOrderMessage::from_order(&order, &FlippingSealer);
        let received = over_the_bus(&message).into_order(&FlippingSealer).unwrap();
        assert_eq!((received.monitor, received.address), (assigned(), address));
    }
    let errors = [
        OrderError::LocationOffline,
        OrderError::QueueFull,
        OrderError::Stopped,
        OrderError::TimedOut,
        OrderError::NoTarget,
    ];
    let replies = [
        OrderReply::Result(Box::new(without_captures(&failed_result()))),
        OrderReply::FirstCheck(false),
        OrderReply::FirstCheck(true),
        OrderReply::File(CapturedFile::new("traceroute.txt", "text/plain", b"1 gateway\n")),
    ];
    for reply in errors.map(OrderReply::Error).into_iter().chain(replies) {
        let message = OrderReplyMessage::from_reply(&reply).unwrap();
        assert_eq!(over_the_bus(&message).into_reply().unwrap(), reply);
    }
}

#[test]
fn presence_acknowledgements_and_refusals_are_the_same() {
    for clock_offset_us in [None, Some(i64::MIN), Some(0)] {
        let presence = vigie::bus::contract::Presence { clock_offset_us, ..presence() };
        let received = over_the_bus(&PresenceMessage::from_presence(&presence)).into_presence();
        assert_eq!(received.unwrap(), presence);
    }
    let checks = [CheckId(0), CheckId(u64::MAX), CheckId(7)];
    assert_eq!(over_the_bus(&CommittedChecksMessage::from_checks(&checks)).into_checks(), checks);
    let refused = RefusedAssignment {
        monitor_id: MonitorId(3),
        revision: Revision(8),
        error: "it panicked".to_owned(),
    };
    let received: RefusedAssignment = over_the_bus(&RefusedAssignmentMessage::from(refused.clone())).into();
    assert_eq!(received, refused);
}

#[test]
fn a_message_beyond_the_limit_of_its_kind_is_not_sent() {
    let mut result = failed_result();
    result.reasons = vec!["x".repeat(1024); 1000];
    let error = ResultMessage::from_result(&result).unwrap().to_bytes().unwrap_err();
    let limit = MessageKind::Result.max_bytes();
    assert!(
        matches!(error, MessageError::TooLarge { kind: MessageKind::Result, bytes, limit: at } if bytes > at && at == limit)
    );
}
