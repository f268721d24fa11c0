//! Ranges of thresholds, as plugins of Nagios take them: `[@]START:END` (formats.md, Nagios plugins).

use std::fmt;

/// The values that raise no alert, or with `@` those that do. Both ends belong to the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ThresholdRange {
    start: f64,
    end: f64,
    alerts_inside: bool,
}

impl ThresholdRange {
    /// Parses `END`, `START:`, `START:END` or `~:END`, with `@` before it for the opposite. A missing start is 0, a missing
    /// end has no bound.
    ///
    /// # Errors
    /// One sentence about what is wrong, with a hint how ranges are written.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Self::parse_bounds(text).map_err(|reason| {
            format!("`{text}` is not a range: {reason}\nhint: `5` alerts above 5, `10:` below 10, `@1:2` from 1 to 2")
        })
    }

    fn parse_bounds(text: &str) -> Result<Self, String> {
        let (alerts_inside, bounds) = text.strip_prefix('@').map_or((false, text), |bounds| (true, bounds));
        if bounds.is_empty() {
            return Err("it has no bound".to_owned());
        }
        let (start, end) = match bounds.split_once(':') {
            None => (0.0, parse_number(bounds)?),
            Some((start, end)) => {
                let start = match start {
                    "~" => f64::NEG_INFINITY,
                    "" => 0.0,
                    number => parse_number(number)?,
                };
                (start, if end.is_empty() { f64::INFINITY } else { parse_number(end)? })
            }
        };
        if start > end {
            return Err(format!("its start {start} is above its end {end}"));
        }
        Ok(Self { start, end, alerts_inside })
    }

    /// Whether `value` raises an alert.
    pub(super) fn alerts(self, value: f64) -> bool {
        (self.start..=self.end).contains(&value) == self.alerts_inside
    }
}

/// Parses a decimal number without exponent.
fn parse_number(text: &str) -> Result<f64, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_decimal = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = text.parse().ok().filter(|number: &f64| is_decimal && number.is_finite());
    number.ok_or_else(|| format!("`{text}` is not a number"))
}

impl fmt::Display for ThresholdRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.alerts_inside {
            f.write_str("@")?;
        }
        if self.start == f64::NEG_INFINITY {
            f.write_str("~:")?;
        } else if self.start != 0.0 || self.end == f64::INFINITY {
            write!(f, "{}:", self.start)?;
        }
        if self.end == f64::INFINITY { Ok(()) } else { write!(f, "{}", self.end) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_alert_outside_of_them_or_inside_with_an_at_sign() {
        for (text, alerting, quiet) in [
            ("10", &[-0.1, 10.1][..], &[0.0, 5.0, 10.0][..]),
            ("10:", &[9.9, -1.0], &[10.0, 1e9]),
            ("~:10", &[10.1], &[-1e9, 10.0]),
            ("10:20", &[9.9, 20.1], &[10.0, 20.0]),
            ("@10:20", &[10.0, 15.0, 20.0], &[9.9, 20.1]),
            ("-5:5.5", &[-5.1, 5.6], &[-5.0, 5.5]),
            (":7", &[-1.0, 7.5], &[0.0, 7.0]),
            ("0", &[0.1, -0.1], &[0.0]),
        ] {
            let range = ThresholdRange::parse(text).unwrap();
            assert!(alerting.iter().all(|&value| range.alerts(value)), "{text}");
            assert!(!quiet.iter().any(|&value| range.alerts(value)), "{text}");
        }
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "it has no bound"),
            ("@", "it has no bound"),
            ("abc", "`abc` is not a number"),
            ("20:10", "its start 20 is above its end 10"),
            ("1:2:3", "`2:3` is not a number"),
            ("~", "`~` is not a number"),
            ("1e3", "`1e3` is not a number"),
            ("1.2.3", "`1.2.3` is not a number"),
            ("inf", "`inf` is not a number"),
            ("-c", "`-c` is not a number"),
            ("5s", "`5s` is not a number"),
        ] {
            let error = ThresholdRange::parse(text).unwrap_err();
            assert!(
                error.starts_with(&format!("`{text}` is not a range: {reason}\nhint: ")),
                "{text}: {error}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_printed_range_reads_back_as_itself(
            start in prop_oneof![Just(f64::NEG_INFINITY), (-1000_i32..1000).prop_map(|n| f64::from(n) / 8.0)],
            length in prop_oneof![Just(f64::INFINITY), (0_i32..1000).prop_map(|n| f64::from(n) / 8.0)],
            alerts_inside in any::<bool>(),
        ) {
            let end = if start == f64::NEG_INFINITY && length.is_finite() { length } else { start.max(-1e6) + length };
            let range = ThresholdRange { start, end, alerts_inside };
            prop_assert_eq!(ThresholdRange::parse(&range.to_string()), Ok(range), "{}", range);
        }

        #[test]
        fn a_value_alerts_either_inside_or_outside(text in "[0-9]{1,3}:[0-9]{3,5}", value in -1e6_f64..1e6) {
            if let Ok(range) = ThresholdRange::parse(&text) {
                let inverse = ThresholdRange::parse(&format!("@{text}")).unwrap();
                prop_assert_ne!(range.alerts(value), inverse.alerts(value));
            }
        }

        #[test]
        fn no_text_breaks_the_parser(text in "[@~:.0-9e+ -]{0,12}|.{0,20}") {
            if let Ok(range) = ThresholdRange::parse(&text) {
                prop_assert!(range.start <= range.end);
            }
        }
    }
}
