//! Reads the acts of a step.

use std::time::Duration;

use super::act::{
    Act, Action, Check, DialogAnswer, Expected, FrameChoice, Match, Pick, State, Target, Wanted, WindowChoice,
};
use super::element::{Element, is_blank};
use super::keys::Chord;
use super::target::target;
use super::vocabulary::{COMMON, FRAMES, From, SOURCES, STATES, WINDOWS, WindowTo, Word};

/// Without `quiet`: so long has the network to be quiet.
const QUIET: Duration = Duration::from_millis(500);

type Reading<'r, 'd, 'i, 't> = Element<'r, 'd, 'i, 't>;

/// The act that `element` is, which is called as `word` says; `None` when a fault says why not.
pub(super) fn act(element: &mut Reading<'_, '_, '_, '_>, word: &'static Word) -> Option<Act> {
    let known: Vec<&'static str> = word.all_attributes().collect();
    element.reader.attributes(element.node, &known);
    let optional = element.flag(COMMON[0], false);
    let timeout = element.seconds(COMMON[1]);
    let expected = if word.expects { expected(element) } else { None };
    let aim = if word.name == "run-js" { None } else { target(element, word) };
    let action = action(element, word, aim)?;
    let place = element.reader.places.of(element.node.range().start);
    Some(Act { action, optional, timeout, expected, place })
}

fn expected(element: &mut Reading<'_, '_, '_, '_>) -> Option<Expected> {
    let given = element.given("expect")?.trim_matches([' ', '\t', '\n', '\r']);
    match (given, given.strip_prefix("event:")) {
        ("location", _) => Some(Expected::Location),
        ("update", _) => Some(Expected::Update),
        (_, Some(name)) if is_event(name) => Some(Expected::Event(name.to_owned())),
        _ => {
            let message = "`expect` must be `location`, `update` or `event:` and the name of a DOM event";
            element.fault_in("expect", message, None);
            None
        }
    }
}

/// Letters, digits and what names of events have between them: at most 100.
fn is_event(name: &str) -> bool {
    (1..=100).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b))
}

/// What the act does; `aim` is the element that it is about.
fn action(element: &mut Reading<'_, '_, '_, '_>, word: &Word, aim: Option<Target>) -> Option<Action> {
    Some(match word.name {
        "open" => Action::Open { url: element.template("url")? },
        "click" => Action::Click { on: aim?, twice: false },
        "double-click" => Action::Click { on: aim?, twice: true },
        "type" => {
            let text = element.typed("text");
            Action::Type { into: aim?, text: text? }
        }
        "clear" => Action::Clear { field: aim? },
        "select" => {
            let pick = pick(element);
            Action::Select { field: aim?, pick: pick? }
        }
        "check" => {
            let on = element.flag("on", true);
            Action::Check { field: aim?, on }
        }
        "hover" => Action::Hover { over: aim? },
        "press" => Action::Press { key: key(element)?, on: aim },
        "scroll" => scroll(element, aim)?,
        "switch-frame" => Action::SwitchFrame(frame(element, aim)?),
        "switch-window" => Action::SwitchWindow(window(element)?),
        "close-window" => Action::CloseWindow,
        "accept-dialog" => Action::Dialog(DialogAnswer::Accept),
        "dismiss-dialog" => Action::Dialog(DialogAnswer::Dismiss),
        "answer-dialog" => Action::Dialog(DialogAnswer::Answer(element.any_template("text")?)),
        "wait-for" => {
            let state = state(element)?;
            Action::WaitFor(Wanted::Element(aim?, state))
        }
        "wait-for-text" => Action::WaitFor(Wanted::Text(aim, must(element)?)),
        "wait-for-url" => Action::WaitFor(Wanted::Url(must(element)?)),
        "wait-for-event" => Action::WaitFor(Wanted::Event(event(element)?)),
        "wait-for-network-quiet" => {
            let quiet = if element.given("quiet").is_some() { element.seconds("quiet")? } else { QUIET };
            Action::WaitFor(Wanted::NetworkQuiet(quiet))
        }
        "extract" => extract(element, aim)?,
        "run-js" => run_js(element)?,
        "screenshot" => {
            element.filled("name")?;
            Action::Screenshot { name: element.title("name") }
        }
        "assert-text" => Action::Assert { what: Check::Text(aim), must: must(element)? },
        "assert-element" => {
            let state = state(element)?;
            Action::AssertElement { element: aim?, state }
        }
        "assert-attribute" => {
            let (name, must) = (attribute(element), must(element));
            Action::Assert { what: Check::Attribute(aim?, name?), must: must? }
        }
        "assert-value" => {
            let must = must(element);
            Action::Assert { what: Check::Value(aim?), must: must? }
        }
        "assert-count" => {
            let must = count(element);
            Action::Assert { what: Check::Count(aim?), must: must? }
        }
        "assert-url" => Action::Assert { what: Check::Url, must: must(element)? },
        "assert-title" => Action::Assert { what: Check::Title, must: must(element)? },
        _ => keyword(element)?,
    })
}

impl Element<'_, '_, '_, '_> {
    /// A text that is typed: not empty, but it may be spaces.
    fn typed(&mut self, name: &str) -> Option<String> {
        let text = self.any_template(name)?;
        if text.is_empty() {
            let hint = (self.name() == "type").then(|| "`clear` empties a field".to_owned());
            self.fault_in(name, format!("`{name}` of `{}` is empty", self.name()), hint);
            return None;
        }
        Some(text)
    }

    /// The one of `names` that is given; a fault when it is none, or several.
    fn exactly_one(&mut self, names: &[&'static str]) -> Option<&'static str> {
        let given: Vec<&'static str> =
            names.iter().copied().filter(|name| self.given(name).is_some()).collect();
        if let [one] = given.as_slice() {
            return Some(one);
        }
        let words: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("`{}` needs exactly one of {}", self.name(), words.join(", "));
        self.fault(message);
        None
    }
}

fn pick(element: &mut Reading<'_, '_, '_, '_>) -> Option<Pick> {
    match element.exactly_one(&["value", "label", "index"])? {
        "value" => element.any_template("value").map(Pick::Value),
        "label" => element.template("label").map(Pick::Label),
        _ => element.number("index", 0, 100_000).and_then(|index| u32::try_from(index).ok()).map(Pick::Index),
    }
}

fn key(element: &mut Reading<'_, '_, '_, '_>) -> Option<String> {
    let key = element.needed("key")?;
    if Chord::of(key).is_some() {
        return Some(key.to_owned());
    }
    let message = format!("`{}` is no key", crate::syntax::truncate_value(key));
    let hint =
        "one character, or a name such as `Enter`, `Tab`, `ArrowDown`; held keys before it: `Control+a`";
    element.fault_in("key", message, Some(hint.to_owned()));
    None
}

fn scroll(element: &mut Reading<'_, '_, '_, '_>, aim: Option<Target>) -> Option<Action> {
    const FAR: i64 = 1_000_000;
    let mut pixels = |name| match element.given(name) {
        Some(_) => element.number(name, -FAR, FAR),
        None => Some(0),
    };
    let (x, y) = (pixels("x")?, pixels("y")?);
    let by_pixels = element.given("x").or(element.given("y")).is_some();
    if by_pixels == aim.is_some() {
        element.fault("`scroll` needs either an element or pixels, `x` and `y`");
        return None;
    }
    Some(Action::Scroll { to: aim, x, y })
}

fn frame(element: &mut Reading<'_, '_, '_, '_>, aim: Option<Target>) -> Option<FrameChoice> {
    match (aim, element.given("index"), element.given("to")) {
        (Some(target), None, None) => Some(FrameChoice::Element(target)),
        (None, Some(_), None) => element
            .number("index", 0, 9999)
            .and_then(|index| u16::try_from(index).ok())
            .map(FrameChoice::Index),
        (None, None, Some(_)) => element.choice("to", FRAMES),
        _ => {
            element.fault("`switch-frame` needs either the element of a frame, or `index`, or `to`");
            None
        }
    }
}

fn window(element: &mut Reading<'_, '_, '_, '_>) -> Option<WindowChoice> {
    let matches =
        ["equals", "contains", "matches", "not"].into_iter().any(|name| element.given(name).is_some());
    let by_index = element.exactly_one(&["index", "to"])? == "index";
    let to = if by_index { None } else { Some(element.choice("to", WINDOWS)?) };
    if matches && !matches!(to, Some(WindowTo::Title | WindowTo::Url)) {
        element.fault("what must hold of a window goes with `to=\"title\"` or `to=\"url\"`");
        return None;
    }
    Some(match to {
        None => WindowChoice::Index(u32::try_from(element.number("index", 0, 9999)?).ok()?),
        Some(WindowTo::Main) => WindowChoice::Main,
        Some(WindowTo::Newest) => WindowChoice::Newest,
        Some(WindowTo::Title) => WindowChoice::Title(must(element)?),
        Some(WindowTo::Url) => WindowChoice::Url(must(element)?),
    })
}

fn state(element: &mut Reading<'_, '_, '_, '_>) -> Option<State> {
    if element.given("state").is_none() { Some(State::Visible) } else { element.choice("state", STATES) }
}

fn event(element: &mut Reading<'_, '_, '_, '_>) -> Option<String> {
    let name = element.needed("event")?;
    if is_event(name) {
        return Some(name.to_owned());
    }
    element.fault_in("event", "`event` must be the name of a DOM event: letters, digits and `_ - . :`", None);
    None
}

/// The name of an attribute of HTML.
fn attribute(element: &mut Reading<'_, '_, '_, '_>) -> Option<String> {
    let name = element.needed("attribute")?;
    if !name.is_empty()
        && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "\"'<>/=".contains(c))
    {
        return Some(name.to_owned());
    }
    element.fault_in("attribute", "`attribute` must be the name of an attribute, such as `href`", None);
    None
}

/// What must hold of a text.
fn must(element: &mut Reading<'_, '_, '_, '_>) -> Option<Match> {
    let found = match element.exactly_one(&["equals", "contains", "matches"])? {
        "equals" => Match::Equals(element.any_template("equals")?),
        "contains" => Match::Contains(element.typed("contains")?),
        _ => Match::Matches(element.pattern("matches")?),
    };
    Some(opposite(element, found))
}

/// What must hold of a number of elements.
fn count(element: &mut Reading<'_, '_, '_, '_>) -> Option<Match> {
    const MOST: i64 = 1_000_000;
    let limit = |element: &mut Reading<'_, '_, '_, '_>, name| {
        element.number(name, 0, MOST).and_then(|number| u64::try_from(number).ok())
    };
    let found = match element.exactly_one(&["equals", "at-least", "at-most"])? {
        "at-least" => Match::AtLeast(limit(element, "at-least")?),
        "at-most" => Match::AtMost(limit(element, "at-most")?),
        _ if element.given("equals").is_some_and(|given| given.contains("{{")) => {
            Match::Equals(element.template("equals")?)
        }
        _ => Match::Equals(element.number("equals", 0, MOST)?.to_string()),
    };
    Some(opposite(element, found))
}

fn opposite(element: &mut Reading<'_, '_, '_, '_>, found: Match) -> Match {
    if element.flag("not", false) { Match::Not(Box::new(found)) } else { found }
}

fn extract(element: &mut Reading<'_, '_, '_, '_>, aim: Option<Target>) -> Option<Action> {
    let into = element.variable("into");
    let source =
        if element.given("from").is_none() { From::Text } else { element.choice("from", SOURCES)? };
    let pattern = if element.given("pattern").is_none() { None } else { Some(element.pattern("pattern")?) };
    if element.given("attribute").is_some() && source != From::Attribute {
        element.fault_in("attribute", "`attribute` goes with `from=\"attribute\"`", None);
        return None;
    }
    let unwanted = aim.is_some() && matches!(source, From::Url | From::Title);
    let missing = aim.is_none() && matches!(source, From::Attribute | From::Value | From::Count);
    if unwanted || missing {
        let what = if missing { "needs an element" } else { "is of the page, and not of an element" };
        element.fault(format!("what `extract` takes by this `from` {what}"));
        return None;
    }
    let from = match source {
        From::Text => Check::Text(aim),
        From::Attribute => Check::Attribute(aim?, attribute(element)?),
        From::Value => Check::Value(aim?),
        From::Url => Check::Url,
        From::Title => Check::Title,
        From::Count => Check::Count(aim?),
    };
    let into = into?;
    element.reader.set.insert(into.clone());
    Some(Action::Extract { into, from, pattern })
}

fn run_js(element: &mut Reading<'_, '_, '_, '_>) -> Option<Action> {
    let mut code = String::new();
    for child in element.node.children() {
        if child.is_element() {
            element
                .reader
                .fault_at(child, "elements do not belong into `run-js`; write `<` as `&lt;`, or use CDATA");
            return None;
        }
        if child.is_text() {
            code.push_str(child.text().unwrap_or_default());
        }
    }
    if is_blank(&code) {
        element.fault("`run-js` has no code in it");
        return None;
    }
    element.placeholders(element.node.range().start, &code);
    let into = if element.given("into").is_none() { None } else { Some(element.variable("into")?) };
    element.reader.set.extend(into.clone());
    Some(Action::RunJs { code, into })
}

fn keyword(element: &mut Reading<'_, '_, '_, '_>) -> Option<Action> {
    let text = element.template("text")?;
    let regex = element.flag("regex", false);
    if regex {
        element.compiled("text", &text)?;
    }
    let (invert, wait) = (element.flag("invert", false), element.flag("wait", false));
    Some(Action::Keyword { text, regex, invert, wait })
}
