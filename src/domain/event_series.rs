//! Events of an account over time.

use std::collections::BTreeMap;

use super::id::CustomerId;
use super::time::Timestamp;

/// Most points of all series together.
pub const MAX_EVENT_POINTS: usize = 10_000;

/// Which events are counted, and in which steps.
#[derive(Clone, Debug)]
pub struct EventSeriesQuery {
    /// The account.
    pub customer: CustomerId,
    /// Only events of this type; `None` for all types.
    pub event_type: Option<String>,
    /// Reported at or after.
    pub from: Timestamp,
    /// Reported before.
    pub until: Timestamp,
    /// Length of a step in microseconds, at least 1. Steps start at multiples of it since 1970, UTC.
    pub step_us: i64,
}

/// The events of one type in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventPoint {
    /// How many there were.
    pub events: u64,
    /// Sum of their quantities.
    pub quantity: i64,
    /// Smallest and largest value, and the sum and number of values; only values that are numbers count.
    pub values: Option<EventValues>,
}

/// The values of events that are numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventValues {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Sum.
    pub sum: f64,
    /// How many there are.
    pub count: u64,
}

/// The points of each type, by the start of the step; steps without an event have none.
pub type EventSeries = BTreeMap<String, BTreeMap<Timestamp, EventPoint>>;

impl EventPoint {
    /// Adds an event with this quantity and value.
    pub fn add(&mut self, quantity: i64, value: Option<&str>) {
        self.events += 1;
        self.quantity = self.quantity.saturating_add(quantity);
        let number =
            value.and_then(|text| text.trim().parse::<f64>().ok()).filter(|number| number.is_finite());
        let Some(number) = number else { return };
        let values = self.values.get_or_insert(EventValues { min: number, max: number, sum: 0.0, count: 0 });
        values.min = values.min.min(number);
        values.max = values.max.max(number);
        values.sum += number;
        values.count += 1;
    }
}

impl EventValues {
    /// Returns the mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_that_are_numbers_count() {
        let mut point = EventPoint::default();
        for (quantity, value) in
            [(2, Some("1.5")), (i64::MAX, Some("v1.2")), (0, None), (1, Some("-4")), (1, Some("inf"))]
        {
            point.add(quantity, value);
        }
        assert_eq!((point.events, point.quantity), (5, i64::MAX));
        let values = point.values.unwrap();
        assert_eq!((values.min, values.max, values.mean(), values.count), (-4.0, 1.5, -1.25, 2));
    }
}
