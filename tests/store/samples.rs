//! Sample stores, results and notifications.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use vigie::domain::{
    Attempt, Certificate, CheckId, CheckResult, ConfigRecordKind, CustomerId, EpisodeId, Facts, Failure,
    FailureKind, HttpFacts, LocationId, MissedReason, MissedRuns, MonitorId, MonitorType, NewNotification,
    NotificationContent, NotificationKind, Outcome, Phase, Phases, PingFacts, RecipientId, Revision, RunId,
    Status, Timestamp, TlsFacts, Warning, WarningKind,
};
use vigie::store::{
    ConfigChange, Housekeeping, Ingest, IngestBatch, NewConfigRecord, Pagination, ResultFilter, ResultStore,
    Retention, SqliteSettings, SqliteStore, StoreError,
};

pub const HOME: LocationId = LocationId(1);
/// 2026-03-01T00:00:00Z, the start of a day.
pub const DAY: i64 = 1_772_323_200;
pub const MINUTE: i64 = 60;
pub const HOUR: i64 = 3600;

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(DAY + seconds)
}

pub fn sqlite(folder: &Path) -> SqliteStore {
    SqliteStore::open(&folder.join("vigie.db"), &SqliteSettings::default()).unwrap()
}

/// Requires that SQLite finds no damage in the file.
pub fn assert_whole(folder: &Path) {
    let conn = rusqlite::Connection::open(folder.join("vigie.db")).unwrap();
    let report: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(report, "ok");
}

pub fn phases(of: &[(Phase, u64)]) -> Phases {
    let mut phases = Phases::default();
    for &(phase, micros) in of {
        phases.set(phase, std::time::Duration::from_micros(micros));
    }
    phases
}

/// Returns a passed check of a TCP monitor that took `total_us`.
pub fn ok(monitor: i64, planned_at: Timestamp, total_us: u64) -> CheckResult {
    let run_id = RunId::new(MonitorId(monitor), planned_at);
    let started_at = planned_at + std::time::Duration::from_micros(1234);
    CheckResult {
        check_id: CheckId::new(run_id, HOME),
        run_id,
        monitor_id: MonitorId(monitor),
        monitor_name: Arc::from(format!("Shop front {monitor}")),
        revision: Revision(3),
        monitor_type: MonitorType::Tcp,
        location_id: HOME,
        planned_at,
        started_at,
        outcome: Outcome::Ok,
        status: Status::OK,
        warning_status: None,
        status_text: Status::OK.text().to_owned(),
        reasons: Vec::new(),
        duration_us: total_us,
        address: Some("127.0.0.1:443".parse().unwrap()),
        attempts: vec![Attempt {
            number: 1,
            started_at,
            duration_us: total_us,
            phases: phases(&[
                (Phase::Prepare, 3),
                (Phase::Connect, total_us),
                (Phase::Banner, 5),
                (Phase::Quit, 7),
            ]),
            failure: None,
            warnings: Vec::new(),
        }],
        facts: Facts::default(),
        details: vigie::domain::CheckDetails::default(),
        captures: Vec::new(),
        verification: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
        missed: None,
    }
}

/// Returns a failed check with two attempts.
pub fn error(monitor: i64, planned_at: Timestamp) -> CheckResult {
    let mut result = ok(monitor, planned_at, 2_000_000);
    let failure = Failure::new(Phase::Connect, FailureKind::ConnectRefused, "127.0.0.1:443 refused");
    result.outcome = Outcome::Error;
    result.status = Status::CONNECT_FAILED;
    result.status_text = Status::CONNECT_FAILED.text().into();
    result.reasons = vec![failure.to_string(), "twice".to_owned()];
    let mut first = result.attempts.remove(0);
    first.failure = Some(failure);
    let second =
        Attempt { number: 2, started_at: planned_at + std::time::Duration::from_secs(1), ..first.clone() };
    result.attempts = vec![first, second];
    result
}

/// Returns a warning of an HTTPS check with a redirect and a certificate chain.
pub fn warning(monitor: i64, planned_at: Timestamp) -> CheckResult {
    let mut result = ok(monitor, planned_at, 80_000);
    result.monitor_type = MonitorType::Website;
    result.outcome = Outcome::Warning;
    result.warning_status = Some(Status::REDIRECTED);
    result.status_text = "ok, but redirected".into();
    result.address = Some("[2001:db8::7]:8443".parse().unwrap());
    result.attempts[0].warnings =
        vec![Warning::new(WarningKind::RedirectNotFollowed, "to `/login`".to_owned())];
    result.facts = https();
    result
}

/// Returns facts of an HTTPS exchange, equal in every run.
pub fn https() -> Facts {
    let certificate = |name: &str| Certificate {
        subject: format!("CN={name}"),
        issuer: "CN=Test CA".to_owned(),
        subject_alt_names: vec![name.to_owned()],
        not_before: at(0),
        not_after: at(90 * 24 * HOUR),
        sha256: "ab".repeat(32),
    };
    Facts {
        http: Some(Box::new(HttpFacts {
            http_status: 200,
            http_version: "HTTP/2".to_owned(),
            http_reason: None,
            body_wire_bytes: 1200,
            body_bytes: 5300,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            redirects: Vec::new(),
            url: "https://shop.test/".to_owned(),
            content_changed: true,
            text_sha256: Some("cd".repeat(32)),
            previous_text_sha256: Some("ef".repeat(32)),
        })),
        tls: Some(Box::new(TlsFacts {
            tls_version: Some("TLSv1.3".to_owned()),
            tls_cipher: Some("TLS13_AES_256_GCM_SHA384".to_owned()),
            certificates: vec![certificate("shop.test"), certificate("Test CA")],
            tls_warnings: Vec::new(),
        })),
        resolved_addresses: vec!["2001:db8::7".parse().unwrap(), "192.0.2.7".parse().unwrap()],
        ..Facts::default()
    }
}

pub fn ping(monitor: i64, planned_at: Timestamp) -> CheckResult {
    let mut result = ok(monitor, planned_at, 4_000_900);
    result.monitor_type = MonitorType::Ping;
    result.facts.ping = Some(Box::new(PingFacts {
        requests_sent: 5,
        replies_received: 4,
        loss_percent: 20.0,
        rtt_min_us: Some(80),
        rtt_avg_us: Some(120),
        rtt_max_us: Some(300),
        rtt_stddev_us: Some(12),
        socket_type: "raw".to_owned(),
        icmp_errors: Vec::new(),
    }));
    result
}

/// Returns a result for `run_count` missed runs, `step` seconds apart.
pub fn missed(monitor: i64, planned_at: Timestamp, run_count: u32, step: u64) -> CheckResult {
    let mut result = ok(monitor, planned_at, 0);
    let last_planned_at = planned_at + std::time::Duration::from_secs(step * u64::from(run_count - 1));
    result.outcome = Outcome::Missed;
    result.started_at = last_planned_at + std::time::Duration::from_secs(step);
    result.address = None;
    result.attempts.clear();
    result.reasons = vec![MissedReason::ProcessSuspended.describe().to_owned()];
    result.missed = Some(MissedRuns { reason: MissedReason::ProcessSuspended, run_count, last_planned_at });
    result
}

/// Returns a notification about `result` to `recipient` of account 1.
pub fn message(key: &str, recipient: i64, result: &CheckResult, written: Timestamp) -> NewNotification {
    let content = NotificationContent {
        kind: NotificationKind::SiteError,
        customer: CustomerId(1),
        account_name: "Example".to_owned(),
        brand: "Vigie".to_owned(),
        monitor_id: Some(result.monitor_id),
        monitor_name: result.monitor_name.to_string(),
        monitor_type: Some(result.monitor_type),
        episode_id: Some(EpisodeId::new(result.monitor_id, result.planned_at)),
        check_id: Some(result.check_id),
        occurred_at: result.planned_at,
        outage_started_at: Some(result.planned_at),
        status: result.status,
        status_text: result.status_text.clone(),
        reasons: result.reasons.clone(),
        consecutive_failures: 1,
        http_status: None,
        location_id: Some(result.location_id),
        location_name: "home".to_owned(),
        location_reports: Vec::new(),
        verification: None,
        target: "tcp://shop.test:443".to_owned(),
        failing_step: None,
        alert_note: String::new(),
        properties: Vec::new(),
        phases: vec![("connect".to_owned(), 7)],
        certificate: serde_json::Value::Null,
        extra: serde_json::Map::new(),
    };
    NewNotification {
        idempotency_key: key.to_owned(),
        recipient_id: RecipientId(recipient),
        group_id: None,
        content,
        created_at: written,
        not_before: written,
    }
}

pub async fn commit_results(store: &impl Ingest, results: Vec<CheckResult>) {
    store.commit(IngestBatch { results, ..IngestBatch::default() }).await.unwrap();
}

pub async fn all(store: &impl ResultStore) -> Vec<CheckResult> {
    store.results(ResultFilter::default(), Pagination { limit: 100_000, offset: 0 }).await.unwrap().results
}

/// Returns a new record, a property with this name.
pub fn new_property(name: &str) -> Vec<ConfigChange> {
    vec![ConfigChange::CreateRecord(NewConfigRecord {
        kind: ConfigRecordKind::Property,
        customer: Some(CustomerId(1)),
        parent_id: None,
        unique_key: None,
        created_at: at(0),
        created_by: "test".to_owned(),
        fields: serde_json::from_value(serde_json::json!({ "name": name })).unwrap(),
        private_data: None,
    })]
}

/// Fills the disk of `store` with commits of `batch_size` failed results: each is stored whole or not at all, the
/// error says what to do, and retention frees space.
pub async fn fill_the_disk_and_go_on(store: &(impl ResultStore + Ingest + Housekeeping), batch_size: i64) {
    let mut committed = 0;
    let failure = loop {
        let results = (0..batch_size).map(|i| error(i, at(committed * 60))).collect();
        match store.commit(IngestBatch { results, ..IngestBatch::default() }).await {
            Ok(()) => committed += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(failure, StoreError::DiskFull(_)), "{failure}");
    assert!(failure.is_transient() && failure.to_string().contains("free space"), "{failure}");
    assert!(committed > 5);
    let stored = i64::try_from(all(store).await.len()).unwrap();
    assert_eq!(stored, committed * batch_size, "all or nothing of each commit");

    let hour = Duration::from_hours(1);
    let retention = Retention {
        results: hour,
        details_ok: hour,
        details_failed: hour,
        hourly_rollups: hour,
        daily_rollups: Some(hour),
        audit_entries: hour,
    };
    let now = at(1000 * HOUR);
    store.apply_retention(retention, now).await.unwrap();
    commit_results(store, vec![ok(1, now, 5)]).await;
    assert!(all(store).await.iter().any(|result| result.planned_at == now));
}
