//! A script that can be played.

use std::time::Duration;

use super::act::{Act, Action};
use crate::syntax::source::Position;
use crate::syntax::template::has_placeholders;

/// `most-skipped` of a script that does not say it.
pub(super) const MOST_SKIPPED: u32 = 5;

/// A script that can be played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// What people call it; empty without.
    pub name: String,
    /// What relative URLs of `open` stand on.
    pub base: Option<String>,
    /// Optional acts that may be skipped in one playback before it ends with status 92.
    pub most_skipped: u32,
    /// Its variables, in their order.
    pub variables: Vec<Variable>,
    /// Its steps, at least one.
    pub steps: Vec<Step>,
}

impl Script {
    /// The longest that a playback may take where a page load may take `page` and a step `step` (fields.md 3,
    /// `step_timeout`): the sum of its steps, of which one without a limit counts as a page load.
    #[must_use]
    pub fn longest(&self, page: Duration, step: Option<Duration>) -> Duration {
        self.steps.iter().map(|own| own.timeout.or(step).unwrap_or(page)).sum()
    }

    /// The script of a monitor with nothing but a `url`: one step that opens it.
    #[must_use]
    pub fn opening(url: &str) -> Self {
        // The URL is no template: what looks like a placeholder in it is meant as it stands there.
        let variable = || Variable { name: "url".to_owned(), value: url.to_owned(), protected: false };
        let (variables, url) =
            if has_placeholders(url) { (vec![variable()], "{{url}}") } else { (Vec::new(), url) };
        let open = Act {
            action: Action::Open { url: url.to_owned() },
            optional: false,
            timeout: None,
            expected: None,
            place: Position::default(),
        };
        let step =
            Step { name: "Step 1".to_owned(), timeout: None, acts: vec![open], place: Position::default() };
        Self { name: String::new(), base: None, most_skipped: MOST_SKIPPED, variables, steps: vec![step] }
    }

    /// The first `open` of a URL that stands on the script's base, when the script has none.
    #[must_use]
    pub fn without_base(&self) -> Option<&Act> {
        let is_whole = |url: &str| url.starts_with("{{") || url.contains("://");
        let relative = |act: &&Act| matches!(&act.action, Action::Open { url } if !is_whole(url));
        let mut acts = self.steps.iter().flat_map(|step| &step.acts);
        if self.base.is_some() { None } else { acts.find(relative) }
    }
}

/// `variable`: a value that texts name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it stands for at the beginning, as it is: placeholders in it are not filled in.
    pub value: String,
    /// Whether its value is a secret.
    pub protected: bool,
}

/// `step`: an action in the words of `capture.level`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What people call it; `Step N` when the script says nothing.
    pub name: String,
    /// How long it may take; without, `step_timeout` of the monitor.
    pub timeout: Option<Duration>,
    /// What is done in it, at least one: events in the words of `capture.level`.
    pub acts: Vec<Act>,
    /// Where it stands in the text.
    pub place: Position,
}
