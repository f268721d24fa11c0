//! The schedule and the waiting runs of every monitor of an agent, without I/O and without reading the clock.
//!
//! Each slot of a planned monitor ends in exactly one of three ways: it starts, it is recorded as missed, or it is
//! in the future or waiting. A monitor has at most one run in progress (on demand or not) and one slot that waits
//! for its end; when the next slot is due, a slot that still waits is recorded as missed.

mod due_slots;
mod monitor_schedule;
mod queue;
mod run_admission;

pub use queue::{CheckStart, RunQueue};
