//! Results that are made up, always the same ones at the same time.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::profiles::{BLACKOUT, Incident, Profile, SWITCHED_OFF};
use crate::alerting::{EpisodeEnd, EpisodeSnapshot, LocationResult};
use crate::domain::{
    Attempt, CheckMetadata, CheckResult, EpisodeId, Failure, LocationId, MissedReason, MissedRuns,
    Observation, Outcome, Phases, Status, Timestamp, Verdict, duration_micros,
};
use crate::evaluate::evaluate_attempts;
use crate::schema::Monitor;

/// Minutes between two results: fewer than the monitors have from now on, so that the demo is ready soon.
pub(super) const STEP_MINUTES: i64 = 5;

/// Ends every text that is made up.
const ORIGIN_NOTE: &str = "made up by the demo";

/// Makes up what a monitor found.
pub(super) struct ResultWriter<'a> {
    pub(super) monitor: &'a Monitor,
    pub(super) profile: &'a Profile,
    pub(super) location: LocationId,
    /// The end of the history.
    pub(super) end: Timestamp,
}

impl ResultWriter<'_> {
    /// Returns the result `minutes` before the end; `None` for a run that another record covers.
    pub(super) fn result(&self, minutes: i64) -> Option<CheckResult> {
        let planned_at = self.time(minutes);
        let (off, off_minutes) = SWITCHED_OFF;
        if (off - off_minutes..=off).contains(&minutes) {
            return (minutes == off).then(|| self.missed(planned_at, off_minutes));
        }
        let (blackout, blackout_minutes) = BLACKOUT;
        if (blackout - blackout_minutes..=blackout).contains(&minutes) {
            let reasons = vec![format!("weekly maintenance, {ORIGIN_NOTE}")];
            let verdict =
                Verdict { outcome: Outcome::Blackout, status: Status::OK, warning_status: None, reasons };
            return Some(CheckResult::without_attempts(self.metadata(), planned_at, planned_at, verdict));
        }
        let incident = self.profile.incidents.iter().find(|incident| {
            (incident.minutes_ago - incident.minutes + 1..=incident.minutes_ago).contains(&minutes)
        });
        Some(self.checked(planned_at, incident))
    }

    /// Returns the outage of `incident`.
    pub(super) fn outage(&self, incident: &Incident) -> EpisodeSnapshot {
        let since = self.time(incident.minutes_ago);
        let runs = incident.minutes / STEP_MINUTES;
        let last_failed_at = self.time(incident.minutes_ago - (runs - 1) * STEP_MINUTES);
        let first = self.checked(since, Some(incident));
        EpisodeSnapshot {
            id: EpisodeId::new(self.monitor.id, since),
            since,
            cause: LocationResult {
                planned_at: since,
                location_id: self.location,
                check_id: first.check_id,
                outcome: first.outcome,
                status: first.status,
                run_count: 1,
                last_planned_at: since,
                failing_step: None,
                failed_views: Vec::new(),
                page_change: None,
                expiring_certificate: None,
            },
            failed_runs: u32::try_from(runs).unwrap_or(1),
            last_failed_at,
            last_status: first.status,
            failed_locations: vec![self.location],
            verification: None,
            is_flapping: false,
            end: Some(EpisodeEnd {
                ended_at: self.time(incident.minutes_ago - runs * STEP_MINUTES),
                is_recovery: true,
            }),
        }
    }

    fn time(&self, minutes_ago: i64) -> Timestamp {
        Timestamp::from_micros(self.end.as_micros() - minutes_ago * 60_000_000)
    }

    fn metadata(&self) -> CheckMetadata {
        CheckMetadata {
            monitor_id: self.monitor.id,
            monitor_name: self.monitor.name().into(),
            revision: self.monitor.revision,
            monitor_type: self.monitor.monitor_type(),
            location_id: self.location,
        }
    }

    fn missed(&self, planned_at: Timestamp, minutes: i64) -> CheckResult {
        let missed = MissedRuns {
            reason: MissedReason::NotRunning,
            run_count: u32::try_from(minutes).unwrap_or(1),
            last_planned_at: planned_at + Duration::from_secs(60 * minutes.unsigned_abs()),
        };
        CheckResult::from_missed_runs(self.metadata(), planned_at, missed.last_planned_at, missed)
    }

    /// Returns the result of a check, as the judge sees it.
    fn checked(&self, planned_at: Timestamp, incident: Option<&Incident>) -> CheckResult {
        let duration = self.duration(planned_at);
        let mut observation =
            Observation { duration, phases: self.phases(duration), ..Observation::default() };
        if let Some(incident) = incident {
            let detail = format!("{}, {ORIGIN_NOTE}", incident.detail);
            observation.failure = Some(Failure::new(incident.phase, incident.kind, detail));
        }
        let verdict = evaluate_attempts(std::slice::from_ref(&observation));
        CheckResult {
            duration_us: duration_micros(duration),
            attempts: vec![Attempt::from_observation(1, planned_at, &observation)],
            ..CheckResult::without_attempts(self.metadata(), planned_at, planned_at, verdict)
        }
    }

    /// Returns how long a check took: longer in the afternoon, and sometimes much longer.
    #[expect(clippy::cast_precision_loss, reason = "the hour of a day has few digits")]
    fn duration(&self, at: Timestamp) -> Duration {
        let hour = (at.as_micros() / 60_000_000).rem_euclid(24 * 60) as f64 / 60.0;
        let daily = 1.0 + 0.3 * ((hour - 9.0) / 24.0 * std::f64::consts::TAU).sin();
        let noise = self.noise(at, 0);
        let spike = if self.noise(at, 1) > 0.995 { 4.0 } else { 1.0 };
        Duration::from_secs_f64(self.profile.usual_micros * daily * (0.85 + 0.3 * noise) * spike / 1e6)
    }

    fn phases(&self, duration: Duration) -> Phases {
        let mut phases = Phases::default();
        for (phase, share) in self.profile.phases {
            phases.set(*phase, duration.mul_f64(*share));
        }
        phases
    }

    /// Returns a number from 0 to 1 that looks random, and is always the same.
    fn noise(&self, at: Timestamp, salt: u8) -> f64 {
        let mut hasher = DefaultHasher::new();
        (self.profile.key, at.as_micros() / 60_000_000, salt).hash(&mut hasher);
        f64::from(u32::try_from(hasher.finish() >> 32).unwrap_or_default()) / f64::from(u32::MAX)
    }
}
