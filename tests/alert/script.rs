//! The language of the histories.
//!
//! `== title`, a line of what is given (parts divided by `;`), then steps. A step is a run with what its locations
//! say in that order (`A:ok B:7 C:-`), or one of the words in [`act`]. What comes out of a step until the next one
//! stands indented below it, a line each; nothing else may come out.

use std::time::Duration;

use vigie::domain::{GroupMonitor, LocationId, LocationMode, NotifierGroup, Outcome, Timestamp};
use vigie::evaluate::settle::Quorum;
use vigie::schedule::BlackoutTarget;

use crate::alert::world::{MONITOR, Word, World};

/// One history.
#[derive(Clone, Debug)]
pub struct History {
    pub title: String,
    given: Vec<String>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    line: usize,
    does: String,
    expects: Vec<String>,
}

impl Step {
    fn is_run(&self) -> bool {
        self.does.split(' ').next().is_some_and(|word| word.contains(':'))
    }
}

/// Reads a file of histories.
pub fn read(text: &str) -> Vec<History> {
    let mut histories: Vec<History> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let indented = line.starts_with(' ');
        let reply = line.split('#').next().unwrap_or_default().trim();
        if let Some(title) = line.strip_prefix("== ") {
            histories.push(History { title: title.to_owned(), given: Vec::new(), steps: Vec::new() });
        } else if !reply.is_empty() {
            let history = histories.last_mut().expect("a title first");
            if indented {
                history.steps.last_mut().expect("a step first").expects.push(reply.to_owned());
            } else if history.given.is_empty() {
                history.given = reply.split(';').map(|part| part.trim().to_owned()).collect();
            } else {
                let step = Step { line: number + 1, does: reply.to_owned(), expects: Vec::new() };
                history.steps.push(step);
            }
        }
    }
    histories
}

impl History {
    /// Plays it; `restless` with a new start of the process after everything that happens.
    pub fn play(&self, file: &str, restless: bool) -> Result<(), String> {
        let mut stage = Stage { world: World::new(), run: 0 };
        for part in &self.given {
            stage.give(part);
        }
        stage.world.restless = restless;
        stage.world.begin();
        let next_is_run = self.steps.iter().skip(1).map(Step::is_run).chain([true]);
        for (step, next_is_run) in self.steps.iter().zip(next_is_run) {
            stage.act(&step.does);
            if next_is_run && !step.does.starts_with("stood still") {
                // What takes its time belongs to the step before the next run.
                let next = stage.world.run(stage.run + 1);
                stage.world.pass(next - Duration::from_micros(1));
            }
            let told = std::mem::take(&mut stage.world.told);
            if told != step.expects {
                let restless = if restless { ", with restarts" } else { "" };
                let (line, title, does) = (step.line, &self.title, &step.does);
                let expects = &step.expects;
                return Err(format!(
                    "{file}:{line} `{does}` of `{title}`{restless}\n   came {told:?}\n   not  {expects:?}"
                ));
            }
        }
        Ok(())
    }
}

struct Stage {
    world: World,
    /// Number of the last run.
    run: i64,
}

impl Stage {
    /// Sets one thing that is given, or changes it later.
    fn give(&mut self, part: &str) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let policy = &mut self.world.policy;
        match words.as_slice() {
            ["pool", pool] => {
                policy.run_plan.pool = pool.chars().map(location).collect();
                policy.run_plan.locations_per_run = policy.run_plan.pool.len();
                policy.primary_location = policy.run_plan.pool[0];
            }
            ["home", home] => policy.primary_location = location_of(home),
            ["rotate", count] => {
                policy.run_plan.locations_per_run = count.parse().unwrap();
                policy.run_plan.rotates = true;
            }
            ["quorum", "all"] => policy.quorum = Quorum::All,
            ["quorum", count] => policy.quorum = Quorum::AtLeast(count.parse().unwrap()),
            ["every", interval] => {
                let interval = duration(interval);
                policy.run_plan.slots = vigie::schedule::Slots::new(MONITOR, interval, Some(Duration::ZERO));
            }
            ["longest", longest] => policy.run_plan.max_check_duration = duration(longest),
            ["silent"] => policy.notify_on_error = false,
            ["loud"] => policy.notify_on_error = true,
            ["traced"] => policy.traceroute = true,
            ["changes"] => policy.notify_on_content_change = true,
            ["expiry"] => policy.notify_on_expiry = true,
            ["nodata", runs] => policy.no_data_runs = runs.parse().unwrap(),
            ["shown"] => self.world.talkative = true,
            ["alert", "blackout", runs] => self.window(BlackoutTarget::Alert(MONITOR), runs),
            ["monitor", "blackout", runs] => self.window(BlackoutTarget::Monitor(MONITOR), runs),
            ["mute", name, runs] => {
                let id = self.world.recipient(name).id;
                self.window(BlackoutTarget::Notifier(id), runs);
            }
            ["group", id, rest @ ..] => self.group(id, rest),
            _ if LocationMode::from_name(part.trim()).is_some() => {
                policy.mode = LocationMode::from_name(part.trim()).unwrap();
                policy.run_plan.staggered = policy.mode == LocationMode::RoundRobin;
            }
            [name, rest @ ..] => self.person(name, rest),
            [] => {}
        }
    }

    /// `ann clear from 2 until 3`, `bob deaf`.
    fn person(&mut self, name: &str, words: &[&str]) {
        let person = self.world.recipient(name);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || words.next().unwrap().parse().unwrap();
            match *word {
                "clear" => person.notify_on_clear = true,
                "from" => person.start_threshold = number(),
                "until" => person.stop_threshold = number(),
                "deaf" => person.availability_alert = false,
                other => panic!("`{other}` says nothing of `{name}`"),
            }
        }
    }

    /// `group 10 names 7 7/3 codes 1 7 tells ann bob`, `group 11 default tells ann`.
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
                    group.monitors.push(GroupMonitor { id, step_number, content_view_id });
                }
                (code, "codes") => group.error_types.push(code.parse().unwrap()),
                (name, "tells") => group.recipients.push(self.world.recipient(name).id),
                (other, _) => panic!("`{other}` says nothing of a group"),
            }
        }
        self.world.contacts.groups.push(group);
    }

    fn window(&mut self, target: BlackoutTarget, runs: &str) {
        let (from, thru) = runs.split_once('-').unwrap();
        self.world.window(target, from.parse().unwrap(), thru.parse().unwrap());
    }

    /// Takes one step.
    fn act(&mut self, does: &str) {
        let words: Vec<&str> = does.split_whitespace().collect();
        match words.as_slice() {
            // The second location answers.
            ["answer", code] => {
                self.world.now = self.world.now + Duration::from_secs(5);
                self.world.answer(code.parse().unwrap());
            }
            // Time passes.
            ["wait", time] => self.world.pass(self.world.now + duration(time)),
            // Runs that nobody planned.
            ["skip", runs] => self.run += runs.parse::<i64>().unwrap(),
            // An answer to an earlier run.
            ["late", back, says @ ..] => {
                let back: i64 = back.parse().unwrap();
                let planned_at = self.world.run(self.run - back);
                self.say(says, planned_at);
            }
            // A standstill of so many runs, whose report begins with runs before it.
            ["stood", "still", runs, "after", before, pool] => {
                let (runs, before): (u32, u32) = (runs.parse().unwrap(), before.parse().unwrap());
                self.stand_still(runs);
                self.miss(runs + before, pool);
                self.world.pass(self.world.now);
            }
            // The process and locations stand still for so many runs. Then some report that these did not happen,
            // some what became of the last one.
            ["stood", "still", runs, says @ ..] => {
                self.stand_still(runs.parse().unwrap());
                for reply in says {
                    match reply.split_once(':') {
                        Some((at, reply)) => {
                            let (last, word) = (self.world.run(self.run), word(reply).unwrap());
                            self.world.hear(location_of(at), &word, last);
                        }
                        None => self.miss(runs.parse().unwrap(), reply),
                    }
                }
                self.world.pass(self.world.now);
            }
            // Locations report that the last so many runs did not happen.
            ["missed", runs, pool] => self.miss(runs.parse().unwrap(), pool),
            ["away", pool] => self.world.away = pool.chars().map(location).collect(),
            ["back"] => self.world.away.clear(),
            ["restart"] => self.world.restart(),
            // The process is gone for so many runs, then starts again.
            ["down", "for", runs] => {
                self.run += runs.parse::<i64>().unwrap();
                self.world.now = self.world.run(self.run) + Duration::from_secs(30);
                self.world.restart();
            }
            ["disable"] => self.world.close(),
            ["enable"] => self.world.begin(),
            ["acknowledge"] => {
                let episode = self.world.watch.open_episode().expect("an outage");
                assert!(self.world.watch.acknowledge(episode));
            }
            // The wall clock is set, and the runs go on from there.
            ["clock", "back", by] => self.set_clock(self.world.now - duration(by)),
            ["clock", "ahead", by] => self.set_clock(self.world.now + duration(by)),
            ["gone", name] => self.world.contacts.recipients.retain(|known| known.name != *name),
            // Whether nothing of it has to be kept.
            ["idle"] => assert!(self.world.watch.is_default(), "something is remembered"),
            ["health", word] => {
                assert_eq!(format!("{:?}", self.world.watch.health()).to_lowercase(), *word, "health");
            }
            ["now", ..] => does[3..].split(';').for_each(|part| self.give(part)),
            ["no", "groups"] => self.world.contacts.groups.clear(),
            ["no", "blackouts"] => self.world.windows.clear(),
            // A run.
            says => {
                self.run += 1;
                let planned_at = self.world.run(self.run);
                self.world.pass(planned_at);
                self.say(says, planned_at);
            }
        }
    }

    fn stand_still(&mut self, runs: u32) {
        self.run += i64::from(runs);
        self.world.now = self.world.run(self.run + 1) + Duration::from_secs(1);
    }

    /// The locations of `pool` report that the last `runs` runs did not happen.
    fn miss(&mut self, runs: u32, pool: &str) {
        let first = self.world.run(self.run + 1 - i64::from(runs));
        let word = Word { outcome: Some(Outcome::Missed), slots: runs, ..Word::default() };
        for letter in pool.chars() {
            self.world.hear(location(letter), &word, first);
        }
    }

    fn set_clock(&mut self, now: Timestamp) {
        let back = self.world.now.since(now);
        self.world.now = now;
        // The agents wait for a clock that is set back by so little.
        if Duration::ZERO < back && back <= Duration::from_hours(1) {
            return;
        }
        let interval = i64::try_from(self.world.policy.run_plan.slots.interval().as_micros()).unwrap();
        self.run = (now.as_micros() - self.world.run(0).as_micros()).div_euclid(interval);
    }

    /// `A:ok B:7/3 C:- D:7/v4`: good, status 7 in step 3, nothing heard, status 7 in content view 4.
    fn say(&mut self, says: &[&str], planned_at: Timestamp) {
        for reply in says {
            let (at, reply) = reply.split_once(':').unwrap_or_else(|| panic!("`{reply}` is no step"));
            let at = location_of(at);
            let start = self.world.policy.run_plan.start_at(planned_at, at).unwrap_or(planned_at);
            self.world.pass(start + Duration::from_secs(1));
            if let Some(word) = word(reply) {
                self.world.hear(at, &word, planned_at);
            }
        }
    }
}

fn word(reply: &str) -> Option<Word> {
    let mut word = Word::default();
    for (at, part) in reply.split('/').enumerate() {
        if at > 0 {
            match part.split_once('>') {
                Some((before, now)) => word.page = Some((before.parse().unwrap(), now.parse().unwrap())),
                None if part == "cert" => word.certificate = true,
                None if part.starts_with('v') => word.views.push(part[1..].parse().unwrap()),
                None => word.step = Some(part.parse().unwrap()),
            }
            continue;
        }
        word.outcome = Some(match part {
            "-" => return None,
            "ok" => Outcome::Ok,
            "warn" => Outcome::Warning,
            "unknown" => Outcome::Unknown,
            "missed" => Outcome::Missed,
            "black" => Outcome::Blackout,
            _ => Outcome::Error,
        });
        word.status = part.parse().unwrap_or(if part == "unknown" { 21 } else { 0 });
    }
    Some(word)
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
        _ => panic!("`{text}` is no time"),
    }
}
