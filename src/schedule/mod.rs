//! When monitors run: the slot grid of one monitor, what to do after a pause, and the one timer queue.
//! Pure: time comes in as an argument.

mod calendar;
mod catch_up;
mod grid;
mod run_plan;
mod slots;
mod timer_queue;

pub use calendar::{Calendar, Rests, When, Window};
pub use catch_up::{CatchUp, MissedSlots, NextRun, ORDINARY_LATENESS};
pub use grid::{Grid, Part};
pub use run_plan::RunPlan;
pub use slots::Slots;
pub use timer_queue::TimerQueue;
