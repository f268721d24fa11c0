//! A monitor with its people, a clock, and the watch that is looked at.

use std::collections::BTreeMap;
use std::time::Duration;

use vigie::alerting::{
    AlertContext, AlertPolicy, AlertState, Contacts, Effect, ExpiringCertificate, LocationResult,
    NotificationDraft, PageChange,
};
use vigie::domain::{
    CheckId, LocationId, LocationMode, MonitorId, NotificationKind, NotificationMethod, Outcome, Recipient,
    RecipientId, RunId, Status, Timestamp, Verification,
};
use vigie::evaluate::settle::Quorum;
use vigie::schedule::{BlackoutCalendar, BlackoutTarget, BlackoutWindow, RunPlan, Slots, TimeWindow};

pub const MONITOR: MonitorId = MonitorId(7);
const MIDNIGHT: &str = "2026-11-20T00:00:00Z";

/// What a location says.
#[derive(Clone, Debug, Default)]
pub struct Word {
    pub outcome: Option<Outcome>,
    pub status: u16,
    pub step: Option<u32>,
    pub views: Vec<i64>,
    pub page: Option<(u64, u64)>,
    pub certificate: bool,
    pub slots: u32,
}

pub struct World {
    pub policy: AlertPolicy,
    pub contacts: Contacts,
    pub windows: Vec<BlackoutWindow>,
    pub away: Vec<LocationId>,
    pub now: Timestamp,
    pub watch: AlertState,
    /// Whether the process is started anew whenever that can make a difference.
    pub restless: bool,
    /// The last answer of each location, as the store keeps it.
    pub last: BTreeMap<LocationId, LocationResult>,
    /// Everything that came out, as lines.
    pub told: Vec<String>,
    /// The same as it is.
    pub effects: Vec<Effect>,
    /// Shows what becomes of outages, results and locations too.
    pub talkative: bool,
}

impl World {
    pub fn new() -> Self {
        let interval = Duration::from_mins(5);
        let plan = RunPlan {
            slots: Slots::new(MONITOR, interval, Some(Duration::ZERO)),
            pool: vec![LocationId(1)],
            locations_per_run: 1,
            rotates: false,
            staggered: false,
            max_check_duration: Duration::from_mins(1),
        };
        Self {
            policy: AlertPolicy {
                monitor_id: MONITOR,
                mode: LocationMode::GlobalNotify,
                run_plan: plan,
                primary_location: LocationId(1),
                quorum: Quorum::AtLeast(2),
                notify_on_error: true,
                notify_on_content_change: false,
                notify_on_expiry: false,
                traceroute: false,
                no_data_runs: 5,
            },
            contacts: Contacts::default(),
            windows: Vec::new(),
            away: Vec::new(),
            now: Timestamp::parse(MIDNIGHT).unwrap(),
            watch: AlertState::default(),
            restless: false,
            last: BTreeMap::new(),
            told: Vec::new(),
            effects: Vec::new(),
            talkative: false,
        }
    }

    /// The planned time of a run, counted from midnight.
    pub fn run(&self, number: i64) -> Timestamp {
        let interval = i64::try_from(self.policy.run_plan.slots.interval().as_micros()).unwrap();
        Timestamp::from_micros(Timestamp::parse(MIDNIGHT).unwrap().as_micros() + number * interval)
    }

    /// A blackout from the planned time of one run up to that of the one after another.
    pub fn window(&mut self, rests: BlackoutTarget, from: i64, thru: i64) {
        let civil = |number: i64| {
            let at = jiff::Timestamp::from_microsecond(self.run(number).as_micros()).unwrap();
            at.to_zoned(jiff::tz::TimeZone::UTC).datetime()
        };
        let when = TimeWindow::Once { from: civil(from), until: civil(thru + 1) };
        let id = i64::try_from(self.windows.len()).unwrap() + 1;
        self.windows.push(BlackoutWindow { id, target: rests, window: when });
    }

    /// Whether a second location is asked.
    pub fn is_asked(&self) -> bool {
        !self.watch.pending_verifications().is_empty()
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
            availability_alert: true,
            performance_alert: false,
            notify_on_clear: false,
            start_threshold: 1,
            stop_threshold: 10,
            attach_screen_capture: false,
            attach_server_response: false,
        });
        self.contacts.recipients.last_mut().unwrap()
    }

    /// What the watch says to `call`.
    fn ask(&mut self, call: impl FnOnce(&mut AlertState, &AlertContext<'_>) -> Vec<Effect>) {
        if self.decide(call) && self.restless {
            self.restart();
        }
    }

    /// Whether anything came of it.
    fn decide(&mut self, call: impl FnOnce(&mut AlertState, &AlertContext<'_>) -> Vec<Effect>) -> bool {
        let calendar = BlackoutCalendar::new(jiff::tz::TimeZone::UTC, self.windows.clone());
        let cx = AlertContext {
            policy: &self.policy,
            contacts: &self.contacts,
            calendar: &calendar,
            offline_locations: &self.away,
            now: self.now,
        };
        let effects = call(&mut self.watch, &cx);
        let any = !effects.is_empty();
        for effect in effects {
            self.show(&effect);
            self.keep(&effect);
            self.effects.push(effect);
        }
        any
    }

    /// Lets the monitor begin, or go on after a rest.
    pub fn begin(&mut self) {
        self.decide(AlertState::on_tick);
    }

    /// The monitor rests.
    pub fn close(&mut self) {
        let now = self.now;
        self.last.clear();
        self.decide(|watch, _| watch.close(now));
    }

    /// The process ends and starts again, with what was kept.
    pub fn restart(&mut self) {
        let watch = if self.watch.is_default() {
            let mut fresh = AlertState::default();
            fresh.restore(&self.last.values().cloned().collect::<Vec<_>>());
            fresh
        } else {
            let kept = serde_json::to_string(&self.watch).unwrap();
            serde_json::from_str(&kept).unwrap()
        };
        let (asked, health, idle) =
            (self.watch.pending_verifications(), self.watch.health(), self.watch.is_default());
        self.watch = watch;
        assert_eq!(self.watch.pending_verifications(), asked, "questions survive a restart");
        assert!(idle || self.watch.health() == health, "the state survives a restart");
        self.begin();
    }

    /// Lets time pass up to `until`, with a tick whenever one is due.
    pub fn pass(&mut self, until: Timestamp) {
        for _ in 0..10_000 {
            let due = self.watch.next_tick_at().filter(|due| *due <= until);
            let Some(due) = due else { break };
            self.now = self.now.max(due);
            self.ask(AlertState::on_tick);
        }
        assert!(self.watch.next_tick_at().is_none_or(|due| due > until), "the watch is never done");
        self.now = self.now.max(until);
    }

    /// `location` says `word` of the run planned at `planned_at`.
    pub fn hear(&mut self, location: LocationId, word: &Word, planned_at: Timestamp) {
        let result = heard(location, word, planned_at, self.policy.run_plan.slots.interval());
        if self.last.get(&location).is_none_or(|last| last.last_planned_at < result.last_planned_at) {
            let kept = LocationResult { page: None, certificate: None, ..result.clone() };
            self.last.insert(location, kept);
        }
        self.ask(|watch, cx| watch.on_result(result, cx));
        if self.restless {
            self.restart();
        }
    }

    /// The second location answers what is asked, `verdict` being 70 to 79.
    pub fn answer(&mut self, verdict: u16) {
        let Some(Effect::RequestVerification { planned_at, location, .. }) =
            self.watch.pending_verifications().into_iter().next()
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
            found: None,
            at: self.now,
        };
        self.ask(|watch, cx| watch.on_verification(planned_at, answer, cx));
    }

    /// Keeps what the store would know of it.
    fn keep(&mut self, effect: &Effect) {
        let interval = self.policy.run_plan.slots.interval();
        if let Effect::RecordMissed { planned_at, locations } = effect {
            let word = Word { outcome: Some(Outcome::Missed), ..Word::default() };
            for location in locations {
                self.last.insert(*location, heard(*location, &word, *planned_at, interval));
            }
        }
    }

    fn show(&mut self, effect: &Effect) {
        let line = match effect {
            Effect::RequestVerification { location, failed, .. } => {
                format!("? {} outside of {}", place(*location), places(failed))
            }
            Effect::RunTraceroute { location, audience, .. } => {
                let names: Vec<_> = audience.iter().map(|(id, _)| self.name(*id)).collect();
                format!("! trace from {} for {}", place(*location), names.join(" "))
            }
            Effect::Notify { recipient, group, draft } => {
                let by = group.map(|group| format!(" by {group}")).unwrap_or_default();
                format!("> {} {}{by}", self.name(*recipient), words(draft))
            }
            Effect::RecordVerification { location, answer, .. } => {
                format!(". {} {}", place(*location), answer.status)
            }
            Effect::RecordMissed { locations, .. } => format!(". away {}", places(locations)),
            Effect::UpdateEpisode(change) => {
                let what = match change.end {
                    Some(end) if end.recovered => "over",
                    Some(_) => "dropped",
                    None if change.flapping => "down, flapping",
                    None => "down",
                };
                format!(". {what} {} at {}", change.failed_runs, places(&change.locations))
            }
        };
        if self.talkative || !line.starts_with('.') {
            self.told.push(line.trim_end().to_owned());
        }
    }

    fn name(&self, id: RecipientId) -> String {
        let known = self.contacts.recipients.iter().find(|known| known.id == id);
        known.map_or_else(|| format!("nobody {id}"), |known| known.name.clone())
    }
}

pub fn heard(location: LocationId, word: &Word, planned_at: Timestamp, interval: Duration) -> LocationResult {
    let slots = word.slots.max(1);
    LocationResult {
        planned_at,
        location,
        check_id: CheckId::new(RunId::new(MONITOR, planned_at), location),
        outcome: word.outcome.unwrap_or(Outcome::Ok),
        status: Status(word.status),
        slots,
        last_planned_at: planned_at + interval * (slots - 1),
        step: word.step,
        failed_views: word.views.clone(),
        page: word.page.map(|(before, now)| PageChange { before, now, object_changes: None }),
        certificate: word.certificate.then(|| ExpiringCertificate {
            subject: "CN=www.example.com".to_owned(),
            not_after: planned_at + Duration::from_hours(72),
        }),
    }
}

/// What a message says, in short: kind, count of runs, code and place, who was heard.
fn words(draft: &NotificationDraft) -> String {
    let cause = draft.deciding_result.as_ref();
    let seen = cause.map_or_else(
        || "nowhere".to_owned(),
        |cause| format!("{} at {}", cause.status, place(cause.location)),
    );
    let proof = draft.verification.as_ref().map(|answer| format!(" {}", answer.status)).unwrap_or_default();
    let silent = if draft.unreported_locations.is_empty() {
        String::new()
    } else {
        format!(" without {}", places(&draft.unreported_locations))
    };
    match draft.kind {
        NotificationKind::SiteError => format!("error {}: {seen}{proof}{silent}", draft.errcount),
        NotificationKind::SiteClear => format!("clear{silent}"),
        NotificationKind::NoData => format!("no data {}{silent}", draft.errcount),
        NotificationKind::WebChange => {
            format!("change at {}", cause.map_or_else(String::new, |c| place(c.location)))
        }
        NotificationKind::CertificateExpiration => "certificate".to_owned(),
        kind => kind.name().to_owned(),
    }
}

fn place(location: LocationId) -> String {
    u8::try_from(location.0 - 1).ok().map_or_else(String::new, |at| char::from(b'A' + at).to_string())
}

fn places(locations: &[LocationId]) -> String {
    locations.iter().map(|location| place(*location)).collect()
}
