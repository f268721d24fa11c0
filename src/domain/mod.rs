//! What exists: ids, time, runs, observations, verdicts, results. Small values without I/O.

mod audit_row;
mod capture;
mod course;
mod failure;
mod filter;
mod header_list;
pub(crate) mod id;
mod kind;
mod listing;
mod location;
mod mode;
mod monitor_state;
mod notice;
mod observation;
mod phase;
mod recipient;
mod record;
mod result;
mod role;
mod sample;
mod session;
mod status;
mod store_error;
mod text;
mod time;
mod verification;

pub use audit_row::AuditRow;
pub use capture::Capture;
pub use course::{
    ActResult, BrowserFacts, ConsoleEntry, Course, Excerpt, FullPage, HttpExchange, ObjectChange, ObjectKind,
    PageObject, PageTiming, PlayedStep, StepResult, ViewResult,
};
pub use failure::{Failure, FailureKind, Fault};
pub use filter::{AuditFilter, EpisodeFilter, NotificationFilter, RecordFilter, ResultFilter};
pub use header_list::HeaderList;
pub use id::{CheckId, CustomerId, EpisodeId, LocationId, MonitorId, RecipientId, Revision, RunId, UserId};
pub use kind::MonitorType;
pub use listing::{Listed, Page, ResultPage};
pub use location::Location;
pub use mode::Mode;
pub use monitor_state::MonitorState;
pub use notice::{LocationReport, NewNotification, Notice, NoticeKind, Notification, NotificationState};
pub use observation::{
    Certificate, DnsFacts, Facts, Hop, HttpFacts, Observation, PingFacts, TlsFacts, Warning, WarningKind,
};
pub use phase::{Phase, Phases};
pub use recipient::{GroupMonitor, Method, NotifierGroup, Recipient};
pub use record::{Record, RecordKind};
pub use result::{Attempt, CheckOf, CheckResult, MissedReason, MissedRuns, Verdict, micros};
pub use role::{Right, Role};
pub use sample::{Mean, Sample};
pub use session::{FtpFacts, MailFacts, TripFacts};
pub use status::{Outcome, Status};
pub use store_error::StoreError;
pub use text::{cut, escape_html, hexadecimal, lossy, peer, printable, same_secret};
pub use time::Timestamp;
pub use verification::Verification;
