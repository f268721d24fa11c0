//! Snapshots are read as they come in, and one that was cut off is found.

use vigie::bus::contract::{AssignedMonitor, AssignmentRevision, AssignmentSnapshot, AssignmentUpdate};
use vigie::bus::messages::{
    AssignmentUpdateMessage, BusMessage, SnapshotHeaderMessage, SnapshotReader, encode_snapshot,
};
use vigie::domain::MonitorId;
use vigie::schema::Monitor;

use super::samples::{FlippingSealer, assigned, monitor, updates};

/// A snapshot of several messages.
fn snapshot(monitors: i64) -> AssignmentSnapshot {
    let assign = |id| {
        let monitor = Monitor { id: MonitorId(id), ..monitor() };
        AssignmentUpdate::Assign(AssignedMonitor { monitor, ..assigned() })
    };
    let updates = updates().into_iter().take(2).chain((1..=monitors).map(assign)).collect();
    AssignmentSnapshot { revision: AssignmentRevision(77), updates }
}

fn encoded(snapshot: &AssignmentSnapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    let to_message = |update: &_| AssignmentUpdateMessage::from_update(update, &FlippingSealer);
    encode_snapshot(snapshot, to_message, |part| bytes.extend_from_slice(part)).unwrap();
    bytes
}

fn monitor_ids(snapshot: &AssignmentSnapshot) -> Vec<i64> {
    let assigned = snapshot.updates.iter().filter_map(|update| match update {
        AssignmentUpdate::Assign(assigned) => Some(assigned.monitor.id.0),
        _ => None,
    });
    assigned.collect()
}

#[test]
fn a_snapshot_is_the_same_however_its_bytes_come_in() {
    let sent = snapshot(3000);
    let bytes = encoded(&sent);
    assert!(bytes.len() > 512 * 1024, "several messages");
    for size in [1000, 65_536, bytes.len()] {
        let mut reader = SnapshotReader::default();
        for part in bytes.chunks(size) {
            reader.push(part, &FlippingSealer).unwrap();
        }
        let received = reader.finish().unwrap();
        assert_eq!((received.revision, received.updates.len()), (sent.revision, sent.updates.len()));
        assert_eq!(monitor_ids(&received), monitor_ids(&sent));
    }
    let empty = AssignmentSnapshot { revision: AssignmentRevision(1), updates: Vec::new() };
    let mut reader = SnapshotReader::default();
    reader.push(&encoded(&empty), &FlippingSealer).unwrap();
    assert_eq!(reader.finish().unwrap().revision, AssignmentRevision(1));
}

#[test]
fn a_snapshot_that_was_cut_off_is_refused() {
    let bytes = encoded(&snapshot(3));
    for end in 0..bytes.len() {
        let mut reader = SnapshotReader::default();
        reader.push(&bytes[..end], &FlippingSealer).unwrap();
        let error = reader.finish().unwrap_err().to_string();
        assert!(error.contains("cut off") || error.contains("is empty"), "{error}");
    }
    let mut reader = SnapshotReader::default();
    let error = reader.push(&[0xff; 100], &FlippingSealer).unwrap_err().to_string();
    assert!(error.contains("more than"), "{error}");
}

#[test]
fn parts_of_two_snapshots_are_not_mixed() {
    let other_header = SnapshotHeaderMessage { revision: 76, update_count: 5 }.to_bytes().unwrap();
    let header = SnapshotHeaderMessage { revision: 77, update_count: 5 }.to_bytes().unwrap();
    let bytes = encoded(&snapshot(3));
    let length = u32::try_from(other_header.len()).unwrap().to_le_bytes();
    let mixed = [&length[..], &other_header, &bytes[4 + header.len()..]].concat();
    let mut reader = SnapshotReader::default();
    let error = reader.push(&mixed, &FlippingSealer).unwrap_err().to_string();
    assert!(error.contains("it is 77, in a snapshot of revision 76"), "{error}");
}
