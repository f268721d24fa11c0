//! The page with the metrics of monitors, part by part.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::metric_family::{MetricFamily, PAGE_MONITORS, SERIES_LEFT_OUT, header};
use super::monitor_sample::{LocationSample, MonitorSample};
use super::open_metrics::{push_integer, push_label, push_number, push_seconds};
use crate::domain::{LocationId, Outcome};
use crate::telemetry::DurationHistogram;

/// Size of a part, without the rest of the last monitor in it.
const PART_BYTES: usize = 128 * 1024;

/// The page with the metrics of `monitors`. Parts are written one after the other, metric by metric over all monitors, so
/// that the whole text is never in memory.
pub struct MonitorExposition {
    monitors: Vec<MonitorSample>,
    /// Series of each monitor that were written.
    series_counts: Vec<u32>,
    /// Most series of a monitor, without those of histograms.
    max_series: u32,
    /// The label of each location.
    location_labels: HashMap<LocationId, Arc<str>>,
    /// Series that were left out, by metric.
    left_out: [u64; MetricFamily::ALL.len()],
    /// Index of the metric that is written, and of its next monitor.
    family: usize,
    monitor: usize,
    is_finished: bool,
}

impl MonitorExposition {
    /// Creates the page with at most `max_series` series of each of `monitors`. Locations have the names in
    /// `location_names`, or else their ids; `missing_budgets` series are not known yet.
    #[must_use]
    pub fn new(
        monitors: Vec<MonitorSample>,
        max_series: u32,
        location_names: &HashMap<LocationId, String>,
        missing_budgets: u64,
    ) -> Self {
        let mut location_labels: HashMap<LocationId, Arc<str>> = HashMap::new();
        for sample in monitors.iter().flat_map(|monitor| &monitor.locations) {
            location_labels.entry(sample.location).or_insert_with(|| {
                let (mut label, id) = (String::new(), sample.location.to_string());
                push_label(&mut label, "location", location_names.get(&sample.location).unwrap_or(&id));
                label.into()
            });
        }
        let mut left_out = [0; MetricFamily::ALL.len()];
        left_out[MetricFamily::SlaBudget as usize] = missing_budgets;
        Self {
            series_counts: vec![0; monitors.len()],
            monitors,
            max_series,
            location_labels,
            left_out,
            family: 0,
            monitor: 0,
            is_finished: false,
        }
    }

    /// Returns the next part of the page; `None` after its end. Every part ends with a whole line.
    pub fn next_part(&mut self) -> Option<String> {
        if self.is_finished {
            return None;
        }
        let mut out = String::with_capacity(PART_BYTES + 4096);
        while let Some(family) = MetricFamily::ALL.get(self.family).copied() {
            if self.monitor == 0 {
                out.push_str(&family.header());
            }
            while self.monitor < self.monitors.len() {
                self.write_monitor(family, self.monitor, &mut out);
                self.monitor += 1;
                if out.len() >= PART_BYTES {
                    return Some(out);
                }
            }
            (self.family, self.monitor) = (self.family + 1, 0);
        }
        self.write_end(&mut out);
        self.is_finished = true;
        Some(out)
    }

    /// Writes what the page has and lacks, and its end.
    fn write_end(&self, out: &mut String) {
        out.push_str(&header(SERIES_LEFT_OUT, "gauge", None, "Series that this page leaves out, by metric"));
        for (family, count) in MetricFamily::ALL.into_iter().zip(self.left_out) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{SERIES_LEFT_OUT}{{metric=\"{}\"}} {count}", family.name());
        }
        out.push_str(&header(PAGE_MONITORS, "gauge", None, "Monitors on this page"));
        let _ = writeln!(out, "{PAGE_MONITORS} {}\n# EOF", self.monitors.len());
    }

    /// Writes the series of a monitor in `family`.
    fn write_monitor(&mut self, family: MetricFamily, index: usize, out: &mut String) {
        let (Some(monitor), Some(count)) = (self.monitors.get(index), self.series_counts.get_mut(index))
        else {
            return;
        };
        let mut series = SeriesWriter {
            family,
            labels: &monitor.labels,
            location_labels: &self.location_labels,
            series_count: count,
            max_series: self.max_series,
            left_out: &mut self.left_out[family as usize],
            out,
        };
        series.write_monitor(monitor);
    }
}

/// Writes the series of one monitor in one metric.
struct SeriesWriter<'a> {
    family: MetricFamily,
    labels: &'a str,
    location_labels: &'a HashMap<LocationId, Arc<str>>,
    series_count: &'a mut u32,
    max_series: u32,
    left_out: &'a mut u64,
    out: &'a mut String,
}

impl SeriesWriter<'_> {
    fn write_monitor(&mut self, monitor: &MonitorSample) {
        if let Some(reason) = monitor.idle_reason {
            if self.family == MetricFamily::Outcome {
                self.series("", ("outcome", reason), |out| out.push('1'));
            }
            return;
        }
        match self.family {
            MetricFamily::OutageOpen => {
                if let Some(is_open) = monitor.has_open_outage {
                    self.series("", ("", ""), |out| out.push(if is_open { '1' } else { '0' }));
                }
            }
            MetricFamily::SlaBudget => {
                for budget in monitor.budgets.iter().filter(|budget| budget.left_ratio.is_finite()) {
                    self.series(&budget.labels, ("", ""), |out| {
                        push_number(out, budget.left_ratio);
                    });
                }
            }
            _ => monitor.locations.iter().for_each(|sample| self.write_location(sample)),
        }
    }

    fn write_location(&mut self, sample: &LocationSample) {
        let all_labels = self.location_labels;
        let location = all_labels.get(&sample.location).map_or("", |label| &**label);
        let figures = &sample.figures;
        match self.family {
            MetricFamily::Up => match sample.outcome {
                Outcome::Ok | Outcome::Warning => self.series(location, ("", ""), |out| out.push('1')),
                Outcome::Error => self.series(location, ("", ""), |out| out.push('0')),
                Outcome::Unknown | Outcome::Missed | Outcome::Blackout => {}
            },
            MetricFamily::Outcome => {
                self.series(location, ("outcome", sample.outcome.name()), |out| out.push('1'));
            }
            MetricFamily::CertificateEnd => {
                if let Some(end) = figures.certificate_end {
                    self.series(location, ("", ""), |out| {
                        push_integer(out, end.as_micros() / 1_000_000);
                    });
                }
            }
            MetricFamily::Duration => {
                self.series(location, ("", ""), |out| push_seconds(out, sample.duration_us));
            }
            MetricFamily::Status => {
                self.series(location, ("", ""), |out| push_integer(out, sample.status.0.into()));
            }
            MetricFamily::StepsFailed => {
                if let Some(count) = &figures.failed_steps {
                    self.series(location, ("", ""), |out| push_integer(out, (*count).into()));
                }
            }
            MetricFamily::PhaseDuration => {
                for (phase, micros) in &figures.phases {
                    self.series(location, ("phase", phase.name()), |out| {
                        push_seconds(out, u64::from(*micros));
                    });
                }
            }
            MetricFamily::CheckDuration => {
                if let Some(histogram) = &sample.histogram {
                    self.write_histogram(location, histogram);
                }
            }
            MetricFamily::OutageOpen | MetricFamily::SlaBudget => {}
        }
    }

    /// Writes a series with `labels` and the label `last` beside those of the monitor, unless the monitor has enough.
    fn series(&mut self, labels: &str, last: (&str, &str), push_value: impl FnOnce(&mut String)) {
        if *self.series_count >= self.max_series {
            *self.left_out += 1;
            return;
        }
        *self.series_count += 1;
        self.push_series("", labels, last);
        push_value(self.out);
        self.out.push('\n');
    }

    /// Appends the name of the metric with `suffix` and its labels, each of which needs no escaping any more.
    fn push_series(&mut self, suffix: &str, labels: &str, (name, value): (&str, &str)) {
        let out = &mut *self.out;
        for part in [self.family.name(), suffix, "{", self.labels] {
            out.push_str(part);
        }
        if !labels.is_empty() {
            out.push(',');
            out.push_str(labels);
        }
        if !name.is_empty() {
            for part in [",", name, "=\"", value, "\""] {
                out.push_str(part);
            }
        }
        out.push_str("} ");
    }

    fn write_histogram(&mut self, location: &str, histogram: &DurationHistogram) {
        let mut total = 0;
        let bounds = DurationHistogram::BOUNDS_US.iter().map(Some).chain([None]);
        for (bound, count) in bounds.zip(histogram.counts) {
            total += count;
            // With a decimal point, as OpenMetrics 1.0 writes bounds.
            let text = bound.map_or_else(|| "+Inf".to_owned(), |bound| format!("{:?}", *bound as f64 / 1e6));
            self.push_series("_bucket", location, ("le", &text));
            let _ = writeln!(self.out, "{total}");
        }
        self.push_series("_count", location, ("", ""));
        let _ = writeln!(self.out, "{total}");
        self.push_series("_sum", location, ("", ""));
        push_seconds(self.out, histogram.sum_us);
        self.out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Phase, Status, Timestamp};
    use crate::export::monitor_sample::BudgetSample;
    use crate::telemetry::ResultFigures;

    fn location(id: i64, outcome: Outcome) -> LocationSample {
        let figures = ResultFigures {
            phases: [(Phase::Connect, 9_000), (Phase::Tls, 20_000)].into(),
            certificate_end: Some(Timestamp::from_seconds(1_800_000_000)),
            failed_steps: Some(2),
        };
        LocationSample {
            location: LocationId(id),
            outcome,
            status: Status(110),
            duration_us: 40_000,
            figures: Arc::new(figures),
            histogram: None,
        }
    }

    fn monitor(id: i64, locations: &[LocationSample]) -> MonitorSample {
        let mut labels = String::new();
        push_label(&mut labels, "monitor", &id.to_string());
        MonitorSample {
            labels: labels.into(),
            idle_reason: None,
            has_open_outage: Some(true),
            budgets: [BudgetSample { labels: "sla=\"a\",goal=\"uptime\"".into(), left_ratio: -0.5 }].into(),
            locations: locations.into(),
        }
    }

    fn page(monitors: Vec<MonitorSample>, max_series: u32) -> String {
        let names = HashMap::from([(LocationId(1), "north".to_owned())]);
        let mut page = MonitorExposition::new(monitors, max_series, &names, 3);
        std::iter::from_fn(|| page.next_part()).collect()
    }

    fn series_of<'a>(page: &'a str, start: &str) -> Vec<&'a str> {
        page.lines().filter(|line| line.starts_with(start)).collect()
    }

    #[test]
    fn every_value_of_a_monitor_is_a_series() {
        let mut sample = location(1, Outcome::Error);
        let mut histogram = DurationHistogram::default();
        for duration_us in [4_000, 2_000_000] {
            histogram.record(duration_us);
        }
        sample.histogram = Some(Box::new(histogram));
        let paused = MonitorSample { idle_reason: Some("paused"), ..monitor(2, &[location(1, Outcome::Ok)]) };
        insta::assert_snapshot!(page(vec![monitor(1, &[sample]), paused], 10));
    }

    #[test]
    fn the_limit_keeps_the_first_metrics_and_counts_the_rest() {
        let locations = [location(1, Outcome::Ok), location(2, Outcome::Unknown)];
        let page = page(vec![monitor(1, &locations)], 5);
        let samples: Vec<_> = page.lines().filter(|line| line.contains("{monitor=")).collect();
        let kept = [
            "vigie_monitor_up{monitor=\"1\",location=\"north\"} 1",
            "vigie_monitor_outcome{monitor=\"1\",location=\"north\",outcome=\"ok\"} 1",
            "vigie_monitor_outcome{monitor=\"1\",location=\"2\",outcome=\"unknown\"} 1",
            "vigie_monitor_outage_open{monitor=\"1\"} 1",
            "vigie_monitor_certificate_end_timestamp_seconds{monitor=\"1\",location=\"north\"} 1800000000",
        ];
        assert_eq!(samples, kept);
        let left_out = series_of(&page, SERIES_LEFT_OUT);
        let count = |name: &str| {
            let line = left_out.iter().find(|line| line.contains(&format!("\"{name}\""))).unwrap();
            line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
        };
        assert_eq!(count("vigie_monitor_up"), 0);
        assert_eq!(count("vigie_monitor_certificate_end_timestamp_seconds"), 1);
        assert_eq!(count("vigie_monitor_sla_budget_ratio"), 4, "one here, three not known");
        assert_eq!(count("vigie_monitor_phase_duration_seconds"), 4);
        assert_eq!(count("vigie_monitor_check_duration_seconds"), 0);
    }

    #[test]
    fn parts_are_whole_lines_and_metrics_stand_together() {
        let monitors = (0..3_000).map(|id| monitor(id, &[location(1, Outcome::Ok)])).collect();
        let mut page = MonitorExposition::new(monitors, 10, &HashMap::new(), 0);
        let parts: Vec<String> = std::iter::from_fn(|| page.next_part()).collect();
        assert!(parts.len() > 5 && parts.iter().all(|part| part.len() < PART_BYTES + 4096));
        assert!(parts.iter().all(|part| part.ends_with('\n')));
        let text = parts.concat();
        assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1);
        let mut names: Vec<&str> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len(), "{names:?}");
        assert_eq!(page.next_part(), None);
    }

    #[test]
    fn a_value_that_is_no_number_has_no_series() {
        let mut odd = monitor(1, &[]);
        odd.budgets[0].left_ratio = f64::NAN;
        assert_eq!(series_of(&page(vec![odd], 10), "vigie_monitor_sla_budget_ratio{"), [] as [&str; 0]);
    }
}
