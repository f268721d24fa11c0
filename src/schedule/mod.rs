//! Scheduling of monitors: the slot grid of one monitor, catching up after a stall, and the timer queue. Pure: the time
//! is an argument.

mod blackout_calendar;
mod catch_up;
mod first_check_queue;
mod location_members;
mod location_slot_grid;
mod run_plan;
mod slot_grid;
mod timer_queue;
mod unrecorded_slots;

pub use blackout_calendar::{BlackoutCalendar, BlackoutTarget, BlackoutWindow, TimeWindow};
pub use catch_up::{CatchUp, LATENESS_TOLERANCE, MissedSlots, NextRun};
pub use first_check_queue::{FIRST_CHECK_SPACING, FirstCheck, FirstCheckQueue, NextFirstCheck};
pub use location_members::{LocationMember, LocationMembers, MembersHistory};
pub use location_slot_grid::{LocationRotation, LocationSlotGrid};
pub use run_plan::RunPlan;
pub use slot_grid::SlotGrid;
pub use timer_queue::TimerQueue;
