//! Performance alerts: compares the mean check time at a location with a limit (behaviour.md 6). Notifies once when
//! the mean exceeds its limit and once when it is back. Blackouts do not silence them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::{LocationMeanDuration, MonitorId, RecipientId, Timestamp};

/// Minimum number of checks behind a reference mean: the first checks of a new monitor are not representative.
pub const MIN_REFERENCE_CHECKS: u64 = 12;

/// The limit for a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PerformanceThreshold {
    /// A fixed limit.
    Static {
        /// The limit, in microseconds.
        limit_us: u64,
    },
    /// A limit relative to the mean of the last days.
    Dynamic {
        /// How much above that mean, in percent.
        percent: f64,
        /// Number of days, 1 to 7.
        days: u32,
    },
}

/// Severity of a performance alert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PerformanceAlertLevel {
    /// Needs attention.
    Warning,
    /// Needs action.
    #[default]
    Error,
}

impl PerformanceAlertLevel {
    /// Returns its name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A configured performance alert.
#[derive(Clone, Debug, PartialEq)]
pub struct PerformanceRule {
    /// Its id.
    pub id: i64,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The limit for the mean.
    pub threshold: PerformanceThreshold,
    /// Period up to now that the mean covers.
    pub window: Duration,
    /// Its severity.
    pub level: PerformanceAlertLevel,
}

/// A performance alert that is active at a location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivePerformanceAlert {
    /// When it was raised.
    #[serde(rename = "since")]
    pub raised_at: Timestamp,
    /// The limit then, in microseconds.
    pub limit_us: u64,
    /// Recipients that were notified.
    #[serde(rename = "told")]
    pub notified_recipients: Vec<RecipientId>,
}

/// Change of a performance alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerformanceAlertChange {
    /// The mean exceeds the limit.
    Raise {
        /// The mean, in microseconds.
        mean_us: u64,
        /// The limit, in microseconds.
        limit_us: u64,
    },
    /// The mean no longer exceeds the limit.
    Clear {
        /// The mean, in microseconds.
        mean_us: u64,
        /// The limit, in microseconds.
        limit_us: u64,
    },
}

impl PerformanceRule {
    /// Returns the limit in microseconds; `None` while `reference_mean`, the mean of the last days, has too few checks.
    #[must_use]
    pub fn limit_us(&self, reference_mean: Option<LocationMeanDuration>) -> Option<u64> {
        match self.threshold {
            PerformanceThreshold::Static { limit_us } => Some(limit_us),
            PerformanceThreshold::Dynamic { percent, .. } => {
                let reference_mean = reference_mean
                    .filter(|reference_mean| reference_mean.check_count >= MIN_REFERENCE_CHECKS)?
                    .mean_us()?;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
                Some((reference_mean as f64 * (1.0 + percent / 100.0)).round() as u64)
            }
        }
    }

    /// Returns the change that the mean of the window causes. A window without checks changes nothing.
    #[must_use]
    pub fn evaluate(
        &self,
        is_active: bool,
        window_mean: Option<LocationMeanDuration>,
        reference_mean: Option<LocationMeanDuration>,
    ) -> Option<PerformanceAlertChange> {
        let mean_us = window_mean?.mean_us()?;
        let limit_us = self.limit_us(reference_mean)?;
        match (is_active, mean_us > limit_us) {
            (false, true) => Some(PerformanceAlertChange::Raise { mean_us, limit_us }),
            (true, false) => Some(PerformanceAlertChange::Clear { mean_us, limit_us }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LocationId;

    fn mean(checks: u64, each_us: u64) -> LocationMeanDuration {
        LocationMeanDuration { location_id: LocationId(1), check_count: checks, sum_us: checks * each_us }
    }

    fn rule(threshold: PerformanceThreshold) -> PerformanceRule {
        let window = Duration::from_mins(15);
        PerformanceRule {
            id: 1,
            monitor_id: MonitorId(1),
            threshold,
            window,
            level: PerformanceAlertLevel::Error,
        }
    }

    #[test]
    fn a_static_limit_raises_when_exceeded_and_clears_when_back() {
        let rule = rule(PerformanceThreshold::Static { limit_us: 1000 });
        let raise = |mean_us| Some(PerformanceAlertChange::Raise { mean_us, limit_us: 1000 });
        let clear = |mean_us| Some(PerformanceAlertChange::Clear { mean_us, limit_us: 1000 });
        for (is_active, window, expected) in [
            (false, Some(mean(1, 1000)), None),
            (false, Some(mean(1, 1001)), raise(1001)),
            (true, Some(mean(3, 5000)), None),
            (true, Some(mean(3, 1000)), clear(1000)),
            (false, None, None),
            (true, None, None),
            (true, Some(mean(0, 0)), None),
        ] {
            assert_eq!(rule.evaluate(is_active, window, None), expected, "{is_active} {window:?}");
        }
    }

    #[test]
    fn a_dynamic_limit_follows_the_mean_of_the_last_days() {
        let rule = rule(PerformanceThreshold::Dynamic { percent: 50.0, days: 7 });
        assert_eq!(rule.limit_us(Some(mean(100, 2000))), Some(3000));
        assert_eq!(rule.evaluate(false, Some(mean(5, 3000)), Some(mean(100, 2000))), None);
        let raise = Some(PerformanceAlertChange::Raise { mean_us: 3001, limit_us: 3000 });
        assert_eq!(rule.evaluate(false, Some(mean(5, 3001)), Some(mean(100, 2000))), raise);
        // Too few checks behind the reference mean: neither raised nor cleared.
        for reference_mean in [None, Some(mean(MIN_REFERENCE_CHECKS - 1, 1))] {
            assert_eq!(rule.evaluate(false, Some(mean(5, 3001)), reference_mean), None);
            assert_eq!(rule.evaluate(true, Some(mean(5, 1)), reference_mean), None);
        }
    }
}
