//! Results as the output of a plugin of Nagios: a line with performance data, and more lines with `-v` (formats.md,
//! Nagios plugins).

use std::fmt::Write;

use super::measurement::{Measurement, Unit, measurements};
use super::thresholds::Thresholds;
use super::worst_outcome::worst_outcome;
use crate::cli::render::{escape_controls, render_check};
use crate::cli::style::Style;
use crate::domain::{CheckResult, Outcome, truncate};
use crate::service::result_view::{format_duration, format_grouped};

/// Most characters of the text of the first line, without `-v`.
const MAX_TEXT_CHARS: usize = 80;

/// Renders `results` of at least one check. `verbosity` 0 is one line, 1 does not shorten it, 2 adds `notes` and a line for
/// each reason and each monitor, 3 adds all that was seen.
pub(super) fn render_nagios(
    results: &[CheckResult],
    thresholds: &Thresholds,
    notes: &[String],
    verbosity: u8,
) -> String {
    let state = nagios_state(worst_outcome(results.iter().map(|result| result.outcome)));
    let text = match results {
        [result] => summarize(result),
        results => summarize_all(results),
    };
    let text = if verbosity == 0 { truncate(&text, MAX_TEXT_CHARS) } else { text };
    let performance_data: Vec<String> = results
        .iter()
        .flat_map(|result| {
            let monitor_name = (results.len() > 1).then_some(result.monitor_name.as_ref());
            measurements(result).into_iter().map(move |one| performance_datum(monitor_name, &one, thresholds))
        })
        .collect();
    let mut out = format!("{state}: {} | {}\n", one_line(&text), performance_data.join(" "));
    if verbosity >= 2 {
        render_long_text(&mut out, results, notes, verbosity);
    }
    out
}

/// Renders a stored result as one line.
pub(in crate::cli) fn render_nagios_result(result: &CheckResult) -> String {
    render_nagios(std::slice::from_ref(result), &Thresholds::default(), &[], 0)
}

/// Renders an error that kept the check from running.
pub(in crate::cli) fn render_nagios_error(message: &str) -> String {
    let lines = message.trim_end().lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(one_line).collect();
    format!("UNKNOWN: {}\n", lines.join("\n").trim_start_matches("error: "))
}

fn render_long_text(out: &mut String, results: &[CheckResult], notes: &[String], verbosity: u8) {
    for note in notes {
        let _ = writeln!(out, "{}", one_line(note));
    }
    for result in results {
        if verbosity >= 3 {
            for line in render_check(result, Style::PLAIN).lines() {
                let _ = writeln!(out, "{}", one_line(line));
            }
            continue;
        }
        let _ = writeln!(out, "{}: {}", nagios_state(result.outcome), one_line(&summarize(result)));
        for reason in result.reasons.iter().skip(1) {
            let _ = writeln!(out, "  {}", one_line(reason));
        }
    }
}

/// Returns the word of Nagios for `outcome`.
fn nagios_state(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "OK",
        Outcome::Warning => "WARNING",
        Outcome::Error => "CRITICAL",
        Outcome::Unknown | Outcome::Missed | Outcome::Blackout => "UNKNOWN",
    }
}

fn summarize(result: &CheckResult) -> String {
    let name = &result.monitor_name;
    if result.outcome != Outcome::Ok {
        return format!("{name}: {}", result.reasons.first().unwrap_or(&result.status_text));
    }
    let http = result.facts.http.as_ref();
    let response = http.map(|http| {
        format!("{} {}, {} bytes ", http.http_version, http.http_status, format_grouped(http.body_bytes))
    });
    format!("{name}: {}in {}", response.unwrap_or_default(), format_duration(result.duration_us))
}

fn summarize_all(results: &[CheckResult]) -> String {
    let ok_count = results.iter().filter(|result| result.outcome == Outcome::Ok).count();
    let mut text = format!("{ok_count} of {} monitors ok", results.len());
    for result in results.iter().filter(|result| result.outcome != Outcome::Ok) {
        let _ = write!(text, "; {}", summarize(result));
    }
    text
}

/// Makes `text` one line without `|`, which begins performance data.
fn one_line(text: &str) -> String {
    escape_controls(text).replace('|', "/")
}

/// Formats one measurement: `'label'=value[unit];[warning];[critical];[least]`, without empty parts at its end.
fn performance_datum(
    monitor_name: Option<&str>,
    measurement: &Measurement,
    thresholds: &Thresholds,
) -> String {
    let label = match monitor_name {
        None => measurement.name.to_owned(),
        Some(monitor_name) => {
            let safe_name = one_line(monitor_name).replace('=', "-").replace('\'', "''");
            format!("'{safe_name} {}'", measurement.name)
        }
    };
    let unit = match measurement.unit {
        Unit::Seconds => "s",
        Unit::Milliseconds => "ms",
        Unit::Percent => "%",
        Unit::Bytes => "B",
        Unit::Days => "",
    };
    let least = match measurement.unit {
        Unit::Seconds | Unit::Milliseconds | Unit::Bytes => "0",
        Unit::Percent | Unit::Days => "",
    };
    let [warning, critical] = thresholds
        .ranges(measurement.name)
        .map(|range| range.map_or(String::new(), |range| range.to_string()));
    let datum = format!("{label}={}{unit};{warning};{critical};{least}", measurement.format_value());
    datum.trim_end_matches(';').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Facts;
    use crate::service::result_view::sample_result::sample_result;

    fn sample(name: &str, outcome: Outcome) -> CheckResult {
        let mut result = CheckResult { outcome, monitor_name: name.into(), ..sample_result() };
        result.reasons = vec!["a | b\n\u{1b}[31mred".to_owned(), "second".to_owned()];
        (result.duration_us, result.attempts) = (1_500_000, Vec::new());
        result.facts = Facts::default();
        result
    }

    #[test]
    fn one_check_is_one_line_with_its_thresholds() {
        let thresholds = Thresholds::parse(&["2".to_owned()], &["~:5".to_owned()]).unwrap();
        let text = render_nagios(&[sample("shop", Outcome::Ok)], &thresholds, &["note".to_owned()], 0);
        assert_eq!(text, "OK: shop: in 1.50 s | time=1.500000s;2;~:5;0\n");
    }

    #[test]
    fn texts_of_a_target_cannot_begin_performance_data_or_a_line() {
        let failed = sample("x|y=1", Outcome::Error);
        let text = render_nagios(&[failed], &Thresholds::default(), &[], 3);
        let (first, rest) = text.split_once('\n').unwrap();
        assert!(
            first.starts_with("CRITICAL: x/y=1: ") && first.contains("a / b\\n\\u{1b}[31mred"),
            "{first}"
        );
        assert_eq!(first.matches('|').count(), 1, "{first}");
        assert!(first.ends_with(" | time=1.500000s;;;0"), "{first}");
        assert!(!rest.is_empty() && !rest.contains(['|', '\u{1b}']), "{rest}");
    }

    #[test]
    fn the_text_is_short_without_verbosity_and_whole_with_it() {
        let mut failed = sample("shop", Outcome::Unknown);
        failed.reasons = vec!["long ".repeat(50).trim_end().to_owned()];
        let lines = |verbosity| {
            render_nagios(&[failed.clone()], &Thresholds::default(), &["note".to_owned()], verbosity)
        };
        let short = lines(0);
        let (text, _) = short.split_once(" | ").unwrap();
        assert!(text.starts_with("UNKNOWN: ") && text.chars().count() < 95 && text.ends_with('…'), "{text}");
        assert!(lines(1).contains(&failed.reasons[0]) && lines(1).lines().count() == 1);
        assert!(lines(2).contains("\nnote\n"), "{}", lines(2));
    }

    #[test]
    fn several_monitors_share_a_line_and_the_worst_counts() {
        let results = [sample("a", Outcome::Ok), sample("it's = b", Outcome::Warning)];
        let text = render_nagios(&results, &Thresholds::default(), &[], 0);
        assert!(text.starts_with("WARNING: 1 of 2 monitors ok; it's = b: "), "{text}");
        assert!(text.ends_with(" | 'a time'=1.500000s;;;0 'it''s - b time'=1.500000s;;;0\n"), "{text}");
        assert_eq!(render_nagios(&results, &Thresholds::default(), &[], 2).lines().count(), 5);
    }

    #[test]
    fn an_error_is_unknown_and_names_its_hint() {
        let text = render_nagios_error("error: `x` is | wrong\n\nhint: write `y`\n");
        assert_eq!(text, "UNKNOWN: `x` is / wrong\nhint: write `y`\n");
    }
}
