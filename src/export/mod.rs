//! Results to others: what Vigie measures, for the tools that people already have.

pub mod otlp;
