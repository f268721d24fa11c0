//! The reports that could not be sent yet, on disk.

use std::path::Path;
use std::time::Duration;

use super::report::HostReport;
use crate::domain::{CheckId, Timestamp};
use crate::spool::{ReadOrder, Spool, SpoolError, SpoolRecord, SpoolSettings};

/// Most bytes on disk: some days of a host with many disks and interfaces.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Age beyond which a report is dropped.
const MAX_AGE: Duration = Duration::from_hours(48);
/// Name of the folder in the data folder.
const FOLDER: &str = "spool";

/// Reports on disk, each by its number.
#[derive(Debug)]
pub(super) struct SpooledReports {
    spool: Spool,
}

impl SpooledReports {
    /// Opens the spool in the data folder; both are created if missing.
    ///
    /// # Errors
    /// Fails when another process uses it, or the folder cannot be written.
    pub(super) fn open(data: &Path) -> Result<Self, SpoolError> {
        let settings = SpoolSettings { max_bytes: MAX_BYTES, max_age: MAX_AGE };
        Ok(Self { spool: Spool::open(&data.join(FOLDER), settings)? })
    }

    /// Returns the number of reports.
    pub(super) fn len(&self) -> usize {
        self.spool.len()
    }

    /// Returns the greatest number of a report in it.
    pub(super) fn greatest_seq(&self) -> u64 {
        self.spool.check_ids().iter().map(|id| id.0).max().unwrap_or(0)
    }

    /// Adds a report. Logs what cannot be kept: the loss of a report must not end the agent.
    pub(super) fn add(&mut self, report: &HostReport, now: Timestamp) {
        let record = SpoolRecord { check_id: CheckId(report.seq()), content: report.to_stored_json() };
        if let Err(error) = self.spool.append(&[record], &[], now) {
            tracing::error!(error = %error, "failed to keep a report: it is lost");
        }
        let dropped = self.spool.take_dropped().results;
        if dropped > 0 {
            tracing::warn!(
                dropped,
                "dropped the oldest reports: they are older than 48 h, or take more than 16 MiB"
            );
        }
    }

    /// Returns the first report in `order`. One that cannot be read is removed.
    pub(super) fn first(&mut self, order: ReadOrder) -> Option<HostReport> {
        loop {
            let record = match self.spool.read_results(order, |_| true, 1, usize::MAX) {
                Ok(records) => records.into_iter().next(),
                Err(error) => {
                    tracing::error!(error = %error, "failed to read a report of the spool");
                    None
                }
            }?;
            match HostReport::from_stored_json(&record.content) {
                Some(report) => return Some(report),
                None => self.remove(record.check_id.0),
            }
        }
    }

    /// Removes a report that was sent or refused.
    pub(super) fn remove(&mut self, seq: u64) {
        if let Err(error) = self.spool.acknowledge(&[CheckId(seq)]) {
            tracing::error!(error = %error, "failed to remove reports that were sent: they are sent again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostagent::measurements::Measurements;
    use crate::hostagent::report::HostFacts;

    fn report(seq: u64) -> HostReport {
        let facts = HostFacts { os: String::new(), kernel: String::new() };
        HostReport::new(seq, Timestamp::from_seconds(1), &facts, &Measurements::default())
    }

    #[test]
    fn reports_survive_a_restart_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::from_seconds(1_800_000_000);
        let mut spooled = SpooledReports::open(folder.path()).unwrap();
        for seq in [5, 6, 7, 6] {
            spooled.add(&report(seq), now);
        }
        assert!(SpooledReports::open(folder.path()).is_err(), "it is in use");
        drop(spooled);
        let mut spooled = SpooledReports::open(folder.path()).unwrap();
        assert_eq!((spooled.len(), spooled.greatest_seq()), (3, 7));
        assert_eq!(spooled.first(ReadOrder::NewestFirst), Some(report(7)));
        spooled.remove(7);
        assert_eq!(spooled.first(ReadOrder::OldestFirst), Some(report(5)));
        spooled.remove(5);
        assert_eq!(spooled.first(ReadOrder::OldestFirst), Some(report(6)));
        // Those of the day before yesterday are dropped.
        spooled.add(&report(8), now + MAX_AGE + Duration::from_secs(1));
        assert_eq!(spooled.first(ReadOrder::OldestFirst), Some(report(8)));
    }
}
