//! Thresholds on what a check measured: `--warning` and `--critical`.

use super::measurement::{Measurement, TOTAL_TIME, measurement_names, measurements};
use super::threshold_range::ThresholdRange;
use crate::cli::output::UsageError;
use crate::domain::{CheckResult, Outcome, Status};
use crate::syntax::closest_match;

/// The ranges of both levels, each with the name of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Thresholds {
    warning: Vec<(&'static str, ThresholdRange)>,
    critical: Vec<(&'static str, ThresholdRange)>,
}

impl Thresholds {
    /// Parses the values of `--warning` and `--critical`: `RANGE` for the total time, or `NAME=RANGE`.
    ///
    /// # Errors
    /// [`UsageError`] for a range or name that is invalid, and for a name that is given twice.
    pub(super) fn parse(warning: &[String], critical: &[String]) -> anyhow::Result<Self> {
        let parse_level = |option, values: &[String]| -> anyhow::Result<_> {
            let mut ranges: Vec<(&'static str, ThresholdRange)> = Vec::new();
            for value in values {
                let (name, range) = parse_threshold(option, value)?;
                if ranges.iter().any(|(known, _)| *known == name) {
                    let hint = Some("leave one of them out".to_owned());
                    return Err(UsageError::with_hint(
                        format!("`{option}` is given twice for `{name}`"),
                        hint,
                    ));
                }
                ranges.push((name, range));
            }
            Ok(ranges)
        };
        Ok(Self {
            warning: parse_level("--warning", warning)?,
            critical: parse_level("--critical", critical)?,
        })
    }

    /// Returns the ranges of the measurement `name`: warning, critical.
    pub(super) fn ranges(&self, name: &str) -> [Option<ThresholdRange>; 2] {
        [&self.warning, &self.critical].map(|level| find_range(level, name))
    }

    /// Makes the outcome of `result` worse where a threshold is violated, never better. A threshold on something that a
    /// passing check did not measure makes it unknown: nothing says that it is kept.
    pub(super) fn apply(&self, result: &mut CheckResult) {
        if !matches!(result.outcome, Outcome::Ok | Outcome::Warning) {
            return;
        }
        let measured = measurements(result);
        let critical = violations("critical", &self.critical, &measured);
        let warning = violations("warning", &self.warning, &measured);
        let unmeasured = self.unmeasured(&measured);
        let (outcome, reasons) = if !critical.is_empty() {
            (Outcome::Error, critical)
        } else if !unmeasured.is_empty() {
            (Outcome::Unknown, unmeasured)
        } else if !warning.is_empty() {
            (Outcome::Warning, warning)
        } else {
            return;
        };
        result.reasons.splice(0..0, reasons);
        result.outcome = outcome;
        if outcome == Outcome::Warning {
            result.warning_status.get_or_insert(Status::VALIDATION_FAILED);
        } else {
            result.status = Status::VALIDATION_FAILED;
            result.warning_status = None;
            Status::VALIDATION_FAILED.text().clone_into(&mut result.status_text);
        }
    }

    fn unmeasured(&self, measured: &[Measurement]) -> Vec<String> {
        let mut reasons: Vec<String> = Vec::new();
        for (name, _) in self.critical.iter().chain(&self.warning) {
            let reason = format!("`{name}` has a threshold, and this check did not measure it");
            if !measured.iter().any(|known| known.name == *name) && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }
}

fn parse_threshold(option: &str, value: &str) -> anyhow::Result<(&'static str, ThresholdRange)> {
    let (name, range) = match value.split_once('=') {
        None => (TOTAL_TIME, value),
        Some((name, range)) => {
            let known = measurement_names().find(|known| *known == name);
            (known.ok_or_else(|| unknown_name_error(option, name))?, range)
        }
    };
    let range = ThresholdRange::parse(range).map_err(|reason| UsageError(format!("`{option}`: {reason}")))?;
    Ok((name, range))
}

fn unknown_name_error(option: &str, name: &str) -> anyhow::Error {
    let hint = match closest_match(name, measurement_names()) {
        Some(closest) => format!("did you mean `{closest}`?"),
        None => format!("the names are `{}`", measurement_names().collect::<Vec<_>>().join("`, `")),
    };
    UsageError::with_hint(format!("`{option}`: nothing is measured by the name `{name}`"), Some(hint))
}

fn find_range(level: &[(&'static str, ThresholdRange)], name: &str) -> Option<ThresholdRange> {
    level.iter().find(|(known, _)| *known == name).map(|(_, range)| *range)
}

fn violations(
    level_name: &str,
    level: &[(&'static str, ThresholdRange)],
    measured: &[Measurement],
) -> Vec<String> {
    let violated = measured.iter().filter_map(|measurement| {
        let range = find_range(level, measurement.name).filter(|range| range.alerts(measurement.value))?;
        let (name, value) = (measurement.name, measurement.describe());
        Some(format!("`{name}` is {value}, which the {level_name} range `{range}` does not allow"))
    });
    violated.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::result_view::sample_result::sample_result;

    fn applied(warning: &[&str], critical: &[&str], outcome: Outcome) -> CheckResult {
        let owned = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>();
        let thresholds = Thresholds::parse(&owned(warning), &owned(critical)).unwrap();
        let mut result = CheckResult { outcome, status: Status::OK, ..sample_result() };
        result.duration_us = 2_000_000;
        result.reasons = vec!["before".to_owned()];
        thresholds.apply(&mut result);
        result
    }

    #[test]
    fn thresholds_only_make_the_outcome_worse() {
        use Outcome::{Error, Ok, Unknown, Warning};
        for (warning, critical, before, after) in [
            (&["5"][..], &["10"][..], Ok, Ok),
            (&["1"], &["10"], Ok, Warning),
            (&["1"], &["1.5"], Ok, Error),
            (&["5"], &["10"], Warning, Warning),
            (&["1"], &[], Error, Error),
            (&[], &["1"], Unknown, Unknown),
            (&["time=@1:3"], &[], Ok, Warning),
            (&["pl=5"], &[], Ok, Unknown),
            (&["pl=5"], &["1"], Ok, Error),
        ] {
            let result = applied(warning, critical, before);
            assert_eq!(result.outcome, after, "{warning:?} {critical:?} {before}");
            assert_eq!(result.reasons.last().unwrap(), "before");
            assert_eq!(result.reasons.len() > 1, before != after, "{:?}", result.reasons);
        }
        let failed = applied(&[], &["1"], Ok);
        assert_eq!(failed.reasons[0], "`time` is 2.000000 s, which the critical range `1` does not allow");
        assert_eq!((failed.status, failed.status_text.as_str()), (Status(5), "validation failed"));
        assert_eq!(applied(&["1"], &[], Ok).warning_status, Some(Status(5)));
    }

    #[test]
    fn invalid_thresholds_are_refused_with_the_reason() {
        for (values, part) in [
            (&["x"][..], "`--warning`: `x` is not a range: `x` is not a number"),
            (
                &["conect=1"],
                "`--warning`: nothing is measured by the name `conect`\nhint: did you mean `connect`?",
            ),
            (&["1", "time=2"], "`--warning` is given twice for `time`"),
            (&["qqq=1"], "the names are `time`, `prepare`"),
        ] {
            let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
            let error = Thresholds::parse(&values, &[]).unwrap_err();
            assert!(error.is::<UsageError>() && error.to_string().contains(part), "{error}");
        }
    }
}
