//! The phase bar: the duration of each phase of an attempt, drawn to scale.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::domain::{Phase, Phases};
use crate::service::result_view::{phase_label, phases_sum_us};
use crate::texts::Locale;

/// Width of a whole bar in its own units.
const BAR_WIDTH: f64 = 200.0;
/// Smallest width of a phase above zero, so that it stays visible.
const MIN_PHASE_WIDTH: f64 = 1.5;

/// Renders an SVG of `phases`, each with its name and duration in the tooltip; empty without any.
pub(super) fn render_phase_bar(phases: &Phases, t: Locale) -> String {
    let total_us = phases_sum_us(phases);
    if total_us == 0 {
        return String::new();
    }
    let mut out =
        String::from(r#"<svg class="bar" viewBox="0 0 200 12" preserveAspectRatio="none" role="img">"#);
    let title = phases
        .iter()
        .map(|(phase, micros)| format!("{} {}", t.text(&phase_label(phase)), t.micros(micros.into())));
    let title = title.collect::<Vec<_>>().join(", ");
    // Writing into a string cannot fail.
    let _ = write!(out, "<title>{title}</title>");
    let timed_phases = phases.iter().filter(|&(_, micros)| micros > 0);
    let widths: Vec<_> = timed_phases
        .map(|(phase, micros)| {
            (phase, (f64::from(micros) / total_us as f64 * BAR_WIDTH).max(MIN_PHASE_WIDTH))
        })
        .collect();
    let scale = BAR_WIDTH / widths.iter().map(|(_, width)| width).sum::<f64>();
    let mut phase_x = 0.0;
    for (phase, width) in widths {
        let width = width * scale;
        let name = phase.name();
        let _ = write!(out, r#"<rect class="p-{name}" x="{phase_x:.1}" width="{width:.1}" height="12"/>"#);
        phase_x += width;
    }
    out.push_str("</svg>");
    out
}

/// Renders the legend of the bars of `all_phases`; empty without any.
pub(super) fn render_phase_legend(all_phases: impl Iterator<Item = Phases>, t: Locale) -> String {
    let shown_phases: BTreeSet<Phase> =
        all_phases.flat_map(|phases| phases.iter().map(|(phase, _)| phase).collect::<Vec<_>>()).collect();
    if shown_phases.is_empty() {
        return String::new();
    }
    let mut out = String::from(r#"<ul class="legend" aria-hidden="true">"#);
    for phase in shown_phases {
        let name = phase.name();
        // Writing into a string cannot fail.
        let _ = write!(out, r#"<li><i class="p-{name}"></i>{}</li>"#, t.text(&phase_label(phase)));
    }
    out.push_str("</ul>");
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_legend_names_only_the_phases_shown() {
        assert_eq!(render_phase_legend(std::iter::empty(), Locale::default()), "");
        let mut phases = Phases::default();
        phases.set(Phase::Banner, Duration::from_millis(2));
        let legend = render_phase_legend([phases, Phases::default()].into_iter(), Locale::default());
        assert!(legend.contains("p-banner") && !legend.contains("p-transfer"), "{legend}");
    }

    #[test]
    fn every_phase_has_a_name_in_every_language() {
        for phase in Phase::ALL {
            assert!(crate::texts::is_known_text(&phase_label(phase)), "{phase:?}");
        }
    }

    #[test]
    fn every_phase_has_a_colour_of_its_own() {
        let style = include_str!("assets/style.css");
        let colours: std::collections::BTreeSet<&str> = (Phase::ALL.iter())
            .map(|phase| {
                let rule = format!(".p-{} {{ --p: ", phase.name());
                let at = style.find(&rule).unwrap_or_else(|| panic!("no colour for {}", phase.name()));
                &style[at + rule.len()..][..7]
            })
            .collect();
        assert_eq!(colours.len(), Phase::ALL.len());
    }

    #[test]
    fn a_bar_is_to_scale_and_fills_its_width() {
        let mut phases = Phases::default();
        assert_eq!(render_phase_bar(&phases, Locale::default()), "");
        phases.set(Phase::Connect, Duration::from_millis(25));
        phases.set(Phase::FirstByte, Duration::from_millis(75));
        let bar = render_phase_bar(&phases, Locale::default());
        assert!(bar.contains(r#"class="p-connect" x="0.0" width="50.0""#), "{bar}");
        assert!(bar.contains(r#"class="p-first_byte" x="50.0" width="150.0""#), "{bar}");
        assert!(bar.contains("<title>connect 25.0 ms, first byte 75.0 ms</title>"), "{bar}");
    }
}
