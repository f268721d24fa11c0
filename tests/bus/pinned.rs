//! Messages as version 1 encoded them, in `tests/fixtures/bus-messages-1`: every later version reads them, since agents
//! and control planes of different versions talk to each other. A file is never changed. A new kind gets its file by
//! `VIGIE_PIN_BUS_MESSAGES=1 cargo test --test targets -- bus::pinned`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use vigie::bus::contract::{
    AssignmentBatch, AssignmentRevision, AssignmentUpdate, CheckOrder, FirstCheckOrder, OrderError, Presence,
    RefusedAssignment, SpoolLoad, TracerouteOrder,
};
use vigie::bus::messages::{
    AssignmentsMessage, BusMessage, CapturePieceMessage, CheckOrderMessage, ClockReplyMessage,
    CommittedChecksMessage, ControllerStatusMessage, EncodedMessage, FirstCheckOrderMessage, MessageKind,
    OrderReply, OrderReplyMessage, PresenceMessage, RefusedAssignmentMessage, ReportedStateReplyMessage,
    ReportedStateRequestMessage, ResultMessage, ResultsMessage, SnapshotHeaderMessage,
    SnapshotLocationMessage, TracerouteOrderMessage, WatchReplyMessage, WatchRequestMessage, capture_pieces,
};
use vigie::domain::{CheckId, MonitorId, ReportedState, Revision, SeriesReadings};

use super::samples::{FlippingSealer, assigned, at, failed_result, presence, updates, without_captures};

const TIMEOUT: Duration = Duration::from_secs(45);

fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bus-messages-1");
    folder.join(format!("{name}.bin"))
}

/// Returns the pinned message of this kind.
fn pinned<M: BusMessage>() -> M {
    let bytes = std::fs::read(path(M::KIND.name())).unwrap();
    M::from_bytes(&bytes).unwrap()
}

fn batch() -> AssignmentBatch {
    let (previous_revision, revision) = (AssignmentRevision(899), AssignmentRevision(900));
    AssignmentBatch { previous_revision, revision, updates: updates() }
}

/// Returns the message of each kind as this version encodes it.
fn encoded_now(kind: MessageKind) -> Vec<u8> {
    let sealer = &FlippingSealer;
    let monitor = assigned();
    let encoded = match kind {
        MessageKind::Assignments => AssignmentsMessage::from_batch(&batch(), sealer).unwrap().to_bytes(),
        MessageKind::SnapshotHeader => SnapshotHeaderMessage { revision: 900, update_count: 4 }.to_bytes(),
        MessageKind::RefusedAssignment => RefusedAssignmentMessage::from(refused()).to_bytes(),
        MessageKind::Result => ResultMessage::from_result(&failed_result()).unwrap().to_bytes(),
        MessageKind::CapturePiece => capture_pieces(&failed_result()).next().unwrap().to_bytes(),
        MessageKind::CommittedChecks => CommittedChecksMessage::from_checks(&[CheckId(7)]).to_bytes(),
        MessageKind::CheckOrder => {
            CheckOrderMessage::from_order(&CheckOrder { monitor, timeout: TIMEOUT }, sealer).to_bytes()
        }
        MessageKind::FirstCheckOrder => FirstCheckOrderMessage::from_order(&first_check()).to_bytes(),
        MessageKind::TracerouteOrder => {
            let address = Some("192.0.2.7".parse().unwrap());
            let order = TracerouteOrder { monitor, address, timeout: TIMEOUT };
            TracerouteOrderMessage::from_order(&order, sealer).to_bytes()
        }
        MessageKind::OrderReply => {
            OrderReplyMessage::from_reply(&OrderReply::Error(OrderError::QueueFull)).unwrap().to_bytes()
        }
        MessageKind::Presence => PresenceMessage::from_presence(&presence()).to_bytes(),
        MessageKind::Results => results().to_bytes(),
        MessageKind::ControllerStatus => status().to_bytes(),
        MessageKind::ClockReply => ClockReplyMessage { now_us: at(9).as_micros() }.to_bytes(),
        MessageKind::WatchRequest => watch_request().to_bytes(),
        MessageKind::WatchReply => watch_reply().to_bytes(),
        MessageKind::ReportedStateRequest => ReportedStateRequestMessage { monitor_id: 4711 }.to_bytes(),
        MessageKind::ReportedStateReply => {
            ReportedStateReplyMessage::from_outcome(Ok(reported_state())).to_bytes()
        }
    };
    encoded.unwrap()
}

fn reported_state() -> ReportedState {
    ReportedState {
        silent_us: 61_000_000,
        overdue_after_us: 120_000_000,
        was_reported: true,
        address: Some("192.0.2.7".to_owned()),
        metrics_url: None,
        series: vec![SeriesReadings { series: "load1".to_owned(), values: vec![0.5, 0.25] }],
        push: None,
        agent_version: "0.1.0".to_owned(),
    }
}

fn refused() -> RefusedAssignment {
    RefusedAssignment { monitor_id: MonitorId(3), revision: Revision(8), error: "it panicked".to_owned() }
}

fn results() -> ResultsMessage {
    let encoded = ResultMessage::from_result(&failed_result()).unwrap().to_bytes().unwrap();
    ResultsMessage::from_encoded([encoded]).unwrap()
}

fn status() -> ControllerStatusMessage {
    let (timeline, sent_at_us) = ("7 2026-11-25".to_owned(), at(9).as_micros());
    ControllerStatusMessage { timeline, is_caught_up: true, sent_at_us }
}

fn watch_request() -> WatchRequestMessage {
    WatchRequestMessage { applied_revision: 900, stream_id: "2026-11-25".to_owned(), damaged_snapshot: 0 }
}

fn watch_reply() -> WatchReplyMessage {
    let snapshot = SnapshotLocationMessage { object: "assignments".to_owned(), revision: 899 };
    WatchReplyMessage {
        stream_id: "2026-11-25".to_owned(),
        snapshot: Some(snapshot),
        error: "busy".to_owned(),
    }
}

/// What the pinned heartbeat says: it is of the time before agents had ids.
fn pinned_presence() -> Presence {
    let (lateness, spool) = (Duration::ZERO, SpoolLoad::default());
    Presence {
        agent_id: None,
        is_draining: false,
        weight: 1,
        lateness,
        spool,
        network: Arc::default(),
        ..presence()
    }
}

fn first_check() -> FirstCheckOrder {
    FirstCheckOrder { monitor_id: MonitorId(4711), planned_at: at(5), timeout: TIMEOUT }
}

#[test]
fn every_kind_has_a_pinned_message() {
    for kind in MessageKind::ALL {
        let path = path(kind.name());
        if std::env::var_os("VIGIE_PIN_BUS_MESSAGES").is_some() && !path.exists() {
            std::fs::write(&path, encoded_now(*kind)).unwrap();
        }
        let pinned = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(EncodedMessage::parse(pinned).unwrap().kind(), *kind);
    }
}

#[test]
fn pinned_messages_are_decoded_to_what_they_were() {
    let sealer = &FlippingSealer;
    let result = pinned::<ResultMessage>().into_result().unwrap();
    assert_eq!(result, without_captures(&failed_result()));
    let received = pinned::<AssignmentsMessage>().into_batch(sealer).unwrap();
    assert_eq!((received.previous_revision.0, received.revision.0), (899, 900));
    let [AssignmentUpdate::SetAccount(account), _, AssignmentUpdate::Assign(monitor), _] =
        received.updates.as_slice()
    else {
        panic!("{:?}", received.updates)
    };
    assert_eq!((account.customer_id.0, account.blackout_calendar.windows().count()), (12, 2));
    assert_eq!(*monitor, assigned());
    let order = pinned::<CheckOrderMessage>().into_order(sealer).unwrap();
    assert_eq!((order.monitor, order.timeout), (assigned(), TIMEOUT));
    let order = pinned::<TracerouteOrderMessage>().into_order(sealer).unwrap();
    assert_eq!((order.monitor, order.address.unwrap().to_string()), (assigned(), "192.0.2.7".to_owned()));
    assert_eq!(pinned::<FirstCheckOrderMessage>().into_order().unwrap(), first_check());
    let reply = pinned::<OrderReplyMessage>().into_reply().unwrap();
    assert_eq!(reply, OrderReply::Error(OrderError::QueueFull));
    assert_eq!(pinned::<PresenceMessage>().into_presence().unwrap(), pinned_presence());
    assert_eq!(pinned::<ResultsMessage>(), results());
    assert_eq!(pinned::<ControllerStatusMessage>(), status());
    assert_eq!(pinned::<ClockReplyMessage>().now_us, at(9).as_micros());
    assert_eq!(pinned::<WatchRequestMessage>(), watch_request());
    assert_eq!(pinned::<WatchReplyMessage>(), watch_reply());
    assert_eq!(pinned::<ReportedStateRequestMessage>().monitor_id, 4711);
    assert_eq!(pinned::<ReportedStateReplyMessage>().into_outcome(), Ok(reported_state()));
    assert_eq!(RefusedAssignment::from(pinned::<RefusedAssignmentMessage>()), refused());
    assert_eq!(pinned::<CommittedChecksMessage>().into_checks(), [CheckId(7)]);
    let header = pinned::<SnapshotHeaderMessage>();
    assert_eq!((header.revision, header.update_count), (900, 4));
    let piece = pinned::<CapturePieceMessage>();
    assert_eq!((piece.name.as_str(), piece.content.as_ref()), ("body.html", &b"<p>\0\xff"[..]));
}
