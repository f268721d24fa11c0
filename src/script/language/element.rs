//! An element of a script while it is read: its attributes by what they must be, its faults with their place.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

use regex::{Regex, RegexBuilder};
use roxmltree::{Attribute, Node};

use super::action::Pattern;
use super::line_index::LineIndex;
use crate::script::script_error::ScriptError;
use crate::syntax::template::{BUILT_IN_VARIABLES, TemplatePart, has_placeholders, parse};
use crate::syntax::text_format::TextFormat;
use crate::syntax::{closest_match, truncate_value};

/// Faults of one script that are told.
const MAX_ERRORS: usize = 100;
/// Regular expressions of one script.
const MAX_PATTERNS: usize = 100;
/// Characters of one of them, or of a locator: what is made of one while it is looked at is many times larger.
pub(super) const MAX_EXPRESSION_CHARS: usize = 10_000;
/// Bytes of a regular expression, compiled.
const MAX_COMPILED_BYTES: usize = 512 * 1024;
/// Variables that an unknown name is compared with.
const MAX_SUGGESTION_CANDIDATES: usize = 1000;
/// Seconds that a step or an act may take.
const MAX_TIMEOUT_SECONDS: u64 = 3600;
/// What XML itself takes for space.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
/// The only attributes of another namespace: they tell editors which schema to use.
const SCHEMA_INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// What is known of the script so far.
pub(super) struct ParseContext<'t> {
    pub(super) line_index: LineIndex<'t>,
    pub(super) errors: Vec<ScriptError>,
    /// Variables that are set: declared, or filled by an act before.
    pub(super) defined_variables: HashSet<String>,
    patterns: usize,
}

impl<'t> ParseContext<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            line_index: LineIndex::new(text),
            errors: Vec::new(),
            defined_variables: HashSet::new(),
            patterns: 0,
        }
    }

    /// Whether so much is wrong that reading on helps nobody.
    pub(super) fn too_many_errors(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    pub(super) fn add_error(&mut self, at: usize, message: impl Into<String>, hint: Option<String>) {
        if !self.too_many_errors() {
            self.errors.push(ScriptError {
                position: self.line_index.position_at(at),
                message: message.into(),
                hint,
            });
        }
    }

    pub(super) fn add_error_at(&mut self, node: Node<'_, '_>, message: impl Into<String>) {
        self.add_error(node.range().start, message, None);
    }

    /// Says of elements, texts and namespaces in `parent` that they do not belong there; gives the others.
    pub(super) fn known_children<'d, 'i>(
        &mut self,
        parent: Node<'d, 'i>,
        known: &[&str],
    ) -> Vec<Node<'d, 'i>> {
        let mut found = Vec::new();
        for child in parent.children() {
            if self.too_many_errors() {
                break;
            }
            if child.is_text() && !is_blank(child.text().unwrap_or_default()) {
                // Not repeated: it may be a secret at the wrong place.
                let name = parent.tag_name().name();
                self.add_error_at(child, format!("the text in `{name}` does not belong there"));
            } else if child.is_element() && self.check_child(child, parent.tag_name().name(), known) {
                found.push(child);
            }
        }
        found
    }

    /// Whether `child` has one of these names, and no namespace.
    pub(super) fn check_child(&mut self, child: Node<'_, '_>, parent: &str, known: &[&str]) -> bool {
        let name = child.tag_name();
        if name.namespace().is_some() {
            self.add_error_at(
                child,
                format!("`{}` has a namespace; elements of a script have none", truncate_value(name.name())),
            );
            return false;
        }
        if known.contains(&name.name()) {
            return true;
        }
        let message = format!("`{}` does not belong into `{parent}`", truncate_value(name.name()));
        let near = closest_match(name.name(), known.iter().copied());
        self.add_error(child.range().start, message, near.map(|near| format!("did you mean `{near}`?")));
        false
    }

    /// Says which attributes of `node` are none of `known`.
    pub(super) fn check_attributes(&mut self, node: Node<'_, '_>, known: &[&'static str]) {
        for attribute in node.attributes() {
            let name = attribute.name();
            let schema = attribute.namespace() == Some(SCHEMA_INSTANCE)
                && matches!(name, "schemaLocation" | "noNamespaceSchemaLocation");
            if schema || attribute.namespace().is_none() && known.contains(&name) {
                continue;
            }
            let message = format!("`{}` has no attribute `{}`", node.tag_name().name(), truncate_value(name));
            let near = closest_match(name, known.iter().copied()).filter(|near| *near != name);
            self.add_error(
                attribute.range().start,
                message,
                near.map(|near| format!("did you mean `{near}`?")),
            );
        }
    }
}

/// An element and the reader of its script.
pub(super) struct ElementParser<'r, 'd, 'i, 't> {
    pub(super) node: Node<'d, 'i>,
    pub(super) context: &'r mut ParseContext<'t>,
}

impl<'d> ElementParser<'_, 'd, '_, '_> {
    pub(super) fn name(&self) -> &'d str {
        self.node.tag_name().name()
    }

    pub(super) fn add_error(&mut self, message: impl Into<String>) {
        self.context.add_error_at(self.node, message);
    }

    fn range(&self, name: &str) -> Range<usize> {
        self.node
            .attribute_node(name)
            .map_or(self.node.range(), |attribute: Attribute<'_, '_>| attribute.range())
    }

    /// A fault at the attribute `name`.
    pub(super) fn add_attribute_error(
        &mut self,
        name: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        let at = self.range(name).start;
        self.context.add_error(at, message, hint);
    }

    /// The attribute as it is.
    pub(super) fn attribute(&self, name: &str) -> Option<&'d str> {
        self.node.attribute(name)
    }

    /// The attribute, which has to be there.
    pub(super) fn required_attribute(&mut self, name: &str) -> Option<&'d str> {
        let given = self.attribute(name);
        if given.is_none() {
            let message = format!("`{}` needs the attribute `{name}`", self.name());
            self.add_error(message);
        }
        given
    }

    /// The attribute, which has to be there and say something.
    pub(super) fn non_empty_attribute(&mut self, name: &str) -> Option<&'d str> {
        let given = self.required_attribute(name)?;
        if is_blank(given) {
            self.add_attribute_error(name, format!("`{name}` of `{}` is empty", self.name()), None);
            return None;
        }
        Some(given)
    }

    /// A text with placeholders, which has to be there and say something.
    pub(super) fn template(&mut self, name: &str) -> Option<String> {
        let given = self.non_empty_attribute(name)?;
        self.check_placeholders(self.range(name).start, given);
        Some(given.to_owned())
    }

    /// A text with placeholders, as it is.
    pub(super) fn raw_template(&mut self, name: &str) -> Option<String> {
        let given = self.required_attribute(name)?;
        self.check_placeholders(self.range(name).start, given);
        Some(given.to_owned())
    }

    /// Says which placeholders of `text` name nothing that is set by then.
    pub(super) fn check_placeholders(&mut self, at: usize, text: &str) {
        if !text.contains("{{") {
            return;
        }
        for part in parse(text) {
            let TemplatePart::Placeholder(name) = part else { continue };
            if self.context.too_many_errors() {
                break;
            }
            if BUILT_IN_VARIABLES.contains(&name) || self.context.defined_variables.contains(name) {
                continue;
            }
            let known = self
                .context
                .defined_variables
                .iter()
                .map(String::as_str)
                .take(MAX_SUGGESTION_CANDIDATES)
                .chain(BUILT_IN_VARIABLES);
            let near = closest_match(name, known).map(|near| format!("did you mean `{{{{{near}}}}}`?"));
            let message = if name.starts_with('$') {
                format!("`{{{{{}}}}}` is no built-in variable", truncate_value(name))
            } else {
                format!("`{{{{{}}}}}` names no variable, and no act before sets it", truncate_value(name))
            };
            let others = || format!("built-in are {}", BUILT_IN_VARIABLES.join(", "));
            let hint = near.or_else(|| name.starts_with('$').then(others));
            self.context.add_error(at, message, hint);
        }
    }

    /// A name for people; empty without.
    pub(super) fn display_name(&mut self, name: &str) -> String {
        let given = self.attribute(name).unwrap_or_default();
        if given.chars().count() > 255 {
            self.add_attribute_error(name, format!("`{name}` has more than 255 characters"), None);
        }
        if is_blank(given) { String::new() } else { given.to_owned() }
    }

    /// The name of a variable, as an act sets it.
    pub(super) fn variable_name(&mut self, name: &str) -> Option<String> {
        let given = self.non_empty_attribute(name)?;
        if TextFormat::Identifier.matches(given) {
            return Some(given.to_owned());
        }
        let message = format!("`{}` is no name of a variable", truncate_value(given));
        self.add_attribute_error(
            name,
            message,
            Some("letters, digits and `_`, with no digit first".to_owned()),
        );
        None
    }

    /// `true` or `false`, also as `1` and `0`.
    pub(super) fn flag(&mut self, name: &str, default: bool) -> bool {
        match self.attribute(name).map(|given| given.trim_matches(SPACE)) {
            None => default,
            Some("true" | "1") => true,
            Some("false" | "0") => false,
            Some(other) => {
                let message = format!("`{name}` must be `true` or `false`, not `{}`", truncate_value(other));
                self.add_attribute_error(name, message, None);
                default
            }
        }
    }

    /// One of these words.
    pub(super) fn choice<T: Clone>(&mut self, name: &str, among: &[(&str, T)]) -> Option<T> {
        let given = self.attribute(name)?.trim_matches(SPACE);
        if let Some((_, value)) = among.iter().find(|(word, _)| *word == given) {
            return Some(value.clone());
        }
        let words: Vec<String> = among.iter().map(|(word, _)| format!("`{word}`")).collect();
        let message =
            format!("`{name}` must be one of {}, not `{}`", words.join(", "), truncate_value(given));
        let near = closest_match(given, among.iter().map(|(word, _)| *word));
        self.add_attribute_error(name, message, near.map(|near| format!("did you mean `{near}`?")));
        None
    }

    /// Seconds with up to three decimals.
    pub(super) fn seconds(&mut self, name: &str) -> Option<Duration> {
        let given = self.attribute(name)?.trim_matches(SPACE);
        let found = milliseconds(given).filter(|ms| (1..=MAX_TIMEOUT_SECONDS * 1000).contains(ms));
        if found.is_none() {
            let message = format!(
                "`{name}` must be seconds from 0.001 to {MAX_TIMEOUT_SECONDS}, with up to three decimals, not `{}`",
                truncate_value(given)
            );
            self.add_attribute_error(name, message, None);
        }
        found.map(Duration::from_millis)
    }

    /// A whole number from `least` to `most`; a sign only where `least` has one.
    pub(super) fn number(&mut self, name: &str, min: i64, max: i64) -> Option<i64> {
        let given = self.attribute(name)?.trim_matches(SPACE);
        let digits = given.strip_prefix('-').unwrap_or(given);
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() <= 18;
        let number = plain.then(|| given.parse::<i64>().ok()).flatten();
        let number = number.filter(|number| (min..=max).contains(number));
        if number.is_none() {
            let message = format!(
                "`{name}` must be a whole number from {min} to {max}, not `{}`",
                truncate_value(given)
            );
            self.add_attribute_error(name, message, None);
        }
        number
    }

    /// A regular expression, which has to be there.
    pub(super) fn pattern(&mut self, name: &str) -> Option<Pattern> {
        let given = self.non_empty_attribute(name)?;
        let regex = self.compile_regex(name, given)?;
        Some(Pattern(regex))
    }

    /// `text` of the attribute `name` as a regular expression.
    pub(super) fn compile_regex(&mut self, name: &str, text: &str) -> Option<Regex> {
        self.context.patterns += 1;
        if self.context.patterns > MAX_PATTERNS {
            let message = format!("there are more than {MAX_PATTERNS} regular expressions in the script");
            self.add_attribute_error(name, message, None);
            return None;
        }
        if text.chars().count() > MAX_EXPRESSION_CHARS {
            self.add_attribute_error(
                name,
                format!("a regular expression has at most {MAX_EXPRESSION_CHARS} characters"),
                None,
            );
            return None;
        }
        let built =
            RegexBuilder::new(text).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES).build();
        match built {
            Ok(regex) => Some(regex),
            Err(error) => {
                let hint =
                    has_placeholders(text).then(|| "regular expressions have no placeholders".to_owned());
                self.add_attribute_error(
                    name,
                    format!("`{name}` is no regular expression: {}", regex_error(&error)),
                    hint,
                );
                None
            }
        }
    }
}

/// The last line of what the regex crate says; those before it draw the expression.
fn regex_error(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too large when it is compiled".to_owned(),
        other => {
            let text = other.to_string();
            let line = text.lines().last().unwrap_or_default();
            truncate_value(line.strip_prefix("error: ").unwrap_or(line))
        }
    }
}

/// `1.5` as 1500; `None` for anything but up to four digits and three decimals.
fn milliseconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits =
        |text: &str, max: usize| (1..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, 4) || !digits(part, 3) {
        return None;
    }
    Some(whole.parse::<u64>().ok()? * 1000 + format!("{part:0<3}").parse::<u64>().ok()?)
}

/// Whether it is nothing but space of XML.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| SPACE.contains(&c))
}
