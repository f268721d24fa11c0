//! Collects events into series of points.

use crate::domain::{EventSeries, MAX_EVENT_POINTS, Timestamp};

/// The points collected so far.
pub(in crate::store) struct EventPoints {
    series: EventSeries,
    step_us: i64,
    point_count: usize,
}

impl EventPoints {
    /// Creates an empty collection of points that cover `step_us` microseconds each.
    pub(in crate::store) fn new(step_us: i64) -> Self {
        Self { series: EventSeries::new(), step_us: step_us.max(1), point_count: 0 }
    }

    /// Adds an event; returns `false` when there are too many points.
    pub(in crate::store) fn add(
        &mut self,
        created_at: i64,
        event_type: String,
        quantity: Option<i64>,
        value: Option<&str>,
    ) -> bool {
        let start = Timestamp::from_micros(created_at.saturating_sub(created_at.rem_euclid(self.step_us)));
        let series_of_type = self.series.entry(event_type).or_default();
        let old_point_count = series_of_type.len();
        series_of_type.entry(start).or_default().add(quantity.unwrap_or(1), value);
        self.point_count += series_of_type.len() - old_point_count;
        self.point_count <= MAX_EVENT_POINTS
    }

    pub(in crate::store) fn into_series(self) -> EventSeries {
        self.series
    }
}
