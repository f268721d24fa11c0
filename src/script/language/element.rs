//! An element of a script while it is parsed: its attributes by type, and errors with their positions.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

use roxmltree::{Attribute, Node};

use super::action::RegexPattern;
use crate::script::script_error::ScriptError;
use crate::syntax::line_index::LineIndex;
use crate::syntax::pattern::{CompiledPattern, HaystackKind, PatternError};
use crate::syntax::template::{BUILT_IN_VARIABLES, TemplatePart, has_placeholders, parse_template};
use crate::syntax::text_format::TextFormat;
use crate::syntax::{closest_match, truncate_value};

/// Maximum number of errors that are reported for one script.
const MAX_ERRORS: usize = 100;
/// Maximum number of regular expressions of one script.
const MAX_PATTERNS: usize = 100;
/// Longest regular expression or locator, in characters: its parsed form is many times larger.
pub(super) const MAX_EXPRESSION_CHARS: usize = 10_000;
/// Maximum number of variables that an unknown name is compared with.
const MAX_SUGGESTION_CANDIDATES: usize = 1000;
/// Longest timeout of a step or an action, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 3600;
/// White space as defined by XML.
const XML_WHITESPACE: [char; 4] = [' ', '\t', '\n', '\r'];
/// Namespace of the only prefixed attributes that are allowed: they tell editors which schema to use.
const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The state of parsing a script.
pub(super) struct ParseContext<'t> {
    pub(super) line_index: LineIndex<'t>,
    pub(super) errors: Vec<ScriptError>,
    /// Names of the variables that have a value here: declared, or set by an earlier action.
    pub(super) defined_variables: HashSet<String>,
    pattern_count: usize,
}

impl<'t> ParseContext<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            line_index: LineIndex::new(text),
            errors: Vec::new(),
            defined_variables: HashSet::new(),
            pattern_count: 0,
        }
    }

    /// Whether there are so many errors that parsing stops.
    pub(super) fn too_many_errors(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    pub(super) fn add_error(&mut self, offset: usize, message: impl Into<String>, hint: Option<String>) {
        if !self.too_many_errors() {
            self.errors.push(ScriptError {
                position: self.line_index.position_at(offset),
                message: message.into(),
                hint,
            });
        }
    }

    pub(super) fn add_error_at(&mut self, node: Node<'_, '_>, message: impl Into<String>) {
        self.add_error(node.range().start, message, None);
    }

    /// Returns the known child elements of `parent`; adds errors for other elements, texts and namespaces.
    pub(super) fn allowed_children<'d, 'i>(
        &mut self,
        parent: Node<'d, 'i>,
        allowed_names: &[&str],
    ) -> Vec<Node<'d, 'i>> {
        let mut children = Vec::new();
        for child in parent.children() {
            if self.too_many_errors() {
                break;
            }
            if child.is_text() && !is_blank(child.text().unwrap_or_default()) {
                // The text is not quoted: it may be a misplaced secret.
                let name = parent.tag_name().name();
                self.add_error_at(child, format!("text is not allowed in `{name}`"));
            } else if child.is_element()
                && self.is_allowed_child(child, parent.tag_name().name(), allowed_names)
            {
                children.push(child);
            }
        }
        children
    }

    /// Whether `child` has one of these names, and no namespace; adds an error otherwise.
    pub(super) fn is_allowed_child(
        &mut self,
        child: Node<'_, '_>,
        parent: &str,
        allowed_names: &[&str],
    ) -> bool {
        let name = child.tag_name();
        if name.namespace().is_some() {
            self.add_error_at(
                child,
                format!("`{}` has a namespace; elements of a script have none", truncate_value(name.name())),
            );
            return false;
        }
        if allowed_names.contains(&name.name()) {
            return true;
        }
        let message = format!("`{}` is not allowed in `{parent}`", truncate_value(name.name()));
        let suggestion = closest_match(name.name(), allowed_names.iter().copied());
        self.add_error(
            child.range().start,
            message,
            suggestion.map(|name| format!("did you mean `{name}`?")),
        );
        false
    }

    /// Adds errors for attributes of `node` that are not in `allowed_names`.
    pub(super) fn check_attributes(&mut self, node: Node<'_, '_>, allowed_names: &[&'static str]) {
        for attribute in node.attributes() {
            let name = attribute.name();
            let is_schema_attribute = attribute.namespace() == Some(XSI_NAMESPACE)
                && matches!(name, "schemaLocation" | "noNamespaceSchemaLocation");
            if is_schema_attribute || attribute.namespace().is_none() && allowed_names.contains(&name) {
                continue;
            }
            let message = format!("`{}` has no attribute `{}`", node.tag_name().name(), truncate_value(name));
            let suggestion =
                closest_match(name, allowed_names.iter().copied()).filter(|suggestion| *suggestion != name);
            self.add_error(
                attribute.range().start,
                message,
                suggestion.map(|suggestion| format!("did you mean `{suggestion}`?")),
            );
        }
    }
}

/// An element with the state of parsing its script.
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

    fn attribute_range(&self, name: &str) -> Range<usize> {
        self.node
            .attribute_node(name)
            .map_or(self.node.range(), |attribute: Attribute<'_, '_>| attribute.range())
    }

    /// Adds an error at the attribute `name`.
    pub(super) fn add_attribute_error(
        &mut self,
        name: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        let offset = self.attribute_range(name).start;
        self.context.add_error(offset, message, hint);
    }

    /// Returns the attribute as written.
    pub(super) fn attribute(&self, name: &str) -> Option<&'d str> {
        self.node.attribute(name)
    }

    /// Returns the attribute; adds an error when it is missing.
    pub(super) fn required_attribute(&mut self, name: &str) -> Option<&'d str> {
        let value = self.attribute(name);
        if value.is_none() {
            let message = format!("`{}` needs the attribute `{name}`", self.name());
            self.add_error(message);
        }
        value
    }

    /// Returns the attribute; adds an error when it is missing or blank.
    pub(super) fn non_blank_attribute(&mut self, name: &str) -> Option<&'d str> {
        let value = self.required_attribute(name)?;
        if is_blank(value) {
            self.add_attribute_error(name, format!("`{name}` of `{}` is empty", self.name()), None);
            return None;
        }
        Some(value)
    }

    /// Returns a text with placeholders; adds an error when it is missing or blank.
    pub(super) fn non_blank_template(&mut self, name: &str) -> Option<String> {
        let value = self.non_blank_attribute(name)?;
        self.check_placeholders(self.attribute_range(name).start, value);
        Some(value.to_owned())
    }

    /// Returns a text with placeholders, which may be blank.
    pub(super) fn required_template(&mut self, name: &str) -> Option<String> {
        let value = self.required_attribute(name)?;
        self.check_placeholders(self.attribute_range(name).start, value);
        Some(value.to_owned())
    }

    /// Adds errors for placeholders of `text` whose variable has no value at this point.
    pub(super) fn check_placeholders(&mut self, offset: usize, text: &str) {
        if !text.contains("{{") {
            return;
        }
        for part in parse_template(text) {
            let TemplatePart::Placeholder(name) = part else { continue };
            if self.context.too_many_errors() {
                break;
            }
            if BUILT_IN_VARIABLES.contains(&name) || self.context.defined_variables.contains(name) {
                continue;
            }
            let candidates = self
                .context
                .defined_variables
                .iter()
                .map(String::as_str)
                .take(MAX_SUGGESTION_CANDIDATES)
                .chain(BUILT_IN_VARIABLES);
            let suggestion = closest_match(name, candidates)
                .map(|suggestion| format!("did you mean `{{{{{suggestion}}}}}`?"));
            let message = if name.starts_with('$') {
                format!("`{{{{{}}}}}` is not a built-in variable", truncate_value(name))
            } else {
                format!("`{{{{{}}}}}` is not a variable, and no earlier act sets it", truncate_value(name))
            };
            let list_built_ins = || format!("built-in are {}", BUILT_IN_VARIABLES.join(", "));
            let hint = suggestion.or_else(|| name.starts_with('$').then(list_built_ins));
            self.context.add_error(offset, message, hint);
        }
    }

    /// Returns a display name; empty when it is missing.
    pub(super) fn display_name_attribute(&mut self, name: &str) -> String {
        let value = self.attribute(name).unwrap_or_default();
        if value.chars().count() > 255 {
            self.add_attribute_error(name, format!("`{name}` has more than 255 characters"), None);
        }
        if is_blank(value) { String::new() } else { value.to_owned() }
    }

    /// Returns the name of a variable to set.
    pub(super) fn variable_name_attribute(&mut self, name: &str) -> Option<String> {
        let value = self.non_blank_attribute(name)?;
        if TextFormat::Identifier.matches(value) {
            return Some(value.to_owned());
        }
        let message = format!("`{}` is not a valid variable name", truncate_value(value));
        self.add_attribute_error(
            name,
            message,
            Some("letters, digits and `_`, with no digit first".to_owned()),
        );
        None
    }

    /// Returns a boolean attribute: `true` or `false`, also written as `1` and `0`.
    pub(super) fn bool_attribute(&mut self, name: &str, default: bool) -> bool {
        match self.attribute(name).map(|value| value.trim_matches(XML_WHITESPACE)) {
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

    /// Returns the value in `choices` that the attribute names.
    pub(super) fn choice_attribute<T: Clone>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.attribute(name)?.trim_matches(XML_WHITESPACE);
        if let Some((_, value)) = choices.iter().find(|(choice, _)| *choice == text) {
            return Some(value.clone());
        }
        let quoted: Vec<String> = choices.iter().map(|(choice, _)| format!("`{choice}`")).collect();
        let message =
            format!("`{name}` must be one of {}, not `{}`", quoted.join(", "), truncate_value(text));
        let near = closest_match(text, choices.iter().map(|(choice, _)| *choice));
        self.add_attribute_error(name, message, near.map(|near| format!("did you mean `{near}`?")));
        None
    }

    /// Returns a duration in seconds with up to three decimals.
    pub(super) fn seconds_attribute(&mut self, name: &str) -> Option<Duration> {
        let value = self.attribute(name)?.trim_matches(XML_WHITESPACE);
        let parsed = parse_milliseconds(value).filter(|ms| (1..=MAX_TIMEOUT_SECONDS * 1000).contains(ms));
        if parsed.is_none() {
            let message = format!(
                "`{name}` must be seconds from 0.001 to {MAX_TIMEOUT_SECONDS}, with up to three decimals, not `{}`",
                truncate_value(value)
            );
            self.add_attribute_error(name, message, None);
        }
        parsed.map(Duration::from_millis)
    }

    /// Returns an integer from `min` to `max`; a sign is only allowed where `min` is negative.
    pub(super) fn integer_attribute(&mut self, name: &str, min: i64, max: i64) -> Option<i64> {
        let value = self.attribute(name)?.trim_matches(XML_WHITESPACE);
        let digits = value.strip_prefix('-').unwrap_or(value);
        let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() <= 18;
        let number = is_decimal.then(|| value.parse::<i64>().ok()).flatten();
        let number = number.filter(|number| (min..=max).contains(number));
        if number.is_none() {
            let message = format!(
                "`{name}` must be a whole number from {min} to {max}, not `{}`",
                truncate_value(value)
            );
            self.add_attribute_error(name, message, None);
        }
        number
    }

    /// Returns a required regular expression.
    pub(super) fn regex_attribute(&mut self, name: &str) -> Option<RegexPattern> {
        let value = self.non_blank_attribute(name)?;
        self.check_regex(name, value)?;
        Some(RegexPattern(value.into()))
    }

    /// Checks that `text` of the attribute `name` is a regular expression that can be used; `None` when it cannot.
    pub(super) fn check_regex(&mut self, name: &str, text: &str) -> Option<()> {
        self.context.pattern_count += 1;
        if self.context.pattern_count > MAX_PATTERNS {
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
        match CompiledPattern::new(text, HaystackKind::Text) {
            Ok(_) => Some(()),
            Err(PatternError::Syntax(reason)) => {
                let hint =
                    has_placeholders(text).then(|| "regular expressions have no placeholders".to_owned());
                let message = format!("`{name}` is not a regular expression: {}", truncate_value(&reason));
                self.add_attribute_error(name, message, hint);
                None
            }
            Err(error) => {
                self.add_attribute_error(name, format!("`{name}` cannot be used: {error}"), None);
                None
            }
        }
    }
}

/// Parses `1.5` as 1500; accepts up to four digits and three decimals only.
fn parse_milliseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let has_only_digits =
        |text: &str, max: usize| (1..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !has_only_digits(seconds, 4) || !has_only_digits(fraction, 3) {
        return None;
    }
    Some(seconds.parse::<u64>().ok()? * 1000 + format!("{fraction:0<3}").parse::<u64>().ok()?)
}

/// Whether the text is only XML white space.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| XML_WHITESPACE.contains(&c))
}
