//! Phases as bars, each starting where the previous one ended.

use std::fmt::Write;

use crate::cli::style::Style;
use crate::domain::Phases;
use crate::service::details::{format_duration, phase_label, phase_spans, sum_us};

/// Cells of the longest bar.
pub(super) const BAR_WIDTH: usize = 40;
/// Parts of a cell, from one eighth to a full one.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

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
        let (lead, bar) = bar_text(span.offset_us, span.total_us, longest);
        let (name, duration) = (phase_label(span.phase), format_duration(span.total_us));
        let _ = writeln!(out, "  {name:<11} {duration:>9}  {}{}", style.dim(&lead), style.bar(&bar));
    }
}

/// Returns the dots before a bar, and the bar itself. A phase with a nonzero duration gets at least an eighth of a
/// cell.
pub(super) fn bar_text(offset: u64, micros: u64, longest: u64) -> (String, String) {
    let cell = |at: u64| {
        usize::try_from(u128::from(at) * BAR_WIDTH as u128 / u128::from(longest)).unwrap_or(BAR_WIDTH)
    };
    let lead = cell(offset).min(BAR_WIDTH - 1);
    let eighths = u128::from(micros) * (BAR_WIDTH * 8) as u128 / u128::from(longest);
    let eighths = usize::try_from(eighths).unwrap_or(0).max(usize::from(micros > 0));
    let eighths = eighths.min((BAR_WIDTH - lead) * 8);
    let mut bar = EIGHTHS[7].to_string().repeat(eighths / 8);
    if let Some(part) = (eighths % 8).checked_sub(1) {
        bar.push(EIGHTHS[part]);
    }
    ("·".repeat(lead), bar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_each_other_and_fill_the_width_together() {
        assert_eq!(bar_text(0, 100, 100), (String::new(), "█".repeat(40)));
        assert_eq!(bar_text(50, 50, 100), ("·".repeat(20), "█".repeat(20)));
        assert_eq!(bar_text(0, 0, 100), (String::new(), String::new()));
        assert_eq!(bar_text(0, 1, 1_000_000), (String::new(), "▏".to_owned()));
    }

    #[test]
    fn a_bar_at_the_very_end_stays_within_the_width() {
        let (lead, bar) = bar_text(u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(lead.chars().count() + bar.chars().count(), BAR_WIDTH);
    }
}
