//! The language of the histories.
//!
//! A history is `== title`, a line of settings (separated by `;`), then steps. A step is a run with what its
//! locations report, in that order (`A:ok B:7 C:-`), or one of the commands in [`Interpreter::execute`]. The effects
//! of a step until the next one stand indented below it, one per line; the step may have no others.

use std::time::Duration;

use vigie::alerting::ParentState;
use vigie::domain::{GroupMonitor, LocationId, LocationMode, MonitorId, NotifierGroup, Outcome, Timestamp};
use vigie::evaluate::settle::Quorum;
use vigie::schedule::BlackoutTarget;

use crate::alert::harness::{Harness, MONITOR, Report};

/// One history.
#[derive(Clone, Debug)]
pub struct History {
    pub title: String,
    settings: Vec<String>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
}

impl Step {
    fn is_run(&self) -> bool {
        self.command.split(' ').next().is_some_and(|word| word.contains(':'))
    }
}

/// Parses a file of histories.
pub fn read(text: &str) -> Vec<History> {
    let mut histories: Vec<History> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let indented = line.starts_with(' ');
        let reply = line.split('#').next().unwrap_or_default().trim();
        if let Some(title) = line.strip_prefix("== ") {
            histories.push(History { title: title.to_owned(), settings: Vec::new(), steps: Vec::new() });
        } else if !reply.is_empty() {
            let history = histories.last_mut().expect("a title first");
            if indented {
                history.steps.last_mut().expect("a step first").expected.push(reply.to_owned());
            } else if history.settings.is_empty() {
                history.settings = reply.split(';').map(|part| part.trim().to_owned()).collect();
            } else {
                let step = Step { line: number + 1, command: reply.to_owned(), expected: Vec::new() };
                history.steps.push(step);
            }
        }
    }
    histories
}

impl History {
    /// Plays the history; `restart_often` restarts the process after every event.
    pub fn play(&self, file: &str, restart_often: bool) -> Result<(), String> {
        let mut interpreter = Interpreter { harness: Harness::new(), run: 0 };
        for part in &self.settings {
            interpreter.configure(part);
        }
        interpreter.harness.restart_often = restart_often;
        interpreter.harness.start();
        let next_is_run = self.steps.iter().skip(1).map(Step::is_run).chain([true]);
        for (step, next_is_run) in self.steps.iter().zip(next_is_run) {
            interpreter.execute(&step.command);
            if next_is_run && !step.command.starts_with("stood still") {
                // Effects until just before the next run belong to this step.
                let next = interpreter.harness.run(interpreter.run + 1);
                interpreter.harness.advance_to(next - Duration::from_micros(1));
            }
            let output = std::mem::take(&mut interpreter.harness.output);
            if output != step.expected {
                let restarts = if restart_often { ", with restarts" } else { "" };
                let (line, title, command) = (step.line, &self.title, &step.command);
                let expected = &step.expected;
                return Err(format!(
                    "{file}:{line} `{command}` of `{title}`{restarts}\n   came {output:?}\n   not  {expected:?}"
                ));
            }
        }
        Ok(())
    }
}

struct Interpreter {
    harness: Harness,
    /// Number of the last run.
    run: i64,
}

impl Interpreter {
    /// Applies one setting, at the start or later.
    fn configure(&mut self, part: &str) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let policy = &mut self.harness.policy;
        match words.as_slice() {
            ["pool", pool] => {
                policy.run_plan.location_pool = pool.chars().map(location).collect();
                policy.run_plan.locations_per_run = policy.run_plan.location_pool.len();
                policy.primary_location = policy.run_plan.location_pool[0];
            }
            ["home", home] => policy.primary_location = location_of(home),
            ["rotate", count] => {
                policy.run_plan.locations_per_run = count.parse().unwrap();
                policy.run_plan.rotates_locations = true;
            }
            ["quorum", "all"] => policy.quorum = Quorum::All,
            ["quorum", count] => policy.quorum = Quorum::AtLeast(count.parse().unwrap()),
            ["every", interval] => {
                let interval = duration(interval);
                policy.run_plan.slot_grid =
                    vigie::schedule::SlotGrid::new(MONITOR, interval, Some(Duration::ZERO));
            }
            ["longest", longest] => policy.run_plan.max_check_duration = duration(longest),
            ["silent"] => policy.notify_on_error = false,
            ["loud"] => policy.notify_on_error = true,
            ["traced"] => policy.traceroute_on_error = true,
            ["changes"] => policy.notify_on_content_change = true,
            ["expiry"] => policy.notify_on_expiry = true,
            ["nodata", runs] => policy.no_data_threshold = runs.parse().unwrap(),
            ["shown"] => self.harness.verbose = true,
            ["alert", "blackout", runs] => self.window(BlackoutTarget::Alert(MONITOR), runs),
            ["monitor", "blackout", runs] => self.window(BlackoutTarget::Monitor(MONITOR), runs),
            ["mute", name, runs] => {
                let id = self.harness.recipient(name).id;
                self.window(BlackoutTarget::Recipient(id), runs);
            }
            ["group", id, rest @ ..] => self.group(id, rest),
            _ if LocationMode::from_name(part.trim()).is_some() => {
                policy.location_mode = LocationMode::from_name(part.trim()).unwrap();
                policy.run_plan.staggered = policy.location_mode == LocationMode::RoundRobin;
            }
            [name, rest @ ..] => self.set_recipient(name, rest),
            [] => {}
        }
    }

    /// Parses a recipient: `ann clear from 2 until 3`, `bob deaf`.
    fn set_recipient(&mut self, name: &str, words: &[&str]) {
        let recipient = self.harness.recipient(name);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || words.next().unwrap().parse().unwrap();
            match *word {
                "clear" => recipient.notify_on_clear = true,
                "from" => recipient.start_threshold = number(),
                "until" => recipient.stop_threshold = number(),
                "deaf" => recipient.gets_availability_alerts = false,
                other => panic!("`{other}` says nothing of `{name}`"),
            }
        }
    }

    /// Parses a group: `group 10 names 7 7/3 codes 1 7 tells ann bob`, `group 11 default tells ann`.
    fn group(&mut self, id: &str, words: &[&str]) {
        let mut group = NotifierGroup { id: id.parse().unwrap(), ..NotifierGroup::default() };
        let mut part = "";
        for word in words {
            match (*word, part) {
                ("default", _) => group.is_default = true,
                ("names" | "codes" | "tells", _) => part = *word,
                (monitor, "names") => {
                    let (monitor, step) = monitor.split_once('/').unwrap_or((monitor, ""));
                    let (id, step_number) = (monitor.parse().unwrap(), step.parse().ok());
                    let content_view_id = step.strip_prefix('v').map(|view| view.parse().unwrap());
                    group.group_monitors.push(GroupMonitor { monitor_id: id, step_number, content_view_id });
                }
                (code, "codes") => group.status_codes.push(code.parse().unwrap()),
                (name, "tells") => group.recipient_ids.push(self.harness.recipient(name).id),
                (other, _) => panic!("`{other}` says nothing of a group"),
            }
        }
        self.harness.contacts.groups.push(group);
    }

    fn window(&mut self, target: BlackoutTarget, runs: &str) {
        let (from, thru) = runs.split_once('-').unwrap();
        self.harness.window(target, from.parse().unwrap(), thru.parse().unwrap());
    }

    /// Executes one step.
    fn execute(&mut self, command: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            // The verifying location responds.
            ["answer", code] => {
                self.harness.now = self.harness.now + Duration::from_secs(5);
                self.harness.answer(code.parse().unwrap());
            }
            // The clock advances.
            ["wait", time] => self.harness.advance_to(self.harness.now + duration(time)),
            // Runs that are not planned.
            ["skip", runs] => self.run += runs.parse::<i64>().unwrap(),
            // Results of an earlier run.
            ["late", back, reports @ ..] => {
                let back: i64 = back.parse().unwrap();
                let planned_at = self.harness.run(self.run - back);
                self.report_run(reports, planned_at);
            }
            // A standstill of that many runs, whose report starts with runs before it.
            ["stood", "still", runs, "after", before, pool] => {
                let (runs, before): (u32, u32) = (runs.parse().unwrap(), before.parse().unwrap());
                self.stand_still(runs);
                self.report_missed(runs + before, pool);
                self.harness.advance_to(self.harness.now);
            }
            // The process and its locations stand still for that many runs. Then some locations report these as missed,
            // others report a result of the last one.
            ["stood", "still", runs, reports @ ..] => {
                self.stand_still(runs.parse().unwrap());
                for reply in reports {
                    match reply.split_once(':') {
                        Some((at, reply)) => {
                            let (last, report) = (self.harness.run(self.run), parse_report(reply).unwrap());
                            self.harness.submit(location_of(at), &report, last);
                        }
                        None => self.report_missed(runs.parse().unwrap(), reply),
                    }
                }
                self.harness.advance_to(self.harness.now);
            }
            // Locations report the last runs as missed.
            ["missed", runs, pool] => self.report_missed(runs.parse().unwrap(), pool),
            // The monitors that it depends on: `3:down`, `4:fresh` (it has passed since), `5:stale`, `6:unknown`.
            ["parents", parents @ ..] => {
                self.harness.parents = parents.iter().map(|parent| self.parent(parent)).collect();
            }
            // Checks of parents end; these have failed.
            ["checked", failed @ ..] => {
                self.harness.now = self.harness.now + Duration::from_secs(1);
                let failed: Vec<i64> = failed.iter().map(|id| id.parse().unwrap()).collect();
                self.harness.answer_parents(&failed);
            }
            ["away", pool] => self.harness.offline = pool.chars().map(location).collect(),
            ["back"] => self.harness.offline.clear(),
            ["restart"] => self.harness.restart(),
            // The process is stopped for that many runs, then starts again.
            ["down", "for", runs] => {
                self.run += runs.parse::<i64>().unwrap();
                self.harness.now = self.harness.run(self.run) + Duration::from_secs(30);
                self.harness.restart();
            }
            ["disable"] => self.harness.close(),
            ["enable"] => self.harness.start(),
            ["acknowledge"] => {
                let episode = self.harness.state.open_episode_id().expect("an outage");
                assert!(self.harness.state.acknowledge_episode(episode));
            }
            // The wall clock is changed, and runs continue from there.
            ["clock", "back", by] => self.set_clock(self.harness.now - duration(by)),
            ["clock", "ahead", by] => self.set_clock(self.harness.now + duration(by)),
            ["gone", name] => self.harness.contacts.recipients.retain(|known| known.name != *name),
            // The alert state must be the default, which is not stored.
            ["idle"] => assert!(self.harness.state.is_derivable(), "something is remembered"),
            ["health", word] => {
                assert_eq!(format!("{:?}", self.harness.state.health()).to_lowercase(), *word, "health");
            }
            ["now", ..] => command[3..].split(';').for_each(|part| self.configure(part)),
            ["no", "groups"] => self.harness.contacts.groups.clear(),
            ["no", "blackouts"] => self.harness.windows.clear(),
            // A run.
            reports => {
                self.run += 1;
                let planned_at = self.harness.run(self.run);
                self.harness.advance_to(planned_at);
                self.report_run(reports, planned_at);
            }
        }
    }

    fn parent(&self, text: &str) -> ParentState {
        let (id, status) = text.split_once(':').unwrap();
        let last_run_at = match status {
            "unknown" => None,
            "fresh" => Some(self.harness.run(self.run + 100)),
            _ => Some(self.harness.run(self.run)),
        };
        ParentState { monitor_id: MonitorId(id.parse().unwrap()), is_down: status == "down", last_run_at }
    }

    fn stand_still(&mut self, runs: u32) {
        self.run += i64::from(runs);
        self.harness.now = self.harness.run(self.run + 1) + Duration::from_secs(1);
    }

    /// Makes the locations of `pool` report the last `runs` runs as missed.
    fn report_missed(&mut self, runs: u32, pool: &str) {
        let first = self.harness.run(self.run + 1 - i64::from(runs));
        let report = Report { outcome: Some(Outcome::Missed), slots: runs, ..Report::default() };
        for letter in pool.chars() {
            self.harness.submit(location(letter), &report, first);
        }
    }

    fn set_clock(&mut self, now: Timestamp) {
        let back = self.harness.now.since(now);
        self.harness.now = now;
        // Agents wait for a clock that is set back by at most an hour.
        if Duration::ZERO < back && back <= Duration::from_hours(1) {
            return;
        }
        let interval = i64::try_from(self.harness.policy.run_plan.slot_grid.interval().as_micros()).unwrap();
        self.run = (now.as_micros() - self.harness.run(0).as_micros()).div_euclid(interval);
    }

    /// Reports results: `A:ok B:7/3 C:- D:7/v4` is passed, status 7 in step 3, no result, status 7 in content view 4.
    fn report_run(&mut self, reports: &[&str], planned_at: Timestamp) {
        for reply in reports {
            let (at, reply) = reply.split_once(':').unwrap_or_else(|| panic!("`{reply}` is not a step"));
            let at = location_of(at);
            let start = self.harness.policy.run_plan.location_start_at(planned_at, at).unwrap_or(planned_at);
            self.harness.advance_to(start + Duration::from_secs(1));
            if let Some(report) = parse_report(reply) {
                self.harness.submit(at, &report, planned_at);
            }
        }
    }
}

fn parse_report(reply: &str) -> Option<Report> {
    let mut report = Report::default();
    for (at, part) in reply.split('/').enumerate() {
        if at > 0 {
            match part.split_once('>') {
                Some((before, now)) => report.page = Some((before.parse().unwrap(), now.parse().unwrap())),
                None if part == "cert" => report.certificate = true,
                None if part.starts_with('v') => report.views.push(part[1..].parse().unwrap()),
                None => report.step = Some(part.parse().unwrap()),
            }
            continue;
        }
        report.outcome = Some(match part {
            "-" => return None,
            "ok" => Outcome::Ok,
            "warn" => Outcome::Warning,
            "unknown" => Outcome::Unknown,
            "missed" => Outcome::Missed,
            "black" => Outcome::Blackout,
            _ => Outcome::Error,
        });
        report.status = part.parse().unwrap_or(if part == "unknown" { 21 } else { 0 });
    }
    Some(report)
}

fn location(letter: char) -> LocationId {
    LocationId(i64::from(u32::from(letter) - u32::from('A')) + 1)
}

fn location_of(text: &str) -> LocationId {
    location(text.chars().next().unwrap())
}

fn duration(text: &str) -> Duration {
    let (number, unit) = text.split_at(text.len() - 1);
    let number = number.parse().unwrap();
    match unit {
        "s" => Duration::from_secs(number),
        "m" => Duration::from_mins(number),
        "h" => Duration::from_hours(number),
        _ => panic!("`{text}` is not a time"),
    }
}
