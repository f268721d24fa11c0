//! The words of the field: monitors, runs, observations, verdicts, results. No I/O happens here.

pub mod accept;
pub mod blackout;
mod capture;
mod course;
mod document;
mod failure;
mod fault;
pub mod field;
pub mod format;
mod header_list;
pub(crate) mod id;
pub mod intake;
mod json;
mod kind;
pub mod legacy;
mod location;
mod mode;
mod monitor;
pub mod monitor_file;
mod notice;
mod observation;
pub mod path;
mod phase;
mod recipient;
mod record;
mod result;
mod role;
mod rules;
mod sample;
pub mod schema;
pub mod script;
mod session;
pub mod source;
mod status;
pub mod table;
pub mod template;
mod text;
mod time;
mod url_login;
mod verification;
pub mod words;
pub mod xpath;
pub mod yaml;

pub use capture::Capture;
pub use course::{
    ActResult, BrowserFacts, ConsoleEntry, Course, Excerpt, FullPage, HttpExchange, ObjectChange, ObjectKind,
    PageObject, PageTiming, PlayedStep, StepResult, ViewResult,
};
pub use document::{Document, Secrets};
pub use failure::{Failure, FailureKind, Fault};
pub use fault::{FieldFault, MASK, Rule, nearest, shortened, shown};
pub use header_list::HeaderList;
pub use id::{CheckId, CustomerId, EpisodeId, LocationId, MonitorId, RecipientId, Revision, RunId, UserId};
pub use kind::MonitorType;
pub use location::Location;
pub use mode::Mode;
pub use monitor::{Monitor, Origin, Trail};
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
pub use text::{cut, escape_html, hexadecimal, lossy, peer, printable, same_secret};
pub use time::Timestamp;
pub use verification::Verification;
