//! `hostagent`: compares what a host reports with thresholds, and watches over pushes (behaviour.md 4).

mod ping;
mod probe;
mod scrape;
mod series_memory;

pub(super) use probe::build;
pub use series_memory::SeriesMemory;
