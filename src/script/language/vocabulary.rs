//! The vocabulary of the script language: actions, their attributes, and values of choices.

use super::action::{ElementState, FrameSelector};

/// Kinds of locators, as attributes of an action or of `by`.
pub const LOCATOR_ATTRIBUTES: [&str; 6] = ["id", "css", "xpath", "link", "name", "text"];

/// Attributes of every action.
pub const COMMON_ATTRIBUTES: [&str; 3] = ["optional", "timeout", "soft"];

/// Attributes of a condition on a text (`Matcher`).
const MATCHER_ATTRIBUTES: [&str; 4] = ["equals", "contains", "matches", "not"];

/// Whether an action has a target element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetRequirement {
    /// No target.
    None,
    /// An optional target; otherwise the page or the focused element.
    Optional,
    /// A required target.
    Required,
}

/// The syntax of an action of the script language.
#[derive(Clone, Copy, Debug)]
pub struct ActionSpec {
    /// The name of its element.
    pub name: &'static str,
    /// Whether it has a target: then it accepts those of [`LOCATOR_ATTRIBUTES`] that are not its own attributes, or
    /// `by`.
    pub target: TargetRequirement,
    /// Whether its effect can be waited for (`expect`).
    pub supports_expect: bool,
    /// Its own attributes.
    pub attributes: &'static [&'static str],
}

const fn spec(
    name: &'static str,
    target: TargetRequirement,
    supports_expect: bool,
    attributes: &'static [&'static str],
) -> ActionSpec {
    ActionSpec { name, target, supports_expect, attributes }
}

/// All actions.
pub const ACTION_SPECS: &[ActionSpec] = &[
    spec("open", TargetRequirement::None, true, &["url"]),
    spec("click", TargetRequirement::Required, true, &[]),
    spec("double-click", TargetRequirement::Required, true, &[]),
    spec("type", TargetRequirement::Required, true, &["text"]),
    spec("clear", TargetRequirement::Required, true, &[]),
    spec("select", TargetRequirement::Required, true, &["value", "label", "index"]),
    spec("check", TargetRequirement::Required, true, &["on"]),
    spec("hover", TargetRequirement::Required, true, &[]),
    spec("press", TargetRequirement::Optional, true, &["key"]),
    spec("scroll", TargetRequirement::Optional, true, &["x", "y"]),
    spec("switch-frame", TargetRequirement::Optional, false, &["index", "to"]),
    spec(
        "switch-window",
        TargetRequirement::None,
        false,
        &[
            "index",
            "to",
            MATCHER_ATTRIBUTES[0],
            MATCHER_ATTRIBUTES[1],
            MATCHER_ATTRIBUTES[2],
            MATCHER_ATTRIBUTES[3],
        ],
    ),
    spec("close-window", TargetRequirement::None, false, &[]),
    spec("accept-dialog", TargetRequirement::None, true, &[]),
    spec("dismiss-dialog", TargetRequirement::None, true, &[]),
    spec("answer-dialog", TargetRequirement::None, true, &["text"]),
    spec("wait-for", TargetRequirement::Required, false, &["state"]),
    spec("wait-for-text", TargetRequirement::Optional, false, &MATCHER_ATTRIBUTES),
    spec("wait-for-url", TargetRequirement::None, false, &MATCHER_ATTRIBUTES),
    spec("wait-for-event", TargetRequirement::None, false, &["event"]),
    spec("wait-for-network-quiet", TargetRequirement::None, false, &["quiet"]),
    spec("extract", TargetRequirement::Optional, false, &["into", "from", "attribute", "pattern"]),
    spec("run-js", TargetRequirement::None, true, &["into"]),
    spec("screenshot", TargetRequirement::None, false, &["name"]),
    spec("assert-text", TargetRequirement::Optional, false, &MATCHER_ATTRIBUTES),
    spec("assert-element", TargetRequirement::Required, false, &["state"]),
    spec(
        "assert-attribute",
        TargetRequirement::Required,
        false,
        &[
            "attribute",
            MATCHER_ATTRIBUTES[0],
            MATCHER_ATTRIBUTES[1],
            MATCHER_ATTRIBUTES[2],
            MATCHER_ATTRIBUTES[3],
        ],
    ),
    spec("assert-value", TargetRequirement::Required, false, &MATCHER_ATTRIBUTES),
    spec("assert-count", TargetRequirement::Required, false, &["equals", "at-least", "at-most", "not"]),
    spec("assert-url", TargetRequirement::None, false, &MATCHER_ATTRIBUTES),
    spec("assert-title", TargetRequirement::None, false, &MATCHER_ATTRIBUTES),
    spec("keyword", TargetRequirement::None, false, &["text", "regex", "invert", "wait"]),
];

impl ActionSpec {
    /// Returns the syntax of the action with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        ACTION_SPECS.iter().find(|spec| spec.name == name)
    }

    /// Returns the locators that it accepts as attributes.
    pub fn locators(&self) -> impl Iterator<Item = &'static str> {
        let own_attributes = self.attributes;
        LOCATOR_ATTRIBUTES.into_iter().filter(move |locator| {
            self.target != TargetRequirement::None && !own_attributes.contains(locator)
        })
    }

    /// Returns all attributes that it may have.
    pub fn all_attributes(&self) -> impl Iterator<Item = &'static str> {
        let expect = self.supports_expect.then_some("expect");
        self.locators().chain(self.attributes.iter().copied()).chain(COMMON_ATTRIBUTES).chain(expect)
    }
}

/// Values of `state`.
pub(super) const ELEMENT_STATES: &[(&str, ElementState)] = &[
    (ElementState::Present.name(), ElementState::Present),
    (ElementState::Visible.name(), ElementState::Visible),
    (ElementState::Enabled.name(), ElementState::Enabled),
    (ElementState::Hidden.name(), ElementState::Hidden),
    (ElementState::Absent.name(), ElementState::Absent),
];

/// Values of `to` of `switch-frame`.
pub(super) const FRAME_KEYWORDS: &[(&str, FrameSelector)] =
    &[("parent", FrameSelector::Parent), ("top", FrameSelector::Top)];

/// Values of `to` of `switch-window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowKeyword {
    Main,
    Newest,
    Title,
    Url,
}

pub(super) const WINDOW_KEYWORDS: &[(&str, WindowKeyword)] = &[
    ("main", WindowKeyword::Main),
    ("newest", WindowKeyword::Newest),
    ("title", WindowKeyword::Title),
    ("url", WindowKeyword::Url),
];

/// Values of `from` of `extract`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtractSource {
    Text,
    Attribute,
    Value,
    Url,
    Title,
    Count,
}

pub(super) const EXTRACT_SOURCES: &[(&str, ExtractSource)] = &[
    ("text", ExtractSource::Text),
    ("attribute", ExtractSource::Attribute),
    ("value", ExtractSource::Value),
    ("url", ExtractSource::Url),
    ("title", ExtractSource::Title),
    ("count", ExtractSource::Count),
];
