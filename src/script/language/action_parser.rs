//! Parses the actions of a step.

use std::time::Duration;

use super::action::{
    Action, ActionKind, DialogResponse, ElementState, ElementTarget, ExpectedEffect, FrameSelector, Matcher,
    OptionSelector, PageProperty, WaitCondition, WindowSelector,
};
use super::element::{ElementParser, is_blank};
use super::element_target::parse_target;
use super::keys::KeyChord;
use super::vocabulary::{
    ActionSpec, ELEMENT_STATES, EXTRACT_SOURCES, ExtractSource, FRAME_KEYWORDS, WINDOW_KEYWORDS,
    WindowKeyword,
};

/// Default of the attribute `quiet`: how long the network must be idle.
const DEFAULT_NETWORK_IDLE: Duration = Duration::from_millis(500);

/// Parses the action in `element`, which is described by `spec`; returns `None` after adding an error.
pub(super) fn parse_action(
    element: &mut ElementParser<'_, '_, '_, '_>,
    spec: &'static ActionSpec,
) -> Option<Action> {
    let allowed: Vec<&'static str> = spec.all_attributes().collect();
    element.context.check_attributes(element.node, &allowed);
    let optional = element.bool_attribute("optional", false);
    let timeout = element.seconds_attribute("timeout");
    let soft = element.bool_attribute("soft", false);
    let expected = if spec.supports_expect { parse_expected(element) } else { None };
    let target = if spec.name == "run-js" { None } else { parse_target(element, spec) };
    let kind = parse_action_kind(element, spec, target)?;
    let position = element.context.line_index.position_at(element.node.range().start);
    Some(Action { kind, optional, soft, timeout, expected_effect: expected, position })
}

fn parse_expected(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<ExpectedEffect> {
    let value = element.attribute("expect")?.trim_matches([' ', '\t', '\n', '\r']);
    match (value, value.strip_prefix("event:")) {
        ("location", _) => Some(ExpectedEffect::LocationChange),
        ("update", _) => Some(ExpectedEffect::PageUpdate),
        (_, Some(name)) if is_event_name(name) => Some(ExpectedEffect::Event(name.to_owned())),
        _ => {
            let message = "`expect` must be `location`, `update` or `event:` and the name of a DOM event";
            element.add_attribute_error("expect", message, None);
            None
        }
    }
}

/// Whether `name` is a valid event name: letters, digits and common separators, at most 100.
fn is_event_name(name: &str) -> bool {
    (1..=100).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b))
}

/// Parses what the action does; `target` is the element that it acts on.
fn parse_action_kind(
    element: &mut ElementParser<'_, '_, '_, '_>,
    spec: &ActionSpec,
    target: Option<ElementTarget>,
) -> Option<ActionKind> {
    Some(match spec.name {
        "open" => ActionKind::Open { url: element.non_blank_template("url")? },
        "click" => ActionKind::Click { target: target?, double: false },
        "double-click" => ActionKind::Click { target: target?, double: true },
        "type" => {
            let text = element.non_empty_template("text");
            ActionKind::Type { target: target?, text: text? }
        }
        "clear" => ActionKind::Clear { target: target? },
        "select" => {
            let option = parse_option(element);
            ActionKind::Select { target: target?, option: option? }
        }
        "check" => {
            let checked = element.bool_attribute("on", true);
            ActionKind::SetChecked { target: target?, checked }
        }
        "hover" => ActionKind::Hover { target: target? },
        "press" => ActionKind::Press { key: parse_key_chord(element)?, target },
        "scroll" => parse_scroll(element, target)?,
        "switch-frame" => ActionKind::SwitchFrame(parse_frame(element, target)?),
        "switch-window" => ActionKind::SwitchWindow(parse_window(element)?),
        "close-window" => ActionKind::CloseWindow,
        "accept-dialog" => ActionKind::Dialog(DialogResponse::Accept),
        "dismiss-dialog" => ActionKind::Dialog(DialogResponse::Dismiss),
        "answer-dialog" => {
            ActionKind::Dialog(DialogResponse::AcceptWithText(element.required_template("text")?))
        }
        "wait-for" => {
            let state = parse_state(element)?;
            ActionKind::WaitFor(WaitCondition::Element(target?, state))
        }
        "wait-for-text" => ActionKind::WaitFor(WaitCondition::Text(target, parse_matcher(element)?)),
        "wait-for-url" => ActionKind::WaitFor(WaitCondition::Url(parse_matcher(element)?)),
        "wait-for-event" => ActionKind::WaitFor(WaitCondition::Event(parse_event_name(element)?)),
        "wait-for-network-quiet" => {
            let idle_time = if element.attribute("quiet").is_some() {
                element.seconds_attribute("quiet")?
            } else {
                DEFAULT_NETWORK_IDLE
            };
            ActionKind::WaitFor(WaitCondition::NetworkIdle(idle_time))
        }
        "extract" => parse_extract(element, target)?,
        "run-js" => parse_run_js(element)?,
        "screenshot" => {
            element.non_blank_attribute("name")?;
            ActionKind::Screenshot { name: element.display_name_attribute("name") }
        }
        "assert-text" => {
            ActionKind::Assert { property: PageProperty::Text(target), matcher: parse_matcher(element)? }
        }
        "assert-element" => {
            let state = parse_state(element)?;
            ActionKind::AssertElement { target: target?, state }
        }
        "assert-attribute" => {
            let (name, matcher) = (parse_attribute_name(element), parse_matcher(element));
            ActionKind::Assert { property: PageProperty::Attribute(target?, name?), matcher: matcher? }
        }
        "assert-value" => {
            let matcher = parse_matcher(element);
            ActionKind::Assert { property: PageProperty::Value(target?), matcher: matcher? }
        }
        "assert-count" => {
            let matcher = parse_count_matcher(element);
            ActionKind::Assert { property: PageProperty::Count(target?), matcher: matcher? }
        }
        "assert-url" => ActionKind::Assert { property: PageProperty::Url, matcher: parse_matcher(element)? },
        "assert-title" => {
            ActionKind::Assert { property: PageProperty::Title, matcher: parse_matcher(element)? }
        }
        _ => parse_keyword(element)?,
    })
}

impl ElementParser<'_, '_, '_, '_> {
    /// Returns a text with placeholders; it must not be empty, but may be blank.
    fn non_empty_template(&mut self, name: &str) -> Option<String> {
        let text = self.required_template(name)?;
        if text.is_empty() {
            let hint = (self.name() == "type").then(|| "`clear` empties a field".to_owned());
            self.add_attribute_error(name, format!("`{name}` of `{}` is empty", self.name()), hint);
            return None;
        }
        Some(text)
    }

    /// Returns the attribute among `names` that is present; adds an error unless it is exactly one.
    fn exactly_one_attribute(&mut self, names: &[&'static str]) -> Option<&'static str> {
        let present: Vec<&'static str> =
            names.iter().copied().filter(|name| self.attribute(name).is_some()).collect();
        if let [present_name] = present.as_slice() {
            return Some(present_name);
        }
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("`{}` needs exactly one of {}", self.name(), quoted.join(", "));
        self.add_error(message);
        None
    }
}

fn parse_option(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<OptionSelector> {
    match element.exactly_one_attribute(&["value", "label", "index"])? {
        "value" => element.required_template("value").map(OptionSelector::Value),
        "label" => element.non_blank_template("label").map(OptionSelector::Label),
        _ => element
            .integer_attribute("index", 0, 100_000)
            .and_then(|index| u32::try_from(index).ok())
            .map(OptionSelector::Index),
    }
}

fn parse_key_chord(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<String> {
    let key = element.required_attribute("key")?;
    if KeyChord::parse(key).is_some() {
        return Some(key.to_owned());
    }
    let message = format!("`{}` is not a key", crate::syntax::truncate_value(key));
    let hint =
        "one character, or a name such as `Enter`, `Tab`, `ArrowDown`; held keys before it: `Control+a`";
    element.add_attribute_error("key", message, Some(hint.to_owned()));
    None
}

fn parse_scroll(
    element: &mut ElementParser<'_, '_, '_, '_>,
    target: Option<ElementTarget>,
) -> Option<ActionKind> {
    const MAX_PIXELS: i64 = 1_000_000;
    let mut parse_pixels = |name| match element.attribute(name) {
        Some(_) => element.integer_attribute(name, -MAX_PIXELS, MAX_PIXELS),
        None => Some(0),
    };
    let (x, y) = (parse_pixels("x")?, parse_pixels("y")?);
    let by_pixels = element.attribute("x").or(element.attribute("y")).is_some();
    if by_pixels == target.is_some() {
        element.add_error("`scroll` needs either an element or pixels, `x` and `y`");
        return None;
    }
    Some(ActionKind::Scroll { target, x, y })
}

fn parse_frame(
    element: &mut ElementParser<'_, '_, '_, '_>,
    target: Option<ElementTarget>,
) -> Option<FrameSelector> {
    match (target, element.attribute("index"), element.attribute("to")) {
        (Some(target), None, None) => Some(FrameSelector::Element(target)),
        (None, Some(_), None) => element
            .integer_attribute("index", 0, 9999)
            .and_then(|index| u16::try_from(index).ok())
            .map(FrameSelector::Index),
        (None, None, Some(_)) => element.choice_attribute("to", FRAME_KEYWORDS),
        _ => {
            element.add_error("`switch-frame` needs either the element of a frame, or `index`, or `to`");
            None
        }
    }
}

fn parse_window(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<WindowSelector> {
    let has_condition =
        ["equals", "contains", "matches", "not"].into_iter().any(|name| element.attribute(name).is_some());
    let by_index = element.exactly_one_attribute(&["index", "to"])? == "index";
    let keyword = if by_index { None } else { Some(element.choice_attribute("to", WINDOW_KEYWORDS)?) };
    if has_condition && !matches!(keyword, Some(WindowKeyword::Title | WindowKeyword::Url)) {
        element.add_error("conditions of a window require `to=\"title\"` or `to=\"url\"`");
        return None;
    }
    Some(match keyword {
        None => WindowSelector::Index(u32::try_from(element.integer_attribute("index", 0, 9999)?).ok()?),
        Some(WindowKeyword::Main) => WindowSelector::Main,
        Some(WindowKeyword::Newest) => WindowSelector::Newest,
        Some(WindowKeyword::Title) => WindowSelector::Title(parse_matcher(element)?),
        Some(WindowKeyword::Url) => WindowSelector::Url(parse_matcher(element)?),
    })
}

fn parse_state(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<ElementState> {
    if element.attribute("state").is_none() {
        Some(ElementState::Visible)
    } else {
        element.choice_attribute("state", ELEMENT_STATES)
    }
}

fn parse_event_name(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<String> {
    let name = element.required_attribute("event")?;
    if is_event_name(name) {
        return Some(name.to_owned());
    }
    element.add_attribute_error(
        "event",
        "`event` must be the name of a DOM event: letters, digits and `_ - . :`",
        None,
    );
    None
}

/// Parses the name of an HTML attribute.
fn parse_attribute_name(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<String> {
    let name = element.required_attribute("attribute")?;
    if !name.is_empty()
        && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "\"'<>/=".contains(c))
    {
        return Some(name.to_owned());
    }
    element.add_attribute_error(
        "attribute",
        "`attribute` must be the name of an attribute, such as `href`",
        None,
    );
    None
}

/// Parses the condition of a text.
fn parse_matcher(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<Matcher> {
    let matcher = match element.exactly_one_attribute(&["equals", "contains", "matches"])? {
        "equals" => Matcher::Equals(element.required_template("equals")?),
        "contains" => Matcher::Contains(element.non_empty_template("contains")?),
        _ => Matcher::Matches(element.regex_attribute("matches")?),
    };
    Some(negate_if_not(element, matcher))
}

/// Parses the condition of a number of elements.
fn parse_count_matcher(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<Matcher> {
    const MAX_COUNT: i64 = 1_000_000;
    let parse_count = |element: &mut ElementParser<'_, '_, '_, '_>, name| {
        element.integer_attribute(name, 0, MAX_COUNT).and_then(|number| u64::try_from(number).ok())
    };
    let matcher = match element.exactly_one_attribute(&["equals", "at-least", "at-most"])? {
        "at-least" => Matcher::AtLeast(parse_count(element, "at-least")?),
        "at-most" => Matcher::AtMost(parse_count(element, "at-most")?),
        _ if element.attribute("equals").is_some_and(|given| given.contains("{{")) => {
            Matcher::Equals(element.non_blank_template("equals")?)
        }
        _ => Matcher::Equals(element.integer_attribute("equals", 0, MAX_COUNT)?.to_string()),
    };
    Some(negate_if_not(element, matcher))
}

fn negate_if_not(element: &mut ElementParser<'_, '_, '_, '_>, matcher: Matcher) -> Matcher {
    if element.bool_attribute("not", false) { Matcher::Not(Box::new(matcher)) } else { matcher }
}

fn parse_extract(
    element: &mut ElementParser<'_, '_, '_, '_>,
    target: Option<ElementTarget>,
) -> Option<ActionKind> {
    let variable = element.variable_name_attribute("into");
    let source = if element.attribute("from").is_none() {
        ExtractSource::Text
    } else {
        element.choice_attribute("from", EXTRACT_SOURCES)?
    };
    let pattern =
        if element.attribute("pattern").is_none() { None } else { Some(element.regex_attribute("pattern")?) };
    if element.attribute("attribute").is_some() && source != ExtractSource::Attribute {
        element.add_attribute_error("attribute", "`attribute` goes with `from=\"attribute\"`", None);
        return None;
    }
    let has_needless_target = target.is_some() && matches!(source, ExtractSource::Url | ExtractSource::Title);
    let lacks_target = target.is_none()
        && matches!(source, ExtractSource::Attribute | ExtractSource::Value | ExtractSource::Count);
    if has_needless_target || lacks_target {
        let problem = if lacks_target { "needs an element" } else { "is of the page, and not of an element" };
        element.add_error(format!("the value selected by `from` {problem}"));
        return None;
    }
    let property = match source {
        ExtractSource::Text => PageProperty::Text(target),
        ExtractSource::Attribute => PageProperty::Attribute(target?, parse_attribute_name(element)?),
        ExtractSource::Value => PageProperty::Value(target?),
        ExtractSource::Url => PageProperty::Url,
        ExtractSource::Title => PageProperty::Title,
        ExtractSource::Count => PageProperty::Count(target?),
    };
    let variable = variable?;
    element.context.defined_variables.insert(variable.clone());
    Some(ActionKind::Extract { into_variable: variable, property, pattern })
}

fn parse_run_js(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<ActionKind> {
    let mut code = String::new();
    for child in element.node.children() {
        if child.is_element() {
            element.context.add_error_at(
                child,
                "elements are not allowed in `run-js`; write `<` as `&lt;`, or use CDATA",
            );
            return None;
        }
        if child.is_text() {
            code.push_str(child.text().unwrap_or_default());
        }
    }
    if is_blank(&code) {
        element.add_error("`run-js` has no code in it");
        return None;
    }
    element.check_placeholders(element.node.range().start, &code);
    let variable = if element.attribute("into").is_none() {
        None
    } else {
        Some(element.variable_name_attribute("into")?)
    };
    element.context.defined_variables.extend(variable.clone());
    Some(ActionKind::RunJs { code, into_variable: variable })
}

fn parse_keyword(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<ActionKind> {
    let text = element.non_blank_template("text")?;
    let regex = element.bool_attribute("regex", false);
    if regex {
        element.check_regex("text", &text)?;
    }
    let (invert, wait) = (element.bool_attribute("invert", false), element.bool_attribute("wait", false));
    Some(ActionKind::Keyword { text, regex, invert, wait })
}
