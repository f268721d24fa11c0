//! Bars of how the runs of a monitor went: the last 24 hours, 7, 30 and 90 days. Each outcome has its own colour; what did
//! not run is never green.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::page_state::PageState;
use crate::domain::{Outcome, Rollup, RollupStep, StoreError, Timestamp};
use crate::schema::Monitor;
use crate::texts::{Locale, key};

/// Runs by outcome, in the order of [`Outcome::ALL`].
pub(super) type RunCounts = [u64; 6];

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
/// Height of a bar in its own units.
const BAR_HEIGHT: f64 = 30.0;
/// Smallest height of an outcome with runs, so that it stays visible.
const MIN_SEGMENT_HEIGHT: f64 = 4.0;
/// Width of a bar and its gap.
const BAR_PITCH: usize = 10;

/// A span of time with bars of one width.
struct BarSpan {
    name: &'static str,
    bars: u32,
    width: Duration,
}

/// The spans that are shown.
const SPANS: [BarSpan; 4] = [
    BarSpan { name: key("24 hours"), bars: 24, width: HOUR },
    BarSpan { name: key("7 days"), bars: 42, width: Duration::from_hours(4) },
    BarSpan { name: key("30 days"), bars: 30, width: DAY },
    BarSpan { name: key("90 days"), bars: 90, width: DAY },
];

/// Reads the runs of `monitor` and renders the bars up to `now`.
pub(super) async fn load_history_bars(
    state: &PageState,
    monitor: &Monitor,
    now: Timestamp,
    t: Locale,
) -> Result<String, StoreError> {
    let hours = runs_by_step(state, monitor, RollupStep::Hour, now - 7 * DAY, now).await?;
    let days = runs_by_step(state, monitor, RollupStep::Day, now - 90 * DAY, now).await?;
    Ok(render_history_bars(&hours, &days, now, t))
}

/// The runs of a span.
pub(super) struct SpanRuns {
    /// Its name.
    pub(super) name: &'static str,
    /// Start of its first bar.
    pub(super) from: Timestamp,
    /// Runs by outcome, in the order of [`Outcome::ALL`].
    pub(super) counts: RunCounts,
}

/// Reads the runs of `monitor` in each span of the bars.
pub(super) async fn load_span_runs(
    state: &PageState,
    monitor: &Monitor,
    now: Timestamp,
) -> Result<Vec<SpanRuns>, StoreError> {
    let hours = runs_by_step(state, monitor, RollupStep::Hour, now - 7 * DAY, now).await?;
    let days = runs_by_step(state, monitor, RollupStep::Day, now - 90 * DAY, now).await?;
    let to_runs = |span: &BarSpan| {
        let runs = sum_by_width(if span.width < DAY { &hours } else { &days }, span.width);
        let (counts, _, _) = span_bars(span, &runs, now, Locale::default());
        let from = step_start(now, span.width) - span.width * (span.bars - 1);
        SpanRuns { name: span.name, from, counts }
    };
    Ok(SPANS.iter().map(to_runs).collect())
}

/// The last 24 hours of a monitor, by hour.
pub(super) struct MonitorDay {
    runs: BTreeMap<Timestamp, RunCounts>,
    /// Mean duration of the runs that passed in each hour with one, in microseconds.
    durations: BTreeMap<Timestamp, u64>,
    now: Timestamp,
}

/// Reads the last 24 hours of `monitor`.
pub(super) async fn load_day(
    state: &PageState,
    monitor: &Monitor,
    now: Timestamp,
) -> Result<MonitorDay, StoreError> {
    let rollups =
        state.monitor_reader.rollups_for_pages(monitor.id, RollupStep::Hour, now - 23 * HOUR, now).await?;
    let (mut runs, mut sums) = (BTreeMap::new(), BTreeMap::<Timestamp, (u64, u64)>::new());
    for Rollup { start, runs_by_outcome, mean_duration_us, .. } in rollups.iter() {
        add_counts(runs.entry(*start).or_default(), runs_by_outcome);
        let passed = runs_by_outcome[0] + runs_by_outcome[1];
        if let Some(mean) = mean_duration_us.filter(|_| passed > 0) {
            let (count, sum) = sums.entry(*start).or_default();
            *count += passed;
            *sum = sum.saturating_add(mean.saturating_mul(passed));
        }
    }
    let durations = sums.into_iter().map(|(start, (count, sum))| (start, sum / count)).collect();
    Ok(MonitorDay { runs, durations, now })
}

impl MonitorDay {
    /// Renders a small bar for each hour.
    pub(super) fn render_bars(&self, t: Locale) -> String {
        let span = &SPANS[0];
        let (total, bars, width) = span_bars(span, &self.runs, self.now, t);
        format!(
            r#"<svg class="day" viewBox="0 0 {width} 30" preserveAspectRatio="none" role="img" aria-label="{}: {}">{bars}</svg>"#,
            t.text(span.name),
            summary_text(&total, t)
        )
    }

    /// Renders the mean durations of the hours as a line; hours without a run that passed are gaps.
    pub(super) fn render_durations(&self, t: Locale) -> String {
        let Some(slowest) = self.durations.values().copied().max() else { return String::new() };
        let fastest = self.durations.values().copied().min().unwrap_or_default();
        let last_start = step_start(self.now, HOUR);
        let (mut path, mut is_drawing) = (String::new(), false);
        for back in (0..24_u32).rev() {
            let Some(micros) = self.durations.get(&(last_start - HOUR * back)) else {
                is_drawing = false;
                continue;
            };
            let x = f64::from(23 - back) * 10.0 + 4.0;
            let y = 28.0 - 26.0 * *micros as f64 / slowest.max(1) as f64;
            // Writing into a string cannot fail.
            let _ = if is_drawing {
                write!(path, "L{x:.0} {y:.1}")
            } else {
                // A point without neighbours is seen, too.
                write!(path, "M{x:.0} {y:.1}h.1")
            };
            is_drawing = true;
        }
        let (fastest, slowest) = (t.micros(fastest), t.micros(slowest));
        let range = t.fill("from {least} to {most}", &[("least", &fastest), ("most", &slowest)]);
        format!(
            r#"<svg class="day" viewBox="0 0 240 30" preserveAspectRatio="none" role="img" aria-label="{range}"><title>{range}</title><path class="line" d="{path}"/></svg>"#
        )
    }
}

async fn runs_by_step(
    state: &PageState,
    monitor: &Monitor,
    step: RollupStep,
    from: Timestamp,
    now: Timestamp,
) -> Result<BTreeMap<Timestamp, RunCounts>, StoreError> {
    let rollups = state.monitor_reader.rollups_for_pages(monitor.id, step, from, now).await?;
    let mut by_start = BTreeMap::new();
    for Rollup { start, runs_by_outcome, .. } in rollups.iter() {
        add_counts(by_start.entry(*start).or_default(), runs_by_outcome);
    }
    Ok(by_start)
}

fn add_counts(sum: &mut RunCounts, counts: &RunCounts) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// Sums runs over steps of `width`, which start at multiples of it.
fn sum_by_width(runs: &BTreeMap<Timestamp, RunCounts>, width: Duration) -> BTreeMap<Timestamp, RunCounts> {
    let mut sums = BTreeMap::new();
    for (start, counts) in runs {
        add_counts(sums.entry(step_start(*start, width)).or_default(), counts);
    }
    sums
}

fn step_start(time: Timestamp, width: Duration) -> Timestamp {
    let width_us = i64::try_from(width.as_micros()).unwrap_or(i64::MAX).max(1);
    Timestamp::from_micros(time.as_micros() - time.as_micros().rem_euclid(width_us))
}

fn render_history_bars(
    hours: &BTreeMap<Timestamp, RunCounts>,
    days: &BTreeMap<Timestamp, RunCounts>,
    now: Timestamp,
    t: Locale,
) -> String {
    let mut out = String::from(r#"<div class="history">"#);
    for span in &SPANS {
        let runs = sum_by_width(if span.width < DAY { hours } else { days }, span.width);
        render_span(&mut out, span, &runs, now, t);
    }
    out.push_str("</div>");
    out
}

/// Renders the bars of one span with its name and summary.
fn render_span(
    out: &mut String,
    span: &BarSpan,
    runs: &BTreeMap<Timestamp, RunCounts>,
    now: Timestamp,
    t: Locale,
) {
    let (total, bars, width) = span_bars(span, runs, now, t);
    let (name, summary) = (t.text(span.name), summary_text(&total, t));
    // Writing into a string cannot fail.
    let _ = write!(
        out,
        r#"<figure><figcaption>{name} <strong>{}</strong></figcaption><svg viewBox="0 0 {width} 30" preserveAspectRatio="none" role="img" aria-label="{name}: {summary}">{bars}</svg></figure>"#,
        passed_text(&total, t)
    );
}

/// Returns the runs of a span, its bars, and their width.
fn span_bars(
    span: &BarSpan,
    runs: &BTreeMap<Timestamp, RunCounts>,
    now: Timestamp,
    t: Locale,
) -> (RunCounts, String, usize) {
    let last_start = step_start(now, span.width);
    let starts = (0..span.bars).rev().map(|back| last_start - span.width * back);
    let (mut total, mut bars) = (RunCounts::default(), String::new());
    for (index, start) in starts.enumerate() {
        let counts = runs.get(&start).copied().unwrap_or_default();
        add_counts(&mut total, &counts);
        render_bar(&mut bars, index * BAR_PITCH, start, &counts, t);
    }
    (total, bars, span.bars as usize * BAR_PITCH)
}

/// Renders one bar. Writing into a string cannot fail, here and below.
fn render_bar(out: &mut String, x: usize, start: Timestamp, counts: &RunCounts, t: Locale) {
    let total: u64 = counts.iter().sum();
    let bar_width = BAR_PITCH - 2;
    let _ = write!(out, "<g><title>{}: {}</title>", t.zoned_time(start), summary_text(counts, t));
    if total == 0 {
        let _ = write!(out, r#"<rect class="o-none" x="{x}" width="{bar_width}" height="30"/>"#);
    }
    let present = counts.iter().filter(|count| **count > 0).count();
    let free_height = BAR_HEIGHT - MIN_SEGMENT_HEIGHT * present as f64;
    let mut y = 0.0;
    // The worst on top.
    for outcome in
        [Outcome::Error, Outcome::Unknown, Outcome::Missed, Outcome::Warning, Outcome::Blackout, Outcome::Ok]
    {
        let count = counts[usize::from(outcome.code())];
        if count > 0 {
            let height = MIN_SEGMENT_HEIGHT + free_height * count as f64 / total as f64;
            let _ = write!(
                out,
                r#"<rect class="o-{outcome}" x="{x}" y="{y:.1}" width="{bar_width}" height="{height:.1}"/>"#
            );
            y += height;
        }
    }
    out.push_str("</g>");
}

/// Returns the runs by outcome in words.
fn summary_text(counts: &RunCounts, t: Locale) -> String {
    let present = Outcome::ALL.into_iter().map(|outcome| (counts[usize::from(outcome.code())], outcome));
    let texts: Vec<String> = present
        .filter(|(count, _)| *count > 0)
        .map(|(count, outcome)| format!("{count} {}", t.text(outcome.name())))
        .collect();
    if texts.is_empty() { t.text("no runs").to_owned() } else { texts.join(", ") }
}

/// Returns the share of the runs that passed among those that tell something about the target.
fn passed_text(counts: &RunCounts, t: Locale) -> String {
    passed_percent(counts).map_or_else(
        || "–".to_owned(),
        |percent| t.fill("{percent} % passed", &[("percent", &t.decimal(format!("{percent:.3}")))]),
    )
}

/// Returns the same share in percent; `None` for no such run.
pub(super) fn passed_percent(counts: &RunCounts) -> Option<f64> {
    let [ok, warning, error, ..] = *counts;
    let (passed, all) = (ok + warning, ok + warning + error);
    // Rounded down: 100 % means that nothing failed.
    let thousandths = (u128::from(passed) * 100_000).checked_div(u128::from(all))?;
    Some(thousandths as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: u64) -> Timestamp {
        Timestamp::from_seconds(1_795_176_000) + HOUR * u32::try_from(hours).unwrap()
    }

    #[test]
    fn what_failed_or_did_not_run_is_seen_and_never_rounds_to_all() {
        assert_eq!(passed_text(&[999_999, 0, 1, 0, 0, 0], Locale::default()), "99.999 % passed");
        assert_eq!(passed_text(&[1, 1, 0, 9, 9, 9], Locale::default()), "100.000 % passed");
        assert_eq!(passed_text(&[0, 0, 0, 1, 1, 1], Locale::default()), "–");
        assert_eq!(summary_text(&[1, 0, 2, 0, 0, 3], Locale::default()), "1 ok, 2 error, 3 blackout");
        let runs = BTreeMap::from([(at(0), [10_000, 0, 1, 0, 0, 0]), (at(1), [0, 0, 0, 0, 5, 0])]);
        let html =
            render_history_bars(&runs, &BTreeMap::new(), at(1) + Duration::from_mins(5), Locale::default());
        assert!(html.contains(r#"<rect class="o-error" x="220" y="0.0" width="8" height="4.0"/>"#), "{html}");
        assert!(
            html.contains(r#"<rect class="o-missed" x="230" y="0.0" width="8" height="30.0"/>"#),
            "{html}"
        );
        assert!(html.contains(r#"aria-label="24 hours: 10000 ok, 1 error, 5 missed""#), "{html}");
        assert!(html.contains(r#"aria-label="90 days: no runs""#), "{html}");
    }

    #[test]
    fn hours_sum_up_to_longer_steps() {
        let runs = BTreeMap::from([
            (at(0), [1, 0, 0, 0, 0, 0]),
            (at(1), [2, 0, 0, 0, 0, 0]),
            (at(9), [4, 0, 0, 0, 0, 0]),
        ]);
        let sums = sum_by_width(&runs, Duration::from_hours(4));
        assert_eq!(sums.values().map(|counts| counts[0]).collect::<Vec<_>>(), [3, 4]);
    }
}
