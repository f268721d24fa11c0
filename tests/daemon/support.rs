//! What several test modules share.

use std::sync::Arc;
use std::time::Duration;

use vigie::model::{
    Attempt, CheckId, CheckResult, Facts, Failure, FailureKind, LocationId, MissedReason, MissedRuns,
    MonitorId, MonitorType, Outcome, Phase, Phases, Revision, RunId, Status, Timestamp,
};

/// A result of `monitor` that came to `outcome`, planned `minute` minutes after the start of 2026.
pub fn result(monitor: i64, minute: i64, outcome: Outcome) -> CheckResult {
    let planned_at = Timestamp::from_seconds(1_767_225_600 + 60 * minute);
    let run_id = RunId::of(MonitorId(monitor), planned_at);
    let failed = matches!(outcome, Outcome::Error);
    let status = if failed { Status::CONNECT_FAILED } else { Status::OK };
    let missed = (outcome == Outcome::Missed).then_some(MissedRuns {
        reason: MissedReason::Overload,
        slots: 3,
        last_planned_at: planned_at + Duration::from_secs(120),
    });
    CheckResult {
        check_id: CheckId::of(run_id, LocationId(1)),
        run_id,
        monitor_id: MonitorId(monitor),
        monitor_name: Arc::from(format!("monitor {monitor}")),
        revision: Revision(1),
        kind: MonitorType::Website,
        location_id: LocationId(1),
        planned_at,
        started_at: planned_at + Duration::from_millis(2),
        outcome,
        status,
        warning_status: None,
        status_text: status.text().to_owned(),
        reasons: if failed { vec!["the target refused the connection".to_owned()] } else { vec![] },
        total_us: 40_000,
        address: None,
        attempts: if missed.is_some() { vec![] } else { vec![attempt(planned_at, failed)] },
        facts: Facts::default(),
        missed,
    }
}

fn attempt(started_at: Timestamp, failed: bool) -> Attempt {
    let mut phases = Phases::default();
    phases.set(Phase::Resolve, Duration::from_millis(1));
    phases.set(Phase::Connect, Duration::from_millis(9));
    if !failed {
        phases.set(Phase::FirstByte, Duration::from_millis(30));
    }
    let failure = failed.then(|| Failure::new(Phase::Connect, FailureKind::ConnectRefused, "127.0.0.1:9"));
    Attempt { number: 1, started_at, total_us: 40_000, phases, failure, warnings: vec![] }
}
