//! Objectives in percent, and how much of the error budget is used up.

/// An objective in thousandths of a percent: 99.95 % is 99,950. Integers, so that rounding never decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlaObjective(u32);

/// The status of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectiveStatus {
    /// Percent that was achieved, with three decimals, rounded down; `None` when nothing was counted.
    pub achieved_percent: Option<f64>,
    /// Whether the objective is met; it is when nothing was counted.
    pub is_met: bool,
}

/// The failures that are allowed before the objective is missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorBudget {
    /// Number of counted checks or runs that may fail.
    pub allowed_failures: f64,
    /// Number that failed.
    pub failures: u64,
    /// What is left, in percent of what is allowed; negative when the objective is missed. `None` when nothing may fail
    /// or nothing was counted.
    pub remaining_percent: Option<f64>,
}

const HUNDRED_PERCENT_IN_THOUSANDTHS: u64 = 100_000;

impl SlaObjective {
    /// Creates an objective of `percent`, rounded to three decimals; `None` outside of 0 to 100.
    #[must_use]
    pub fn from_percent(percent: f64) -> Option<Self> {
        let thousandths = (percent * 1000.0).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 to 100,000")]
        (0.0..=100_000.0).contains(&thousandths).then_some(Self(thousandths as u32))
    }

    /// Returns the objective in percent.
    #[must_use]
    pub fn as_percent(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    /// Returns the status when `passed` of `total` passed.
    #[must_use]
    pub fn status(self, (passed, total): (u64, u64)) -> ObjectiveStatus {
        let is_met = u128::from(passed) * u128::from(HUNDRED_PERCENT_IN_THOUSANDTHS)
            >= u128::from(self.0) * u128::from(total);
        ObjectiveStatus { achieved_percent: ratio_percent((passed, total)), is_met }
    }

    /// Returns the error budget when `passed` of `total` passed.
    #[must_use]
    pub fn error_budget(self, (passed, total): (u64, u64)) -> ErrorBudget {
        let allowed_failures = total as f64 * self.allowed_failure_ratio();
        let failures = total - passed;
        let remaining_percent =
            (self.0 < 100_000 && total > 0).then(|| 100.0 * (1.0 - failures as f64 / allowed_failures));
        ErrorBudget { allowed_failures, failures, remaining_percent }
    }

    /// Returns how many times faster than allowed failures occur: at 1, exactly the allowed number is used up at the
    /// end. `None` when nothing was counted or nothing may fail.
    #[must_use]
    pub fn burn_rate(self, (passed, total): (u64, u64)) -> Option<f64> {
        (self.0 < 100_000 && total > 0)
            .then(|| (total - passed) as f64 / total as f64 / self.allowed_failure_ratio())
    }

    fn allowed_failure_ratio(self) -> f64 {
        f64::from(100_000 - self.0) / 100_000.0
    }
}

/// Returns `passed` of `total` in percent, with three decimals, rounded down: 100 means that nothing failed.
#[must_use]
pub fn ratio_percent((passed, total): (u64, u64)) -> Option<f64> {
    let thousandths =
        (u128::from(passed) * u128::from(HUNDRED_PERCENT_IN_THOUSANDTHS)).checked_div(u128::from(total))?;
    Some(thousandths as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_is_met_exactly() {
        let objective = SlaObjective::from_percent(99.95).unwrap();
        assert_eq!(
            objective.status((1999, 2000)),
            ObjectiveStatus { achieved_percent: Some(99.95), is_met: true }
        );
        assert_eq!(
            objective.status((1998, 2000)),
            ObjectiveStatus { achieved_percent: Some(99.9), is_met: false }
        );
        assert_eq!(objective.status((0, 0)), ObjectiveStatus { achieved_percent: None, is_met: true });
        let all = SlaObjective::from_percent(100.0).unwrap();
        assert_eq!(
            all.status((9_999_999, 10_000_000)),
            ObjectiveStatus { achieved_percent: Some(99.999), is_met: false }
        );
        assert_eq!(SlaObjective::from_percent(100.001), None);
        assert_eq!(SlaObjective::from_percent(f64::NAN), None);
    }

    #[test]
    fn failures_use_up_the_error_budget() {
        let objective = SlaObjective::from_percent(99.0).unwrap();
        let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-9);
        for (good, left, rate) in [(1000, 100.0, 0.0), (995, 50.0, 0.5), (990, 0.0, 1.0), (970, -200.0, 3.0)]
        {
            let budget = objective.error_budget((good, 1000));
            assert!((budget.allowed_failures - 10.0).abs() < 1e-9);
            assert_eq!(budget.failures, 1000 - good);
            assert!(near(budget.remaining_percent, left), "{budget:?}");
            assert!(near(objective.burn_rate((good, 1000)), rate));
        }
        let all = SlaObjective::from_percent(100.0).unwrap();
        assert_eq!((all.error_budget((9, 10)).remaining_percent, all.burn_rate((9, 10))), (None, None));
        assert_eq!(objective.burn_rate((0, 0)), None);
    }
}
