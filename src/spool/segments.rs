//! The files of one kind of record: segments with rising numbers, of which the last one is written.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::error::SpoolError;
use super::file_operations;
use super::record::SpoolRecord;
use crate::domain::{CheckId, Timestamp};

/// Start of every segment file: what it is, and the version of its form.
const FILE_MARK: &[u8; 8] = b"VGSPOOL1";
/// Extension of segment files.
const EXTENSION: &str = "segment";

/// Where a record is.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPosition {
    pub(super) check_id: CheckId,
    pub(super) segment: u64,
    offset: u64,
    byte_count: usize,
}

/// One file.
#[derive(Debug)]
struct Segment {
    number: u64,
    bytes: u64,
    /// When its newest record was written.
    newest_at: Timestamp,
    /// Records that are still wanted.
    wanted_records: usize,
}

/// The files of one kind of record.
#[derive(Debug)]
pub(super) struct Segments {
    folder: PathBuf,
    /// Oldest first.
    files: VecDeque<Segment>,
    /// The file of the last segment; a start never writes into an old file.
    writer: Option<File>,
    next_number: u64,
}

impl Segments {
    /// Opens the folder and cuts off what a killed process left half written; returns the positions of all records.
    pub(super) fn open(folder: PathBuf) -> Result<(Self, Vec<RecordPosition>), SpoolError> {
        std::fs::create_dir_all(&folder).map_err(SpoolError::for_operation("create the folder", &folder))?;
        let mut numbers = Vec::new();
        for entry in
            std::fs::read_dir(&folder).map_err(SpoolError::for_operation("read the folder", &folder))?
        {
            let path = entry.map_err(SpoolError::for_operation("read the folder", &folder))?.path();
            let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
            if let Some(number) = number.filter(|_| path.extension().is_some_and(|ext| ext == EXTENSION)) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        let next_number = numbers.last().map_or(1, |number| number.saturating_add(1));
        let mut opened = Self { folder, files: VecDeque::new(), writer: None, next_number };
        let mut positions = Vec::new();
        for number in numbers {
            opened.recover(number, &mut positions)?;
        }
        Ok((opened, positions))
    }

    fn recover(&mut self, number: u64, positions: &mut Vec<RecordPosition>) -> Result<(), SpoolError> {
        let path = self.path(number);
        let bytes = std::fs::read(&path).map_err(SpoolError::for_operation("read", &path))?;
        let mut segment = Segment {
            number,
            bytes: FILE_MARK.len() as u64,
            newest_at: Timestamp::from_micros(i64::MIN),
            wanted_records: 0,
        };
        let mut rest = bytes.strip_prefix(FILE_MARK.as_slice()).unwrap_or_default();
        while let Some(decoded) = SpoolRecord::decode(rest) {
            rest = &rest[decoded.byte_count..];
            positions.push(segment.add(decoded.record.check_id, decoded.byte_count, decoded.written_at));
        }
        if !rest.is_empty() || !bytes.starts_with(FILE_MARK) {
            let (file, cut_bytes) = (path.display().to_string(), rest.len());
            tracing::warn!(
                file,
                bytes = cut_bytes,
                "cut off a record of the spool that was not written whole"
            );
        }
        if segment.wanted_records == 0 {
            return file_operations::remove(&path).map_err(SpoolError::for_operation("remove", &path));
        }
        if !rest.is_empty() {
            file_operations::truncate(&path, segment.bytes)
                .map_err(SpoolError::for_operation("cut", &path))?;
        }
        self.files.push_back(segment);
        Ok(())
    }

    /// Returns the bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|segment| segment.bytes).sum()
    }

    /// Returns the number of the oldest segment, and when its newest record was written.
    pub(super) fn oldest(&self) -> Option<(u64, Timestamp)> {
        self.files.front().map(|segment| (segment.number, segment.newest_at))
    }

    /// Appends `records` to the last file, or to a new one when that would exceed `segment_bytes`. Either all of them
    /// are on disk or none.
    pub(super) fn append(
        &mut self,
        records: &[&SpoolRecord],
        written_at: Timestamp,
        segment_bytes: u64,
    ) -> Result<Vec<RecordPosition>, SpoolError> {
        let encoded: Vec<_> = records.iter().map(|record| record.encode(written_at)).collect();
        let bytes = encoded.concat();
        let fits = |segment: &Segment| segment.bytes + bytes.len() as u64 <= segment_bytes;
        if self.writer.is_none() || !self.files.back().is_some_and(fits) {
            self.start_segment()?;
        }
        let (Some(writer), Some(segment)) = (&self.writer, self.files.back_mut()) else {
            return Ok(Vec::new());
        };
        let path = segment_path(&self.folder, segment.number);
        if let Err(error) = file_operations::append(writer, &bytes) {
            // What was written of it would be cut off at the next start anyway.
            let _ = file_operations::truncate(&path, segment.bytes);
            return Err(SpoolError::for_operation("write", &path)(error));
        }
        let records_with_bytes = records.iter().zip(&encoded);
        Ok(records_with_bytes
            .map(|(record, bytes)| segment.add(record.check_id, bytes.len(), written_at))
            .collect())
    }

    fn start_segment(&mut self) -> Result<(), SpoolError> {
        let number = self.next_number;
        let path = self.path(number);
        self.next_number += 1;
        let file = file_operations::create(&path).map_err(SpoolError::for_operation("create", &path))?;
        if let Err(error) = file_operations::append(&file, FILE_MARK) {
            let _ = file_operations::remove(&path);
            return Err(SpoolError::for_operation("write", &path)(error));
        }
        let newest_at = Timestamp::from_micros(i64::MIN);
        self.files.push_back(Segment { number, bytes: FILE_MARK.len() as u64, newest_at, wanted_records: 0 });
        self.writer = Some(file);
        Ok(())
    }

    /// Reads the record at `position`.
    pub(super) fn read(&self, position: RecordPosition) -> Result<SpoolRecord, SpoolError> {
        let path = self.path(position.segment);
        let mut bytes = vec![0; position.byte_count];
        File::open(&path)
            .and_then(|file| file.read_exact_at(&mut bytes, position.offset))
            .map_err(SpoolError::for_operation("read", &path))?;
        let damage_error = || std::io::Error::new(std::io::ErrorKind::InvalidData, "a record is damaged");
        let decoded = SpoolRecord::decode(&bytes)
            .ok_or_else(damage_error)
            .map_err(SpoolError::for_operation("read", &path))?;
        Ok(decoded.record)
    }

    /// Notes that a record of `number` is no longer wanted; the file is removed with its last one.
    pub(super) fn release_record(&mut self, number: u64) -> Result<(), SpoolError> {
        let Some(segment) = self.files.iter_mut().find(|segment| segment.number == number) else {
            return Ok(());
        };
        segment.wanted_records = segment.wanted_records.saturating_sub(1);
        if segment.wanted_records == 0 { self.remove(number) } else { Ok(()) }
    }

    /// Removes the file of `number`.
    pub(super) fn remove(&mut self, number: u64) -> Result<(), SpoolError> {
        if self.files.back().is_some_and(|segment| segment.number == number) {
            self.writer = None;
        }
        self.files.retain(|segment| segment.number != number);
        let path = self.path(number);
        file_operations::remove(&path).map_err(SpoolError::for_operation("remove", &path))
    }

    fn path(&self, number: u64) -> PathBuf {
        segment_path(&self.folder, number)
    }
}

impl Segment {
    fn add(&mut self, check_id: CheckId, byte_count: usize, written_at: Timestamp) -> RecordPosition {
        let offset = self.bytes;
        self.bytes += byte_count as u64;
        self.newest_at = self.newest_at.max(written_at);
        self.wanted_records += 1;
        RecordPosition { check_id, segment: self.number, offset, byte_count }
    }
}

fn segment_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:020}.{EXTENSION}"))
}
