//! Performance alerts: the mean time of checks at a location against what was set for it (behaviour.md 6).
//! Told once when a mean goes over its limit, and once when it is back; blackouts do not silence it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::{MeanDuration, MonitorId, RecipientId, Timestamp};

/// Checks that the mean of the last days has to be of: the first ones of a new monitor say little.
pub const MIN_CHECKS: u64 = 12;

/// What a mean is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PerformanceThreshold {
    /// A mean over so many microseconds.
    Static {
        /// The limit.
        limit_us: u64,
    },
    /// A mean over that of the last days by so many percent.
    Dynamic {
        /// How much more.
        percent: f64,
        /// 1 to 7.
        days: u32,
    },
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PerformanceLevel {
    /// To be looked at.
    Warning,
    /// To be acted on.
    #[default]
    Error,
}

impl PerformanceLevel {
    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A performance alert as it was set.
#[derive(Clone, Debug, PartialEq)]
pub struct PerformanceRule {
    /// Its number.
    pub id: i64,
    /// The monitor.
    pub monitor: MonitorId,
    /// What the mean is held against.
    pub threshold: PerformanceThreshold,
    /// What the mean is taken over, up to now.
    pub window: Duration,
    /// How bad it is.
    pub level: PerformanceLevel,
}

/// One that is raised at a location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivePerformanceAlert {
    /// Since when.
    pub since: Timestamp,
    /// The limit then, in microseconds.
    pub limit_us: u64,
    /// Who was told.
    #[serde(rename = "told")]
    pub notified: Vec<RecipientId>,
}

/// What a look at a mean comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerformanceChange {
    /// The mean is over its limit.
    Raise {
        /// The mean, in microseconds.
        mean_us: u64,
        /// The limit.
        limit_us: u64,
    },
    /// It is not any more.
    Clear {
        /// The mean, in microseconds.
        mean_us: u64,
        /// The limit.
        limit_us: u64,
    },
}

impl PerformanceRule {
    /// What the mean may be at most, in microseconds; `None` while too little is known. `base` is the mean of the
    /// last days.
    #[must_use]
    pub fn limit_us(&self, base: Option<MeanDuration>) -> Option<u64> {
        match self.threshold {
            PerformanceThreshold::Static { limit_us } => Some(limit_us),
            PerformanceThreshold::Dynamic { percent, .. } => {
                let base = base.filter(|base| base.checks >= MIN_CHECKS)?.mean_us()?;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
                Some((base as f64 * (1.0 + percent / 100.0)).round() as u64)
            }
        }
    }

    /// What follows from the mean of the window. Without a check in it nothing does: silence is neither slow nor
    /// quick.
    #[must_use]
    pub fn evaluate(
        &self,
        raised: bool,
        window: Option<MeanDuration>,
        base: Option<MeanDuration>,
    ) -> Option<PerformanceChange> {
        let mean_us = window?.mean_us()?;
        let limit_us = self.limit_us(base)?;
        match (raised, mean_us > limit_us) {
            (false, true) => Some(PerformanceChange::Raise { mean_us, limit_us }),
            (true, false) => Some(PerformanceChange::Clear { mean_us, limit_us }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LocationId;

    fn mean(checks: u64, each_us: u64) -> MeanDuration {
        MeanDuration { location: LocationId(1), checks, sum_us: checks * each_us }
    }

    fn rule(threshold: PerformanceThreshold) -> PerformanceRule {
        let window = Duration::from_mins(15);
        PerformanceRule { id: 1, monitor: MonitorId(1), threshold, window, level: PerformanceLevel::Error }
    }

    #[test]
    fn a_fixed_limit_is_told_when_it_is_crossed_and_not_before() {
        let rule = rule(PerformanceThreshold::Static { limit_us: 1000 });
        let raise = |mean_us| Some(PerformanceChange::Raise { mean_us, limit_us: 1000 });
        let clear = |mean_us| Some(PerformanceChange::Clear { mean_us, limit_us: 1000 });
        for (raised, window, want) in [
            (false, Some(mean(1, 1000)), None),
            (false, Some(mean(1, 1001)), raise(1001)),
            (true, Some(mean(3, 5000)), None),
            (true, Some(mean(3, 1000)), clear(1000)),
            (false, None, None),
            (true, None, None),
            (true, Some(mean(0, 0)), None),
        ] {
            assert_eq!(rule.evaluate(raised, window, None), want, "{raised} {window:?}");
        }
    }

    #[test]
    fn a_dynamic_limit_follows_the_days_before() {
        let rule = rule(PerformanceThreshold::Dynamic { percent: 50.0, days: 7 });
        assert_eq!(rule.limit_us(Some(mean(100, 2000))), Some(3000));
        assert_eq!(rule.evaluate(false, Some(mean(5, 3000)), Some(mean(100, 2000))), None);
        let raised = Some(PerformanceChange::Raise { mean_us: 3001, limit_us: 3000 });
        assert_eq!(rule.evaluate(false, Some(mean(5, 3001)), Some(mean(100, 2000))), raised);
        // Too little is known: neither raised nor cleared.
        for base in [None, Some(mean(MIN_CHECKS - 1, 1))] {
            assert_eq!(rule.evaluate(false, Some(mean(5, 3001)), base), None);
            assert_eq!(rule.evaluate(true, Some(mean(5, 1)), base), None);
        }
    }
}
