//! The export by OTLP, against a receiver that decodes what it gets by the definitions of OpenTelemetry.

mod bodies;
mod collector;
mod daemon;
mod sending;
mod settings;
mod traced_requests;
