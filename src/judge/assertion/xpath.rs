//! XPath 1.0 over a bounded tree: no entities, no deep nesting, no endless documents.

use roxmltree::{Node as Parsed, ParsingOptions};
use sxd_document::dom::{ChildOfElement, Document, Element};
use sxd_document::{Package, QName};
use sxd_xpath::nodeset::Node;
use sxd_xpath::{Context, Value};

use super::AssertionError;
use crate::model::path;

/// Bytes of a document.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Nodes of a document.
const MOST_NODES: u32 = 200_000;
/// Elements inside each other: the XPath engine calls itself for each.
const DEEPEST: usize = 256;

/// What an expression gave.
pub(super) enum Found<'d> {
    /// Nodes in the order of the document.
    Nodes(Vec<Node<'d>>),
    /// A number, a text or a truth value, as text.
    Text(String),
}

/// Checks that `property` is an expression. The compiled form cannot leave its thread, so that it is
/// compiled again (some microseconds) by [`Tree::find`].
pub(super) fn check(property: &str) -> Result<(), AssertionError> {
    path::xml(property).map(drop).map_err(AssertionError::from)
}

/// The namespace prefixes in an expression: names before a single colon, outside of literals.
fn prefixes(property: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut quote, mut start, mut before) = (None, 0, ' ');
    let mut characters = property.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        match quote {
            Some(open) if open == c => (quote, start) = (None, at + 1),
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == ':' => {
                if before != ':' && next != Some(':') {
                    let digits = |c: char| c.is_ascii_digit() || c == '-' || c == '.';
                    found.push(property[start..at].trim_start_matches(digits));
                }
                start = at + 1;
            }
            None if c.is_alphanumeric() || !c.is_ascii() || "_-.".contains(c) => {}
            None => start = at + c.len_utf8(),
        }
        before = c;
    }
    found
}

/// A parsed document.
pub(super) struct Tree {
    package: Package,
    /// Prefix and address, as declared on the root.
    namespaces: Vec<(String, String)>,
}

impl Tree {
    /// Parses `text`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("the body has more than {MOST_BYTES} bytes, too many for XML"));
        }
        // Entities can multiply a text a thousandfold, and external ones are never fetched anyway.
        if text.find("<!DOCTYPE").is_some_and(|at| text[at..].contains("<!ENTITY")) {
            return Err("the XML declares entities, which are not read".to_owned());
        }
        let options = ParsingOptions { allow_dtd: true, nodes_limit: MOST_NODES, entity_resolver: None };
        let parsed = roxmltree::Document::parse_with_options(text, options)
            .map_err(|error| format!("the body is no XML: {error}"))?;
        let package = Package::new();
        let document = package.as_document();
        for node in parsed.root().children() {
            if node.is_element() {
                document.root().append_child(element(document, node, DEEPEST)?);
            } else if let Some(text) = node.text().filter(|_| node.is_comment()) {
                document.root().append_child(document.create_comment(text));
            } else if let Some(pi) = node.pi() {
                document.root().append_child(document.create_processing_instruction(pi.target, pi.value));
            }
        }
        let declared = parsed.root_element().namespaces();
        let declared = declared.filter_map(|space| Some((space.name()?.to_owned(), space.uri().to_owned())));
        // `xml` is bound without a declaration (Namespaces in XML 3).
        let xml = ("xml".to_owned(), roxmltree::NS_XML_URI.to_owned());
        let namespaces = std::iter::once(xml).chain(declared.filter(|(name, _)| name != "xml")).collect();
        Ok(Self { package, namespaces })
    }

    /// What `property` selects.
    pub(super) fn find(&self, property: &str) -> Result<Found<'_>, String> {
        // The engine panics at a prefix that it does not know.
        let unknown = |prefix: &&str| !self.namespaces.iter().any(|(known, _)| known == prefix);
        if let Some(prefix) = prefixes(property).into_iter().find(unknown) {
            return Err(format!("the prefix `{prefix}` is not declared on the root"));
        }
        let path = path::xml(property).map_err(|error| error.to_string())?;
        let mut context = Context::new();
        for (prefix, uri) in &self.namespaces {
            context.set_namespace(prefix, uri);
        }
        let value = path.evaluate(&context, self.package.as_document().root());
        match value.map_err(|error| format!("the XPath cannot be evaluated: {error}"))? {
            Value::Nodeset(nodes) => Ok(Found::Nodes(nodes.document_order())),
            other => Ok(Found::Text(other.string())),
        }
    }
}

/// Copies an element with all that is in it.
fn element<'d>(document: Document<'d>, from: Parsed<'_, '_>, deepest: usize) -> Result<Element<'d>, String> {
    if deepest == 0 {
        return Err(format!("the XML is nested deeper than {DEEPEST} elements"));
    }
    let tag = from.tag_name();
    let to = document.create_element(QName::with_namespace_uri(tag.namespace(), tag.name()));
    to.set_preferred_prefix(tag.namespace().and_then(|uri| from.lookup_prefix(uri)));
    for attribute in from.attributes() {
        let name = QName::with_namespace_uri(attribute.namespace(), attribute.name());
        to.set_attribute_value(name, attribute.value());
    }
    for child in from.children() {
        let child: ChildOfElement<'d> = if child.is_element() {
            element(document, child, deepest - 1)?.into()
        } else if let Some(pi) = child.pi() {
            document.create_processing_instruction(pi.target, pi.value).into()
        } else if child.is_comment() {
            document.create_comment(child.text().unwrap_or_default()).into()
        } else {
            document.create_text(child.text().unwrap_or_default()).into()
        };
        to.append_child(child);
    }
    Ok(to)
}
