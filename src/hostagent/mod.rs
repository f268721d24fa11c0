//! The agent of a host: measures it, and reports to the server. What cannot be sent is kept on disk.

mod collector;
mod link_state;
mod measurements;
mod mounts;
mod networks;
mod processes;
mod report;
mod report_client;
mod report_loop;
mod sequence;
mod spooled_reports;

pub use measurements::Measurements;
pub use processes::MAX_PROCESS_NAMES;
pub use report::{HostFacts, HostReport};
pub use report_client::{ReportTarget, SendOutcome};
pub use report_loop::{HostAgent, HostAgentError, HostAgentOptions, measure_once};
pub use sequence::SequenceError;
