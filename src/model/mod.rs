//! The words of the field: monitors, runs, observations, verdicts, results. No I/O happens here.

pub mod accept;
pub mod blackout;
mod capture;
mod document;
mod failure;
mod fault;
pub mod field;
pub mod format;
pub(crate) mod id;
pub mod intake;
mod json;
mod kind;
pub mod legacy;
mod location;
mod monitor;
pub mod monitor_file;
mod observation;
pub mod path;
mod phase;
mod record;
mod result;
mod role;
mod rules;
pub mod schema;
pub mod script;
pub mod source;
mod status;
pub mod table;
mod text;
mod time;
mod url_login;
pub mod yaml;

pub use capture::Capture;
pub use document::{Document, Secrets};
pub use failure::{Failure, FailureKind, Fault};
pub use fault::{FieldFault, MASK, Rule, nearest, shortened, shown};
pub use id::{CheckId, CustomerId, LocationId, MonitorId, Revision, RunId, UserId};
pub use kind::MonitorType;
pub use location::Location;
pub use monitor::{Monitor, Origin, Trail};
pub use observation::{
    Certificate, DnsFacts, Facts, Hop, HttpFacts, Observation, PingFacts, TlsFacts, Warning, WarningKind,
};
pub use phase::{Phase, Phases};
pub use record::{Record, RecordKind};
pub use result::{Attempt, CheckResult, MissedReason, MissedRuns, Verdict};
pub use role::{Right, Role};
pub use status::{Outcome, Status};
pub use text::{printable, same_secret};
pub use time::Timestamp;
