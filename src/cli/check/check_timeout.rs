//! `--timeout`: the time limit of the whole command.

use std::time::Duration;

use crate::domain::{CheckResult, Outcome, Status};

/// Longest time limit, in seconds.
const MAX_SECONDS: f64 = 86_400.0;

/// The time limit of all checks together, and the outcome of those that have no result by then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CheckTimeout {
    pub(super) duration: Duration,
    outcome: Outcome,
}

impl CheckTimeout {
    /// Parses `SECONDS` or `SECONDS:STATE`. The state is a word or an exit code of Nagios; it is unknown by default.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (seconds, state) = text.split_once(':').unwrap_or((text, "unknown"));
        let outcome = match state.to_lowercase().as_str() {
            "0" | "ok" => Outcome::Ok,
            "1" | "warning" => Outcome::Warning,
            "2" | "critical" => Outcome::Error,
            "3" | "unknown" => Outcome::Unknown,
            _ => return Err(format!("`{state}` is not a state; write ok, warning, critical or unknown")),
        };
        let number = seconds.parse::<f64>().ok().filter(|number| (0.001..=MAX_SECONDS).contains(number));
        let number =
            number.ok_or_else(|| format!("`{seconds}` is not a number of seconds up to {MAX_SECONDS}"))?;
        Ok(Self { duration: Duration::from_secs_f64(number), outcome })
    }

    /// Gives `result` the outcome of the time limit if its check was cancelled.
    pub(super) fn apply(self, result: &mut CheckResult) {
        if !result.is_cancelled() {
            return;
        }
        let is_failed = matches!(self.outcome, Outcome::Error | Outcome::Unknown);
        result.outcome = self.outcome;
        result.status = if is_failed { Status::TIMED_OUT } else { Status::OK };
        result.warning_status = (self.outcome == Outcome::Warning).then_some(Status::TIMED_OUT);
        result.status.text().clone_into(&mut result.status_text);
        result.reasons = vec![format!("no result within {} s (`--timeout`)", self.duration.as_secs_f64())];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_seconds_and_may_have_a_state() {
        for (text, seconds, outcome) in [
            ("10", 10.0, Outcome::Unknown),
            ("0.5:critical", 0.5, Outcome::Error),
            ("3:1", 3.0, Outcome::Warning),
            ("3:OK", 3.0, Outcome::Ok),
        ] {
            let duration = Duration::from_secs_f64(seconds);
            assert_eq!(CheckTimeout::parse(text), Ok(CheckTimeout { duration, outcome }), "{text}");
        }
        for text in ["", "0", "-1", "ten", "86401", "inf", "NaN", "5:bad", "5:"] {
            assert!(CheckTimeout::parse(text).is_err(), "{text}");
        }
    }
}
