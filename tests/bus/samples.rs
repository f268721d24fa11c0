//! One value of every kind that goes over the bus.

use std::sync::Arc;
use std::time::Duration;

use jiff::civil;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use vigie::bus::contract::{
    AgentLoad, AgentNetwork, AssignedAccount, AssignedCertificate, AssignedMonitor, AssignmentRevision,
    AssignmentUpdate, Presence, SpoolLoad,
};
use vigie::bus::messages::{SealContext, Sealer};
use vigie::domain::{
    AgentId, Attempt, CapturedFile, CheckDetails, CheckMetadata, CheckResult, CustomerId, Facts, Failure,
    FailureKind, HttpFacts, LocationId, MissedReason, MissedRuns, MonitorId, MonitorType, Outcome, Phase,
    Phases, Revision, Status, StepResult, Timestamp, Verdict, Warning, WarningKind,
};
use vigie::schedule::{BlackoutCalendar, BlackoutTarget, BlackoutWindow, LocationRotation, TimeWindow};
use vigie::schema::{Monitor, MonitorDocument, Origin};
use zeroize::Zeroizing;

/// A sealer whose seal is the context and id, and the text with each bit flipped.
pub struct FlippingSealer;

impl FlippingSealer {
    fn prefix(context: SealContext, id: i64) -> Vec<u8> {
        format!("{} {id}:", context.name()).into_bytes()
    }
}

impl Sealer for FlippingSealer {
    fn seal(&self, context: SealContext, id: i64, plain: &[u8]) -> Vec<u8> {
        Self::prefix(context, id).into_iter().chain(plain.iter().map(|byte| !byte)).collect()
    }

    fn open(&self, context: SealContext, id: i64, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
        let flipped = sealed.strip_prefix(Self::prefix(context, id).as_slice());
        let flipped = flipped.ok_or_else(|| "it is sealed for something else".to_owned())?;
        Ok(Zeroizing::new(flipped.iter().map(|byte| !byte).collect()))
    }

    fn sealing_key(&self, _: &[u8]) -> u32 {
        1
    }
}

/// A [`FlippingSealer`] whose seal begins with the number of its key; it opens what any key sealed.
pub struct NumberedSealer(pub u8);

impl Sealer for NumberedSealer {
    fn seal(&self, context: SealContext, id: i64, plain: &[u8]) -> Vec<u8> {
        [vec![self.0], FlippingSealer.seal(context, id, plain)].concat()
    }

    fn open(&self, context: SealContext, id: i64, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
        FlippingSealer.open(context, id, &sealed[1..])
    }

    fn sealing_key(&self, sealed: &[u8]) -> u32 {
        sealed[0].into()
    }
}

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(1_772_323_200_000_000 + 1_000_000 * second + 17)
}

pub fn metadata(monitor_type: MonitorType) -> CheckMetadata {
    CheckMetadata {
        monitor_id: MonitorId(4711),
        monitor_name: "Shop \u{1f6d2}".into(),
        revision: Revision(3),
        monitor_type,
        location_id: LocationId(-2),
    }
}

pub fn attempt(number: u8, failure: Option<Failure>) -> Attempt {
    let mut phases = Phases::default();
    phases.set(Phase::Resolve, Duration::from_micros(0));
    phases.set(Phase::Connect, Duration::from_micros(812));
    phases.set(Phase::FirstByte, Duration::from_mins(71));
    let warnings = vec![Warning {
        kind: WarningKind::CertificateExpiring,
        detail: "soon".to_owned(),
        cause_status: None,
    }];
    let warnings = if failure.is_some() { Vec::new() } else { warnings };
    Attempt { number, started_at: at(i64::from(number)), duration_us: u64::MAX, phases, failure, warnings }
}

/// A failed check with everything that an agent may send of one, and two captures.
pub fn failed_result() -> CheckResult {
    let verdict = Verdict {
        outcome: Outcome::Error,
        status: Status::CONNECT_FAILED,
        warning_status: Some(Status(7)),
        reasons: vec!["it \"refused\"\n".to_owned(), String::new()],
    };
    let failure = Failure::new(Phase::Connect, FailureKind::ConnectRefused, "it refused");
    let step =
        json!({"number": 1, "name": "open", "status": 1, "started_us": 5, "total_us": 7, "phases": {}});
    let step: StepResult = serde_json::from_value(step).unwrap();
    let facts = Facts {
        http: Some(Box::new(HttpFacts { http_status: 503, body_bytes: 9, ..HttpFacts::default() })),
        resolved_addresses: vec!["192.0.2.7".parse().unwrap()],
        ..Facts::default()
    };
    CheckResult {
        status_text: "not the usual text".to_owned(),
        duration_us: 123_456,
        address: Some("[2001:db8::1]:443".parse().unwrap()),
        attempts: vec![attempt(1, None), attempt(2, Some(failure))],
        facts,
        details: CheckDetails { steps: vec![step], ..CheckDetails::default() },
        captures: vec![
            CapturedFile::new("body.html", "text/html", b"<p>\0\xff"),
            CapturedFile::new("empty.txt", "text/plain", b""),
        ],
        ..CheckResult::without_attempts(metadata(MonitorType::Website), at(0), at(1), verdict)
    }
}

pub fn missed_result() -> CheckResult {
    let missed =
        MissedRuns { reason: MissedReason::ProcessSuspended, run_count: 9, last_planned_at: at(480) };
    CheckResult::from_missed_runs(metadata(MonitorType::Ping), at(0), at(500), missed)
}

/// Returns `result` as it is after the bus, without its captures.
pub fn without_captures(result: &CheckResult) -> CheckResult {
    CheckResult { captures: Vec::new(), ..result.clone() }
}

pub fn monitor() -> Monitor {
    let fields = json!({
        "name": "Shop", "url": "https://shop.example.test/", "interval": 5, "realm_userid": "anna",
        "realm_password": "pa55word", "retry_on_failure": true,
    });
    let Value::Object(fields) = fields else { unreachable!() };
    Monitor {
        id: MonitorId(4711),
        customer: CustomerId(12),
        origin: Origin::Applied { key: "shop".into() },
        revision: Revision(3),
        modified_at: at(-60),
        document: Arc::new(MonitorDocument::new(MonitorType::WebsiteSsl, fields).unwrap()),
        metadata: Arc::default(),
    }
}

pub fn assigned() -> AssignedMonitor {
    AssignedMonitor {
        location_rotation: LocationRotation::from_positions([2, 5, 3], true, true).unwrap(),
        last_planned_at: Some(at(-30)),
        last_full_page_at: Some(at(-90)),
        ..AssignedMonitor::new(monitor(), Some(14))
    }
}

pub fn account() -> AssignedAccount {
    let day = civil::date(2026, 3, 1);
    let once = TimeWindow::Once { start: day.at(22, 0, 0, 0), end: day.at(23, 30, 0, 0) };
    let weekly = TimeWindow::Weekly {
        start_day: 7,
        start: civil::time(23, 0, 0, 0),
        end_day: 1,
        end: civil::time(1, 15, 0, 0),
    };
    let window = |id, target, time_window| BlackoutWindow { id, target, time_window };
    let windows = vec![
        window(1, BlackoutTarget::Monitor(MonitorId(4711)), once),
        window(2, BlackoutTarget::Monitor(MonitorId(4711)), weekly.clone()),
        window(3, BlackoutTarget::Alert(MonitorId(4711)), weekly),
    ];
    let time_zone = TimeZone::get("Europe/Berlin").unwrap();
    AssignedAccount {
        customer_id: CustomerId(12),
        blackout_calendar: Arc::new(BlackoutCalendar::new(time_zone, windows)),
    }
}

pub fn certificate() -> AssignedCertificate {
    let pem = Arc::new(Zeroizing::new(b"-----BEGIN PRIVATE KEY-----".to_vec()));
    AssignedCertificate {
        id: 8,
        customer_id: CustomerId(12),
        name: "client".to_owned(),
        is_client: true,
        pem,
    }
}

pub fn updates() -> Vec<AssignmentUpdate> {
    vec![
        AssignmentUpdate::SetAccount(account()),
        AssignmentUpdate::SetCertificates(Arc::from([certificate()])),
        AssignmentUpdate::Assign(assigned()),
        AssignmentUpdate::Unassign { monitor_id: MonitorId(5), cancel_running: true },
    ]
}

pub fn network() -> AgentNetwork {
    AgentNetwork {
        source_addresses: vec!["192.0.2.7".parse().unwrap()],
        interface: "eth1".to_owned(),
        name_servers: vec!["192.0.2.53:53".to_owned()],
        proxy: "proxy.example.net:3128".to_owned(),
        proxy_ids: vec![3],
        egress_allow: vec!["10.0.0.0/8".to_owned()],
        egress_deny: vec!["10.1.0.0/16".to_owned()],
        connectivity_targets: vec!["example.net:443".to_owned()],
    }
}

pub fn presence() -> Presence {
    Presence {
        location_id: LocationId(-2),
        agent_id: Some(AgentId(9)),
        version: "1.2.3".into(),
        sent_at: at(7),
        clock_offset_us: Some(-1500),
        load: AgentLoad { planned_monitors: 100_000, running_checks: 17, waiting_checks: 3 },
        browser_capacity: 4,
        is_isolated: true,
        assignment_revision: AssignmentRevision(900),
        is_draining: true,
        weight: 3,
        lateness: Duration::from_micros(1_234),
        spool: SpoolLoad {
            results: 5,
            bytes: 6,
            dropped_results: 7,
            dropped_captures: 8,
            waiting_results: 9,
        },
        network: Arc::new(network()),
    }
}
