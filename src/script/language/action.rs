//! The actions of a step.

use std::time::Duration;

use crate::syntax::node::Position;

/// One action of a step: an element such as `click`. `capture.level` calls it an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// What the action does.
    pub kind: ActionKind,
    /// Whether the action is skipped when it cannot be performed (attribute `optional`).
    pub optional: bool,
    /// Whether the step goes on when the action fails; the check then fails at its end (attribute `soft`).
    pub soft: bool,
    /// Time limit of the action; `None` for the rest of the step.
    pub timeout: Option<Duration>,
    /// The expected effect (attribute `expect`); `None` when none is given.
    pub expected_effect: Option<ExpectedEffect>,
    /// Its position in the text.
    pub position: Position,
}

/// The expected effect of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedEffect {
    /// The address of the page changes (`location`), otherwise status 84.
    LocationChange,
    /// The page changes: nodes, texts or attributes (`update`), otherwise status 85.
    PageUpdate,
    /// The page gets a DOM event of this name (`event:NAME`), otherwise status 83. Letters, digits and `_ - . :`.
    Event(String),
}

/// What an action does; its fields are attributes. Texts are templates, except names, keys and regular
/// expressions.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named like the attributes of the dialect")]
pub enum ActionKind {
    /// `open`: navigates to a URL, and waits until it is loaded.
    Open { url: String },
    /// `click`, `double-click`.
    Click { target: ElementTarget, double: bool },
    /// `type`: appends to the content of a field.
    Type { target: ElementTarget, text: String },
    /// `clear`.
    Clear { target: ElementTarget },
    /// `select`: selects an option of a `select` element.
    Select { target: ElementTarget, option: OptionSelector },
    /// `check`: checks or unchecks (`on="false"`) a checkbox or radio button.
    SetChecked { target: ElementTarget, checked: bool },
    /// `hover`.
    Hover { target: ElementTarget },
    /// `press`: a key such as `Enter`, with modifiers such as `Control+a`, as [`super::keys::KeyChord`] defines them;
    /// in the focused element without a target.
    Press { key: String, target: Option<ElementTarget> },
    /// `scroll`: to an element, or by CSS pixels.
    Scroll { target: Option<ElementTarget>, x: i64, y: i64 },
    /// `switch-frame`.
    SwitchFrame(FrameSelector),
    /// `switch-window`.
    SwitchWindow(WindowSelector),
    /// `close-window`: closes the current window, and switches to the main one.
    CloseWindow,
    /// `accept-dialog`, `dismiss-dialog`, `answer-dialog`.
    Dialog(DialogResponse),
    /// `wait-for`, `wait-for-text`, `wait-for-url`, `wait-for-event`, `wait-for-network-quiet`.
    WaitFor(WaitCondition),
    /// `extract`: stores a value of the page in a variable; with a pattern its first group, or the whole match.
    Extract { into_variable: String, property: PageProperty, pattern: Option<RegexPattern> },
    /// `run-js`: the body of a function that may return a value. A placeholder is replaced by a JavaScript string
    /// literal of the value, including its quotes, so that no value becomes code.
    RunJs { code: String, into_variable: Option<String> },
    /// `screenshot`: kept at every capture level but `Disabled`.
    Screenshot { name: String },
    /// `assert-text`, `-attribute`, `-value`, `-url`, `-title`, `-count`: a property, and the condition that it must
    /// meet.
    Assert { property: PageProperty, matcher: Matcher },
    /// `assert-element`: the state of an element.
    AssertElement { target: ElementTarget, state: ElementState },
    /// `keyword`: evaluated in the source of the page, like `keyword_string` of the monitor.
    Keyword { text: String, regex: bool, invert: bool, wait: bool },
}

/// The source of a regular expression that compiles. It is compiled again when it is needed, since a compiled one takes
/// tens of kilobytes or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexPattern(pub Box<str>);

/// The locators of an element: the first locator that matches exactly one element wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementTarget {
    /// The locators in the order in which they are tried, at least one.
    pub locators: Vec<Locator>,
}

/// A locator of an element. Texts are templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// `id`.
    Id(String),
    /// `css`.
    Css(String),
    /// `xpath`.
    XPath(String),
    /// `link`: the visible text of a link.
    Link(String),
    /// `name`: the attribute `name`.
    Name(String),
    /// `text`: the visible text of the innermost element.
    Text(String),
}

/// An option of a `select` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionSelector {
    /// By its attribute `value`.
    Value(String),
    /// By its visible text.
    Label(String),
    /// By its index, from 0.
    Index(u32),
}

/// The frame to switch to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameSelector {
    /// The frame of this element.
    Element(ElementTarget),
    /// By its index in the document, from 0.
    Index(u16),
    /// The parent frame.
    Parent,
    /// The page itself.
    Top,
}

/// The window to switch to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowSelector {
    /// The first window of the script.
    Main,
    /// The window that was opened last.
    Newest,
    /// By its index in the order of opening, from 0.
    Index(u32),
    /// By its title.
    Title(Matcher),
    /// By its address.
    Url(Matcher),
}

/// The response to a dialog of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogResponse {
    /// OK.
    Accept,
    /// Cancel.
    Dismiss,
    /// Enters this text, and OK.
    AcceptWithText(String),
}

/// The required state of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementState {
    /// In the document.
    Present,
    /// Visible.
    Visible,
    /// Visible, and accepts input.
    Enabled,
    /// Not visible, or not in the document.
    Hidden,
    /// Not in the document.
    Absent,
}

impl ElementState {
    /// Returns the value of the attribute `state`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Visible => "visible",
            Self::Enabled => "enabled",
            Self::Hidden => "hidden",
            Self::Absent => "absent",
        }
    }
}

/// The condition of a `wait-for`.
#[derive(Clone, Debug, PartialEq)]
pub enum WaitCondition {
    /// An element in this state, otherwise status 97.
    Element(ElementTarget, ElementState),
    /// A visible text on the page or in an element, otherwise status 85.
    Text(Option<ElementTarget>, Matcher),
    /// The address of the page, otherwise status 84.
    Url(Matcher),
    /// A DOM event of this name, otherwise status 83.
    Event(String),
    /// No pending request for this long, otherwise status 86.
    NetworkIdle(Duration),
}

/// A property of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageProperty {
    /// The visible text of an element, or of the page.
    Text(Option<ElementTarget>),
    /// An attribute of an element.
    Attribute(ElementTarget, String),
    /// The value of a field.
    Value(ElementTarget),
    /// The address of the page.
    Url,
    /// The title of the page.
    Title,
    /// The number of elements that the first locator matches; 0 is a count too.
    Count(ElementTarget),
}

/// The condition that a text must meet. Texts are templates.
#[derive(Clone, Debug, PartialEq)]
pub enum Matcher {
    /// `equals`.
    Equals(String),
    /// `contains`.
    Contains(String),
    /// `matches`: anywhere in the text.
    Matches(RegexPattern),
    /// `not`: negation.
    Not(Box<Matcher>),
    /// `at-least`, of a count.
    AtLeast(u64),
    /// `at-most`, of a count.
    AtMost(u64),
}

impl Eq for Matcher {}
