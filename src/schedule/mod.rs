//! When monitors run: the slot grid of one monitor, what to do after a pause, and the one timer queue.
//! Pure: time comes in as an argument.

mod calendar;
mod catch_up;
mod grid;
mod run_plan;
mod slots;
mod timer_queue;

pub use calendar::{BlackoutCalendar, BlackoutTarget, BlackoutWindow, TimeWindow};
pub use catch_up::{CatchUp, LATENESS_TOLERANCE, MissedSlots, NextRun};
pub use grid::{LocationRotation, LocationSlots};
pub use run_plan::RunPlan;
pub use slots::Slots;
pub use timer_queue::TimerQueue;
