//! Results of many monitors, and alerting over them, for the benches of the stores.
#![allow(dead_code, clippy::unwrap_used, missing_docs, reason = "each bench takes what it needs")]

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use vigie::catalog::{AccountCache, InstanceData};
use vigie::clock::FakeClock;
use vigie::domain::{
    Attempt, CapturedFile, Certificate, CheckId, CheckResult, CustomerId, Facts, HttpFacts, Location,
    LocationId, MonitorId, MonitorType, Outcome, Phase, Phases, Revision, RunId, Status, Timestamp, TlsFacts,
};
use vigie::pipeline::{
    AgentStatus, AlertEngineDependencies, AlertEngineSettings, DeliveryWakeup, Ingestor, PlanError,
    PlanFuture, Planner,
};
use vigie::schedule::SlotGrid;
use vigie::schema::{Monitor, MonitorDocument, Origin, SecretMode};
use vigie::store::Store;

/// Each monitor has one run a minute; slots are spread over the minute as a hash would.
pub const MONITORS: i64 = 100_000;
/// 2026-03-01T00:00:00Z.
pub const START: i64 = 1_772_323_200_000_000;

/// Returns the `n`th result of all monitors, in the order in which they come due.
pub fn result(n: i64, facts: &Facts) -> CheckResult {
    let (round, slot) = (n / MONITORS, n % MONITORS);
    // The step has no common factor with the number of monitors: each comes once a round, in scattered order.
    let monitor_id = MonitorId(slot * 38_317 % MONITORS + 1);
    let planned_at = Timestamp::from_micros(START + round * 60_000_000 + slot * 600);
    let run_id = RunId::new(monitor_id, planned_at);
    let started_at = planned_at + Duration::from_micros(300);
    let total_us = 900 + n.unsigned_abs() % 7000;
    let mut phases = Phases::default();
    for phase in [Phase::Prepare, Phase::Resolve, Phase::Connect, Phase::Validate] {
        phases.set(phase, Duration::from_micros(total_us / 4));
    }
    CheckResult {
        check_id: CheckId::new(run_id, LocationId(1)),
        run_id,
        monitor_id,
        monitor_name: Arc::from(format!("Shop front number {monitor_id}")),
        revision: Revision(1),
        monitor_type: if facts.http.is_some() { MonitorType::Website } else { MonitorType::Tcp },
        location_id: LocationId(1),
        planned_at,
        started_at,
        outcome: Outcome::Ok,
        status: Status::OK,
        warning_status: None,
        status_text: Status::OK.text().to_owned(),
        reasons: Vec::new(),
        duration_us: total_us,
        address: Some(([192, 0, 2, 7], 443).into()),
        attempts: vec![Attempt {
            number: 1,
            started_at,
            duration_us: total_us,
            phases,
            failure: None,
            warnings: Vec::new(),
        }],
        facts: facts.clone(),
        details: vigie::domain::CheckDetails::default(),
        captures: Vec::new(),
        verification: None,
        missed: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
    }
}

pub fn https() -> Facts {
    let certificate = |subject: &str| Certificate {
        subject: format!("CN={subject}, O=Example Trust Services, C=US"),
        issuer: "CN=Example Issuing CA 2, O=Example Trust Services, C=US".to_owned(),
        subject_alt_names: vec![subject.to_owned(), format!("www.{subject}")],
        not_before: Timestamp::from_micros(START),
        not_after: Timestamp::from_micros(START + 7_776_000_000_000),
        sha256: "ab".repeat(32),
    };
    Facts {
        http: Some(Box::new(HttpFacts {
            http_status: 200,
            http_version: "HTTP/1.1".to_owned(),
            http_reason: Some("OK".to_owned()),
            body_wire_bytes: 18_233,
            body_bytes: 81_002,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            redirects: Vec::new(),
            url: "https://shop.test/front".to_owned(),
            ..HttpFacts::default()
        })),
        tls: Some(Box::new(TlsFacts {
            tls_version: Some("TLSv1.3".to_owned()),
            tls_cipher: Some("TLS13_AES_256_GCM_SHA384".to_owned()),
            certificates: vec![certificate("shop.test"), certificate("Example Issuing CA 2")],
            tls_warnings: Vec::new(),
        })),
        resolved_addresses: vec![[192, 0, 2, 7].into()],
        ..Facts::default()
    }
}

/// Moves each result to a slot of its monitor, as alerting expects, and sorts them by planned time.
pub fn move_to_slots(mut results: Vec<CheckResult>) -> Vec<CheckResult> {
    for result in &mut results {
        let round = (result.planned_at.as_micros() - START) / 60_000_000;
        let from = Timestamp::from_micros(START + round * 60_000_000);
        result.planned_at =
            SlotGrid::new(result.monitor_id, Duration::from_mins(1), None).first_slot_at_or_after(from);
        result.started_at = result.planned_at;
        result.run_id = RunId::new(result.monitor_id, result.planned_at);
        result.check_id = CheckId::new(result.run_id, result.location_id);
        result.attempts[0].started_at = result.started_at;
    }
    results.sort_by_key(|result| result.planned_at);
    results
}

/// A planner with one location that cannot run anything.
struct OneLocationPlanner;

impl Planner for OneLocationPlanner {
    fn apply_monitor_changes(&self, _: Vec<Monitor>, _: Vec<MonitorId>) -> PlanFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn request_first_checks(&self, _: &[Monitor]) {}

    fn run_check_now(&self, _: Monitor, _: LocationId) -> PlanFuture<'_, CheckResult> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn run_traceroute(&self, _: Monitor, _: LocationId, _: Option<IpAddr>) -> PlanFuture<'_, CapturedFile> {
        Box::pin(std::future::ready(Err(PlanError::LocationOffline)))
    }

    fn agent_statuses(&self) -> Vec<AgentStatus> {
        vec![AgentStatus { location: home(), is_alive: true, is_isolated: false, can_verify: false }]
    }
}

pub fn home() -> Location {
    Location { id: LocationId(1), name: "home".to_owned(), region_code: 1 }
}

/// Enables alerting for all monitors.
pub async fn enable_alerting(ingestor: &Ingestor, store: &Arc<dyn Store>) {
    let facts = InstanceData { locations: vec![home()], ..InstanceData::default() };
    let dependencies = AlertEngineDependencies {
        alert_store: store.clone(),
        outbox: store.clone(),
        result_store: store.clone(),
        config_store: store.clone(),
        account_cache: Arc::new(AccountCache::new(store.clone(), facts)),
        planner: Arc::new(OneLocationPlanner),
        clock: Arc::new(FakeClock::new(Timestamp::from_micros(START + 120_000_000))),
        delivery_wakeup: DeliveryWakeup::default(),
    };
    ingestor.enable_alerting(dependencies, AlertEngineSettings::default()).await.unwrap();
    let minutely = |id| {
        let monitor = monitor(id);
        let mut values = monitor.document.to_non_default_fields(SecretMode::Revealed);
        values.insert("interval".to_owned(), 1.into());
        Monitor { document: Arc::new(MonitorDocument::new(MonitorType::Website, values).unwrap()), ..monitor }
    };
    ingestor.update_monitors((1..=MONITORS).map(minutely).collect(), Vec::new()).await;
    // Alerting knows a monitor as soon as it has processed the update.
    while !ingestor.is_alerting_active(MonitorId(MONITORS)) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub fn monitor(id: i64) -> Monitor {
    let values = serde_json::json!({
        "name": format!("Shop front number {id}"), "url": format!("https://shop{id}.test/front"), "interval": 5,
        "timeout": 20, "keyword_string": "Add to basket", "locations": [{"id": 1}], "notify_on_error": false,
    });
    let values = values.as_object().cloned().unwrap_or_default();
    Monitor {
        id: MonitorId(id),
        customer: CustomerId(1),
        origin: Origin::File { key: Arc::from(format!("shop-{id}")) },
        revision: Revision(1),
        modified_at: Timestamp::from_micros(START),
        document: Arc::new(MonitorDocument::new(MonitorType::Website, values).unwrap()),
        metadata: Arc::default(),
    }
}
