//! Phases as spans of time, each beginning where the one before it ended.

use crate::domain::{Phase, Phases};

/// One phase on the time line of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseSpan {
    /// Which one.
    pub phase: Phase,
    /// From the start of the attempt to its own.
    pub offset_us: u64,
    /// How long it took.
    pub total_us: u64,
}

/// The phases that were reached, the first of them `began_us` after the start.
pub fn phase_spans(phases: &Phases, began_us: u64) -> impl Iterator<Item = PhaseSpan> + '_ {
    phases.iter().scan(began_us, |at, (phase, micros)| {
        let total_us = u64::from(micros);
        let span = PhaseSpan { phase, offset_us: *at, total_us };
        *at += total_us;
        Some(span)
    })
}

/// Microseconds of all `phases` together.
#[must_use]
pub fn total_us(phases: &Phases) -> u64 {
    phases.iter().map(|(_, micros)| u64::from(micros)).sum()
}

/// The name of `phase` for people: `first byte`.
#[must_use]
pub fn phase_label(phase: Phase) -> String {
    phase.name().replace('_', " ")
}
