//! A target that fails at known times.

use std::time::Duration;

/// Failure times of a target: down for `down_for` in each `period`, from `down_after` on.
#[derive(Clone, Copy, Debug)]
pub struct FlakySchedule {
    /// Length of one period of up and down.
    pub period: Duration,
    /// Start of the failing part in each period.
    pub down_after: Duration,
    /// Length of the failing part.
    pub down_for: Duration,
}

impl Default for FlakySchedule {
    /// Down for one of every five minutes, for the first time after one minute: a new user soon sees a failure and a
    /// recovery.
    fn default() -> Self {
        Self {
            period: Duration::from_mins(5),
            down_after: Duration::from_mins(1),
            down_for: Duration::from_mins(1),
        }
    }
}

impl FlakySchedule {
    /// Whether the target fails when `since_start` has passed since the start.
    #[must_use]
    pub fn is_down(&self, since_start: Duration) -> bool {
        let period = self.period.as_micros().max(1);
        let position = since_start.as_micros() % period;
        (self.down_after.as_micros()..self.down_after.as_micros() + self.down_for.as_micros())
            .contains(&position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flaky_target_is_down_one_minute_in_five() {
        let flaky = FlakySchedule::default();
        let down: Vec<u64> = (0..600).filter(|&second| flaky.is_down(Duration::from_secs(second))).collect();
        assert_eq!(down.len(), 120);
        assert_eq!((down[0], down[59], down[60]), (60, 119, 360));
    }
}
