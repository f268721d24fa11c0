//! Compares what an XPath selects with an expected content, as the assertion `XPath Match` of test projects does.

use std::cell::Cell;

use roxmltree::Node;

use super::selection::element_text;
use crate::evaluate::assertion::one_line_excerpt;
use crate::evaluate::xpath::{XPathNode, XPathResult, XmlDocument};
use crate::syntax::path_expression::XPath;

/// Stands for any text.
const WILDCARD: char = '*';

/// How contents are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentComparison {
    /// Whether `*` stands for any text.
    pub allow_wildcards: bool,
    /// Whether elements of other namespaces are equal.
    pub ignore_namespaces: bool,
    /// Whether comments are skipped.
    pub ignore_comments: bool,
}

/// Checks that one of the nodes that `path` selects in `xml` has this content, or that its value is that. Where the
/// content is XML, and `compares_elements`, an element with everything in it is compared.
///
/// # Errors
/// What was found instead, or why nothing was.
pub fn match_content(
    xml: &str,
    path: &XPath,
    content: &str,
    compares_elements: bool,
    comparison: ContentComparison,
    nodes: &Cell<u64>,
) -> Result<(), String> {
    let document = XmlDocument::parse(xml)?;
    let expected_xml = if compares_elements { XmlDocument::parse(content).ok() } else { None };
    let nodes = match document.select(path, nodes)? {
        XPathResult::Text(text) if text == content => return Ok(()),
        XPathResult::Text(text) => return Err(format!("the value is `{}`", one_line_excerpt(&text))),
        XPathResult::Nodes(nodes) => nodes,
    };
    let Some(last) = nodes.last() else { return Err("the XPath selects nothing".to_owned()) };
    if let Some(expected) = &expected_xml {
        let is_equal = |node: &XPathNode<'_>| match node {
            XPathNode::Tree(node) if node.is_root() || node.is_element() => {
                let element = if node.is_root() { node.document().root_element() } else { *node };
                are_equal(expected.root_element(), element, comparison)
            }
            _ => false,
        };
        if nodes.iter().any(is_equal) {
            return Ok(());
        }
        return Err("no selected element is the expected XML".to_owned());
    }
    let text_of = |node: &XPathNode<'_>| match node {
        XPathNode::Tree(node) if node.is_element() => element_text(*node).unwrap_or_default().to_owned(),
        other => other.text().into_owned(),
    };
    let matches = |node: &XPathNode<'_>| {
        let text = text_of(node);
        let has_wildcards =
            comparison.allow_wildcards && !matches!(node, XPathNode::Tree(node) if node.is_text());
        text == content || has_wildcards && is_similar(content, &text)
    };
    if nodes.iter().any(matches) {
        return Ok(());
    }
    let found = one_line_excerpt(&text_of(last));
    Err(if nodes.len() == 1 {
        format!("the content is `{found}`")
    } else {
        format!("no content of {} nodes is this, the last is `{found}`", nodes.len())
    })
}

/// Whether `text` is `pattern`, in which each `*` stands for any text.
#[must_use]
pub fn is_similar(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once(WILDCARD) else { return pattern == text };
    let (middle, end) = rest.rsplit_once(WILDCARD).unwrap_or(("", rest));
    let Some(inner) = text.strip_prefix(start).and_then(|text| text.strip_suffix(end)) else { return false };
    middle
        .split(WILDCARD)
        .try_fold(inner, |rest, part| rest.find(part).map(|at| &rest[at + part.len()..]))
        .is_some()
}

/// Whether two elements are equal, with attributes and content; spaces around texts do not count. Recursion is limited by
/// the depth that documents may have.
fn are_equal(expected: Node<'_, '_>, found: Node<'_, '_>, comparison: ContentComparison) -> bool {
    let texts_match = |expected: &str, found: &str| {
        let (expected, found) = (expected.trim(), found.trim());
        expected == found || comparison.allow_wildcards && is_similar(expected, found)
    };
    let (expected_name, found_name) = (expected.tag_name(), found.tag_name());
    let has_same_name = expected_name.name() == found_name.name()
        && (comparison.ignore_namespaces || expected_name.namespace() == found_name.namespace());
    let has_same_attributes = expected.attributes().len() == found.attributes().len()
        && expected.attributes().all(|attribute| {
            found.attributes().any(|other| {
                other.name() == attribute.name()
                    && (comparison.ignore_namespaces || other.namespace() == attribute.namespace())
                    && texts_match(attribute.value(), other.value())
            })
        });
    if !has_same_name || !has_same_attributes {
        return false;
    }
    // `*` as the only content stands for elements too.
    if comparison.allow_wildcards && element_text(expected).is_some_and(|text| text.trim() == "*") {
        return true;
    }
    let counts = |node: &Node<'_, '_>| match node {
        node if node.is_text() => node.text().is_some_and(|text| !text.trim().is_empty()),
        node if node.is_comment() => !comparison.ignore_comments,
        _ => true,
    };
    let (mut expected, mut found) = (expected.children().filter(counts), found.children().filter(counts));
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return true,
            (Some(expected), Some(found)) if expected.is_element() && found.is_element() => {
                if !are_equal(expected, found, comparison) {
                    return false;
                }
            }
            (Some(expected), Some(found)) if expected.node_type() == found.node_type() => {
                if !texts_match(expected.text().unwrap_or_default(), found.text().unwrap_or_default()) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::path_expression::parse_xpath_with_prolog;

    #[test]
    fn wildcards_stand_for_any_text() {
        for (pattern, text, similar) in [
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c*e", "abcde", true),
            ("a**e", "abcde", true),
            ("a*x*e", "abcde", false),
            ("ab*bc", "abc", false),
            ("abc", "abc", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(is_similar(pattern, text), similar, "{pattern} {text}");
        }
    }

    #[test]
    fn contents_are_compared() {
        let xml =
            "<o><i>1</i><i>22</i><j n='k'/><p:q xmlns:p='urn:p' a='1'><!-- c --><p:r> x </p:r></p:q></o>";
        let plain = ContentComparison::default();
        let wildcards = ContentComparison { allow_wildcards: true, ..plain };
        let namespaces = ContentComparison { ignore_namespaces: true, ignore_comments: true, ..plain };
        let comments = ContentComparison { ignore_comments: true, ..plain };
        let namesake = "<p:q xmlns:p='urn:p' a='1'><p:r>x</p:r></p:q>";
        for (path, content, comparison, matches) in [
            ("//i", "1", plain, true),
            ("//i", "22", plain, true),
            ("//i", "3", plain, false),
            ("//i[2]", "2*", plain, false),
            ("//i[2]", "2*", wildcards, true),
            ("//i[2]/text()", "2*", wildcards, false),
            ("//j", "", plain, true),
            ("//j/@n", "k", plain, true),
            ("//j/@n", "*", wildcards, true),
            ("count(//i)", "2", plain, true),
            ("//i=22", "true", plain, true),
            ("//none", "", plain, false),
            ("//*[local-name()='q']", namesake, comments, true),
            ("//*[local-name()='q']", namesake, plain, false),
            ("//*[local-name()='q']", "<q a='1'><r>x</r></q>", namespaces, true),
            ("//*[local-name()='q']", "<q a='1'><r>x</r></q>", comments, false),
            ("//*[local-name()='q']", "<q a='2'><r>x</r></q>", namespaces, false),
            ("//i[1]", "<i>*</i>", wildcards, true),
        ] {
            let xpath = parse_xpath_with_prolog(path).unwrap();
            let result =
                match_content(xml, &xpath, content, !path.ends_with("text()"), comparison, &Cell::new(1000));
            assert_eq!(result.is_ok(), matches, "{path} {content} {comparison:?} {result:?}");
        }
    }
}
