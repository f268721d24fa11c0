//! The dialect of browser scripts as checked types (behaviour.md 8): what a player needs, and nothing that
//! cannot be played. Texts keep their placeholders `{{name}}`; the player fills them in.

mod act;

use std::time::Duration;

use super::super::source::Place;

pub use act::{
    Act, Action, Check, DialogAnswer, Expected, FrameChoice, Locator, Match, Pattern, Pick, State, Target,
    Wanted, WindowChoice,
};

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

/// `variable`: a value that texts name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it stands for at the beginning.
    pub value: String,
    /// Whether its value is a secret.
    pub protected: bool,
}

/// `step`: an action in the words of `capture.level`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What people call it; `Step N` without.
    pub name: String,
    /// How long it may take; without, `step_timeout` of the monitor.
    pub timeout: Option<Duration>,
    /// What is done in it, at least one: events in the words of `capture.level`.
    pub acts: Vec<Act>,
    /// Where it stands in the text.
    pub place: Place,
}
