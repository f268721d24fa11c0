//! The words of the dialect: its acts, what each may say, and the values that are chosen from.

use super::act::{FrameChoice, State};

/// Ways to find an element, as attributes of an act or of `by`.
pub const LOCATORS: [&str; 6] = ["id", "css", "xpath", "link", "name", "text"];

/// Attributes that every act may have.
pub const COMMON: [&str; 2] = ["optional", "timeout"];

/// What must hold of a text.
const MATCH: [&str; 4] = ["equals", "contains", "matches", "not"];

/// Whether an act is about an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// About none.
    Nothing,
    /// About one when it is said, else about the page or what has the focus.
    Perhaps,
    /// It needs one.
    Element,
}

/// An act of the dialect.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Name of its element.
    pub name: &'static str,
    /// Whether it is about an element: then it takes [`LOCATORS`] that are no attributes of its own, or `by`.
    pub aim: Aim,
    /// Whether something may follow from it that can be waited for (`expect`).
    pub expects: bool,
    /// Its own attributes.
    pub attributes: &'static [&'static str],
}

const fn word(name: &'static str, aim: Aim, expects: bool, attributes: &'static [&'static str]) -> Word {
    Word { name, aim, expects, attributes }
}

/// Every act.
pub const ACTS: &[Word] = &[
    word("open", Aim::Nothing, true, &["url"]),
    word("click", Aim::Element, true, &[]),
    word("double-click", Aim::Element, true, &[]),
    word("type", Aim::Element, true, &["text"]),
    word("clear", Aim::Element, true, &[]),
    word("select", Aim::Element, true, &["value", "label", "index"]),
    word("check", Aim::Element, true, &["on"]),
    word("hover", Aim::Element, true, &[]),
    word("press", Aim::Perhaps, true, &["key"]),
    word("scroll", Aim::Perhaps, true, &["x", "y"]),
    word("switch-frame", Aim::Perhaps, false, &["index", "to"]),
    word("switch-window", Aim::Nothing, false, &["index", "to", MATCH[0], MATCH[1], MATCH[2], MATCH[3]]),
    word("close-window", Aim::Nothing, false, &[]),
    word("accept-dialog", Aim::Nothing, true, &[]),
    word("dismiss-dialog", Aim::Nothing, true, &[]),
    word("answer-dialog", Aim::Nothing, true, &["text"]),
    word("wait-for", Aim::Element, false, &["state"]),
    word("wait-for-text", Aim::Perhaps, false, &MATCH),
    word("wait-for-url", Aim::Nothing, false, &MATCH),
    word("wait-for-event", Aim::Nothing, false, &["event"]),
    word("wait-for-network-quiet", Aim::Nothing, false, &["quiet"]),
    word("extract", Aim::Perhaps, false, &["into", "from", "attribute", "pattern"]),
    word("run-js", Aim::Nothing, true, &["into"]),
    word("screenshot", Aim::Nothing, false, &["name"]),
    word("assert-text", Aim::Perhaps, false, &MATCH),
    word("assert-element", Aim::Element, false, &["state"]),
    word("assert-attribute", Aim::Element, false, &["attribute", MATCH[0], MATCH[1], MATCH[2], MATCH[3]]),
    word("assert-value", Aim::Element, false, &MATCH),
    word("assert-count", Aim::Element, false, &["equals", "at-least", "at-most", "not"]),
    word("assert-url", Aim::Nothing, false, &MATCH),
    word("assert-title", Aim::Nothing, false, &MATCH),
    word("keyword", Aim::Nothing, false, &["text", "regex", "invert", "wait"]),
];

impl Word {
    /// The act that is called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        ACTS.iter().find(|word| word.name == name)
    }

    /// The locators that it takes as attributes.
    pub fn locators(&self) -> impl Iterator<Item = &'static str> {
        let own = self.attributes;
        LOCATORS.into_iter().filter(move |locator| self.aim != Aim::Nothing && !own.contains(locator))
    }

    /// Every attribute that it may have.
    pub fn all_attributes(&self) -> impl Iterator<Item = &'static str> {
        let expect = self.expects.then_some("expect");
        self.locators().chain(self.attributes.iter().copied()).chain(COMMON).chain(expect)
    }
}

/// `state`.
pub(super) const STATES: &[(&str, State)] = &[
    (State::Present.name(), State::Present),
    (State::Visible.name(), State::Visible),
    (State::Enabled.name(), State::Enabled),
    (State::Hidden.name(), State::Hidden),
    (State::Absent.name(), State::Absent),
];

/// `to` of `switch-frame`.
pub(super) const FRAMES: &[(&str, FrameChoice)] =
    &[("parent", FrameChoice::Parent), ("top", FrameChoice::Top)];

/// `to` of `switch-window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowTo {
    Main,
    Newest,
    Title,
    Url,
}

pub(super) const WINDOWS: &[(&str, WindowTo)] = &[
    ("main", WindowTo::Main),
    ("newest", WindowTo::Newest),
    ("title", WindowTo::Title),
    ("url", WindowTo::Url),
];

/// `from` of `extract`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Text,
    Attribute,
    Value,
    Url,
    Title,
    Count,
}

pub(super) const SOURCES: &[(&str, From)] = &[
    ("text", From::Text),
    ("attribute", From::Attribute),
    ("value", From::Value),
    ("url", From::Url),
    ("title", From::Title),
    ("count", From::Count),
];
