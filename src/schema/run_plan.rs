//! Builds the run plan of a monitor from its settings.

use super::monitor::Monitor;
use crate::domain::{LocationId, LocationMode, MonitorType};
use crate::schedule::{RunPlan, SlotGrid};

impl Monitor {
    /// Returns the run plan of this revision over `pool`: its own locations or those of its account, in their order.
    #[must_use]
    pub fn run_plan(&self, pool: &[LocationId]) -> RunPlan {
        let settings = self.document.settings();
        let (schedule, mode) = (settings.schedule, settings.location_mode);
        let rotates = schedule.rotate_locations && mode != LocationMode::Primary;
        let mut pool = pool.to_vec();
        pool.sort_by_key(|location| Some(*location) != schedule.home_location);
        let locations_per_run = match usize::from(schedule.locations_per_run) {
            // Otherwise each location would send a message of its own through the same mailbox (behaviour.md 4).
            _ if self.monitor_type() == MonitorType::EmailRoundTrip => 1,
            0 => mode.default_location_count(pool.len(), rotates),
            count => count.min(pool.len()),
        };
        let attempts = if schedule.retry_on_failure { 2 } else { 1 };
        RunPlan {
            slot_grid: SlotGrid::new(self.id, self.interval(), self.schedule_offset()),
            location_pool: pool,
            locations_per_run: locations_per_run.max(1),
            rotates_locations: rotates,
            staggered: mode == LocationMode::RoundRobin,
            max_check_duration: self.max_attempt_duration() * attempts,
        }
    }
}
