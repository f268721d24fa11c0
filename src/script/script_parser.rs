//! Parses a script into an outline, with the position of the value of every variable.

use std::collections::HashSet;
use std::ops::Range;

use roxmltree::{Attribute, Document, Error, Node, ParsingOptions};

use super::script_error::ScriptError;
use super::xml_limits;

/// Maximum number of XML nodes of a script.
pub(super) const MAX_XML_NODES: u32 = 200_000;

/// The outline of a script.
#[derive(Debug)]
pub(crate) struct ScriptOutline {
    pub(crate) step_count: usize,
    pub(crate) action_count: usize,
    pub(crate) variables: Vec<OutlineVariable>,
}

/// A `variable` of a script.
#[derive(Debug)]
pub(crate) struct OutlineVariable {
    pub(crate) name: String,
    pub(crate) protected: bool,
    /// Its value; empty when the script has none.
    pub(crate) value: String,
    /// The byte range between the quotes of its `value`.
    pub(crate) value_range: Option<Range<usize>>,
}

/// Parses `text`. Document types are refused, and thus entities other than the five of XML.
pub(crate) fn parse_outline(text: &str) -> Result<ScriptOutline, ScriptError> {
    xml_limits::check(text)?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_XML_NODES, entity_resolver: None };
    let document = Document::parse_with_options(text, options).map_err(|error| xml_error(&error))?;
    outline_from_tree(&document, text)
}

/// Creates the outline from the parsed `document` of `text`.
pub(super) fn outline_from_tree(document: &Document<'_>, text: &str) -> Result<ScriptOutline, ScriptError> {
    let root = document.root_element();
    if root.tag_name().name() != "script" {
        let root_name = crate::syntax::truncate_value(root.tag_name().name());
        return Err(error_at(root, format!("the root must be `script`, not `{root_name}`")));
    }
    let variables = parse_variables(document, text)?;
    let steps = root.children().filter(|child| is_element_named(*child, "step"));
    let (step_count, action_count) = steps
        .map(|step| step.children().filter(Node::is_element).count())
        .fold((0, 0), |(step_count, action_count), step_action_count| {
            (step_count + 1, action_count + step_action_count)
        });
    if step_count == 0 {
        return Err(error_at(root, "it contains no `step`"));
    }
    Ok(ScriptOutline { step_count, action_count, variables })
}

/// Checks whether `text` is XML, as required for projects of type `api`. A text that declares entities is not parsed:
/// they can expand it a thousandfold.
///
/// # Errors
/// Fails with position and reason when it is not.
pub fn check_project_xml(text: &str) -> Result<(), ScriptError> {
    if text.contains("<!ENTITY") {
        return Ok(());
    }
    xml_limits::check_project(text)?;
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_XML_NODES, entity_resolver: None };
    Document::parse_with_options(text, options).map(drop).map_err(|error| xml_error(&error))
}

/// Parses a project of type `api`. Document types are refused, and thus entities other than the five of XML.
pub(crate) fn parse_project_xml(text: &str) -> Result<Document<'_>, ScriptError> {
    xml_limits::check_project(text)?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_XML_NODES, entity_resolver: None };
    let document = Document::parse_with_options(text, options).map_err(|error| xml_error(&error))?;
    Ok(document)
}

fn is_element_named(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// Returns every `variable`, at any position: redacting too much is better than showing a secret.
fn parse_variables(document: &Document<'_>, text: &str) -> Result<Vec<OutlineVariable>, ScriptError> {
    let mut variables = Vec::new();
    let mut names = HashSet::new();
    for node in document.descendants().filter(|node| is_element_named(*node, "variable")) {
        let variable = parse_variable(node, text)?;
        if !names.insert(variable.name.clone()) {
            let name = crate::syntax::truncate_value(&variable.name);
            return Err(error_at(node, format!("the variable `{name}` is already defined")));
        }
        variables.push(variable);
    }
    Ok(variables)
}

fn parse_variable(node: Node<'_, '_>, text: &str) -> Result<OutlineVariable, ScriptError> {
    if node.attributes().any(|attribute| attribute.namespace().is_some()) {
        return Err(error_at(node, "attributes of a variable must not have a prefix"));
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
    Ok(OutlineVariable { name: name.to_owned(), protected, value, value_range: range })
}

/// Returns the range of the value. The parser's own range is wrong when there is much space around the `=`.
fn value_range(attribute: Attribute<'_, '_>, text: &str) -> Result<Range<usize>, &'static str> {
    let range = attribute.range_value();
    let is_quoted_by = |quote: char| {
        let outer = range.start.checked_sub(1).and_then(|start| text.get(start..=range.end));
        outer.is_some_and(|outer| {
            outer.len() >= 2
                && outer.starts_with(quote)
                && outer.ends_with(quote)
                && !outer[1..outer.len() - 1].contains(quote)
        })
    };
    if is_quoted_by('"') || is_quoted_by('\'') {
        Ok(range)
    } else {
        Err("there is too much space around the `=` of a variable's `value`")
    }
}

fn error_at(node: Node<'_, '_>, message: impl Into<String>) -> ScriptError {
    ScriptError::new(node.document().text_pos_at(node.range().start), message)
}

/// Converts the parser's message, without the position, which is a separate field.
pub(super) fn xml_error(error: &Error) -> ScriptError {
    let message = match error {
        Error::DtdDetected => "document types are not allowed".to_owned(),
        Error::NodesLimitReached => format!("it has more than {MAX_XML_NODES} elements and texts"),
        _ => {
            let message = error.to_string().replace(&format!(" at {}", error.pos()), "");
            crate::syntax::truncate_value(&message)
        }
    };
    ScriptError::new(error.pos(), message)
}
