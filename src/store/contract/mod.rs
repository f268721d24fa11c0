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
mod window;

pub use alarms::{
    Alarm, Alarms, Delivery, EpisodeFilter, Evidence, KeptEpisode, NotificationFilter, Outbox, ResultKey,
    VerifiedCheck,
};
pub use audit::{AuditEntry, AuditFilter, AuditObject, AuditRow, Entries};
pub use error::{Answer, StoreError};
pub use housekeeping::{Housekeeping, Retention};
pub use ingest::{Commit, Ingest};
pub use ledger::{Ledger, Reseal, Write, seal_context};
pub use monitors::{KeptMonitor, Monitors, NewMonitor};
pub use performance::{KeptRaised, PerformanceStates};
pub use records::{NewRecord, RecordFilter};
pub use results::{MonitorState, ResultFilter, ResultPage, Results};
pub use rollup::{Rollup, Span};
pub use samples::Samples;
pub use tokens::{Token, TokenKind, Tokens};
pub use window::{Listed, Page};
