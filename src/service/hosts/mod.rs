//! Hosts that report metrics, and pushes of jobs.

mod call_limit;
mod history;
mod host_service;
mod host_token;
mod push_service;
mod report_body;
mod report_queue;
mod reported_state;

pub use history::HostHistoryRequest;
pub use host_service::{HostService, HostServiceDependencies, ReportRefusal};
pub(in crate::service) use host_token::NewHostSecret;
pub use push_service::{MAX_OUTPUT_BYTES, PushRequest, PushService};
pub use report_body::{MAX_REPORT_BYTES, ReportError, SentReport, read_report};
