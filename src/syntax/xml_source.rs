//! The places of elements in the text that they were parsed from.

use std::ops::Range;

use roxmltree::Node;

/// Splits the source of an element after its start tag.
pub(crate) fn split_start_tag(source: &str) -> (&str, &str) {
    let mut quote = None;
    for (index, c) in source.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return source.split_at(index + 1),
            _ => {}
        }
    }
    (source, "")
}

/// The range between the tags of an element; `None` when it is one tag.
pub(crate) fn content_range(xml: &str, element: Node<'_, '_>) -> Option<Range<usize>> {
    let range = element.range();
    let source = xml.get(range.clone())?;
    let (start_tag, rest) = split_start_tag(source);
    if start_tag.ends_with("/>") {
        return None;
    }
    let end = rest.rfind("</")?;
    let start = range.start + start_tag.len();
    Some(start..start + end)
}
