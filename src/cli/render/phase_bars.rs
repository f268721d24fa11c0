//! Phases as bars, each starting where the previous one ended.

use std::fmt::Write;

use crate::cli::style::Style;
use crate::domain::Phases;
use crate::service::result_view::{format_duration, phase_label, phase_spans, phases_sum_us};

/// Cells of the longest bar.
pub(super) const BAR_CELLS: usize = 40;
/// Parts of a cell, from one eighth to a full one.
const EIGHTH_BLOCKS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Prints one line per phase that was reached. The first phase starts `offset_us` microseconds after the start of the
/// attempt; a bar of `full_width_us` microseconds fills the width.
pub(super) fn render_phase_bars(
    out: &mut String,
    phases: &Phases,
    offset_us: u64,
    full_width_us: u64,
    style: Style,
) {
    let full_width_us = full_width_us.max(offset_us + phases_sum_us(phases)).max(1);
    for span in phase_spans(phases, offset_us) {
        let (leading_dots, bar) = dots_and_bar(span.offset_us, span.total_us, full_width_us);
        let (name, duration) = (phase_label(span.phase), format_duration(span.total_us));
        let _ = writeln!(
            out,
            "  {name:<11} {duration:>9}  {}{}",
            style.dim(&leading_dots),
            style.in_chart_color(&bar)
        );
    }
}

/// Returns the dots before a bar, and the bar itself. A phase with a nonzero duration gets at least an eighth of a
/// cell.
pub(super) fn dots_and_bar(offset_us: u64, duration_us: u64, full_width_us: u64) -> (String, String) {
    let cell_at = |time_us: u64| {
        usize::try_from(u128::from(time_us) * BAR_CELLS as u128 / u128::from(full_width_us))
            .unwrap_or(BAR_CELLS)
    };
    let dot_count = cell_at(offset_us).min(BAR_CELLS - 1);
    let eighths = u128::from(duration_us) * (BAR_CELLS * 8) as u128 / u128::from(full_width_us);
    let eighths = usize::try_from(eighths).unwrap_or(0).max(usize::from(duration_us > 0));
    let eighths = eighths.min((BAR_CELLS - dot_count) * 8);
    let mut bar = EIGHTH_BLOCKS[7].to_string().repeat(eighths / 8);
    if let Some(last_eighths) = (eighths % 8).checked_sub(1) {
        bar.push(EIGHTH_BLOCKS[last_eighths]);
    }
    ("·".repeat(dot_count), bar)
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
