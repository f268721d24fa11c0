//! Sets nodes of an XML text, by a value or from the nodes of another.

use std::borrow::Cow;
use std::cell::Cell;

use super::node_source::{TextEdit, apply_edits, element_source, element_text_edit, text_node_edit};
use super::selection::element_text;
use crate::evaluate::xpath::{XPathNode, XPathResult, XmlDocument};
use crate::syntax::escape::{escape_expansions, escape_xml_text};
use crate::syntax::path_expression::XPath;
use crate::syntax::xml_source::content_range;

/// How nodes are transferred from one text to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeTransfer {
    /// Whether the text of an element is copied, and not the element.
    pub text_content: bool,
    /// Whether the children of an element are copied.
    pub child_nodes: bool,
    /// Whether all nodes of the target are set, the remaining ones with the last of the source.
    pub to_all: bool,
    /// Whether empty values leave the target as it is.
    pub ignore_empty: bool,
    /// Whether values are escaped for XML once more.
    pub entitize: bool,
    /// Whether `${` in values is escaped, as `$${`.
    pub escapes_expansions: bool,
}

/// Returns `xml` with `value` as the text of the first node that `path` selects, or of all of them.
///
/// # Errors
/// When `xml` is not XML, the path selects no node, or visits more than `nodes`.
pub fn set_nodes(
    xml: &str,
    path: &XPath,
    value: &str,
    all: bool,
    nodes: &Cell<u64>,
) -> Result<String, String> {
    let xml = xml.trim_start_matches('\u{feff}');
    let document = XmlDocument::parse(xml)?;
    let targets = select_nodes(&document, path, nodes)?;
    if targets.is_empty() {
        return Err("the XPath of the target selects nothing".to_owned());
    }
    let count = if all { targets.len() } else { 1 };
    let edits = targets.iter().take(count).filter_map(|target| value_edit(xml, target, value)).collect();
    Ok(apply_edits(xml, edits))
}

/// Returns `target` with the nodes of `source` in the places of its own, one by one. `None` when `source_path` selects
/// nothing.
///
/// # Errors
/// As for [`set_nodes`].
pub fn transfer_nodes(
    (source, source_path): (&str, &XPath),
    (target, target_path): (&str, &XPath),
    transfer: NodeTransfer,
    nodes: &Cell<u64>,
) -> Result<Option<String>, String> {
    let (source, target) = (source.trim_start_matches('\u{feff}'), target.trim_start_matches('\u{feff}'));
    let target_document = XmlDocument::parse(target)?;
    let targets = select_nodes(&target_document, target_path, nodes)?;
    if targets.is_empty() {
        return Err("the XPath of the target selects nothing".to_owned());
    }
    let source_document = XmlDocument::parse(source)?;
    let sources = match source_document.select(source_path, nodes)? {
        XPathResult::Nodes(nodes) => nodes,
        XPathResult::Text(text) => {
            let edit = targets.iter().take(1).filter_map(|node| value_edit(target, node, &text));
            let edits = edit.map(|edit| escaped_edit(edit, transfer)).collect();
            return Ok(Some(apply_edits(target, edits)));
        }
    };
    let Some(last) = sources.last() else { return Ok(None) };
    let count = if transfer.to_all { targets.len() } else { targets.len().min(sources.len()) };
    let pairs = targets.iter().take(count).enumerate();
    let pairs = pairs.map(|(index, node)| (sources.get(index).unwrap_or(last), node));
    let edits = pairs.filter_map(|(from, to)| node_edit((source, from), (target, to), transfer));
    let edits = edits.map(|edit| escaped_edit(edit, transfer)).collect();
    Ok(Some(apply_edits(target, edits)))
}

fn escaped_edit(edit: TextEdit, transfer: NodeTransfer) -> TextEdit {
    if !transfer.escapes_expansions {
        return edit;
    }
    let replacement = escape_expansions(Cow::Owned(edit.replacement)).into_owned();
    TextEdit { replacement, ..edit }
}

fn select_nodes<'d>(
    document: &'d XmlDocument<'_>,
    path: &XPath,
    nodes: &Cell<u64>,
) -> Result<Vec<XPathNode<'d>>, String> {
    match document.select(path, nodes)? {
        XPathResult::Nodes(nodes) => Ok(nodes),
        XPathResult::Text(_) => Err("the XPath of the target selects a value, not a node".to_owned()),
    }
}

/// Returns the edit that gives `node` the text `value`; `None` for nodes without one.
fn value_edit(xml: &str, node: &XPathNode<'_>, value: &str) -> Option<TextEdit> {
    match *node {
        XPathNode::Tree(element) if element.is_element() => element_text_edit(xml, element, value),
        XPathNode::Tree(text) if text.is_text() => text_node_edit(xml, text, value),
        XPathNode::Attribute(element, index) => {
            let attribute = element.attributes().nth(index as usize)?;
            Some(TextEdit { range: attribute.range_value(), replacement: escape_xml_text(value) })
        }
        _ => None,
    }
}

/// Returns the edit that puts the node `from` into the place of `to`.
fn node_edit(
    (source, from): (&str, &XPathNode<'_>),
    (target, to): (&str, &XPathNode<'_>),
    transfer: NodeTransfer,
) -> Option<TextEdit> {
    let elements = match (from, to) {
        (XPathNode::Tree(from), XPathNode::Tree(to)) if from.is_element() && to.is_element() => {
            Some((*from, *to))
        }
        _ => None,
    };
    if let Some((from, to)) = elements {
        if transfer.child_nodes {
            let replacement: String = from
                .children()
                .map(|child| {
                    if child.is_element() {
                        return element_source(source, child);
                    }
                    child.text().filter(|_| child.is_text()).map(escape_xml_text).unwrap_or_default()
                })
                .collect();
            let range = content_range(target, to)?;
            return Some(TextEdit { range, replacement });
        }
        let text = element_text(from);
        if !transfer.text_content || text.is_none() && from.has_children() {
            return Some(TextEdit { range: to.range(), replacement: element_source(source, from) });
        }
    }
    let value = match from {
        XPathNode::Tree(element) if element.is_element() => element_text(*element).unwrap_or_default().into(),
        other => other.text(),
    };
    if value.is_empty() && transfer.ignore_empty {
        return None;
    }
    let value = if transfer.entitize { escape_xml_text(&value) } else { value.into_owned() };
    value_edit(target, to, &value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::path_expression::parse_xpath_with_prolog;

    fn path(text: &str) -> XPath {
        parse_xpath_with_prolog(text).unwrap()
    }

    #[test]
    fn nodes_get_a_value() {
        let xml = "<o a='1'><i>x</i><i/><j>t<k/>u</j><l><![CDATA[<]]></l></o>";
        for (selected, all, expected) in [
            ("//i", false, "<o a='1'><i>&lt;v</i><i/><j>t<k/>u</j><l><![CDATA[<]]></l></o>"),
            ("//i", true, "<o a='1'><i>&lt;v</i><i>&lt;v</i><j>t<k/>u</j><l><![CDATA[<]]></l></o>"),
            ("/o/@a", false, "<o a='&lt;v'><i>x</i><i/><j>t<k/>u</j><l><![CDATA[<]]></l></o>"),
            ("//j", false, "<o a='1'><i>x</i><i/><j>&lt;v<k/>u</j><l><![CDATA[<]]></l></o>"),
            ("//j/text()[2]", false, "<o a='1'><i>x</i><i/><j>t<k/>&lt;v</j><l><![CDATA[<]]></l></o>"),
            ("//l", false, "<o a='1'><i>x</i><i/><j>t<k/>u</j><l>&lt;v</l></o>"),
        ] {
            assert_eq!(
                set_nodes(xml, &path(selected), "<v", all, &Cell::new(100)).unwrap(),
                expected,
                "{selected}"
            );
        }
        assert!(set_nodes(xml, &path("//none"), "v", false, &Cell::new(100)).is_err());
        assert!(set_nodes(xml, &path("count(//i)"), "v", false, &Cell::new(100)).is_err());
    }

    #[test]
    fn nodes_are_transferred() {
        let source = "<s xmlns:n='urn:n'><a>1</a><a>2</a><b><n:c>3</n:c></b><d></d></s>";
        let target = "<t><x>8</x><x>9</x><x>0</x></t>";
        let text = NodeTransfer { text_content: true, ..NodeTransfer::default() };
        for (selected, transfer, expected) in [
            ("//a", text, Some("<t><x>1</x><x>2</x><x>0</x></t>")),
            ("//a", NodeTransfer { to_all: true, ..text }, Some("<t><x>1</x><x>2</x><x>2</x></t>")),
            ("//a[1]", NodeTransfer::default(), Some("<t><a>1</a><x>9</x><x>0</x></t>")),
            ("//b", text, Some("<t><b xmlns:n=\"urn:n\"><n:c>3</n:c></b><x>9</x><x>0</x></t>")),
            (
                "//b",
                NodeTransfer { child_nodes: true, ..text },
                Some("<t><x><n:c xmlns:n=\"urn:n\">3</n:c></x><x>9</x><x>0</x></t>"),
            ),
            ("//d", text, Some("<t><x></x><x>9</x><x>0</x></t>")),
            ("//d", NodeTransfer { ignore_empty: true, ..text }, Some("<t><x>8</x><x>9</x><x>0</x></t>")),
            ("count(//a)", text, Some("<t><x>2</x><x>9</x><x>0</x></t>")),
            ("//none", text, None),
        ] {
            let transferred =
                transfer_nodes((source, &path(selected)), (target, &path("//x")), transfer, &Cell::new(100));
            assert_eq!(transferred.unwrap().as_deref(), expected, "{selected} {transfer:?}");
        }
    }
}
