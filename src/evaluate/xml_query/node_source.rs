//! The places of nodes in the text that they were parsed from.

use std::fmt::Write;
use std::ops::Range;

use roxmltree::Node;

use crate::syntax::escape::escape_xml_text;
use crate::syntax::xml_source::{content_range, split_start_tag};

/// Returns the source of `element`, with declarations of the namespaces around it that it uses.
pub(super) fn element_source(xml: &str, element: Node<'_, '_>) -> String {
    let source = xml.get(element.range()).unwrap_or_default();
    let inherited = element.parent_element();
    let mut declarations = String::new();
    for namespace in inherited.into_iter().flat_map(|parent| parent.namespaces()) {
        let is_overridden =
            element.namespaces().all(|own| (own.name(), own.uri()) != (namespace.name(), namespace.uri()));
        let name = namespace.name();
        let is_used = name.is_none_or(|prefix| source.contains(&format!("{prefix}:")));
        let (start_tag, _) = split_start_tag(source);
        let declares = name.map_or("xmlns=".to_owned(), |prefix| format!("xmlns:{prefix}="));
        if is_overridden || !is_used || name == Some("xml") || start_tag.contains(&declares) {
            continue;
        }
        let _ = match name {
            Some(prefix) => write!(declarations, " xmlns:{prefix}=\"{}\"", escape_xml_text(namespace.uri())),
            None => write!(declarations, " xmlns=\"{}\"", escape_xml_text(namespace.uri())),
        };
    }
    let name_end = source.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(source.len());
    let (name, rest) = source.split_at(name_end);
    format!("{name}{declarations}{rest}")
}

/// A replacement of a range of a text.
pub(super) struct TextEdit {
    pub(super) range: Range<usize>,
    pub(super) replacement: String,
}

/// Returns the edit that gives `element` this text: that at its beginning is replaced.
pub(super) fn element_text_edit(xml: &str, element: Node<'_, '_>, text: &str) -> Option<TextEdit> {
    let Some(content) = content_range(xml, element) else {
        // `<a/>` becomes `<a>text</a>`.
        let range = element.range();
        let start_tag = xml.get(range.clone())?.strip_suffix("/>")?.trim_end();
        let name = start_tag[1..].split(char::is_whitespace).next()?;
        let replacement = format!("{start_tag}>{}</{name}>", escape_xml_text(text));
        return (!text.is_empty()).then_some(TextEdit { range, replacement });
    };
    let next = element.children().find(|child| !child.is_text());
    let end = next.map_or(content.end, |next| next.range().start);
    Some(TextEdit { range: content.start..end, replacement: escape_xml_text(text) })
}

/// Returns the edit that replaces the text node `node`.
pub(super) fn text_node_edit(xml: &str, node: Node<'_, '_>, text: &str) -> Option<TextEdit> {
    let content = content_range(xml, node.parent_element()?)?;
    let start = node.prev_sibling().map_or(content.start, |previous| previous.range().end);
    let end = node.next_sibling().map_or(content.end, |next| next.range().start);
    Some(TextEdit { range: start..end, replacement: escape_xml_text(text) })
}

/// Applies `edits`; of edits that overlap, the first in the text.
pub(super) fn apply_edits(xml: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let (mut out, mut position) = (String::with_capacity(xml.len()), 0);
    for TextEdit { range, replacement } in edits {
        let Some(unchanged) = xml.get(position..range.start) else { continue };
        out.push_str(unchanged);
        out.push_str(&replacement);
        position = range.end;
    }
    out.push_str(xml.get(position..).unwrap_or_default());
    out
}
