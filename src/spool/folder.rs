//! The folder of a spool: results with their captures, in the order in which they were added.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::error::SpoolError;
use super::record::SpoolRecord;
use super::segments::{RecordPosition, Segments};
use super::settings::SpoolSettings;
use crate::domain::{CheckId, Timestamp};

/// Records that were given up: too old, too many, or damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DroppedRecords {
    /// Results.
    pub results: usize,
    /// Captures.
    pub captures: usize,
}

/// Results and captures on disk.
#[derive(Debug)]
pub struct Spool {
    settings: SpoolSettings,
    result_segments: Segments,
    capture_segments: Segments,
    /// Oldest first.
    results: VecDeque<RecordPosition>,
    /// The checks of `results`.
    held_ids: HashSet<CheckId>,
    /// The captures of each check of `results` that has some.
    captures: HashMap<CheckId, Vec<RecordPosition>>,
    /// What was dropped since the last [`Spool::take_dropped`].
    dropped: DroppedRecords,
    /// Keeps other processes out for as long as it is open.
    _lock: File,
}

impl Spool {
    /// Opens the spool in `folder`, which is created if missing, and cuts off a record that was not written whole.
    ///
    /// # Errors
    /// Fails when another process uses the folder, or it cannot be read and written.
    pub fn open(folder: &Path, settings: SpoolSettings) -> Result<Self, SpoolError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(SpoolError::for_operation("create the folder", folder))?;
        let lock_path = folder.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&lock_path)
            .map_err(SpoolError::for_operation("open", &lock_path))?;
        lock.try_lock().map_err(|error| {
            let source = match error {
                TryLockError::WouldBlock => io::Error::other("another process uses the spool"),
                TryLockError::Error(source) => source,
            };
            SpoolError::for_operation("lock", &lock_path)(source)
        })?;
        let (result_segments, positions) = Segments::open(folder.join("results"))?;
        let (mut capture_segments, capture_positions) = Segments::open(folder.join("captures"))?;
        let (mut results, mut held_ids) = (VecDeque::with_capacity(positions.len()), HashSet::new());
        for position in positions {
            held_ids.insert(position.check_id);
            results.push_back(position);
        }
        let mut captures: HashMap<CheckId, Vec<RecordPosition>> = HashMap::new();
        for position in capture_positions {
            if held_ids.contains(&position.check_id) {
                captures.entry(position.check_id).or_default().push(position);
            } else {
                // Its result was delivered.
                capture_segments.release_record(position.segment)?;
            }
        }
        let dropped = DroppedRecords::default();
        Ok(Self {
            settings,
            result_segments,
            capture_segments,
            results,
            held_ids,
            captures,
            dropped,
            _lock: lock,
        })
    }

    /// Returns the number of results.
    #[must_use]
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns the bytes on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.result_segments.bytes() + self.capture_segments.bytes()
    }

    /// Returns how many records were dropped since the last call.
    pub fn take_dropped(&mut self) -> DroppedRecords {
        std::mem::take(&mut self.dropped)
    }

    /// Adds results and captures, on disk once this returns. A result that it holds already is not added again.
    /// Captures for which there is no space are dropped, and older ones for the sake of results.
    ///
    /// # Errors
    /// Fails when a result cannot be written; those before it may be.
    pub fn append(
        &mut self,
        results: &[SpoolRecord],
        captures: &[SpoolRecord],
        now: Timestamp,
    ) -> Result<(), SpoolError> {
        self.drop_expired(now)?;
        let new_results: Vec<&SpoolRecord> =
            results.iter().filter(|record| !self.held_ids.contains(&record.check_id)).collect();
        let new_ids: HashSet<CheckId> = new_results.iter().map(|record| record.check_id).collect();
        for batch in self.batches(&new_results) {
            self.append_results(batch, now)?;
        }
        let new_captures: Vec<&SpoolRecord> =
            captures.iter().filter(|record| new_ids.contains(&record.check_id)).collect();
        for batch in self.batches(&new_captures) {
            self.append_captures(batch, now);
        }
        Ok(())
    }

    /// Returns the oldest results with their captures: at most `max_results`, and no more than `max_bytes` but for a
    /// single one. They stay until [`Self::acknowledge`].
    ///
    /// # Errors
    /// Fails when a file cannot be read. A damaged record is dropped and counted instead.
    pub fn peek(
        &mut self,
        max_results: usize,
        max_bytes: usize,
    ) -> Result<Vec<(SpoolRecord, Vec<SpoolRecord>)>, SpoolError> {
        let (mut oldest_results, mut bytes) = (Vec::new(), 0);
        while oldest_results.len() < max_results
            && let Some(position) = self.results.get(oldest_results.len()).copied()
        {
            let result = match self.result_segments.read(position) {
                Ok(result) => result,
                Err(error) if error.is_damage() => {
                    tracing::error!(error = %error, check_id = %position.check_id, "dropped a result of the spool");
                    self.dropped.results += 1;
                    self.remove_result(oldest_results.len())?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let captures = self.captures_of(position.check_id)?;
            bytes += result.content.len();
            bytes += captures.iter().map(|capture| capture.content.len()).sum::<usize>();
            if bytes > max_bytes && !oldest_results.is_empty() {
                break;
            }
            oldest_results.push((result, captures));
        }
        Ok(oldest_results)
    }

    /// Removes the oldest `count` results, which were delivered.
    ///
    /// # Errors
    /// Fails when a file cannot be removed; its results come again at the next start.
    pub fn acknowledge(&mut self, count: usize) -> Result<(), SpoolError> {
        for _ in 0..count.min(self.results.len()) {
            self.remove_result(0)?;
        }
        Ok(())
    }

    fn captures_of(&mut self, check_id: CheckId) -> Result<Vec<SpoolRecord>, SpoolError> {
        let mut captures = Vec::new();
        for position in self.captures.get(&check_id).into_iter().flatten() {
            match self.capture_segments.read(*position) {
                Ok(capture) => captures.push(capture),
                Err(error) if error.is_damage() => {
                    tracing::error!(error = %error, check_id = %check_id, "dropped a capture of the spool");
                    self.dropped.captures += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(captures)
    }

    fn remove_result(&mut self, index: usize) -> Result<(), SpoolError> {
        let Some(position) = self.results.remove(index) else { return Ok(()) };
        self.held_ids.remove(&position.check_id);
        for capture in self.captures.remove(&position.check_id).unwrap_or_default() {
            self.capture_segments.release_record(capture.segment)?;
        }
        self.result_segments.release_record(position.segment)
    }

    /// Groups `records` so that no group exceeds a segment, but for a single record.
    fn batches<'a, 'b>(&self, records: &'a [&'b SpoolRecord]) -> Vec<&'a [&'b SpoolRecord]> {
        let max_bytes = usize::try_from(self.settings.segment_bytes()).unwrap_or(usize::MAX);
        let (mut batches, mut rest) = (Vec::new(), records);
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |record: &&&SpoolRecord| {
                bytes += record.byte_count();
                bytes <= max_bytes
            };
            let (batch, remaining) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            batches.push(batch);
            rest = remaining;
        }
        batches
    }

    fn append_results(&mut self, batch: &[&SpoolRecord], now: Timestamp) -> Result<(), SpoolError> {
        let bytes = batch.iter().map(|record| record.byte_count() as u64).sum::<u64>();
        let is_too_large = batch.iter().any(|record| record.is_too_long());
        if is_too_large || !self.make_room_for_results(bytes)? {
            self.dropped.results += batch.len();
            return Ok(());
        }
        let segment_bytes = self.settings.segment_bytes();
        loop {
            match self.result_segments.append(batch, now, segment_bytes) {
                Ok(positions) => {
                    self.held_ids.extend(positions.iter().map(|position| position.check_id));
                    self.results.extend(positions);
                    return Ok(());
                }
                Err(error) if error.is_disk_full() && self.drop_oldest_captures()? => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn append_captures(&mut self, batch: &[&SpoolRecord], now: Timestamp) {
        let bytes = batch.iter().map(|record| record.byte_count() as u64).sum::<u64>();
        let is_too_large = batch.iter().any(|record| record.is_too_long());
        let has_room = !is_too_large && self.make_room_for_captures(bytes).unwrap_or(false);
        let segment_bytes = self.settings.segment_bytes();
        let appended = has_room.then(|| self.capture_segments.append(batch, now, segment_bytes));
        match appended {
            Some(Ok(positions)) => {
                for position in positions {
                    self.captures.entry(position.check_id).or_default().push(position);
                }
            }
            Some(Err(error)) => {
                tracing::warn!(error = %error, captures = batch.len(), "captures dropped: the spool has no space");
                self.dropped.captures += batch.len();
            }
            None => self.dropped.captures += batch.len(),
        }
    }

    /// Drops records until `bytes` more fit, captures first; `false` when they never will.
    fn make_room_for_results(&mut self, bytes: u64) -> Result<bool, SpoolError> {
        while self.lacks_room(bytes) {
            if !self.drop_oldest_captures()? && !self.drop_oldest_results()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Drops captures until `bytes` more fit; `false` when they never will.
    fn make_room_for_captures(&mut self, bytes: u64) -> Result<bool, SpoolError> {
        while self.lacks_room(bytes) {
            if !self.drop_oldest_captures()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn lacks_room(&self, bytes: u64) -> bool {
        self.bytes() + bytes > self.settings.max_bytes
    }

    fn drop_expired(&mut self, now: Timestamp) -> Result<(), SpoolError> {
        let oldest_kept = now - self.settings.max_age;
        let is_expired = |segments: &Segments| segments.oldest().is_some_and(|(_, at)| at < oldest_kept);
        while is_expired(&self.capture_segments) && self.drop_oldest_captures()? {}
        while is_expired(&self.result_segments) && self.drop_oldest_results()? {}
        Ok(())
    }

    /// Drops the oldest segment of captures; `false` when there is none.
    fn drop_oldest_captures(&mut self) -> Result<bool, SpoolError> {
        let Some((number, _)) = self.capture_segments.oldest() else { return Ok(false) };
        let dropped = &mut self.dropped.captures;
        self.captures.retain(|_, positions| {
            let count = positions.len();
            positions.retain(|position| position.segment != number);
            *dropped += count - positions.len();
            !positions.is_empty()
        });
        self.capture_segments.remove(number).map(|()| true)
    }

    /// Drops the oldest segment of results; `false` when there is none.
    fn drop_oldest_results(&mut self) -> Result<bool, SpoolError> {
        let Some((number, _)) = self.result_segments.oldest() else { return Ok(false) };
        while self.results.front().is_some_and(|position| position.segment == number) {
            self.dropped.results += 1;
            self.remove_result(0)?;
        }
        // An empty one has no result whose removal removes it.
        self.result_segments.remove(number).map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

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
        spool.acknowledge(2).unwrap();
        assert_eq!(ids_and_capture_counts(&mut spool), [(3, 0)]);
        spool.acknowledge(7).unwrap();
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
            spool.acknowledge(4).unwrap();
        }
    }
}
