//! A chart with its numbers: one row for each step of time, one column for each line or layer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::{Location, LocationId, Phase, Phases, Rollup, Timestamp};
use crate::service::result_view::phase_label;
use crate::texts::{Locale, key};

/// Most lines of a chart: more colours and dashes cannot be told apart.
const MAX_LINES: usize = 8;
/// Names of the percentiles of a [`Rollup`].
const PERCENTILES: [&str; 5] = ["p50", "p75", "p90", "p95", "p99"];
/// Index of the percentile by which locations are compared.
const COMPARED: usize = 3;

/// A chart with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) title: String,
    /// Whether the columns are layers of a whole.
    pub(super) is_stacked: bool,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// Locations that are left out.
    pub(super) hidden_locations: usize,
}

/// A line or layer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) class: String,
    pub(super) label: String,
}

/// A step of time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) start: Timestamp,
    /// Microseconds by column; `None` for a gap.
    pub(super) cells: Vec<Option<u64>>,
}

impl Row {
    /// Returns when it began, in seconds since 1970.
    pub(super) fn start_seconds(&self) -> i64 {
        self.start.as_micros().div_euclid(1_000_000)
    }

    /// Returns its microseconds, and their text for people.
    pub(super) fn numbers(&self, t: Locale) -> Vec<Option<(u64, String)>> {
        self.cells.iter().map(|cell| cell.map(|micros| (micros, t.micros(micros)))).collect()
    }
}

impl Figure {
    /// Builds the chart of the mean of each phase, over the runs that passed at the locations of `rollups`.
    pub(super) fn by_phase(rollups: &[&Rollup], starts: &[Timestamp], t: Locale) -> Self {
        let mut sums: BTreeMap<Timestamp, BTreeMap<Phase, (u64, u64)>> = BTreeMap::new();
        for rollup in rollups {
            let passed = rollup.runs_by_outcome[0] + rollup.runs_by_outcome[1];
            for (phase, micros) in rollup.mean_phases.iter().flat_map(Phases::iter) {
                let (sum, count) = sums.entry(rollup.start).or_default().entry(phase).or_default();
                *sum = sum.saturating_add(u64::from(micros).saturating_mul(passed));
                *count += passed;
            }
        }
        let within = |start: &Timestamp| starts.binary_search(start).is_ok();
        let phases: BTreeSet<Phase> = sums
            .iter()
            .filter(|(start, _)| within(start))
            .flat_map(|(_, phases)| phases.keys().copied())
            .collect();
        let cells = |start: &Timestamp| {
            let by_phase = sums.get(start);
            let mean = |phase: &Phase| {
                let (sum, count) = by_phase?.get(phase)?;
                sum.checked_div(*count)
            };
            phases.iter().map(mean).collect()
        };
        let to_column = |phase: &Phase| Column {
            class: format!("p-{}", phase.name()),
            label: t.text(&phase_label(*phase)).to_owned(),
        };
        Self {
            title: t.text("Mean duration by phase").to_owned(),
            is_stacked: true,
            columns: phases.iter().map(to_column).collect(),
            rows: starts.iter().map(|start| Row { start: *start, cells: cells(start) }).collect(),
            hidden_locations: 0,
        }
    }

    /// Builds the chart of the percentiles at one location.
    pub(super) fn percentiles(rollups: &[&Rollup], starts: &[Timestamp], location: &str, t: Locale) -> Self {
        let by_start: HashMap<Timestamp, [u64; 5]> = rollups
            .iter()
            .filter_map(|rollup| Some((rollup.start, rollup.duration_percentiles_us?)))
            .collect();
        let cells = |start: &Timestamp| {
            let percentiles = by_start.get(start);
            (0..PERCENTILES.len()).map(|index| percentiles.map(|values| values[index])).collect()
        };
        let label = |(number, name): (usize, &&str)| line_column(number, (*name).to_owned());
        Self {
            title: t.fill("Percentiles of the duration from {location}", &[("location", location)]),
            is_stacked: false,
            columns: PERCENTILES.iter().enumerate().map(label).collect(),
            rows: starts.iter().map(|start| Row { start: *start, cells: cells(start) }).collect(),
            hidden_locations: 0,
        }
    }

    /// Builds the chart that compares locations by one percentile: those with most runs.
    pub(super) fn by_location(
        rollups: &[&Rollup],
        starts: &[Timestamp],
        names: &[Location],
        t: Locale,
    ) -> Self {
        let mut runs: HashMap<LocationId, u64> = HashMap::new();
        let mut values: HashMap<(Timestamp, LocationId), u64> = HashMap::new();
        for rollup in rollups.iter().filter(|rollup| starts.binary_search(&rollup.start).is_ok()) {
            let Some(percentiles) = rollup.duration_percentiles_us else { continue };
            *runs.entry(rollup.location_id).or_default() += rollup.runs_by_outcome.iter().sum::<u64>();
            values.insert((rollup.start, rollup.location_id), percentiles[COMPARED]);
        }
        let mut locations: Vec<(LocationId, u64)> = runs.into_iter().collect();
        locations.sort_unstable_by_key(|(id, runs)| (std::cmp::Reverse(*runs), *id));
        let hidden_locations = locations.len().saturating_sub(MAX_LINES);
        locations.truncate(MAX_LINES);
        locations.sort_unstable();
        let cells =
            |start: &Timestamp| locations.iter().map(|(id, _)| values.get(&(*start, *id)).copied()).collect();
        let columns = locations.iter().enumerate();
        Self {
            title: t
                .fill("{percentile} of the duration by location", &[("percentile", PERCENTILES[COMPARED])]),
            is_stacked: false,
            columns: columns
                .map(|(number, (id, _))| line_column(number, location_name(*id, names)))
                .collect(),
            rows: starts.iter().map(|start| Row { start: *start, cells: cells(start) }).collect(),
            hidden_locations,
        }
    }

    /// Says in words what the chart shows most of all.
    pub(super) fn essence(&self, span: &str, t: Locale) -> String {
        let row_value = |row: &Row| {
            let present = || row.cells.iter().flatten().copied();
            if self.is_stacked { (present().count() > 0).then(|| present().sum()) } else { present().max() }
        };
        let values = || self.rows.iter().filter_map(row_value);
        let (Some(least), Some(most)) = (values().min(), values().max()) else {
            return t.fill("{title}, {span}: no run passed", &[("title", &self.title), ("span", span)]);
        };
        let (least, most) = (t.micros(least), t.micros(most));
        let text = if self.is_stacked {
            key("{title}, {span}: from {least} to {most} in all")
        } else {
            key("{title}, {span}: the highest line is between {least} and {most}")
        };
        t.fill(text, &[("title", &self.title), ("span", span), ("least", &least), ("most", &most)])
    }
}

fn line_column(number: usize, label: String) -> Column {
    Column { class: format!("l-{}", number + 1), label }
}

/// Returns the name of a location, or its id when it was removed.
pub(super) fn location_name(id: LocationId, names: &[Location]) -> String {
    let known = names.iter().find(|location| location.id == id);
    known.map_or_else(|| id.to_string(), |location| location.name.clone())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::MonitorId;

    fn rollup(hour: i64, location: i64, passed: u64, connect_ms: u64) -> Rollup {
        let mut phases = Phases::default();
        phases.set(Phase::Connect, Duration::from_millis(connect_ms));
        Rollup {
            monitor_id: MonitorId(1),
            location_id: LocationId(location),
            start: Timestamp::from_seconds(hour * 3_600),
            runs_by_outcome: [passed, 0, 1, 0, 0, 0],
            mean_duration_us: (passed > 0).then_some(connect_ms * 1_000),
            duration_percentiles_us: (passed > 0).then(|| [1, 2, 3, 4, 5].map(|part| part * connect_ms)),
            mean_phases: (passed > 0).then_some(phases),
            user_experience: None,
            views: Vec::new(),
        }
    }

    fn starts(hours: std::ops::Range<i64>) -> Vec<Timestamp> {
        hours.map(|hour| Timestamp::from_seconds(hour * 3_600)).collect()
    }

    fn cells(figure: &Figure) -> Vec<Vec<Option<u64>>> {
        figure.rows.iter().map(|row| row.cells.clone()).collect()
    }

    #[test]
    fn phases_are_weighed_by_runs_and_gaps_stay_gaps() {
        let rollups = [rollup(0, 1, 5, 9), rollup(1, 1, 1, 40), rollup(1, 2, 3, 20), rollup(3, 1, 0, 70)];
        let rollups: Vec<&Rollup> = rollups.iter().collect();
        let figure = Figure::by_phase(&rollups, &starts(1..4), Locale::default());
        assert_eq!(cells(&figure), [vec![Some(25_000)], vec![None], vec![None]]);
        assert_eq!(figure.columns[0].class, "p-connect");
        assert_eq!(
            figure.essence("24 hours", Locale::default()),
            "Mean duration by phase, 24 hours: from 25.0 ms to 25.0 ms in all"
        );
        let none = Figure::by_phase(&rollups[3..], &starts(1..4), Locale::default());
        assert_eq!(
            none.essence("24 hours", Locale::default()),
            "Mean duration by phase, 24 hours: no run passed"
        );
    }

    #[test]
    fn a_location_has_its_percentiles() {
        let rollups = [rollup(1, 1, 1, 10), rollup(3, 1, 1, 20)];
        let rollups: Vec<&Rollup> = rollups.iter().collect();
        let figure = Figure::percentiles(&rollups, &starts(1..4), "Paris", Locale::default());
        let all = |values: [u64; 5]| values.map(Some).to_vec();
        assert_eq!(cells(&figure), [all([10, 20, 30, 40, 50]), vec![None; 5], all([20, 40, 60, 80, 100])]);
        let essence =
            "Percentiles of the duration from Paris, x: the highest line is between 50 µs and 100 µs";
        assert_eq!(figure.essence("x", Locale::default()), essence);
    }

    #[test]
    fn the_locations_with_most_runs_are_compared() {
        let rollups: Vec<Rollup> = (1..=10).map(|id| rollup(1, id, 100 - id.unsigned_abs(), 10)).collect();
        let rollups: Vec<&Rollup> = rollups.iter().collect();
        let figure = Figure::by_location(&rollups, &starts(1..3), &[], Locale::default());
        let labels: Vec<&str> = figure.columns.iter().map(|column| column.label.as_str()).collect();
        assert_eq!(labels, ["1", "2", "3", "4", "5", "6", "7", "8"]);
        assert_eq!(figure.hidden_locations, 2);
        assert_eq!(cells(&figure), [vec![Some(40); 8], vec![None; 8]]);
    }
}
