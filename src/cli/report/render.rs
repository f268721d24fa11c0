//! The tables of `vigie report`.

use comfy_table::{Cell, CellAlignment};

use crate::cli::render::escape_controls;
use crate::cli::style::Style;
use crate::cli::table;
use crate::domain::{Location, LocationId, Outcome, Phase};
use crate::service::RollupRow;
use crate::service::result_view::format_duration;

/// A table of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Runs,
    Phases,
    Experience,
    Views,
}

impl Table {
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        match name {
            "runs" => Ok(Self::Runs),
            "phases" => Ok(Self::Phases),
            "experience" => Ok(Self::Experience),
            "views" => Ok(Self::Views),
            _ => Err("a table is one of `runs`, `phases`, `experience`, `views`".to_owned()),
        }
    }

    /// Returns what is said instead of a table without rows.
    const fn empty_text(self) -> &'static str {
        match self {
            Self::Runs => "No runs in this time",
            Self::Phases => "No phases were recorded in this time",
            Self::Experience => "No browser measured a page in this time",
            Self::Views => "No content views were recorded in this time",
        }
    }

    fn render(self, rows: &[RollupRow], keys: &KeyColumns<'_>, style: Style) -> String {
        let (columns, cells) = match self {
            Self::Runs => run_cells(rows, keys, style),
            Self::Phases => phase_cells(rows, keys),
            Self::Experience => experience_cells(rows, keys),
            Self::Views => view_cells(rows, keys),
        };
        if cells.is_empty() {
            return format!("{}\n", style.dim(self.empty_text()));
        }
        table::render_table(&[keys.names(), columns].concat(), cells, style)
    }
}

/// Renders `tables` of `rows`, with an empty line between them.
pub(super) fn render_tables(
    rows: &[RollupRow],
    tables: &[Table],
    locations: &[Location],
    style: Style,
) -> String {
    let keys = KeyColumns::new(rows, locations);
    let texts: Vec<String> = tables.iter().map(|table| table.render(rows, &keys, style)).collect();
    texts.join("\n")
}

/// The first columns of every table: the time, and the location where there are several.
struct KeyColumns<'a> {
    locations: &'a [Location],
    has_location: bool,
}

impl<'a> KeyColumns<'a> {
    fn new(rows: &[RollupRow], locations: &'a [Location]) -> Self {
        Self {
            locations,
            has_location: rows.windows(2).any(|pair| pair[0].location_id != pair[1].location_id),
        }
    }

    fn names(&self) -> Vec<&'static str> {
        if self.has_location { vec!["start (UTC)", "location"] } else { vec!["start (UTC)"] }
    }

    fn cells(&self, row: &RollupRow) -> Vec<Cell> {
        let mut cells = vec![table::time_cell(row.at)];
        if self.has_location {
            cells.push(Cell::new(escape_controls(&self.location_name(row.location_id))));
        }
        cells
    }

    fn location_name(&self, id: LocationId) -> String {
        let location = self.locations.iter().find(|location| location.id == id);
        location.map_or_else(|| id.to_string(), |location| location.name.clone())
    }
}

/// Names of columns, and rows of cells that begin with those of the key.
type ColumnNamesAndRows = (Vec<&'static str>, Vec<Vec<Cell>>);

fn run_cells(rows: &[RollupRow], keys: &KeyColumns<'_>, style: Style) -> ColumnNamesAndRows {
    let outcomes = Outcome::ALL.map(Outcome::name);
    let columns = [&outcomes[..], &["mean", "p50", "p75", "p90", "p95", "p99"]].concat();
    let to_cells = |row: &RollupRow| {
        let mut cells = keys.cells(row);
        for (outcome, runs) in Outcome::ALL.into_iter().zip(row.runs_by_outcome()) {
            let is_highlighted = runs > 0 && style.is_colored() && outcome != Outcome::Ok;
            let cell = number_cell(runs);
            cells.push(if is_highlighted { cell.add_attribute(comfy_table::Attribute::Bold) } else { cell });
        }
        let durations = [row.mean_us, row.p50_us, row.p75_us, row.p90_us, row.p95_us, row.p99_us];
        cells.extend(durations.map(duration_cell));
        cells
    };
    (columns, rows.iter().map(to_cells).collect())
}

fn phase_cells(rows: &[RollupRow], keys: &KeyColumns<'_>) -> ColumnNamesAndRows {
    let is_reached = |phase: &Phase| {
        rows.iter().any(|row| row.phases.is_some_and(|phases| phases.micros(*phase).is_some()))
    };
    let reached_phases: Vec<Phase> = Phase::ALL.into_iter().filter(is_reached).collect();
    let to_cells = |row: &RollupRow| {
        let phases = row.phases?;
        let mut cells = keys.cells(row);
        cells.extend(reached_phases.iter().map(|phase| duration_cell(phases.micros(*phase).map(u64::from))));
        Some(cells)
    };
    (reached_phases.iter().map(|phase| phase.name()).collect(), rows.iter().filter_map(to_cells).collect())
}

fn experience_cells(rows: &[RollupRow], keys: &KeyColumns<'_>) -> ColumnNamesAndRows {
    let columns =
        vec!["pages", "first paint", "contentful", "largest", "layout shift", "dom load", "page load"];
    let to_cells = |row: &RollupRow| {
        let experience = row.user_experience.as_ref()?;
        let mut cells = keys.cells(row);
        cells.push(number_cell(experience.pages));
        cells.push(duration_cell(experience.first_paint_us));
        cells.push(duration_cell(experience.first_contentful_paint_us));
        cells.push(duration_cell(experience.largest_contentful_paint_us));
        let shift = experience.layout_shift.map(|shift| format!("{shift:.3}"));
        cells.push(right_aligned_cell(shift.unwrap_or_default()));
        cells.push(duration_cell(experience.dom_load_us));
        cells.push(duration_cell(experience.page_load_us));
        Some(cells)
    };
    (columns, rows.iter().filter_map(to_cells).collect())
}

fn view_cells(rows: &[RollupRow], keys: &KeyColumns<'_>) -> ColumnNamesAndRows {
    let columns = vec!["view", "runs", "error", "mean", "objects", "bytes"];
    let views = rows.iter().flat_map(|row| row.views.iter().flatten().map(move |view| (row, view)));
    let cells = views.map(|(row, view)| {
        let mut cells = keys.cells(row);
        let name = view.name.clone().unwrap_or_else(|| view.id.to_string());
        cells.push(Cell::new(escape_controls(&name)));
        cells.extend([number_cell(view.runs), number_cell(view.errors), duration_cell(view.mean_us)]);
        cells.extend(
            [view.objects, view.bytes].map(|number| number.map_or_else(|| Cell::new(""), number_cell)),
        );
        cells
    });
    (columns, cells.collect())
}

fn duration_cell(micros: Option<u64>) -> Cell {
    right_aligned_cell(micros.map(format_duration).unwrap_or_default())
}

fn number_cell(number: u64) -> Cell {
    right_aligned_cell(number.to_string())
}

fn right_aligned_cell(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
