//! Drives the alert state of one monitor, with recipients and a clock.

use std::collections::BTreeMap;
use std::time::Duration;

use vigie::alerting::{
    AlertContext, AlertPolicy, AlertState, Contacts, Effect, ExpiringCertificate, LocationResult,
    NotificationDraft, PageChange, ParentState,
};
use vigie::domain::{
    CheckId, LocationId, LocationMode, MonitorId, NotificationKind, NotificationMethod, Outcome, Recipient,
    RecipientId, RunId, Status, Timestamp, Verification,
};
use vigie::evaluate::settle::Quorum;
use vigie::schedule::{BlackoutCalendar, BlackoutTarget, BlackoutWindow, RunPlan, SlotGrid, TimeWindow};

pub const MONITOR: MonitorId = MonitorId(7);
const MIDNIGHT: &str = "2026-11-20T00:00:00Z";

/// What a location reports of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub outcome: Option<Outcome>,
    pub status: u16,
    pub step: Option<u32>,
    pub views: Vec<i64>,
    pub page: Option<(u64, u64)>,
    pub certificate: bool,
    pub slots: u32,
}

pub struct Harness {
    pub policy: AlertPolicy,
    pub contacts: Contacts,
    pub windows: Vec<BlackoutWindow>,
    pub offline: Vec<LocationId>,
    /// The monitors that it depends on.
    pub parents: Vec<ParentState>,
    pub now: Timestamp,
    pub state: AlertState,
    /// Whether the process restarts after every decision that has an effect.
    pub restart_often: bool,
    /// The last result of each location, as the store keeps it.
    pub last: BTreeMap<LocationId, LocationResult>,
    /// All effects as lines of text.
    pub output: Vec<String>,
    /// All effects.
    pub effects: Vec<Effect>,
    /// Also writes lines for effects on outages, results and locations.
    pub verbose: bool,
}

impl Harness {
    pub fn new() -> Self {
        let interval = Duration::from_mins(5);
        let plan = RunPlan {
            slot_grid: SlotGrid::new(MONITOR, interval, Some(Duration::ZERO)),
            location_pool: vec![LocationId(1)],
            locations_per_run: 1,
            rotates_locations: false,
            staggered: false,
            max_check_duration: Duration::from_mins(1),
        };
        Self {
            policy: AlertPolicy {
                monitor_id: MONITOR,
                location_mode: LocationMode::GlobalNotify,
                run_plan: plan,
                primary_location: LocationId(1),
                quorum: Quorum::AtLeast(2),
                notify_on_error: true,
                notify_on_content_change: false,
                notify_on_expiry: false,
                traceroute_on_error: false,
                no_data_threshold: 5,
            },
            contacts: Contacts::default(),
            windows: Vec::new(),
            offline: Vec::new(),
            parents: Vec::new(),
            now: Timestamp::parse(MIDNIGHT).unwrap(),
            state: AlertState::default(),
            restart_often: false,
            last: BTreeMap::new(),
            output: Vec::new(),
            effects: Vec::new(),
            verbose: false,
        }
    }

    /// Returns the planned time of the run `number`, counted from midnight.
    pub fn run(&self, number: i64) -> Timestamp {
        let interval = i64::try_from(self.policy.run_plan.slot_grid.interval().as_micros()).unwrap();
        Timestamp::from_micros(Timestamp::parse(MIDNIGHT).unwrap().as_micros() + number * interval)
    }

    /// Adds a blackout from the planned time of run `from` to that of the run after `thru`.
    pub fn window(&mut self, target: BlackoutTarget, from: i64, thru: i64) {
        let civil = |number: i64| {
            let at = jiff::Timestamp::from_microsecond(self.run(number).as_micros()).unwrap();
            at.to_zoned(jiff::tz::TimeZone::UTC).datetime()
        };
        let when = TimeWindow::Once { start: civil(from), end: civil(thru + 1) };
        let id = i64::try_from(self.windows.len()).unwrap() + 1;
        self.windows.push(BlackoutWindow { id, target, time_window: when });
    }

    /// Whether a verification is pending.
    pub fn has_pending_verification(&self) -> bool {
        !self.state.pending_verification_requests().is_empty()
    }

    pub fn recipient(&mut self, name: &str) -> &mut Recipient {
        if let Some(at) = self.contacts.recipients.iter().position(|known| known.name == name) {
            return &mut self.contacts.recipients[at];
        }
        let id = self.contacts.recipients.iter().map(|known| known.id.0).max().unwrap_or(0) + 1;
        self.contacts.recipients.push(Recipient {
            id: RecipientId(id),
            name: name.to_owned(),
            address: format!("{name}@example.com"),
            method: NotificationMethod::MailHtml,
            username: String::new(),
            gets_availability_alerts: true,
            gets_performance_alerts: false,
            notify_on_clear: false,
            start_threshold: 1,
            stop_threshold: 10,
            attach_screen_capture: false,
            attach_server_response: false,
            language: String::new(),
        });
        self.contacts.recipients.last_mut().unwrap()
    }

    /// Applies `call` to the alert state, and restarts afterwards if configured.
    fn apply(&mut self, call: impl FnOnce(&mut AlertState, &AlertContext<'_>) -> Vec<Effect>) {
        if self.evaluate(call) && self.restart_often {
            self.restart();
        }
    }

    /// Applies `call` to the alert state and records its effects; returns whether there were any.
    fn evaluate(&mut self, call: impl FnOnce(&mut AlertState, &AlertContext<'_>) -> Vec<Effect>) -> bool {
        let calendar = BlackoutCalendar::new(jiff::tz::TimeZone::UTC, self.windows.clone());
        let cx = AlertContext {
            policy: &self.policy,
            contacts: &self.contacts,
            blackout_calendar: &calendar,
            offline_locations: &self.offline,
            parents: &self.parents,
            now: self.now,
        };
        let effects = call(&mut self.state, &cx);
        let any = !effects.is_empty();
        for effect in effects {
            self.log_effect(&effect);
            self.store_effect(&effect);
            self.effects.push(effect);
        }
        any
    }

    /// Starts the monitor, or resumes it.
    pub fn start(&mut self) {
        self.evaluate(AlertState::on_tick);
    }

    /// Disables the monitor.
    pub fn close(&mut self) {
        let now = self.now;
        self.last.clear();
        self.evaluate(|state, _| state.close(now));
    }

    /// Restarts the process with what the store has.
    pub fn restart(&mut self) {
        let state = if self.state.is_derivable() {
            let mut fresh = AlertState::default();
            fresh.restore_from_results(&self.last.values().cloned().collect::<Vec<_>>());
            fresh
        } else {
            let stored = serde_json::to_string(&self.state).unwrap();
            serde_json::from_str(&stored).unwrap()
        };
        let (pending, health, idle) =
            (self.state.pending_verification_requests(), self.state.health(), self.state.is_derivable());
        self.state = state;
        let lines_before = self.output.len();
        assert_eq!(self.state.pending_verification_requests(), pending, "questions survive a restart");
        assert!(idle || self.state.health() == health, "the state survives a restart");
        self.start();
        // Checks of parents in progress are requested again.
        if self.output[lines_before..].iter().any(|line| self.output[..lines_before].contains(line)) {
            self.output.retain({
                let mut seen = false;
                move |line| !line.starts_with("? parents") || !std::mem::replace(&mut seen, true)
            });
        }
    }

    /// Advances the clock to `until`, with a tick whenever one is due.
    pub fn advance_to(&mut self, until: Timestamp) {
        for _ in 0..10_000 {
            let due = self.state.next_tick_at().filter(|due| *due <= until);
            let Some(due) = due else { break };
            self.now = self.now.max(due);
            self.apply(AlertState::on_tick);
        }
        assert!(self.state.next_tick_at().is_none_or(|due| due > until), "the watch is never done");
        self.now = self.now.max(until);
    }

    /// Submits the result `report` of `location` for the run planned at `planned_at`.
    pub fn submit(&mut self, location: LocationId, report: &Report, planned_at: Timestamp) {
        let result = location_result(location, report, planned_at, self.policy.run_plan.slot_grid.interval());
        if self.last.get(&location).is_none_or(|last| last.last_planned_at < result.last_planned_at) {
            let stored = LocationResult { page_change: None, expiring_certificate: None, ..result.clone() };
            self.last.insert(location, stored);
        }
        self.apply(|state, cx| state.on_result(result, cx));
        if self.restart_often {
            self.restart();
        }
    }

    /// Answers the oldest pending verification with the status `verdict`, 70 to 79.
    pub fn answer(&mut self, verdict: u16) {
        let Some(Effect::RequestVerification { planned_at, location_id: location, .. }) =
            self.state.pending_verification_requests().into_iter().next()
        else {
            panic!("nothing was asked");
        };
        if verdict == 70
            && let Some(last) = self.last.get_mut(&location).filter(|last| last.planned_at == planned_at)
        {
            last.outcome = Outcome::Warning;
        }
        let answer = Verification {
            status: Status(verdict),
            location_id: (verdict != 79).then_some(LocationId(99)),
            recheck_status: None,
            completed_at: self.now,
        };
        self.apply(|state, cx| state.on_verification(planned_at, answer, cx));
    }

    /// Answers the last request for checks of parents: `failed` are those whose check failed.
    pub fn answer_parents(&mut self, failed: &[i64]) {
        let requested = self.effects.iter().rev().find_map(|effect| match effect {
            Effect::CheckParents { planned_at, .. } => Some(*planned_at),
            _ => None,
        });
        let planned_at = requested.expect("a request for checks of parents");
        let failed = failed.iter().copied().map(MonitorId).collect();
        self.apply(|state, cx| state.on_parents_checked(planned_at, failed, cx));
    }

    /// Keeps what the store would contain after `effect`.
    fn store_effect(&mut self, effect: &Effect) {
        let interval = self.policy.run_plan.slot_grid.interval();
        if let Effect::RecordMissed { planned_at, locations } = effect {
            let report = Report { outcome: Some(Outcome::Missed), ..Report::default() };
            for location in locations {
                self.last.insert(*location, location_result(*location, &report, *planned_at, interval));
            }
        }
    }

    fn log_effect(&mut self, effect: &Effect) {
        let line = match effect {
            Effect::RequestVerification { location_id: location, failed_locations: failed, .. } => {
                format!("? {} outside of {}", letter(*location), letters(failed))
            }
            Effect::RunTraceroute { location, recipients: audience, .. } => {
                let names: Vec<_> = audience.iter().map(|(id, _)| self.name(*id)).collect();
                format!("! trace from {} for {}", letter(*location), names.join(" "))
            }
            Effect::Notify { recipient_id: recipient, group_id: group, draft } => {
                let by = group.map(|group| format!(" by {group}")).unwrap_or_default();
                format!("> {} {}{by}", self.name(*recipient), describe(draft))
            }
            Effect::RecordVerification { location, verification: answer, .. } => {
                format!(". {} {}", letter(*location), answer.status)
            }
            Effect::RecordMissed { locations, .. } => format!(". away {}", letters(locations)),
            Effect::CheckParents { failed_location, parents, .. } => {
                let ids: Vec<_> = parents.iter().map(ToString::to_string).collect();
                format!("? parents {} from {}", ids.join(" "), letter(*failed_location))
            }
            Effect::RecordSuppression { locations, suppressed_by, .. } => {
                let ids: Vec<_> = suppressed_by.iter().map(ToString::to_string).collect();
                format!("- {} suppressed by {}", letters(locations), ids.join(" "))
            }
            Effect::UpdateEpisode(change) => {
                let what = match change.end {
                    Some(end) if end.is_recovery => "over",
                    Some(_) => "dropped",
                    None if change.is_flapping => "down, flapping",
                    None => "down",
                };
                format!(". {what} {} at {}", change.failed_runs, letters(&change.failed_locations))
            }
        };
        if self.verbose || !line.starts_with('.') {
            self.output.push(line.trim_end().to_owned());
        }
    }

    fn name(&self, id: RecipientId) -> String {
        let known = self.contacts.recipients.iter().find(|known| known.id == id);
        known.map_or_else(|| format!("nobody {id}"), |known| known.name.clone())
    }
}

pub fn location_result(
    location: LocationId,
    report: &Report,
    planned_at: Timestamp,
    interval: Duration,
) -> LocationResult {
    let slots = report.slots.max(1);
    LocationResult {
        planned_at,
        location_id: location,
        check_id: CheckId::new(RunId::new(MONITOR, planned_at), location),
        outcome: report.outcome.unwrap_or(Outcome::Ok),
        status: Status(report.status),
        run_count: slots,
        last_planned_at: planned_at + interval * (slots - 1),
        failing_step: report.step,
        failed_views: report.views.clone(),
        page_change: report.page.map(|(before, now)| PageChange {
            bytes_before: before,
            bytes_now: now,
            object_changes: None,
            finding_changes: None,
        }),
        expiring_certificate: report.certificate.then(|| ExpiringCertificate {
            subject: "CN=www.example.com".to_owned(),
            not_after: planned_at + Duration::from_hours(72),
        }),
    }
}

/// Describes a notification in short: kind, error count, status and location, verification, missing locations.
fn describe(draft: &NotificationDraft) -> String {
    let cause = draft.deciding_result.as_ref();
    let result_text = cause.map_or_else(
        || "nowhere".to_owned(),
        |cause| format!("{} at {}", cause.status, letter(cause.location_id)),
    );
    let verification =
        draft.verification.as_ref().map(|answer| format!(" {}", answer.status)).unwrap_or_default();
    let silent = if draft.unreported_locations.is_empty() {
        String::new()
    } else {
        format!(" without {}", letters(&draft.unreported_locations))
    };
    match draft.kind {
        NotificationKind::SiteError => {
            format!("error {}: {result_text}{verification}{silent}", draft.consecutive_runs)
        }
        NotificationKind::SiteClear => format!("clear{silent}"),
        NotificationKind::NoData => format!("no data {}{silent}", draft.consecutive_runs),
        NotificationKind::NoDataClear => format!("data again{silent}"),
        NotificationKind::WebChange => {
            format!("change at {}", cause.map_or_else(String::new, |c| letter(c.location_id)))
        }
        NotificationKind::CertificateExpiration => "certificate".to_owned(),
        kind => kind.name().to_owned(),
    }
}

fn letter(location: LocationId) -> String {
    u8::try_from(location.0 - 1).ok().map_or_else(String::new, |at| char::from(b'A' + at).to_string())
}

fn letters(locations: &[LocationId]) -> String {
    locations.iter().map(|location| letter(*location)).collect()
}
