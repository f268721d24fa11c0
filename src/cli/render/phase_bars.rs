//! Phases as bars, each starting where the previous one ended.

use std::fmt::Write;

use crate::cli::style::Style;
use crate::domain::Phases;
use crate::service::details::{format_duration, phase_label, phase_spans, sum_us};

/// Cells of the longest bar.
pub(super) const BAR_CELLS: usize = 40;
/// Parts of a cell, from one eighth to a full one.
const EIGHTH_BLOCKS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Prints one line per phase that was reached. The first phase starts `offset_us` microseconds after the start of the
/// attempt; a bar of `longest` microseconds fills the width.
pub(super) fn render_phase_bars(
    out: &mut String,
    phases: &Phases,
    offset_us: u64,
    longest: u64,
    style: Style,
) {
    let longest = longest.max(offset_us + sum_us(phases)).max(1);
    for span in phase_spans(phases, offset_us) {
        let (lead, bar) = dots_and_bar(span.offset_us, span.total_us, longest);
        let (name, duration) = (phase_label(span.phase), format_duration(span.total_us));
        let _ = writeln!(out, "  {name:<11} {duration:>9}  {}{}", style.dim(&lead), style.in_bar_color(&bar));
    }
}

/// Returns the dots before a bar, and the bar itself. A phase with a nonzero duration gets at least an eighth of a
/// cell.
pub(super) fn dots_and_bar(offset: u64, micros: u64, longest: u64) -> (String, String) {
    let cell = |at: u64| {
        usize::try_from(u128::from(at) * BAR_CELLS as u128 / u128::from(longest)).unwrap_or(BAR_CELLS)
    };
    let lead = cell(offset).min(BAR_CELLS - 1);
    let eighths = u128::from(micros) * (BAR_CELLS * 8) as u128 / u128::from(longest);
    let eighths = usize::try_from(eighths).unwrap_or(0).max(usize::from(micros > 0));
    let eighths = eighths.min((BAR_CELLS - lead) * 8);
    let mut bar = EIGHTH_BLOCKS[7].to_string().repeat(eighths / 8);
    if let Some(part) = (eighths % 8).checked_sub(1) {
        bar.push(EIGHTH_BLOCKS[part]);
    }
    ("·".repeat(lead), bar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_each_other_and_fill_the_width_together() {
        assert_eq!(dots_and_bar(0, 100, 100), (String::new(), "█".repeat(40)));
        assert_eq!(dots_and_bar(50, 50, 100), ("·".repeat(20), "█".repeat(20)));
        assert_eq!(dots_and_bar(0, 0, 100), (String::new(), String::new()));
        assert_eq!(dots_and_bar(0, 1, 1_000_000), (String::new(), "▏".to_owned()));
    }

    #[test]
    fn a_bar_at_the_very_end_stays_within_the_width() {
        let (lead, bar) = dots_and_bar(u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(lead.chars().count() + bar.chars().count(), BAR_CELLS);
    }
}
