//! When the phases of an attempt, step or exchange began and ended. A result has their durations; they follow each
//! other without gaps, but for those that a browser measures from the start of a navigation on.

use std::time::Duration;

use crate::domain::{Phase, Phases, Timestamp};

/// Phases that begin together: all of them count from the first navigation of the script on.
const CONCURRENT: [Phase; 4] = [Phase::FirstPaint, Phase::DomLoad, Phase::PageLoad, Phase::RunScript];

/// When a phase began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PhaseTime {
    pub(super) phase: Phase,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
}

/// Returns the times of `phases` from `start` on, none of them after `latest`. `failed_phase`, which ended at `latest`,
/// is among them although its duration was not measured.
pub(super) fn phase_times(
    phases: &Phases,
    start: Timestamp,
    latest: Timestamp,
    failed_phase: Option<Phase>,
) -> Vec<PhaseTime> {
    let (mut times, mut concurrent_start) = (Vec::new(), None);
    let mut next_start = start;
    for phase in Phase::ALL {
        let Some(duration) = phases.micros(phase).map(|micros| Duration::from_micros(micros.into())) else {
            if failed_phase == Some(phase) {
                times.push(PhaseTime { phase, start: next_start.min(latest), end: latest });
            }
            continue;
        };
        let start = if CONCURRENT.contains(&phase) {
            *concurrent_start.get_or_insert(next_start)
        } else {
            next_start
        };
        let end = (start + duration).min(latest);
        times.push(PhaseTime { phase, start: start.min(latest), end });
        next_start = next_start.max(end);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn phases(durations: &[(Phase, u64)]) -> Phases {
        let mut phases = Phases::default();
        for (phase, micros) in durations {
            phases.set(*phase, Duration::from_micros(*micros));
        }
        phases
    }

    #[test]
    fn phases_follow_each_other() {
        let phases = phases(&[(Phase::Resolve, 10), (Phase::Connect, 20), (Phase::Validate, 5)]);
        let times = phase_times(&phases, at(100), at(1_000), None);
        let expected = [(Phase::Resolve, 100, 110), (Phase::Connect, 110, 130), (Phase::Validate, 130, 135)];
        assert_eq!(
            times,
            expected.map(|(phase, start, end)| PhaseTime { phase, start: at(start), end: at(end) })
        );
    }

    #[test]
    fn a_phase_that_failed_unmeasured_lasts_until_the_end_and_none_lasts_longer() {
        let phases = phases(&[(Phase::Resolve, 10), (Phase::Tls, 5_000)]);
        let times = phase_times(&phases, at(100), at(1_000), Some(Phase::Connect));
        let expected = [(Phase::Resolve, 100, 110), (Phase::Connect, 110, 1_000), (Phase::Tls, 110, 1_000)];
        assert_eq!(
            times,
            expected.map(|(phase, start, end)| PhaseTime { phase, start: at(start), end: at(end) })
        );
    }

    #[test]
    fn what_a_browser_measures_begins_together() {
        let phases = phases(&[
            (Phase::Launch, 50),
            (Phase::DomLoad, 20),
            (Phase::PageLoad, 30),
            (Phase::RunScript, 90),
            (Phase::Validate, 1),
        ]);
        let starts: Vec<_> = phase_times(&phases, at(0), at(1_000), None)
            .iter()
            .map(|time| (time.phase, time.start.as_micros()))
            .collect();
        let expected = [
            (Phase::Launch, 0),
            (Phase::DomLoad, 50),
            (Phase::PageLoad, 50),
            (Phase::RunScript, 50),
            (Phase::Validate, 140),
        ];
        assert_eq!(starts, expected);
    }
}
