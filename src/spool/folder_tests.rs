//! Bounds, order and damage of a spool.

use std::time::Duration;

use super::{DroppedRecords, ReadOrder, Spool, SpoolError, SpoolRecord, SpoolSettings};
use crate::domain::{CheckId, Timestamp};

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_800_000_000 + second)
}

fn record(id: u64, bytes: usize) -> SpoolRecord {
    SpoolRecord { check_id: CheckId(id), content: vec![u8::try_from(id % 251).unwrap(); bytes] }
}

fn ids_and_capture_counts(spool: &mut Spool) -> Vec<(u64, usize)> {
    let peeked = spool.peek(usize::MAX, usize::MAX).unwrap();
    for (result, captures) in &peeked {
        let content = vec![u8::try_from(result.check_id.0 % 251).unwrap(); result.content.len()];
        assert_eq!(result.content, content);
        assert!(captures.iter().all(|capture| capture.check_id == result.check_id));
    }
    peeked.iter().map(|(result, captures)| (result.check_id.0, captures.len())).collect()
}

/// Acknowledges the oldest `count` results.
fn acknowledge_oldest(spool: &mut Spool, count: usize) -> Result<(), SpoolError> {
    let oldest = spool.peek(count, usize::MAX)?;
    let checks: Vec<_> = oldest.iter().map(|(result, _)| result.check_id).collect();
    spool.acknowledge(&checks)
}

#[test]
fn what_was_added_is_there_again_until_it_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), SpoolSettings::default()).unwrap();
    spool.append(&[record(1, 10), record(2, 20)], &[record(2, 500), record(2, 600)], at(0)).unwrap();
    spool.append(&[record(2, 20), record(3, 30)], &[record(2, 500)], at(1)).unwrap();
    assert_eq!(ids_and_capture_counts(&mut spool), [(1, 0), (2, 2), (3, 0)], "nothing is held twice");
    let second_open_error = Spool::open(folder.path(), SpoolSettings::default()).unwrap_err().to_string();
    assert!(second_open_error.contains("another process uses the spool"), "{second_open_error}");
    drop(spool);
    let mut spool = Spool::open(folder.path(), SpoolSettings::default()).unwrap();
    assert_eq!(ids_and_capture_counts(&mut spool), [(1, 0), (2, 2), (3, 0)]);
    assert_eq!(spool.peek(2, usize::MAX).unwrap().len(), 2);
    assert_eq!(spool.peek(3, 25).unwrap().len(), 1, "the second one has 1,120 bytes");
    acknowledge_oldest(&mut spool, 2).unwrap();
    assert_eq!(ids_and_capture_counts(&mut spool), [(3, 0)]);
    acknowledge_oldest(&mut spool, 7).unwrap();
    assert!(spool.is_empty());
    assert_eq!((spool.bytes(), spool.take_dropped()), (0, DroppedRecords::default()));
    drop(spool);
    let files = |subfolder| std::fs::read_dir(folder.path().join(subfolder)).unwrap().count();
    assert_eq!((files("results"), files("captures")), (0, 0));
}

#[test]
fn beyond_its_bytes_the_oldest_captures_are_dropped_then_the_oldest_results() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SpoolSettings { max_bytes: 128 * 1024, max_age: Duration::from_hours(1) };
    let mut spool = Spool::open(folder.path(), settings).unwrap();
    for id in 0..100 {
        spool.append(&[record(id, 500)], &[record(id, 2000)], at(0)).unwrap();
        assert!(spool.bytes() <= settings.max_bytes);
    }
    let dropped = spool.take_dropped();
    assert!(dropped.results == 0 && dropped.captures > 30, "{dropped:?}");
    let held = ids_and_capture_counts(&mut spool);
    assert_eq!(held.len(), 100);
    let first_with_capture = held.iter().position(|(_, captures)| *captures == 1).unwrap();
    assert_eq!(first_with_capture, dropped.captures, "the oldest ones");
    assert!(held[first_with_capture..].iter().all(|(_, captures)| *captures == 1));
    for id in 100..1000 {
        spool.append(&[record(id, 500)], &[], at(0)).unwrap();
    }
    let dropped = spool.take_dropped();
    let held = ids_and_capture_counts(&mut spool);
    assert!(held.iter().all(|(_, captures)| *captures == 0));
    assert_eq!(held.len() + dropped.results, 1000, "each result is held or counted");
    assert_eq!(held.last(), Some(&(999, 0)));
    assert_eq!(held[0].0, u64::try_from(dropped.results).unwrap(), "the oldest ones");
    // One that will never fit is dropped alone.
    spool.append(&[record(5000, 200_000)], &[], at(0)).unwrap();
    assert!(spool.take_dropped().results > 0);
    assert!(spool.bytes() <= settings.max_bytes);
}

#[test]
fn what_is_too_old_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SpoolSettings { max_bytes: 1 << 20, max_age: Duration::from_hours(1) };
    let mut spool = Spool::open(folder.path(), settings).unwrap();
    spool.append(&[record(1, 10)], &[record(1, 10)], at(0)).unwrap();
    drop(spool);
    let mut spool = Spool::open(folder.path(), settings).unwrap();
    spool.append(&[record(2, 10)], &[], at(3601)).unwrap();
    assert_eq!(ids_and_capture_counts(&mut spool), [(2, 0)]);
    assert_eq!(spool.take_dropped(), DroppedRecords { results: 1, captures: 1 });
}

#[test]
fn a_damaged_record_is_dropped_and_counted_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), SpoolSettings::default()).unwrap();
    spool.append(&[record(1, 10), record(2, 10), record(3, 10)], &[], at(0)).unwrap();
    let path = folder.path().join("results").join(format!("{:020}.segment", 1));
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = 8 + 34 + 30;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(ids_and_capture_counts(&mut spool), [(1, 0), (3, 0)]);
    assert_eq!(spool.take_dropped(), DroppedRecords { results: 1, captures: 0 });
}

#[test]
fn a_file_cut_at_any_byte_gives_every_whole_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), SpoolSettings::default()).unwrap();
    spool.append(&[record(1, 10), record(2, 10), record(3, 10)], &[], at(0)).unwrap();
    drop(spool);
    let path = folder.path().join("results").join(format!("{:020}.segment", 1));
    let bytes = std::fs::read(&path).unwrap();
    for end in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        let mut spool = Spool::open(folder.path(), SpoolSettings::default()).unwrap();
        let whole_record_count = end.saturating_sub(8) / 34;
        assert_eq!(ids_and_capture_counts(&mut spool).len(), whole_record_count, "cut at {end}");
        // It takes new records all the same.
        spool.append(&[record(9, 10)], &[], at(1)).unwrap();
        assert_eq!(ids_and_capture_counts(&mut spool).last(), Some(&(9, 0)));
        acknowledge_oldest(&mut spool, 4).unwrap();
    }
}

/// Returns the ids of the results of `spool` that are even, as far as they fit.
fn even_ids(spool: &mut Spool, order: ReadOrder, max_results: usize, max_bytes: usize) -> Vec<u64> {
    let is_even = |check_id: CheckId| check_id.0.is_multiple_of(2);
    let results = spool.read_results(order, is_even, max_results, max_bytes).unwrap();
    results.iter().map(|result| result.check_id.0).collect()
}

#[test]
fn results_are_read_in_either_order_and_captures_by_their_result() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), SpoolSettings::default()).unwrap();
    for id in 1..=8 {
        spool.append(&[record(id, 10)], &[record(id, 500), record(id, 600)], at(0)).unwrap();
    }
    let (oldest, newest) = (ReadOrder::OldestFirst, ReadOrder::NewestFirst);
    assert_eq!(even_ids(&mut spool, oldest, usize::MAX, usize::MAX), [2, 4, 6, 8]);
    assert_eq!(even_ids(&mut spool, newest, usize::MAX, usize::MAX), [8, 6, 4, 2]);
    assert_eq!(even_ids(&mut spool, newest, 2, usize::MAX), [8, 6]);
    assert_eq!(even_ids(&mut spool, newest, usize::MAX, 25), [8, 6], "captures do not count");
    assert_eq!(even_ids(&mut spool, oldest, usize::MAX, 5), [2], "a single one, however large");
    let captures = spool.read_captures(CheckId(3)).unwrap();
    assert_eq!(captures.iter().map(|capture| capture.content.len()).collect::<Vec<_>>(), [500, 600]);
    assert!(spool.read_captures(CheckId(99)).unwrap().is_empty());
}

#[test]
fn results_are_acknowledged_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    // Segments of 4 KiB: several files of each kind.
    let settings = SpoolSettings { max_bytes: 128 * 1024, max_age: Duration::from_hours(1) };
    let mut spool = Spool::open(folder.path(), settings).unwrap();
    for id in 1..=20 {
        spool.append(&[record(id, 700)], &[record(id, 900)], at(0)).unwrap();
    }
    let checks: Vec<_> = [20, 3, 3, 99, 7].into_iter().chain(8..=19).map(CheckId).collect();
    spool.acknowledge(&checks).unwrap();
    let held = [(1, 1), (2, 1), (4, 1), (5, 1), (6, 1)];
    assert_eq!(ids_and_capture_counts(&mut spool), held);
    assert_eq!(spool.take_dropped(), DroppedRecords::default());
    let bytes = spool.bytes();
    assert!(bytes < 20 * 1024, "files without a wanted record are removed: {bytes}");
    // One that was delivered may be added again, once.
    spool.append(&[record(3, 10), record(3, 10)], &[], at(1)).unwrap();
    assert_eq!(spool.len(), 6);
    assert_eq!(even_ids(&mut spool, ReadOrder::NewestFirst, 9, usize::MAX), [6, 4, 2]);
    drop(spool);
    let mut spool = Spool::open(folder.path(), settings).unwrap();
    let ids: Vec<_> = ids_and_capture_counts(&mut spool).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.iter().filter(|id| **id == 3).count(), 1);
    for (id, _) in held {
        assert!(ids.contains(&id), "{id} of {ids:?}");
    }
    let all: Vec<_> = ids.into_iter().map(CheckId).collect();
    spool.acknowledge(&all).unwrap();
    assert_eq!((spool.len(), spool.bytes()), (0, 0));
}

#[test]
fn a_folder_of_the_first_version_is_read() {
    // Mark, then length and CRC-32, time and id, and content: `result` and `capture` of check 7.
    let segment = |content: &[u8]| {
        let body = [&1_800_000_000_000_000_i64.to_le_bytes()[..], &7_u64.to_le_bytes(), content].concat();
        let length = u32::try_from(body.len()).unwrap().to_le_bytes();
        [&b"VGSPOOL1"[..], &length, &crc32fast::hash(&body).to_le_bytes(), &body].concat()
    };
    let folder = tempfile::tempdir().unwrap();
    for (kind, content) in [("results", &b"result"[..]), ("captures", b"capture")] {
        std::fs::create_dir(folder.path().join(kind)).unwrap();
        let path = folder.path().join(kind).join("00000000000000000001.segment");
        std::fs::write(path, segment(content)).unwrap();
    }
    let mut spool = Spool::open(folder.path(), SpoolSettings::default()).unwrap();
    let content = |content: &[u8]| SpoolRecord { check_id: CheckId(7), content: content.to_vec() };
    assert_eq!(spool.peek(9, usize::MAX).unwrap(), [(content(b"result"), vec![content(b"capture")])]);
}
