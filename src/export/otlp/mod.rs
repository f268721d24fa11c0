//! Results as metrics, failed checks as logs and traces, sent by OTLP over HTTP in JSON (OpenTelemetry protocol 1.x).
//!
//! Committed results are copied into a bounded queue. One task sends them in batches and repeats what may pass; what
//! the receiver does not accept in time is dropped and counted.

mod backoff;
mod batch;
mod check;
mod check_attributes;
mod client;
mod encoder;
mod exporter;
mod handle;
mod logs;
mod metrics;
mod model;
mod queue;
mod response;
mod settings;
mod signal;
mod span_builder;
mod spans;
mod timeline;

pub use check::{CheckContext, ExportedCheck};
pub use exporter::OtlpExporter;
pub use handle::OtlpHandle;
pub use settings::OtlpSettings;
pub use signal::{OtlpSignal, OtlpSignals};
