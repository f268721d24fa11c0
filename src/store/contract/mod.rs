//! What the store does, as traits by use and the values that they take and give.

mod alarms;
mod audit;
mod error;
mod housekeeping;
mod ingest;
mod ledger;
mod monitors;
mod performance;
mod records;
mod results;
mod rollup;
mod samples;
mod tokens;

pub use crate::domain::{
    AuditFilter, AuditRow, EpisodeFilter, Listed, MonitorState, NotificationFilter, Page, RecordFilter,
    ResultFilter, ResultPage, StoreError,
};
pub use alarms::{Alarm, Alarms, Delivery, Evidence, KeptEpisode, Outbox, ResultKey, VerifiedCheck};
pub use audit::{AuditEntry, AuditObject, Entries};
pub use error::Answer;
pub use housekeeping::{Housekeeping, Retention};
pub use ingest::{Commit, Ingest};
pub use ledger::{Ledger, Reseal, Write, seal_context};
pub use monitors::{KeptMonitor, Monitors, NewMonitor};
pub use performance::{KeptRaised, PerformanceStates};
pub use records::NewRecord;
pub use results::Results;
pub use rollup::{Rollup, Span};
pub use samples::Samples;
pub use tokens::{Token, TokenKind, Tokens};
