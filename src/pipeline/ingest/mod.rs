//! Ingest of results: derives monitor states and alerts and stores all in one commit, retrying for as long as the
//! store fails.

mod commit;
mod commit_failure;
mod commit_observer;
mod dependencies;
mod ingestor;
mod monitor_state;
mod pending_batch;
mod quarantine;
mod result_receiver;
mod result_spool;
mod settings;
mod split_batch;
mod spool_encoding;
mod spool_replay;
mod task;
mod worker;

pub use commit_observer::CommitObserver;
pub use dependencies::IngestDependencies;
pub use ingestor::Ingestor;
pub use monitor_state::next_monitor_state;
pub use quarantine::{QuarantineRecorder, QuarantineRecorderDependencies};
pub use result_spool::ResultSpool;
pub use settings::IngestSettings;
pub use spool_replay::replay_spool;
pub use task::IngestTask;
