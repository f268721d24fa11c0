//! Goes through the commands of a test, one after the other, and keeps account.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::super::dialect::{Act, Action, Script, Step, Target, Variable};
use super::carrier::{Carrier, Spot, Window};
use super::imported::{Imported, Loss};
use super::project::{Command, Project};
use super::{commands, locate};
use crate::script::facts::STEPS_ALLOWED;
use crate::syntax::source::Position;
use crate::syntax::template::{TemplatePart, parse};

/// Acts that one test becomes at most; tests that run others can multiply.
const MOST_ACTS: usize = 10_000;
/// Tests that run each other.
const DEEPEST: usize = 20;
/// Locators of one element.
const MOST_LOCATORS: usize = 20;

pub(super) fn carry(project: &Project, index: usize) -> Imported {
    let mut carrier = Carrier {
        project,
        steps: Vec::new(),
        acts: 0,
        losses: Vec::new(),
        notes: Vec::new(),
        variables: Vec::new(),
        known: BTreeSet::new(),
        windows: BTreeMap::from([("root".to_owned(), Window::Main)]),
        opened: 0,
        window: Window::Main,
        pending: None,
        blocks: 0,
        running: Vec::new(),
    };
    carrier.test(index);
    carrier.finished(index)
}

impl<'p> Carrier<'p> {
    fn finished(mut self, index: usize) -> Imported {
        self.steps.retain(|step| !step.acts.is_empty());
        let steps = self.steps.len();
        if i64::try_from(steps).is_ok_and(|steps| steps > STEPS_ALLOWED) {
            self.notes.push(format!(
                "it has {steps} steps; a monitor may have {STEPS_ALLOWED} unless an admin allows more"
            ));
        }
        let base = Some(self.project.url.trim()).filter(|url| url.starts_with("http")).map(str::to_owned);
        let name = self.project.tests.get(index).map(|test| cut(&test.name)).unwrap_or_default();
        let script =
            Script { name, base, variables: self.variables, steps: self.steps, ..Script::opening("") };
        Imported { script: (steps > 0).then_some(script), losses: self.losses, notes: self.notes }
    }

    fn test(&mut self, index: usize) {
        let Some(test) = self.project.tests.get(index) else { return };
        self.running.push(index);
        for (index, command) in test.commands.iter().enumerate() {
            self.command(Spot { test, index, command });
        }
        self.running.pop();
    }

    fn command(&mut self, spot: Spot<'p>) {
        let name = spot.command.command.trim();
        if name.is_empty() || name.starts_with("//") {
            return;
        }
        if self.acts >= MOST_ACTS {
            self.lose(spot, format!("the script has {MOST_ACTS} acts already"));
            return;
        }
        match name {
            "if" | "while" | "times" | "forEach" | "do" => {
                self.blocks += 1;
                self.lose(spot, "control flow cannot be carried over; what is inside of it is left out");
            }
            "end" | "repeatIf" if self.blocks > 0 => self.blocks -= 1,
            "else" | "elseIf" if self.blocks > 0 => {}
            _ if self.blocks > 0 => {
                self.lose(spot, "it stands inside of control flow, which cannot be carried over");
            }
            "run" => self.run(spot),
            _ => self.plain(spot, name),
        }
    }

    /// The commands of another test, in place of this one.
    fn run(&mut self, spot: Spot<'p>) {
        let called = self.project.tests.iter().position(|test| test.name == spot.command.target);
        match called {
            None => self.lose(spot, "there is no such test"),
            Some(index) if self.running.contains(&index) => {
                self.lose(spot, "it runs a test that is running already");
            }
            Some(_) if self.running.len() >= DEEPEST => {
                self.lose(spot, format!("more than {DEEPEST} tests run each other"));
            }
            Some(index) => self.test(index),
        }
    }

    fn plain(&mut self, spot: Spot<'p>, name: &str) {
        let actions = match commands::actions(self, spot, name) {
            Ok(actions) => actions,
            Err(reason) => {
                self.lose(spot, reason);
                return;
            }
        };
        if name == "open" && !actions.is_empty() || self.steps.is_empty() {
            self.begin_step(spot, name);
        }
        let any = !actions.is_empty();
        for action in actions {
            if let Err(reason) = self.push(action, commands::timeout(spot.command)) {
                self.lose(spot, reason);
                return;
            }
        }
        if spot.command.opens_window {
            self.opened += 1;
            self.windows.insert(spot.command.window_handle_name.clone(), Window::Opened(self.opened));
        }
        if any
            && let Some(answer) = self.pending.take()
            && !commands::answered_soon(spot.rest())
        {
            let answered = self.push(Action::Dialog(answer), None);
            if let Err(reason) = answered {
                self.lose(spot, reason);
            }
        }
    }

    /// Each page that is opened begins a step.
    fn begin_step(&mut self, spot: Spot<'_>, name: &str) {
        let comment = spot.command.comment.trim();
        let path = spot.command.target.split(['?', '#']).next().unwrap_or_default();
        let path =
            path.split_once("://").map_or(path, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
        let title = match (comment, name) {
            ("", "open") if !self.steps.is_empty() && !path.is_empty() => format!("Open {path}"),
            ("", _) => spot.test.name.clone(),
            (comment, _) => comment.to_owned(),
        };
        let title = if title.trim().is_empty() { format!("Step {}", self.steps.len() + 1) } else { title };
        self.steps.push(Step { name: cut(&title), ..Step::default() });
    }

    /// Adds an act, if the dialect takes it so.
    fn push(&mut self, action: Action, timeout: Option<Duration>) -> Result<(), String> {
        self.fits(&action)?;
        if let Action::Extract { into, .. } | Action::RunJs { into: Some(into), .. } = &action {
            self.known.insert(into.clone());
        }
        if let Some(step) = self.steps.last_mut() {
            step.acts.push(Act { timeout, ..plain(action) });
            self.acts += 1;
        }
        Ok(())
    }

    /// Whether the dialect takes the act, by its own words.
    pub(super) fn fits(&self, action: &Action) -> Result<(), String> {
        let step = Step { name: "x".to_owned(), acts: vec![plain(action.clone())], ..Step::default() };
        let mut script = Script { steps: vec![step], ..Script::opening("") };
        let text = script.to_xml();
        let named: BTreeSet<&str> = parse(&text)
            .into_iter()
            .filter_map(|piece| match piece {
                TemplatePart::Placeholder(name) => Some(name).filter(|name| self.known.contains(*name)),
                TemplatePart::Text(_) => None,
            })
            .collect();
        let variable =
            |name: &&str| Variable { name: (*name).to_owned(), value: String::new(), protected: false };
        script.variables = named.iter().map(variable).collect();
        let faults = Script::read(&script.to_xml()).err().unwrap_or_default();
        faults.into_iter().next().map_or(Ok(()), |fault| Err(fault.message))
    }

    /// The element that the command is about: its target, then what it was recorded with besides.
    pub(super) fn target(&self, command: &Command) -> Result<Target, String> {
        let others = command.targets.iter().filter_map(|pair| pair.first()).map(String::as_str);
        let others = others.filter(|other| *other != command.target);
        let (mut found, mut reason) = (Vec::new(), None);
        for text in std::iter::once(command.target.as_str()).chain(others) {
            let fitting = locate::locators(text).and_then(|locators| {
                let target = Target { locators };
                self.fits(&Action::Hover { over: target.clone() }).map(|()| target.locators)
            });
            match fitting {
                Ok(locators) => {
                    let new = locators.into_iter().filter(|new| !found.contains(new)).collect::<Vec<_>>();
                    found.extend(new);
                }
                Err(why) => reason = reason.or(Some(why)),
            }
            if found.len() >= MOST_LOCATORS {
                break;
            }
        }
        found.truncate(MOST_LOCATORS);
        match reason {
            Some(reason) if found.is_empty() => Err(reason),
            _ => Ok(Target { locators: found }),
        }
    }

    /// The placeholder of a protected variable with this value.
    pub(super) fn protected(&mut self, value: &str, spot: Spot<'_>) -> String {
        let same = self.variables.iter().find(|variable| variable.value == value);
        if let Some(same) = same {
            return format!("{{{{{}}}}}", same.name);
        }
        let names = (1..).map(|n| if n == 1 { "password".to_owned() } else { format!("password_{n}") });
        let name = names.into_iter().find(|name| !self.known.contains(name)).unwrap_or_default();
        self.notes.push(format!(
            "test `{}`, command {}: what is typed became the protected variable `{name}`; a monitor with it needs \
             `transaction_password`",
            crate::syntax::truncate_value(&spot.test.name),
            spot.index + 1
        ));
        self.known.insert(name.clone());
        self.variables.push(Variable { name: name.clone(), value: value.to_owned(), protected: true });
        format!("{{{{{name}}}}}")
    }

    pub(super) fn lose(&mut self, spot: Spot<'_>, reason: impl Into<String>) {
        self.losses.push(Loss {
            test: spot.test.name.clone(),
            number: spot.index + 1,
            command: spot.command.command.trim().to_owned(),
            reason: reason.into(),
        });
    }

    /// The base of relative URLs.
    pub(super) fn url(&self) -> &str {
        self.project.url.trim()
    }
}

fn plain(action: Action) -> Act {
    Act { action, optional: false, timeout: None, expected: None, place: Position::default() }
}

/// A name of 255 characters at most.
fn cut(name: &str) -> String {
    name.chars().take(255).collect()
}
