//! Writes a script as XML that parses to the same script. The output is deterministic.

use std::fmt::Write as _;
use std::time::Duration;

use super::action::{
    Action, ActionKind, DialogResponse, ElementState, ElementTarget, ExpectedEffect, FrameSelector, Locator,
    Matcher, OptionSelector, PageProperty, WaitCondition, WindowSelector,
};
use super::script::{DEFAULT_MAX_SKIPPED_ACTIONS, Script, ScriptStep};
use super::vocabulary::{ActionSpec, FRAME_KEYWORDS};

impl Script {
    /// Returns the script as XML; [`Script::parse`] returns the same script, except for positions.
    #[must_use]
    pub fn to_xml(&self) -> String {
        write_script(self)
    }
}

/// Writes the whole script.
fn write_script(script: &Script) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut root = XmlElement::new("script");
    root.set_attribute("version", "1");
    root.set_optional_attribute("name", Some(script.name.as_str()).filter(|name| !name.is_empty()));
    root.set_optional_attribute("base", script.base_url.as_deref());
    root.set_optional_attribute(
        "most-skipped",
        (script.max_skipped_actions != DEFAULT_MAX_SKIPPED_ACTIONS)
            .then(|| script.max_skipped_actions.to_string()),
    );
    root.write_start_tag(&mut out, 0);
    for variable in &script.variables {
        let mut tag = XmlElement::new("variable");
        tag.set_attribute("name", &variable.name);
        tag.set_attribute("value", &variable.value);
        tag.set_optional_attribute("protected", variable.protected.then_some("true"));
        tag.write(&mut out, 1);
    }
    for step in &script.steps {
        self::write_step(&mut out, step);
    }
    out.push_str("</script>\n");
    out
}

fn write_step(out: &mut String, step: &ScriptStep) {
    let mut tag = XmlElement::new("step");
    tag.set_attribute("name", &step.name);
    tag.set_optional_attribute("timeout", step.timeout.map(format_seconds));
    tag.write_start_tag(out, 1);
    for action in &step.actions {
        self::action_element(action).write(out, 2);
    }
    out.push_str("  </step>\n");
}

fn action_element(action: &Action) -> XmlElement {
    let mut tag = XmlElement::new(action.kind.name());
    set_action_attributes(&mut tag, &action.kind);
    tag.set_optional_attribute("optional", action.optional.then_some("true"));
    tag.set_optional_attribute("soft", action.soft.then_some("true"));
    tag.set_optional_attribute("timeout", action.timeout.map(format_seconds));
    tag.set_optional_attribute(
        "expect",
        action.expected_effect.as_ref().map(|expected| match expected {
            ExpectedEffect::LocationChange => "location".to_owned(),
            ExpectedEffect::PageUpdate => "update".to_owned(),
            ExpectedEffect::Event(name) => format!("event:{name}"),
        }),
    );
    tag
}

fn set_action_attributes(tag: &mut XmlElement, action: &ActionKind) {
    match action {
        ActionKind::Open { url } => tag.set_attribute("url", url),
        ActionKind::Click { target, .. }
        | ActionKind::Clear { target }
        | ActionKind::Hover { target }
        | ActionKind::Scroll { target: Some(target), .. }
        | ActionKind::SwitchFrame(FrameSelector::Element(target)) => {
            tag.set_target(target);
        }
        ActionKind::Type { target, text } => {
            tag.set_target(target);
            tag.set_attribute("text", text);
        }
        ActionKind::Select { target, option } => {
            tag.set_target(target);
            match option {
                OptionSelector::Value(value) => tag.set_attribute("value", value),
                OptionSelector::Label(label) => tag.set_attribute("label", label),
                OptionSelector::Index(index) => tag.set_attribute("index", index),
            }
        }
        ActionKind::SetChecked { target, checked } => {
            tag.set_target(target);
            tag.set_optional_attribute("on", (!checked).then_some("false"));
        }
        ActionKind::Press { key, target } => {
            if let Some(target) = target {
                tag.set_target(target);
            }
            tag.set_attribute("key", key);
        }
        ActionKind::Scroll { target: None, x, y } => {
            tag.set_attribute("x", x);
            tag.set_attribute("y", y);
        }
        ActionKind::SwitchFrame(FrameSelector::Index(index)) => tag.set_attribute("index", index),
        ActionKind::SwitchFrame(choice) => {
            tag.set_optional_attribute(
                "to",
                FRAME_KEYWORDS.iter().find(|(_, known)| known == choice).map(|(keyword, _)| keyword),
            );
        }
        ActionKind::SwitchWindow(choice) => set_window_attributes(tag, choice),
        ActionKind::CloseWindow | ActionKind::Dialog(DialogResponse::Accept | DialogResponse::Dismiss) => {}
        ActionKind::Dialog(DialogResponse::AcceptWithText(text)) => tag.set_attribute("text", text),
        ActionKind::WaitFor(condition) => self::set_wait_condition(tag, condition),
        ActionKind::Extract { into_variable: variable, property, pattern } => {
            set_property_attributes(tag, property, true);
            tag.set_optional_attribute("pattern", pattern.as_ref().map(|pattern| &*pattern.0));
            tag.set_attribute("into", variable);
        }
        ActionKind::RunJs { code, into_variable: variable } => {
            tag.set_optional_attribute("into", variable.as_deref());
            tag.content = Some(code.clone());
        }
        ActionKind::Screenshot { name } => tag.set_attribute("name", name),
        ActionKind::Assert { property, matcher } => {
            set_property_attributes(tag, property, false);
            tag.set_matcher(matcher);
        }
        ActionKind::AssertElement { target, state } => {
            tag.set_target(target);
            tag.set_state(*state);
        }
        ActionKind::Keyword { text, regex, invert, wait } => {
            tag.set_attribute("text", text);
            for (name, flag) in [("regex", regex), ("invert", invert), ("wait", wait)] {
                tag.set_optional_attribute(name, flag.then_some("true"));
            }
        }
    }
}

fn set_window_attributes(tag: &mut XmlElement, selector: &WindowSelector) {
    match selector {
        WindowSelector::Main => tag.set_attribute("to", "main"),
        WindowSelector::Newest => tag.set_attribute("to", "newest"),
        WindowSelector::Index(index) => tag.set_attribute("index", index),
        WindowSelector::Title(matcher) | WindowSelector::Url(matcher) => {
            tag.set_attribute(
                "to",
                if matches!(selector, WindowSelector::Title(_)) { "title" } else { "url" },
            );
            tag.set_matcher(matcher);
        }
    }
}

fn set_wait_condition(tag: &mut XmlElement, condition: &WaitCondition) {
    match condition {
        WaitCondition::Element(target, state) => {
            tag.set_target(target);
            tag.set_state(*state);
        }
        WaitCondition::Text(target, matcher) => {
            if let Some(target) = target {
                tag.set_target(target);
            }
            tag.set_matcher(matcher);
        }
        WaitCondition::Url(matcher) => tag.set_matcher(matcher),
        WaitCondition::Event(name) => tag.set_attribute("event", name),
        WaitCondition::NetworkIdle(quiet) => tag.set_attribute("quiet", format_seconds(*quiet)),
    }
}

/// Writes a property. `extract` says in `from` what it reads; an assertion says so by its own name.
fn set_property_attributes(tag: &mut XmlElement, property: &PageProperty, writes_source: bool) {
    let source = match property {
        PageProperty::Text(target) => {
            if let Some(target) = target {
                tag.set_target(target);
            }
            return;
        }
        PageProperty::Attribute(target, _) | PageProperty::Value(target) | PageProperty::Count(target) => {
            tag.set_target(target);
            match property {
                PageProperty::Attribute(..) => "attribute",
                PageProperty::Value(_) => "value",
                _ => "count",
            }
        }
        PageProperty::Url => "url",
        PageProperty::Title => "title",
    };
    tag.set_optional_attribute("from", writes_source.then_some(source));
    if let PageProperty::Attribute(_, name) = property {
        tag.set_attribute("attribute", name);
    }
}

/// Formats seconds without trailing zeros.
fn format_seconds(time: Duration) -> String {
    let text = format!("{}.{:03}", time.as_secs(), time.subsec_millis());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An element to write.
struct XmlElement {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    /// Its `by` elements.
    by_elements: Vec<(&'static str, String)>,
    content: Option<String>,
}

impl XmlElement {
    const fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), by_elements: Vec::new(), content: None }
    }

    fn set_attribute(&mut self, name: &'static str, value: impl ToString) {
        self.attributes.push((name, value.to_string()));
    }

    fn set_optional_attribute(&mut self, name: &'static str, value: Option<impl ToString>) {
        self.attributes.extend(value.map(|value| (name, value.to_string())));
    }

    fn set_target(&mut self, target: &ElementTarget) {
        let to_attribute = |locator: &Locator| match locator {
            Locator::Id(text) => ("id", text.clone()),
            Locator::Css(text) => ("css", text.clone()),
            Locator::XPath(text) => ("xpath", text.clone()),
            Locator::Link(text) => ("link", text.clone()),
            Locator::Name(text) => ("name", text.clone()),
            Locator::Text(text) => ("text", text.clone()),
        };
        let mut locators: Vec<_> = target.locators.iter().map(to_attribute).collect();
        let supports =
            |name| ActionSpec::find(self.name).is_some_and(|spec| spec.locators().any(|known| known == name));
        match locators.pop() {
            Some(single_locator) if locators.is_empty() && supports(single_locator.0) => {
                self.attributes.push(single_locator);
            }
            last_locator => {
                self.by_elements = locators;
                self.by_elements.extend(last_locator);
            }
        }
    }

    fn set_state(&mut self, state: ElementState) {
        self.set_optional_attribute("state", Some(state.name()).filter(|_| state != ElementState::Visible));
    }

    fn set_matcher(&mut self, matcher: &Matcher) {
        match matcher {
            Matcher::Equals(text) => self.set_attribute("equals", text),
            Matcher::Contains(text) => self.set_attribute("contains", text),
            Matcher::Matches(pattern) => self.set_attribute("matches", &pattern.0),
            Matcher::AtLeast(number) => self.set_attribute("at-least", number),
            Matcher::AtMost(number) => self.set_attribute("at-most", number),
            Matcher::Not(inner) => {
                self.set_matcher(inner);
                self.set_attribute("not", "true");
            }
        }
    }

    /// Writes the start tag without its end, indented by `depth` levels.
    fn write_unclosed_start_tag(&self, out: &mut String, depth: usize) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{:1$}<{2}", "", 2 * depth, self.name);
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", escape_attribute(value));
        }
    }

    fn write_start_tag(&self, out: &mut String, depth: usize) {
        self.write_unclosed_start_tag(out, depth);
        out.push_str(">\n");
    }

    fn write(&self, out: &mut String, depth: usize) {
        self.write_unclosed_start_tag(out, depth);
        if let Some(content) = &self.content {
            let _ = writeln!(out, ">{}</{}>", escape_content(content), self.name);
        } else if self.by_elements.is_empty() {
            out.push_str("/>\n");
        } else {
            out.push_str(">\n");
            for (name, value) in &self.by_elements {
                let _ =
                    writeln!(out, "{:1$}<by {name}=\"{2}\"/>", "", 2 * (depth + 1), escape_attribute(value));
            }
            let _ = writeln!(out, "{:1$}</{2}>", "", 2 * depth, self.name);
        }
    }
}

/// Escapes an attribute value for double quotes. Line breaks become references, since XML parsers would convert them to
/// spaces.
fn escape_attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            c => out.push(replace_forbidden_char(c)),
        }
    }
    out
}

/// Escapes code, in a readable form where possible.
fn escape_content(text: &str) -> String {
    if text.contains(['&', '<']) && !text.contains("]]>") && !text.contains('\r') {
        return format!("<![CDATA[{}]]>", text.chars().map(replace_forbidden_char).collect::<String>());
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(replace_forbidden_char(c)),
        }
    }
    out
}

/// Replaces characters that are not allowed in XML 1.0 (2.2) by the replacement character.
const fn replace_forbidden_char(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => c,
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}
