//! Who is to be woken, done: the watches of all monitors, fed by the loop that takes results (`ingest`), and what
//! follows from them. A turn of that loop takes results, words from elsewhere and the passing of time, and comes to
//! one transaction; what leaves the process begins after it was kept (architecture.md 4).

mod accounts;
mod after;
mod away;
mod baseline;
mod change;
mod engine;
mod hear;
mod input;
mod notice;
mod places;
mod policy;
mod records;
mod settings;
mod start;
mod tell;
mod timers;
mod trace;
mod turn;
mod verify;
mod watched;

pub use engine::AlertEngine;
pub(super) use input::{HealthMap, IngestCommand};
pub use settings::{AlertEngineDependencies, AlertEngineSettings};
pub(super) use turn::{BatchOutcome, PostCommitActions};
