//! The state of every monitor of an agent, without I/O and without reading the clock.
//!
//! Each slot of a planned monitor ends in exactly one of three ways: it starts, it is recorded as missed, or it is
//! still ahead or waiting. A monitor has at most one run in progress (orders included) and at most one slot that waits
//! for it; when the next slot is due, the one that still waits is missed.

mod admission_requests;
mod monitor_entry;
mod queue;
mod slots;

pub use queue::{RunQueue, StartRun};
