//! The numbers of reports: each is used once, over restarts and kills.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Name of the file with the last number that was used.
const FILE: &str = "seq";
/// Greatest number that JSON parsers read exactly.
const MAX_SEQ: u64 = (1 << 53) - 1;
/// Most bytes of the file that are read.
const MAX_FILE_BYTES: u64 = 64;

/// Gives out the numbers of reports.
#[derive(Debug)]
pub(super) struct Sequence {
    path: PathBuf,
    file: File,
    last: u64,
    /// Whether the last number could be written.
    is_kept: bool,
}

/// The file of the numbers cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`: {source}", .path.display())]
pub struct SequenceError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Sequence {
    /// Opens the numbers in `folder`, which exists. They continue after the last one that was used; after `time_s`, the
    /// time in seconds, when that is not known: a host whose data folder was lost must not use a number again.
    pub(super) fn open(folder: &Path, time_s: u64) -> Result<Self, SequenceError> {
        let path = folder.join(FILE);
        let to_error = |action| {
            let path = path.clone();
            move |source| SequenceError { action, path, source }
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(to_error("open"))?;
        let mut text = Vec::new();
        (&file).take(MAX_FILE_BYTES).read_to_end(&mut text).map_err(to_error("read"))?;
        let kept = str::from_utf8(&text).ok().and_then(|text| text.trim().parse::<u64>().ok());
        let mut sequence =
            Self { path: path.clone(), file, last: kept.unwrap_or(time_s).min(MAX_SEQ), is_kept: true };
        // What cannot be written is noticed at the start.
        sequence.keep().map_err(to_error("write"))?;
        sequence.is_kept = true;
        Ok(sequence)
    }

    /// Makes all further numbers greater than `seq`, which was found in use.
    pub(super) fn skip_to(&mut self, seq: u64) {
        self.last = self.last.max(seq.min(MAX_SEQ));
    }

    /// Returns the next number, which is on disk as used once this returns. A disk that fails is logged only: the report
    /// may be about it.
    pub(super) fn next(&mut self) -> u64 {
        self.last = (self.last + 1).min(MAX_SEQ);
        let kept = self.keep();
        if let Err(error) = &kept
            && self.is_kept
        {
            let file = self.path.display().to_string();
            tracing::error!(error = %error, file, "failed to keep the number of a report");
        }
        self.is_kept = kept.is_ok();
        self.last
    }

    /// Writes the last number in place, with the same length each time: that needs no space on a full disk, and a sector
    /// is written whole.
    fn keep(&self) -> io::Result<()> {
        self.file.write_all_at(format!("{:020}\n", self.last).as_bytes(), 0)?;
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn numbers_go_on_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let mut sequence = Sequence::open(folder.path(), 100).unwrap();
        assert_eq!((sequence.next(), sequence.next()), (101, 102));
        let mut sequence = Sequence::open(folder.path(), 7000).unwrap();
        assert_eq!(sequence.next(), 103);
        sequence.skip_to(200);
        sequence.skip_to(50);
        assert_eq!(sequence.next(), 201);
        for damaged in ["damaged", "", "-1"] {
            fs::write(folder.path().join(FILE), damaged).unwrap();
            assert_eq!(Sequence::open(folder.path(), 500).unwrap().next(), 501, "{damaged}");
        }
    }

    #[test]
    fn a_disk_that_fails_ends_no_agent() {
        let folder = tempfile::tempdir().unwrap();
        let mut sequence = Sequence::open(folder.path(), 1).unwrap();
        sequence.file = File::open(folder.path().join(FILE)).unwrap();
        assert_eq!((sequence.next(), sequence.next(), sequence.is_kept), (2, 3, false));
        fs::remove_file(folder.path().join(FILE)).unwrap();
        fs::create_dir(folder.path().join(FILE)).unwrap();
        let error = Sequence::open(folder.path(), 1).unwrap_err().to_string();
        assert!(error.starts_with("cannot open `") && error.contains("/seq`: "), "{error}");
    }
}
