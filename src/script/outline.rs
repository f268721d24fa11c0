//! Reads a script into what is known of it, with the place of every value of a variable.

use std::collections::HashSet;
use std::ops::Range;

use roxmltree::{Attribute, Document, Error, Node, ParsingOptions};

use super::script_error::ScriptError;
use super::xml_limits;

/// Nodes of a script that are read at most.
pub(super) const MAX_NODES: u32 = 200_000;

/// A script that was read.
#[derive(Debug)]
pub(crate) struct ScriptOutline {
    pub(crate) steps: usize,
    pub(crate) events: usize,
    pub(crate) variables: Vec<OutlineVariable>,
}

/// A `variable` of a script.
#[derive(Debug)]
pub(crate) struct OutlineVariable {
    pub(crate) name: String,
    pub(crate) protected: bool,
    /// What it stands for; empty when the script gives none.
    pub(crate) value: String,
    /// The bytes between the quotes of its `value`.
    pub(crate) range: Option<Range<usize>>,
}

/// Reads `text`. Document types are not taken, and so no entities beyond the five of XML.
pub(crate) fn parse_outline(text: &str) -> Result<ScriptOutline, ScriptError> {
    xml_limits::check(text)?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, entity_resolver: None };
    let document = Document::parse_with_options(text, options).map_err(|error| xml_error(&error))?;
    outline_from_tree(&document, text)
}

/// Reads what `text` was parsed into.
pub(super) fn outline_from_tree(document: &Document<'_>, text: &str) -> Result<ScriptOutline, ScriptError> {
    let root = document.root_element();
    if root.tag_name().name() != "script" {
        let found = crate::syntax::truncate_value(root.tag_name().name());
        return Err(error_at(root, format!("the root must be `script`, not `{found}`")));
    }
    let variables = parse_variables(document, text)?;
    let steps = root.children().filter(|child| is_element_named(*child, "step"));
    let (steps, events) = steps
        .map(|step| step.children().filter(Node::is_element).count())
        .fold((0, 0), |(steps, events), acts| (steps + 1, events + acts));
    if steps == 0 {
        return Err(error_at(root, "there is no `step` in it"));
    }
    Ok(ScriptOutline { steps, events, variables })
}

/// Whether `text` is XML at all, as projects of type `api` are. One that declares entities is not looked into:
/// they can multiply a text a thousandfold.
///
/// # Errors
/// Where and why it is none.
pub fn check_well_formed(text: &str) -> Result<(), ScriptError> {
    if text.contains("<!ENTITY") {
        return Ok(());
    }
    xml_limits::check(text)?;
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, entity_resolver: None };
    Document::parse_with_options(text, options).map(drop).map_err(|error| xml_error(&error))
}

fn is_element_named(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// Every `variable`, wherever it stands: what hides secrets had better find too many than too few.
fn parse_variables(document: &Document<'_>, text: &str) -> Result<Vec<OutlineVariable>, ScriptError> {
    let mut found = Vec::new();
    let mut names = HashSet::new();
    for node in document.descendants().filter(|node| is_element_named(*node, "variable")) {
        let variable = parse_variable(node, text)?;
        if !names.insert(variable.name.clone()) {
            let name = crate::syntax::truncate_value(&variable.name);
            return Err(error_at(node, format!("there is a variable `{name}` already")));
        }
        found.push(variable);
    }
    Ok(found)
}

fn parse_variable(node: Node<'_, '_>, text: &str) -> Result<OutlineVariable, ScriptError> {
    if node.attributes().any(|attribute| attribute.namespace().is_some()) {
        return Err(error_at(node, "attributes of a variable have no prefix"));
    }
    let name = node.attribute("name").unwrap_or_default();
    if name.is_empty() {
        return Err(error_at(node, "a variable needs a `name`"));
    }
    let protected = match node.attribute("protected").map(str::trim) {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(_) => return Err(error_at(node, "`protected` of a variable must be `true` or `false`")),
    };
    let is_text = |child: Node<'_, '_>| child.is_text() && child.text().is_some_and(|t| !t.trim().is_empty());
    if node.children().any(|child| child.is_element() || is_text(child)) {
        return Err(error_at(node, "the value of a variable stands in its attribute `value`"));
    }
    let value = node.attribute_node("value");
    let range =
        value.map(|value| value_range(value, text)).transpose().map_err(|message| error_at(node, message))?;
    let value = value.map(|value| value.value().to_owned()).unwrap_or_default();
    Ok(OutlineVariable { name: name.to_owned(), protected, value, range })
}

/// Where the value stands. The parser's own word is wrong when there is much space around the `=`.
fn value_range(attribute: Attribute<'_, '_>, text: &str) -> Result<Range<usize>, &'static str> {
    let range = attribute.range_value();
    let quoted = |quote: char| {
        let outer = range.start.checked_sub(1).and_then(|start| text.get(start..=range.end));
        outer.is_some_and(|outer| {
            outer.len() >= 2
                && outer.starts_with(quote)
                && outer.ends_with(quote)
                && !outer[1..outer.len() - 1].contains(quote)
        })
    };
    if quoted('"') || quoted('\'') {
        Ok(range)
    } else {
        Err("there is too much space around the `=` of a variable's `value`")
    }
}

fn error_at(node: Node<'_, '_>, message: impl Into<String>) -> ScriptError {
    ScriptError::new(node.document().text_pos_at(node.range().start), message)
}

/// The parser's words without the place, which stands apart.
pub(super) fn xml_error(error: &Error) -> ScriptError {
    let message = match error {
        Error::DtdDetected => "a document type is not taken".to_owned(),
        Error::NodesLimitReached => format!("it has more than {MAX_NODES} elements and texts"),
        _ => {
            let message = error.to_string().replace(&format!(" at {}", error.pos()), "");
            crate::syntax::truncate_value(&message)
        }
    };
    ScriptError::new(error.pos(), message)
}
