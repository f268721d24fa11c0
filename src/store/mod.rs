//! What is kept, as traits by use. SQLite stands behind them; PostgreSQL will.

pub mod contract;
mod sqlite;

pub use contract::{
    Alarm, Alarms, Answer, AuditEntry, AuditFilter, AuditObject, AuditRow, Commit, Delivery, Entries,
    EpisodeFilter, Evidence, Housekeeping, Ingest, KeptEpisode, KeptMonitor, KeptRaised, Ledger, Listed,
    MonitorState, Monitors, NewMonitor, NewRecord, NotificationFilter, Outbox, Page, PerformanceStates,
    RecordFilter, Reseal, ResultFilter, ResultKey, ResultPage, Results, Retention, Rollup, Samples, Span,
    StoreError, Token, TokenKind, Tokens, VerifiedCheck, Write, seal_context,
};
pub use sqlite::{SKETCH_ERROR, SqliteReader, SqliteSettings, SqliteStore, Synchronous};
