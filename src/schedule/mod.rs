//! When monitors run: the slot grid of one monitor, what to do after a pause, and the one timer queue.
//! Pure: time comes in as an argument.

mod blackout_calendar;
mod catch_up;
mod location_slots;
mod run_plan;
mod slots;
mod timer_queue;

pub use blackout_calendar::{BlackoutCalendar, BlackoutTarget, BlackoutWindow, TimeWindow};
pub use catch_up::{CatchUp, LATENESS_TOLERANCE, MissedSlots, NextRun};
pub use location_slots::{LocationRotation, LocationSlots};
pub use run_plan::RunPlan;
pub use slots::Slots;
pub use timer_queue::TimerQueue;
