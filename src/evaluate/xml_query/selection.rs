//! Selects nodes of an XML text.

use std::cell::Cell;

use roxmltree::Node;

use super::node_source::element_source;
use crate::evaluate::xpath::{XPathNode, XPathResult, XmlDocument};
use crate::syntax::path_expression::XPath;

/// Returns the text of the first node that `path` selects in `xml`, or its value. `None` when it selects nothing. Takes the
/// nodes that it visits from `nodes`, as all functions here do.
///
/// # Errors
/// When `xml` is not XML, or the path visits more than `nodes`.
pub fn select_text(xml: &str, path: &XPath, nodes: &Cell<u64>) -> Result<Option<String>, String> {
    let document = XmlDocument::parse(xml)?;
    Ok(match document.select(path, nodes)? {
        XPathResult::Nodes(nodes) => nodes.first().map(|node| node.text().into_owned()),
        XPathResult::Text(text) => Some(text),
    })
}

/// Returns what a transfer takes from `xml`: the text of the first node that `path` selects; for an element that does not
/// begin with text, or unless `text_content`, the element. `None` when it selects nothing.
///
/// # Errors
/// As for [`select_text`].
pub fn select_value(
    xml: &str,
    path: &XPath,
    text_content: bool,
    nodes: &Cell<u64>,
) -> Result<Option<String>, String> {
    let xml = xml.trim_start_matches('\u{feff}');
    let document = XmlDocument::parse(xml)?;
    Ok(match document.select(path, nodes)? {
        XPathResult::Text(text) => Some(text),
        XPathResult::Nodes(nodes) => nodes.first().map(|node| match node {
            XPathNode::Tree(element) if element.is_element() => element_text(*element)
                .filter(|_| text_content)
                .map_or_else(|| element_source(xml, *element), str::to_owned),
            other => other.text().into_owned(),
        }),
    })
}

/// Whether `path`, an expression that is true or false, is true for `xml`.
///
/// # Errors
/// As for [`select_text`].
pub fn is_condition_true(xml: &str, path: &XPath, nodes: &Cell<u64>) -> Result<bool, String> {
    let document = XmlDocument::parse(xml)?;
    let result = document.select(path, nodes)?;
    Ok(matches!(result, XPathResult::Text(text) if text == "true"))
}

/// Returns the text at the beginning of `element`; `None` when it is empty, or begins otherwise.
pub(super) fn element_text<'d>(element: Node<'d, '_>) -> Option<&'d str> {
    element.first_child().filter(Node::is_text).and_then(|child| child.text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::path_expression::parse_xpath_with_prolog;

    #[test]
    fn namespaces_of_the_expression_count() {
        let xml = "<o xmlns='urn:a'><p:i xmlns:p='urn:b' n='1'>x</p:i><i>y</i></o>";
        for (path, expected) in [
            ("declare namespace q='urn:b'; //q:i", Some("x")),
            ("declare namespace q='urn:a'; //q:i", Some("y")),
            ("declare default element namespace 'urn:a'; /o/i", Some("y")),
            ("declare default element namespace 'urn:b'; //i/@n", Some("1")),
            ("//i", None),
            ("count(//*)", Some("3")),
        ] {
            let path = parse_xpath_with_prolog(path).unwrap();
            assert_eq!(select_text(xml, &path, &Cell::new(100)).unwrap().as_deref(), expected, "{path:?}");
        }
        let unknown = parse_xpath_with_prolog("//z:i").unwrap();
        assert!(select_text(xml, &unknown, &Cell::new(100)).is_err());
    }

    #[test]
    fn a_transfer_takes_text_or_element() {
        let xml = "<o xmlns:a='urn:a'><a:i>x<b/></a:i><j><k>1</k></j><l/></o>";
        let value = |path: &str, text_content| {
            let path = parse_xpath_with_prolog(path).unwrap();
            select_value(xml, &path, text_content, &Cell::new(100)).unwrap()
        };
        let declared = "declare namespace a='urn:a'; ";
        assert_eq!(value(&format!("{declared}//a:i"), true).unwrap(), "x");
        assert_eq!(value(&format!("{declared}//a:i"), false).unwrap(), "<a:i xmlns:a=\"urn:a\">x<b/></a:i>");
        assert_eq!(value("//j", true).unwrap(), "<j><k>1</k></j>");
        assert_eq!(value("//l", true).unwrap(), "<l/>");
        assert_eq!(value("//m", true), None);
    }

    #[test]
    fn only_a_boolean_is_a_condition() {
        for (path, expected) in
            [("//a=1", true), ("//a=2", false), ("//a", false), ("true()", true), ("count(//a)", false)]
        {
            let path = parse_xpath_with_prolog(path).unwrap();
            assert_eq!(
                is_condition_true("<o><a>1</a></o>", &path, &Cell::new(100)).unwrap(),
                expected,
                "{path:?}"
            );
        }
    }
}
