//! Reads elements, attributes and texts of a project.

use roxmltree::Node;

/// The namespace of SoapUI's elements.
const NAMESPACE: &str = "http://eviware.com/soapui/config";
/// The namespace of `xsi:nil`.
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Whether `node` is the element `name` of SoapUI, by namespace, whatever its prefix.
pub(super) fn is_named(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name && node.tag_name().namespace() == Some(NAMESPACE)
}

/// Returns the children `name` of `node`.
pub(super) fn children<'a, 'i>(node: Node<'a, 'i>, name: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| is_named(*child, name) && !is_nil(*child))
}

/// Returns the first child `name` of `node`.
pub(super) fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| is_named(*child, name) && !is_nil(*child))
}

/// Returns the text of the first child `name`; empty without one.
pub(super) fn child_text(node: Node<'_, '_>, name: &str) -> String {
    child(node, name).map(text).unwrap_or_default()
}

/// Returns the text of `name` in the configuration of an assertion, which has no namespace; `None` without one.
pub(super) fn configured_text(node: Node<'_, '_>, name: &str) -> Option<String> {
    let found = node.children().find(|child| child.is_element() && child.tag_name().name() == name);
    found.filter(|found| !is_nil(*found)).map(text)
}

/// Whether the configuration of an assertion sets `name`.
pub(super) fn configured_flag(node: Node<'_, '_>, name: &str) -> bool {
    configured_text(node, name).is_some_and(|text| is_true(&text))
}

/// Returns the text in `node`, of which comments are no part.
pub(super) fn text(node: Node<'_, '_>) -> String {
    node.children().filter(Node::is_text).filter_map(|text| text.text()).collect()
}

/// Returns the attribute `name`; empty without one.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    node.attribute(name).unwrap_or_default()
}

/// Returns the attribute `name` as a flag.
pub(super) fn flag(node: Node<'_, '_>, name: &str, default: bool) -> bool {
    node.attribute(name).map_or(default, is_true)
}

/// Whether `node` is disabled.
pub(super) fn is_disabled(node: Node<'_, '_>) -> bool {
    flag(node, "disabled", false)
}

/// Whether `text` is a boolean that is set.
pub(super) fn is_true(text: &str) -> bool {
    matches!(text.trim(), "true" | "1")
}

fn is_nil(node: Node<'_, '_>) -> bool {
    node.attribute((XSI, "nil")).is_some_and(is_true)
}
