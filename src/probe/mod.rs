//! Probes: one for each kind. A probe opens what it needs through [`Net`](crate::net::Net), applies the rules of
//! `evaluate`, and always returns an [`Observation`](crate::domain::Observation).

mod api_steps;
mod blocking_pool;
mod browser;
mod build_context;
mod cancellation;
mod collection;
mod connect_settings;
mod dns;
mod ftp;
mod full_page_rule;
mod host_agent;
mod http;
mod invalid_probe;
mod keyword_search;
mod mail;
mod ping;
mod probe_trait;
mod project;
mod random;
mod redacting_probe;
mod registry;
mod report_source;
mod request_steps;
mod security_scan;
mod service_target;
mod tcp;

pub use build_context::{ProbeBuildContext, ScriptDebugOptions};
pub use probe_trait::{
    AttemptFuture, ConcurrencyClass, MonitorTypes, Probe, ProbeConstructor, ProbeContext, new_trace_id,
};
pub use registry::{PROBE_DESCRIPTORS, ProbeDescriptor, build_probe, find_descriptor};
pub use report_source::{ReportSource, ReportedStateFuture};
pub use security_scan::{AllowedTargets, SecurityScanSettings};
