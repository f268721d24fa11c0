//! A script that can be run.

use std::time::Duration;

use super::action::{Action, ActionKind};
use crate::syntax::node::Position;
use crate::syntax::template::has_placeholders;

/// Default of `most-skipped`.
pub(super) const DEFAULT_MAX_SKIPPED_ACTIONS: u32 = 5;

/// A script that can be run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The display name; empty if it has none.
    pub name: String,
    /// The base of relative URLs of `open`.
    pub base_url: Option<String>,
    /// Number of optional actions that may be skipped in one run; one more ends it with status 92.
    pub max_skipped_actions: u32,
    /// The variables, in order.
    pub variables: Vec<ScriptVariable>,
    /// The steps, at least one.
    pub steps: Vec<ScriptStep>,
}

impl Script {
    /// Returns the maximum duration of a run with `page_timeout` for a page and `step_timeout` for a step (fields.md 3,
    /// `step_timeout`): the sum of its steps; one without a limit counts as a page load.
    #[must_use]
    pub fn max_duration(&self, page_timeout: Duration, step_timeout: Option<Duration>) -> Duration {
        self.steps
            .iter()
            .map(|script_step| script_step.timeout.or(step_timeout).unwrap_or(page_timeout))
            .sum()
    }

    /// Creates the script of a monitor with only a `url`: one step that opens it.
    #[must_use]
    pub fn from_url(url: &str) -> Self {
        // The URL is not a template: text that looks like a placeholder is literal.
        let variable = || ScriptVariable { name: "url".to_owned(), value: url.to_owned(), protected: false };
        let (variables, url) =
            if has_placeholders(url) { (vec![variable()], "{{url}}") } else { (Vec::new(), url) };
        let open = Action {
            kind: ActionKind::Open { url: url.to_owned() },
            optional: false,
            soft: false,
            timeout: None,
            expected_effect: None,
            position: Position::default(),
        };
        let step = ScriptStep {
            name: "Step 1".to_owned(),
            timeout: None,
            actions: vec![open],
            position: Position::default(),
        };
        Self {
            name: String::new(),
            base_url: None,
            max_skipped_actions: DEFAULT_MAX_SKIPPED_ACTIONS,
            variables,
            steps: vec![step],
        }
    }

    /// Returns the first `open` of a relative URL, if the script has no base.
    #[must_use]
    pub fn first_relative_open(&self) -> Option<&Action> {
        let is_absolute = |url: &str| url.starts_with("{{") || url.contains("://");
        let opens_relative_url =
            |action: &&Action| matches!(&action.kind, ActionKind::Open { url } if !is_absolute(url));
        let mut actions = self.steps.iter().flat_map(|step| &step.actions);
        if self.base_url.is_some() { None } else { actions.find(opens_relative_url) }
    }
}

/// `variable`: a value used in texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptVariable {
    /// Its name.
    pub name: String,
    /// Its initial value, literal: placeholders are not filled in.
    pub value: String,
    /// Whether its value is secret.
    pub protected: bool,
}

/// `step`: a named group of actions, usually for one page; `capture.level` calls it an action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptStep {
    /// The display name; `Step N` by default.
    pub name: String,
    /// Its limit; `None` for `step_timeout` of the monitor.
    pub timeout: Option<Duration>,
    /// Its actions, at least one; `capture.level` calls them events.
    pub actions: Vec<Action>,
    /// Its position in the text.
    pub position: Position,
}
