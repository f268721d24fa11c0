//! The messages of the bus: every value survives them, bytes that are none are refused, and those of earlier versions
//! are read.

mod captures;
mod malformed;
mod pinned;
mod round_trips;
pub mod samples;
mod snapshots;
