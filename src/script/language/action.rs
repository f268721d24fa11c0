//! The acts of a step.

use std::time::Duration;

use regex::Regex;

use crate::syntax::node::Position;

/// One act.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// What is done.
    pub kind: ActionKind,
    /// Whether an act that cannot be done is skipped (attribute `optional`).
    pub optional: bool,
    /// How long it may take; without, what is left of the step.
    pub timeout: Option<Duration>,
    /// What has to follow from it (attribute `expect`); acts that change nothing on the page have none.
    pub expected: Option<ExpectedEffect>,
    /// Where it stands in the text.
    pub position: Position,
}

/// What has to follow from an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedEffect {
    /// The address of the page changes (`location`): else status 84.
    LocationChange,
    /// The page changes: nodes, texts or attributes (`update`): else status 85.
    PageUpdate,
    /// The page gets a DOM event of this name (`event:NAME`): else status 83. Letters, digits and `_ - . :`.
    Event(String),
}

/// What an act does; fields are the attributes of the same name. Texts are templates, but for names, keys and
/// regular expressions.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named like the attributes of the dialect")]
pub enum ActionKind {
    /// `open`: goes to a URL, and waits until it is loaded.
    Open { url: String },
    /// `click`, `double-click`.
    Click { target: ElementTarget, double: bool },
    /// `type`: writes behind what is there.
    Type { target: ElementTarget, text: String },
    /// `clear`.
    Clear { target: ElementTarget },
    /// `select`: picks an option of a `select` element.
    Select { target: ElementTarget, option: OptionSelector },
    /// `check`: makes a box or radio button checked or not (`on="false"`).
    SetChecked { target: ElementTarget, checked: bool },
    /// `hover`.
    Hover { target: ElementTarget },
    /// `press`: a key such as `Enter`, with modifiers `Control+a`, as [`super::keys::KeyChord`] knows them; into the
    /// focused element without a target.
    Press { key: String, target: Option<ElementTarget> },
    /// `scroll`: to an element, or by CSS pixels.
    Scroll { target: Option<ElementTarget>, x: i64, y: i64 },
    /// `switch-frame`.
    SwitchFrame(FrameSelector),
    /// `switch-window`.
    SwitchWindow(WindowSelector),
    /// `close-window`: the window that is looked at; the main one is looked at then.
    CloseWindow,
    /// `accept-dialog`, `dismiss-dialog`, `answer-dialog`.
    Dialog(DialogResponse),
    /// `wait-for`, `wait-for-text`, `wait-for-url`, `wait-for-event`, `wait-for-network-quiet`.
    WaitFor(WaitCondition),
    /// `extract`: takes a value of the page into a variable; with a pattern its first group, or all that it matches.
    Extract { into_variable: String, property: PageProperty, pattern: Option<Pattern> },
    /// `run-js`: the body of a function that may return a value. A placeholder in it stands for a JavaScript text
    /// with the value, its quotes included, so that no value becomes code.
    RunJs { code: String, into_variable: Option<String> },
    /// `screenshot`, kept whatever the level of captures is, unless it is `Disabled`.
    Screenshot { name: String },
    /// `assert-text`, `-attribute`, `-value`, `-url`, `-title`, `-count`: what is looked at, and what must hold
    /// of it.
    Assert { property: PageProperty, matcher: Matcher },
    /// `assert-element`: there, or not there; seen, or not.
    AssertElement { target: ElementTarget, state: ElementState },
    /// `keyword`: judged in the source of the page, as `keyword_string` of the monitor is.
    Keyword { text: String, regex: bool, invert: bool, wait: bool },
}

/// A regular expression that was checked; equal when written alike.
#[derive(Clone, Debug)]
pub struct Pattern(pub Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// How an element is found: the first locator that matches exactly one element wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementTarget {
    /// In the order in which they are tried, at least one.
    pub locators: Vec<Locator>,
}

/// One way to find an element. Texts are templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// `id`.
    Id(String),
    /// `css`.
    Css(String),
    /// `xpath`.
    XPath(String),
    /// `link`: the text of a link, as it is seen.
    Link(String),
    /// `name`: the attribute of an element.
    Name(String),
    /// `text`: of the innermost element that shows it.
    Text(String),
}

/// Which option of a `select` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionSelector {
    /// By its attribute `value`.
    Value(String),
    /// By what it shows.
    Label(String),
    /// By its place, from 0.
    Index(u32),
}

/// Which frame is looked at from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameSelector {
    /// That of this element.
    Element(ElementTarget),
    /// By its place in the document, from 0.
    Index(u16),
    /// The one around.
    Parent,
    /// The page itself.
    Top,
}

/// Which window is looked at from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowSelector {
    /// The one that the playback began in.
    Main,
    /// The one that was opened last.
    Newest,
    /// By its place in the order of opening, from 0.
    Index(u32),
    /// By its title.
    Title(Matcher),
    /// By its address.
    Url(Matcher),
}

/// What is done with a dialog of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogResponse {
    /// OK.
    Accept,
    /// Cancel.
    Dismiss,
    /// Writes this text, and OK.
    AcceptWithText(String),
}

/// What an element must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementState {
    /// In the document.
    Present,
    /// Seen.
    Visible,
    /// Seen, and takes input.
    Enabled,
    /// Not seen, or not in the document.
    Hidden,
    /// Not in the document.
    Absent,
}

impl ElementState {
    /// The word of `state`.
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

/// What `wait-for` waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum WaitCondition {
    /// An element in this state: else status 97.
    Element(ElementTarget, ElementState),
    /// A visible text on the page or in an element: else status 85.
    Text(Option<ElementTarget>, Matcher),
    /// The address of the page: else status 84.
    Url(Matcher),
    /// A DOM event of this name: else status 83.
    Event(String),
    /// No request under way for this long: else status 86.
    NetworkQuiet(Duration),
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageProperty {
    /// The visible text of an element, or of the page.
    Text(Option<ElementTarget>),
    /// An attribute of an element.
    Attribute(ElementTarget, String),
    /// What stands in a field.
    Value(ElementTarget),
    /// The address of the page.
    Url,
    /// The title of the page.
    Title,
    /// How many elements the first locator matches; none is a count too.
    Count(ElementTarget),
}

/// What must hold of a text. Texts are templates.
#[derive(Clone, Debug, PartialEq)]
pub enum Matcher {
    /// `equals`.
    Equals(String),
    /// `contains`.
    Contains(String),
    /// `matches`: somewhere in it.
    Matches(Pattern),
    /// `not`: the opposite.
    Not(Box<Matcher>),
    /// `at-least`, of a count.
    AtLeast(u64),
    /// `at-most`, of a count.
    AtMost(u64),
}

impl Eq for Matcher {}
