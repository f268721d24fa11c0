//! Stores reports that arrive at about the same time in one transaction.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::domain::HostReport;
use crate::service::caller::ServiceError;
use crate::store::{HostStore, StoreError};
use crate::sync::Mutex;

/// Most reports of a transaction.
const MAX_BATCH: usize = 256;

type Waiting = (HostReport, oneshot::Sender<Result<(), StoreError>>);

/// The reports that wait. Whoever adds one also writes those of others that wait, so that no task has to live for it;
/// there are never more than requests.
pub(super) struct ReportQueue {
    host_store: Arc<dyn HostStore>,
    waiting: Mutex<Vec<Waiting>>,
    writing: tokio::sync::Mutex<()>,
}

impl ReportQueue {
    pub(super) fn new(host_store: Arc<dyn HostStore>) -> Self {
        Self { host_store, waiting: Mutex::default(), writing: tokio::sync::Mutex::new(()) }
    }

    /// Stores `report`; returns once it is committed.
    pub(super) async fn record(&self, report: HostReport) -> Result<(), ServiceError> {
        let (sender, mut committed) = oneshot::channel();
        self.waiting.lock().push((report, sender));
        loop {
            let _turn = self.writing.lock().await;
            match committed.try_recv() {
                Ok(outcome) => return outcome.map_err(ServiceError::from),
                Err(oneshot::error::TryRecvError::Empty) => self.write_batch().await,
                // The client of whoever wrote it has gone away in the midst of it.
                Err(oneshot::error::TryRecvError::Closed) => {
                    let message = "The report was not stored; send it again";
                    return Err(ServiceError::Unavailable(message.to_owned()));
                }
            }
        }
    }

    async fn write_batch(&self) {
        let batch: Vec<Waiting> = {
            let mut waiting = self.waiting.lock();
            let count = waiting.len().min(MAX_BATCH);
            waiting.drain(..count).collect()
        };
        let (reports, senders): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let outcome = self.host_store.record_host_reports(reports).await;
        for sender in senders {
            // Fails for a caller that is gone.
            let _ = sender.send(outcome.clone());
        }
    }
}
