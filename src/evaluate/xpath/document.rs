//! Bounded XML documents for the evaluation of expressions.

use std::cell::Cell;

use roxmltree::{Document, Node, ParsingOptions};

use super::evaluator::Evaluator;
use super::nodes::XPathNode;
use super::value::XPathValue;
use crate::syntax::path_expression::XPath;

/// Maximum size of a document in bytes.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Maximum number of nodes of a document.
const MAX_NODES: u32 = 200_000;

/// Maximum number of attributes of an element: the parser compares each with all others.
const MAX_ATTRIBUTES: usize = 256;

/// Maximum nesting of elements.
const MAX_DEPTH: usize = 256;

/// The result of an expression.
pub(in crate::evaluate) enum XPathResult<'d> {
    /// Nodes in the order of the document.
    Nodes(Vec<XPathNode<'d>>),
    /// A number, a string or a boolean, as text.
    Text(String),
}

/// A parsed document.
pub(in crate::evaluate) struct XmlDocument<'i> {
    document: Document<'i>,
}

impl<'i> XmlDocument<'i> {
    /// Parses `text`.
    pub(in crate::evaluate) fn parse(text: &'i str) -> Result<Self, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("the body has more than {MAX_BYTES} bytes, too many for XML"));
        }
        let text = text.trim_start_matches('\u{feff}');
        // Entities can multiply a text a thousandfold, and external ones are never fetched anyway.
        if text.find("<!DOCTYPE").is_some_and(|at| text[at..].contains("<!ENTITY")) {
            return Err("the XML declares entities, which are not read".to_owned());
        }
        if has_too_many_attributes(text) {
            return Err(format!("the XML has an element with more than {MAX_ATTRIBUTES} attributes"));
        }
        let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, entity_resolver: None };
        let document = Document::parse_with_options(text, options)
            .map_err(|error| format!("the body is not XML: {error}"))?;
        // The root and the content of the deepest element count too.
        let too_deep = |node: Node<'_, '_>| node.ancestors().nth(MAX_DEPTH + 2).is_some();
        if document.descendants().any(|node| !node.has_children() && too_deep(node)) {
            return Err(format!("the XML is nested deeper than {MAX_DEPTH} elements"));
        }
        Ok(Self { document })
    }

    /// Returns the root element.
    pub(in crate::evaluate) fn root_element(&self) -> Node<'_, 'i> {
        self.document.root_element()
    }

    /// Evaluates `path`. Each visited node consumes one unit of the budget.
    pub(in crate::evaluate) fn select(
        &self,
        path: &XPath,
        node_budget: &Cell<u64>,
    ) -> Result<XPathResult<'_>, String> {
        let evaluator = Evaluator::new(&self.document, node_budget, &path.declared_namespaces);
        evaluator.check_prefixes(&path.prefixes)?;
        match evaluator.evaluate(&path.expr)? {
            XPathValue::Nodes(nodes) => Ok(XPathResult::Nodes(nodes)),
            other => Ok(XPathResult::Text(other.to_text(node_budget)?)),
        }
    }
}

/// Whether a tag of `text` has too many attributes; checked before parsing.
fn has_too_many_attributes(text: &str) -> bool {
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let skipped_sections = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")];
        if let Some((_, close)) = skipped_sections.into_iter().find(|(open, _)| rest.starts_with(open)) {
            let Some(end) = rest.find(close) else { return false };
            rest = &rest[end..];
            continue;
        }
        let (tag, after) = rest.split_once('>').unwrap_or((rest, ""));
        let whitespace = [' ', '\t', '\r', '\n'];
        let quoted_values = tag.split('=').skip(1);
        let quoted_values =
            quoted_values.filter(|value| value.trim_start_matches(whitespace).starts_with(['"', '\'']));
        if quoted_values.take(MAX_ATTRIBUTES + 1).count() > MAX_ATTRIBUTES {
            return true;
        }
        rest = after;
    }
    false
}
