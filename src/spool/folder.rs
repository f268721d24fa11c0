//! The folder of a spool: results with their captures, in the order in which they were added.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::error::SpoolError;
use super::folder_lock::FolderLock;
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

/// In which order results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOrder {
    /// Those first that were added first.
    OldestFirst,
    /// Those first that were added last.
    NewestFirst,
}

/// Results and captures on disk.
#[derive(Debug)]
pub struct Spool {
    settings: SpoolSettings,
    result_segments: Segments,
    capture_segments: Segments,
    /// By number, oldest first.
    results: BTreeMap<u64, RecordPosition>,
    /// The number of the result of each check in `results`.
    numbers: HashMap<CheckId, u64>,
    next_number: u64,
    /// The captures of each check of `results` that has some.
    captures: HashMap<CheckId, Vec<RecordPosition>>,
    /// What was dropped since the last [`Spool::take_dropped`].
    dropped: DroppedRecords,
    _lock: FolderLock,
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
        let lock = FolderLock::acquire(folder)?;
        let (mut result_segments, positions) = Segments::open(folder.join("results"))?;
        let (mut capture_segments, capture_positions) = Segments::open(folder.join("captures"))?;
        let (mut results, mut numbers) = (BTreeMap::new(), HashMap::with_capacity(positions.len()));
        let next_number = positions.len() as u64;
        for (number, position) in (0..).zip(positions) {
            let earlier = numbers.insert(position.check_id, number);
            results.insert(number, position);
            // It was delivered, and added again.
            if let Some(earlier) = earlier.and_then(|earlier| results.remove(&earlier)) {
                result_segments.release_record(earlier.segment)?;
            }
        }
        let mut captures: HashMap<CheckId, Vec<RecordPosition>> = HashMap::new();
        for position in capture_positions {
            if numbers.contains_key(&position.check_id) {
                captures.entry(position.check_id).or_default().push(position);
            } else {
                // Its result was delivered.
                capture_segments.release_record(position.segment)?;
            }
        }
        Ok(Self {
            settings,
            result_segments,
            capture_segments,
            results,
            numbers,
            next_number,
            captures,
            dropped: DroppedRecords::default(),
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

    /// Whether it soon has no more room: then the oldest records are dropped, delivered or not.
    #[must_use]
    pub fn is_nearly_full(&self) -> bool {
        self.bytes() >= self.settings.max_bytes / 4 * 3
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
        let mut new_ids = HashSet::new();
        let is_new = |record: &&SpoolRecord| {
            !self.numbers.contains_key(&record.check_id) && new_ids.insert(record.check_id)
        };
        let new_results: Vec<&SpoolRecord> = results.iter().filter(is_new).collect();
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
        let (mut oldest_results, mut bytes, mut next) = (Vec::new(), 0, 0);
        while oldest_results.len() < max_results
            && let Some(number) = self.results.range(next..).next().map(to_number)
        {
            next = number + 1;
            let Some(result) = self.read_result(number)? else { continue };
            let captures = self.read_captures(result.check_id)?;
            bytes += result.content.len();
            bytes += captures.iter().map(|capture| capture.content.len()).sum::<usize>();
            if bytes > max_bytes && !oldest_results.is_empty() {
                break;
            }
            oldest_results.push((result, captures));
        }
        Ok(oldest_results)
    }

    /// Returns results without their captures, in `order`: of those that `is_wanted`, at most `max_results`, and no
    /// more than `max_bytes` but for a single one. They stay until [`Self::acknowledge`].
    ///
    /// # Errors
    /// As [`Self::peek`].
    pub fn read_results(
        &mut self,
        order: ReadOrder,
        is_wanted: impl Fn(CheckId) -> bool,
        max_results: usize,
        max_bytes: usize,
    ) -> Result<Vec<SpoolRecord>, SpoolError> {
        let is_wanted = |(_, position): &(&u64, &RecordPosition)| is_wanted(position.check_id);
        let numbers: Vec<u64> = match order {
            ReadOrder::OldestFirst => {
                self.results.iter().filter(is_wanted).map(to_number).take(max_results).collect()
            }
            ReadOrder::NewestFirst => {
                self.results.iter().rev().filter(is_wanted).map(to_number).take(max_results).collect()
            }
        };
        let (mut results, mut bytes) = (Vec::new(), 0);
        for number in numbers {
            let Some(result) = self.read_result(number)? else { continue };
            bytes += result.content.len();
            if bytes > max_bytes && !results.is_empty() {
                break;
            }
            results.push(result);
        }
        Ok(results)
    }

    /// Returns the captures of the result of `check_id`, in the order in which they were added.
    ///
    /// # Errors
    /// As [`Self::peek`].
    pub fn read_captures(&mut self, check_id: CheckId) -> Result<Vec<SpoolRecord>, SpoolError> {
        let (mut captures, mut damaged) = (Vec::new(), 0);
        for position in self.captures.get(&check_id).into_iter().flatten() {
            match self.capture_segments.read(*position) {
                Ok(capture) => captures.push(capture),
                Err(error) if error.is_damage() => {
                    tracing::error!(error = %error, check_id = %check_id, "dropped a capture of the spool");
                    damaged += 1;
                }
                Err(error) => return Err(error),
            }
        }
        self.dropped.captures += damaged;
        Ok(captures)
    }

    /// Returns the checks whose results it holds, the oldest first.
    #[must_use]
    pub fn check_ids(&self) -> Vec<CheckId> {
        self.results.values().map(|position| position.check_id).collect()
    }

    /// Whether it holds the result of `check_id`.
    #[must_use]
    pub fn contains(&self, check_id: CheckId) -> bool {
        self.numbers.contains_key(&check_id)
    }

    /// Whether it holds captures of the result of `check_id`.
    #[must_use]
    pub fn has_captures(&self, check_id: CheckId) -> bool {
        self.captures.contains_key(&check_id)
    }

    /// Removes the results of `checks` with their captures, which were delivered; those that it does not hold are
    /// ignored. A result that shares its file with others that are not delivered may come again at the next start.
    ///
    /// # Errors
    /// Fails when a file cannot be removed; its results come again at the next start.
    pub fn acknowledge(&mut self, checks: &[CheckId]) -> Result<(), SpoolError> {
        for check_id in checks {
            if let Some(number) = self.numbers.get(check_id).copied() {
                self.remove_result(number)?;
            }
        }
        Ok(())
    }

    /// Reads a result; one that is damaged is dropped.
    fn read_result(&mut self, number: u64) -> Result<Option<SpoolRecord>, SpoolError> {
        let Some(position) = self.results.get(&number).copied() else { return Ok(None) };
        match self.result_segments.read(position) {
            Ok(result) => Ok(Some(result)),
            Err(error) if error.is_damage() => {
                tracing::error!(error = %error, check_id = %position.check_id, "dropped a result of the spool");
                self.dropped.results += 1;
                self.remove_result(number)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn remove_result(&mut self, number: u64) -> Result<(), SpoolError> {
        let Some(position) = self.results.remove(&number) else { return Ok(()) };
        self.numbers.remove(&position.check_id);
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
                    for position in positions {
                        self.numbers.insert(position.check_id, self.next_number);
                        self.results.insert(self.next_number, position);
                        self.next_number += 1;
                    }
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
        while let Some((first, position)) = self.results.first_key_value()
            && position.segment == number
        {
            let first = *first;
            self.dropped.results += 1;
            self.remove_result(first)?;
        }
        // An empty one has no result whose removal removes it.
        self.result_segments.remove(number).map(|()| true)
    }
}

fn to_number((number, _): (&u64, &RecordPosition)) -> u64 {
    *number
}
