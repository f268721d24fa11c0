//! Phases as consecutive spans of time.

use crate::domain::{Phase, Phases};

/// One phase on the timeline of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseSpan {
    /// The phase.
    pub phase: Phase,
    /// Time from the start of the attempt to the start of the phase.
    pub offset_us: u64,
    /// How long it took.
    pub total_us: u64,
}

/// Returns the recorded phases; the first one starts `offset_us` after the start of the attempt.
pub fn phase_spans(phases: &Phases, offset_us: u64) -> impl Iterator<Item = PhaseSpan> + '_ {
    phases.iter().scan(offset_us, |offset, (phase, micros)| {
        let total_us = u64::from(micros);
        let span = PhaseSpan { phase, offset_us: *offset, total_us };
        *offset += total_us;
        Some(span)
    })
}

/// Returns the sum of all `phases` in microseconds.
#[must_use]
pub fn phases_sum_us(phases: &Phases) -> u64 {
    phases.iter().map(|(_, micros)| u64::from(micros)).sum()
}

/// Returns the name of `phase` for people, such as `first byte`.
#[must_use]
pub fn phase_label(phase: Phase) -> String {
    phase.name().replace('_', " ")
}
