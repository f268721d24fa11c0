//! Metrics in the text format of Prometheus: pages of samples, names of series, and selectors of series.

pub mod exposition;
#[cfg(test)]
mod exposition_tests;
mod scanner;
pub mod selector;
pub mod series_name;
