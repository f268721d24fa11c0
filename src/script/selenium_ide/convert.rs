//! Converts the commands of a test in order, and collects issues.

use std::collections::BTreeSet;

use super::super::language::{Action, ActionKind, ElementTarget, Script, ScriptStep, ScriptVariable};
use super::converter::{CommandContext, Converter, WindowRef};
use super::import_report::{ImportIssue, ImportReport};
use super::project::{SeleniumIdeCommand, SeleniumIdeProject};
use super::{commands, locators};
use crate::script::overview::DEFAULT_MAX_STEPS;
use crate::syntax::node::Position;
use crate::syntax::template::{TemplatePart, parse_template};

/// Maximum number of actions of one converted test: tests that run other tests multiply them.
const MAX_ACTIONS: usize = 10_000;
/// Maximum depth of tests that run each other.
const MAX_NESTED_TESTS: usize = 20;
/// Maximum number of locators of one element.
const MAX_LOCATORS: usize = 20;

impl SeleniumIdeProject {
    /// Converts the test at `index` of `tests` of the project to a script.
    #[must_use]
    pub fn import(&self, index: usize) -> ImportReport {
        let mut converter = Converter::new(self);
        converter.convert_test(index);
        converter.finish(index)
    }
}

impl<'p> Converter<'p> {
    fn finish(mut self, index: usize) -> ImportReport {
        self.steps.retain(|step| !step.actions.is_empty());
        let steps = self.steps.len();
        if i64::try_from(steps).is_ok_and(|steps| steps > DEFAULT_MAX_STEPS) {
            self.notes.push(format!(
                "it has {steps} steps; a monitor may have {DEFAULT_MAX_STEPS} unless an admin allows more"
            ));
        }
        let base =
            Some(self.project.base_url.trim()).filter(|url| url.starts_with("http")).map(str::to_owned);
        let name = self.project.tests.get(index).map(|test| truncate_name(&test.name)).unwrap_or_default();
        let script = Script {
            name,
            base_url: base,
            variables: self.variables,
            steps: self.steps,
            ..Script::from_url("")
        };
        ImportReport { script: (steps > 0).then_some(script), issues: self.issues, notes: self.notes }
    }

    fn convert_test(&mut self, index: usize) {
        let Some(test) = self.project.tests.get(index) else { return };
        self.call_stack.push(index);
        for (index, command) in test.commands.iter().enumerate() {
            self.convert_command(CommandContext { test, index, command });
        }
        self.call_stack.pop();
    }

    fn convert_command(&mut self, cx: CommandContext<'p>) {
        let name = cx.command.command.trim();
        if name.is_empty() || name.starts_with("//") {
            return;
        }
        if self.action_count >= MAX_ACTIONS {
            self.report_issue(cx, format!("the script has {MAX_ACTIONS} acts already"));
            return;
        }
        match name {
            "if" | "while" | "times" | "forEach" | "do" => {
                self.open_block_count += 1;
                self.report_issue(cx, "control flow cannot be converted; the commands inside are left out");
            }
            "end" | "repeatIf" if self.open_block_count > 0 => self.open_block_count -= 1,
            "else" | "elseIf" if self.open_block_count > 0 => {}
            _ if self.open_block_count > 0 => {
                self.report_issue(cx, "it is inside control flow, which cannot be converted");
            }
            "run" => self.convert_run(cx),
            _ => self.convert_plain_command(cx, name),
        }
    }

    /// Converts the commands of another test in place of this one.
    fn convert_run(&mut self, cx: CommandContext<'p>) {
        let test_index = self.project.tests.iter().position(|test| test.name == cx.command.target);
        match test_index {
            None => self.report_issue(cx, "there is no such test"),
            Some(index) if self.call_stack.contains(&index) => {
                self.report_issue(cx, "it runs a test that is running already");
            }
            Some(_) if self.call_stack.len() >= MAX_NESTED_TESTS => {
                self.report_issue(cx, format!("more than {MAX_NESTED_TESTS} tests run each other"));
            }
            Some(index) => self.convert_test(index),
        }
    }

    fn convert_plain_command(&mut self, cx: CommandContext<'p>, name: &str) {
        let actions = match commands::convert_to_actions(self, cx, name) {
            Ok(actions) => actions,
            Err(reason) => {
                self.report_issue(cx, reason);
                return;
            }
        };
        if name == "open" && !actions.is_empty() || self.steps.is_empty() {
            self.begin_step(cx, name);
        }
        let has_actions = !actions.is_empty();
        // Selenium IDE goes on after a `verify…` that fails, and fails the test at its end.
        let soft = name.starts_with("verify");
        for action in actions {
            let timeout = commands::wait_timeout(cx.command);
            if let Err(reason) = self.append_action(Action { soft, timeout, ..action_from_kind(action) }) {
                self.report_issue(cx, reason);
                return;
            }
        }
        if cx.command.opens_window {
            self.opened_window_count += 1;
            self.windows_by_handle
                .insert(cx.command.window_handle_name.clone(), WindowRef::Opened(self.opened_window_count));
        }
        if has_actions
            && let Some(response) = self.pending_response.take()
            && !commands::is_dialog_answered_next(cx.following())
        {
            let append_result = self.append_action(action_from_kind(ActionKind::Dialog(response)));
            if let Err(reason) = append_result {
                self.report_issue(cx, reason);
            }
        }
    }

    /// Starts a step: one for each page that is opened.
    fn begin_step(&mut self, cx: CommandContext<'_>, name: &str) {
        let comment = cx.command.comment.trim();
        let path = cx.command.target.split(['?', '#']).next().unwrap_or_default();
        let path = path
            .split_once("://")
            .map_or(path, |(_, rest)| rest.find('/').map_or("/", |position| &rest[position..]));
        let step_name = match (comment, name) {
            ("", "open") if !self.steps.is_empty() && !path.is_empty() => format!("Open {path}"),
            ("", _) => cx.test.name.clone(),
            (comment, _) => comment.to_owned(),
        };
        let step_name =
            if step_name.trim().is_empty() { format!("Step {}", self.steps.len() + 1) } else { step_name };
        self.steps.push(ScriptStep { name: truncate_name(&step_name), ..ScriptStep::default() });
    }

    /// Adds an action, if the script language accepts it.
    fn append_action(&mut self, action: Action) -> Result<(), String> {
        let kind = &action.kind;
        self.check_action(kind)?;
        if let ActionKind::Extract { into_variable: variable, .. }
        | ActionKind::RunJs { into_variable: Some(variable), .. } = kind
        {
            self.known_variables.insert(variable.clone());
        }
        if let Some(step) = self.steps.last_mut() {
            step.actions.push(action);
            self.action_count += 1;
        }
        Ok(())
    }

    /// Checks whether the script language accepts the action; fails with its error message.
    pub(super) fn check_action(&self, kind: &ActionKind) -> Result<(), String> {
        let step = ScriptStep {
            name: "x".to_owned(),
            actions: vec![action_from_kind(kind.clone())],
            ..ScriptStep::default()
        };
        let mut script = Script { steps: vec![step], ..Script::from_url("") };
        let text = script.to_xml();
        let placeholders: BTreeSet<&str> = parse_template(&text)
            .into_iter()
            .filter_map(|part| match part {
                TemplatePart::Placeholder(name) => {
                    Some(name).filter(|name| self.known_variables.contains(*name))
                }
                TemplatePart::Text(_) => None,
            })
            .collect();
        let variable =
            |name: &&str| ScriptVariable { name: (*name).to_owned(), value: String::new(), protected: false };
        script.variables = placeholders.iter().map(variable).collect();
        let errors = Script::parse(&script.to_xml()).err().unwrap_or_default();
        errors.into_iter().next().map_or(Ok(()), |error| Err(error.message))
    }

    /// Returns the target of the command: its locator, and the alternatives recorded with it.
    pub(super) fn convert_target(&self, command: &SeleniumIdeCommand) -> Result<ElementTarget, String> {
        let alternatives =
            command.recorded_locators.iter().filter_map(|recorded| recorded.first()).map(String::as_str);
        let alternatives = alternatives.filter(|other| *other != command.target);
        let (mut accepted, mut first_error) = (Vec::new(), None);
        for text in std::iter::once(command.target.as_str()).chain(alternatives) {
            let checked = locators::convert_locators(text).and_then(|locators| {
                let target = ElementTarget { locators };
                self.check_action(&ActionKind::Hover { target: target.clone() }).map(|()| target.locators)
            });
            match checked {
                Ok(locators) => {
                    let new = locators.into_iter().filter(|new| !accepted.contains(new)).collect::<Vec<_>>();
                    accepted.extend(new);
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
            if accepted.len() >= MAX_LOCATORS {
                break;
            }
        }
        accepted.truncate(MAX_LOCATORS);
        match first_error {
            Some(first_error) if accepted.is_empty() => Err(first_error),
            _ => Ok(ElementTarget { locators: accepted }),
        }
    }

    /// Returns the placeholder of a protected variable with this value.
    pub(super) fn protected_placeholder(&mut self, value: &str, cx: CommandContext<'_>) -> String {
        let existing = self.variables.iter().find(|variable| variable.value == value);
        if let Some(existing) = existing {
            return format!("{{{{{}}}}}", existing.name);
        }
        let names = (1..).map(|n| if n == 1 { "password".to_owned() } else { format!("password_{n}") });
        let name = names.into_iter().find(|name| !self.known_variables.contains(name)).unwrap_or_default();
        self.notes.push(format!(
            "test `{}`, command {}: what is typed became the protected variable `{name}`; a monitor with it needs \
             `transaction_password`",
            crate::syntax::truncate_value(&cx.test.name),
            cx.index + 1
        ));
        self.known_variables.insert(name.clone());
        self.variables.push(ScriptVariable { name: name.clone(), value: value.to_owned(), protected: true });
        format!("{{{{{name}}}}}")
    }

    pub(super) fn report_issue(&mut self, cx: CommandContext<'_>, reason: impl Into<String>) {
        self.issues.push(ImportIssue {
            test_name: cx.test.name.clone(),
            command_number: cx.index + 1,
            command_name: cx.command.command.trim().to_owned(),
            reason: reason.into(),
        });
    }

    /// Returns the base of relative URLs.
    pub(super) fn base_url(&self) -> &str {
        self.project.base_url.trim()
    }
}

fn action_from_kind(kind: ActionKind) -> Action {
    Action {
        kind,
        optional: false,
        soft: false,
        timeout: None,
        expected_effect: None,
        position: Position::default(),
    }
}

/// Truncates a name to 255 characters.
fn truncate_name(name: &str) -> String {
    name.chars().take(255).collect()
}
