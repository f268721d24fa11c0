//! Writes a script as XML that reads back as the same script, always the same for the same script.

use std::fmt::Write as _;
use std::time::Duration;

use super::act::{
    Act, Action, Check, DialogAnswer, Expected, FrameChoice, Locator, Match, Pick, State, Target, Wanted,
    WindowChoice,
};
use super::script::{MOST_SKIPPED, Script, Step};
use super::vocabulary::{FRAMES, Word};

impl Script {
    /// The script as XML; [`Script::read`] makes the same of it, but for places.
    #[must_use]
    pub fn to_xml(&self) -> String {
        script(self)
    }
}

/// The whole text.
fn script(script: &Script) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut root = Tag::new("script");
    root.set("version", "1");
    root.set_some("name", Some(script.name.as_str()).filter(|name| !name.is_empty()));
    root.set_some("base", script.base.as_deref());
    root.set_some(
        "most-skipped",
        (script.most_skipped != MOST_SKIPPED).then(|| script.most_skipped.to_string()),
    );
    root.open(&mut out, 0);
    for variable in &script.variables {
        let mut tag = Tag::new("variable");
        tag.set("name", &variable.name);
        tag.set("value", &variable.value);
        tag.set_some("protected", variable.protected.then_some("true"));
        tag.whole(&mut out, 1);
    }
    for step in &script.steps {
        self::step(&mut out, step);
    }
    out.push_str("</script>\n");
    out
}

fn step(out: &mut String, step: &Step) {
    let mut tag = Tag::new("step");
    tag.set("name", &step.name);
    tag.set_some("timeout", step.timeout.map(seconds));
    tag.open(out, 1);
    for act in &step.acts {
        self::act(act).whole(out, 2);
    }
    out.push_str("  </step>\n");
}

fn act(act: &Act) -> Tag {
    let mut tag = Tag::new(act.action.name());
    describe(&mut tag, &act.action);
    tag.set_some("optional", act.optional.then_some("true"));
    tag.set_some("timeout", act.timeout.map(seconds));
    tag.set_some(
        "expect",
        act.expected.as_ref().map(|expected| match expected {
            Expected::Location => "location".to_owned(),
            Expected::Update => "update".to_owned(),
            Expected::Event(name) => format!("event:{name}"),
        }),
    );
    tag
}

fn describe(tag: &mut Tag, action: &Action) {
    match action {
        Action::Open { url } => tag.set("url", url),
        Action::Click { on: target, .. }
        | Action::Clear { field: target }
        | Action::Hover { over: target }
        | Action::Scroll { to: Some(target), .. }
        | Action::SwitchFrame(FrameChoice::Element(target)) => {
            tag.target(target);
        }
        Action::Type { into, text } => {
            tag.target(into);
            tag.set("text", text);
        }
        Action::Select { field, pick } => {
            tag.target(field);
            match pick {
                Pick::Value(value) => tag.set("value", value),
                Pick::Label(label) => tag.set("label", label),
                Pick::Index(index) => tag.set("index", index),
            }
        }
        Action::Check { field, on } => {
            tag.target(field);
            tag.set_some("on", (!on).then_some("false"));
        }
        Action::Press { key, on } => {
            if let Some(target) = on {
                tag.target(target);
            }
            tag.set("key", key);
        }
        Action::Scroll { to: None, x, y } => {
            tag.set("x", x);
            tag.set("y", y);
        }
        Action::SwitchFrame(FrameChoice::Index(index)) => tag.set("index", index),
        Action::SwitchFrame(choice) => {
            tag.set_some("to", FRAMES.iter().find(|(_, known)| known == choice).map(|(word, _)| word));
        }
        Action::SwitchWindow(choice) => window(tag, choice),
        Action::CloseWindow | Action::Dialog(DialogAnswer::Accept | DialogAnswer::Dismiss) => {}
        Action::Dialog(DialogAnswer::Answer(text)) => tag.set("text", text),
        Action::WaitFor(wanted) => self::wanted(tag, wanted),
        Action::Extract { into, from, pattern } => {
            check(tag, from, true);
            tag.set_some("pattern", pattern.as_ref().map(|pattern| pattern.0.as_str()));
            tag.set("into", into);
        }
        Action::RunJs { code, into } => {
            tag.set_some("into", into.as_deref());
            tag.content = Some(code.clone());
        }
        Action::Screenshot { name } => tag.set("name", name),
        Action::Assert { what, must } => {
            check(tag, what, false);
            tag.must(must);
        }
        Action::AssertElement { element, state } => {
            tag.target(element);
            tag.state(*state);
        }
        Action::Keyword { text, regex, invert, wait } => {
            tag.set("text", text);
            for (name, flag) in [("regex", regex), ("invert", invert), ("wait", wait)] {
                tag.set_some(name, flag.then_some("true"));
            }
        }
    }
}

fn window(tag: &mut Tag, choice: &WindowChoice) {
    match choice {
        WindowChoice::Main => tag.set("to", "main"),
        WindowChoice::Newest => tag.set("to", "newest"),
        WindowChoice::Index(index) => tag.set("index", index),
        WindowChoice::Title(must) | WindowChoice::Url(must) => {
            tag.set("to", if matches!(choice, WindowChoice::Title(_)) { "title" } else { "url" });
            tag.must(must);
        }
    }
}

fn wanted(tag: &mut Tag, wanted: &Wanted) {
    match wanted {
        Wanted::Element(target, state) => {
            tag.target(target);
            tag.state(*state);
        }
        Wanted::Text(target, must) => {
            if let Some(target) = target {
                tag.target(target);
            }
            tag.must(must);
        }
        Wanted::Url(must) => tag.must(must),
        Wanted::Event(name) => tag.set("event", name),
        Wanted::NetworkQuiet(quiet) => tag.set("quiet", seconds(*quiet)),
    }
}

/// What is looked at; an `extract` says of what kind it is, an assertion is called so.
fn check(tag: &mut Tag, check: &Check, says_kind: bool) {
    let kind = match check {
        Check::Text(target) => {
            if let Some(target) = target {
                tag.target(target);
            }
            return;
        }
        Check::Attribute(target, _) | Check::Value(target) | Check::Count(target) => {
            tag.target(target);
            match check {
                Check::Attribute(..) => "attribute",
                Check::Value(_) => "value",
                _ => "count",
            }
        }
        Check::Url => "url",
        Check::Title => "title",
    };
    tag.set_some("from", says_kind.then_some(kind));
    if let Check::Attribute(_, name) = check {
        tag.set("attribute", name);
    }
}

/// Seconds with no more decimals than they need.
fn seconds(time: Duration) -> String {
    let text = format!("{}.{:03}", time.as_secs(), time.subsec_millis());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An element that is put together.
struct Tag {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    /// Its `by` elements.
    by: Vec<(&'static str, String)>,
    content: Option<String>,
}

impl Tag {
    const fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), by: Vec::new(), content: None }
    }

    fn set(&mut self, name: &'static str, value: impl ToString) {
        self.attributes.push((name, value.to_string()));
    }

    fn set_some(&mut self, name: &'static str, value: Option<impl ToString>) {
        self.attributes.extend(value.map(|value| (name, value.to_string())));
    }

    fn target(&mut self, target: &Target) {
        let written = |locator: &Locator| match locator {
            Locator::Id(text) => ("id", text.clone()),
            Locator::Css(text) => ("css", text.clone()),
            Locator::XPath(text) => ("xpath", text.clone()),
            Locator::Link(text) => ("link", text.clone()),
            Locator::Name(text) => ("name", text.clone()),
            Locator::Text(text) => ("text", text.clone()),
        };
        let mut locators: Vec<_> = target.locators.iter().map(written).collect();
        let takes =
            |name| Word::named(self.name).is_some_and(|word| word.locators().any(|known| known == name));
        match locators.pop() {
            Some(only) if locators.is_empty() && takes(only.0) => self.attributes.push(only),
            last => {
                self.by = locators;
                self.by.extend(last);
            }
        }
    }

    fn state(&mut self, state: State) {
        self.set_some("state", Some(state.name()).filter(|_| state != State::Visible));
    }

    fn must(&mut self, must: &Match) {
        match must {
            Match::Equals(text) => self.set("equals", text),
            Match::Contains(text) => self.set("contains", text),
            Match::Matches(pattern) => self.set("matches", pattern.0.as_str()),
            Match::AtLeast(number) => self.set("at-least", number),
            Match::AtMost(number) => self.set("at-most", number),
            Match::Not(inner) => {
                self.must(inner);
                self.set("not", "true");
            }
        }
    }

    /// Writes its start, `depth` levels in.
    fn start(&self, out: &mut String, depth: usize) {
        // Writing into a text cannot fail.
        let _ = write!(out, "{:1$}<{2}", "", 2 * depth, self.name);
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", quoted(value));
        }
    }

    fn open(&self, out: &mut String, depth: usize) {
        self.start(out, depth);
        out.push_str(">\n");
    }

    fn whole(&self, out: &mut String, depth: usize) {
        self.start(out, depth);
        if let Some(content) = &self.content {
            let _ = writeln!(out, ">{}</{}>", code(content), self.name);
        } else if self.by.is_empty() {
            out.push_str("/>\n");
        } else {
            out.push_str(">\n");
            for (name, value) in &self.by {
                let _ = writeln!(out, "{:1$}<by {name}=\"{2}\"/>", "", 2 * (depth + 1), quoted(value));
            }
            let _ = writeln!(out, "{:1$}</{2}>", "", 2 * depth, self.name);
        }
    }
}

/// A text between double quotes. Line breaks are written as references: XML makes spaces of them otherwise.
fn quoted(text: &str) -> String {
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
            c => out.push(allowed(c)),
        }
    }
    out
}

/// Code, readable where it can be.
fn code(text: &str) -> String {
    if text.contains(['&', '<']) && !text.contains("]]>") && !text.contains('\r') {
        return format!("<![CDATA[{}]]>", text.chars().map(allowed).collect::<String>());
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(allowed(c)),
        }
    }
    out
}

/// What XML 1.0 has no way to write becomes the character for what is unknown (XML 1.0, 2.2).
const fn allowed(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => c,
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}
