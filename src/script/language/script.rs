//! A script that can be played.

use std::time::Duration;

use super::action::{Action, ActionKind};
use crate::syntax::node::Position;
use crate::syntax::template::has_placeholders;

/// `most-skipped` of a script that does not say it.
pub(super) const DEFAULT_MAX_SKIPPED: u32 = 5;

/// A script that can be played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// What people call it; empty without.
    pub name: String,
    /// What relative URLs of `open` stand on.
    pub base: Option<String>,
    /// Optional acts that may be skipped in one playback before it ends with status 92.
    pub max_skipped: u32,
    /// Its variables, in their order.
    pub variables: Vec<ScriptVariable>,
    /// Its steps, at least one.
    pub steps: Vec<ScriptStep>,
}

impl Script {
    /// The longest that a playback may take where a page load may take `page` and a step `step` (fields.md 3,
    /// `step_timeout`): the sum of its steps, of which one without a limit counts as a page load.
    #[must_use]
    pub fn max_duration(&self, page: Duration, step: Option<Duration>) -> Duration {
        self.steps.iter().map(|own| own.timeout.or(step).unwrap_or(page)).sum()
    }

    /// The script of a monitor with nothing but a `url`: one step that opens it.
    #[must_use]
    pub fn from_url(url: &str) -> Self {
        // The URL is no template: what looks like a placeholder in it is meant as it stands there.
        let variable = || ScriptVariable { name: "url".to_owned(), value: url.to_owned(), protected: false };
        let (variables, url) =
            if has_placeholders(url) { (vec![variable()], "{{url}}") } else { (Vec::new(), url) };
        let open = Action {
            kind: ActionKind::Open { url: url.to_owned() },
            optional: false,
            timeout: None,
            expected: None,
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
            base: None,
            max_skipped: DEFAULT_MAX_SKIPPED,
            variables,
            steps: vec![step],
        }
    }

    /// The first `open` of a URL that stands on the script's base, when the script has none.
    #[must_use]
    pub fn first_relative_open(&self) -> Option<&Action> {
        let is_whole = |url: &str| url.starts_with("{{") || url.contains("://");
        let relative = |action: &&Action| matches!(&action.kind, ActionKind::Open { url } if !is_whole(url));
        let mut acts = self.steps.iter().flat_map(|step| &step.actions);
        if self.base.is_some() { None } else { acts.find(relative) }
    }
}

/// `variable`: a value that texts name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptVariable {
    /// Its name.
    pub name: String,
    /// What it stands for at the beginning, as it is: placeholders in it are not filled in.
    pub value: String,
    /// Whether its value is a secret.
    pub protected: bool,
}

/// `step`: an action in the words of `capture.level`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptStep {
    /// What people call it; `Step N` when the script says nothing.
    pub name: String,
    /// How long it may take; without, `step_timeout` of the monitor.
    pub timeout: Option<Duration>,
    /// What is done in it, at least one: events in the words of `capture.level`.
    pub actions: Vec<Action>,
    /// Where it stands in the text.
    pub position: Position,
}
