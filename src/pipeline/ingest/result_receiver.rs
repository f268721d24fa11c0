//! The ingest as what the bus delivers to.

use super::ingestor::Ingestor;
use crate::bus::contract::{BusFuture, ResultCaptures, ResultReceiver, ResultSink};
use crate::domain::CheckResult;
use crate::store::ResultKey;

impl ResultSink for Ingestor {
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()> {
        Box::pin(self.submit(result))
    }
}

impl ResultReceiver for Ingestor {
    fn deliver_captures(&self, captures: ResultCaptures) -> BusFuture<'_, ()> {
        let ResultCaptures { check_id, monitor_id, location_id, planned_at, files } = captures;
        Box::pin(self.submit_captures(ResultKey { check_id, monitor_id, location_id, planned_at }, files))
    }

    fn wait_until_committed(&self) -> BusFuture<'_, ()> {
        Box::pin(self.flush())
    }
}
