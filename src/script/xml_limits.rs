//! Rejects XML that would be too expensive to parse, without parsing it.

use std::collections::HashSet;

use roxmltree::TextPos;

use super::script_error::ScriptError;

/// Maximum number of attributes of one element: the parser compares each with all earlier ones.
const MAX_ATTRIBUTES: usize = 1000;

/// Maximum number of namespace declarations of a script: the parser copies those in scope for each element that
/// declares more.
const MAX_NAMESPACES: usize = 64;

/// Maximum number of namespace declarations of a project: SoapUI repeats that of `xsi` at most steps. As they declare few
/// prefixes, few are in scope, and little is copied.
const MAX_PROJECT_NAMESPACES: usize = 20_000;

/// Maximum number of prefixes that a project declares.
const MAX_PROJECT_PREFIXES: usize = 64;

/// Checks the tags of a script, well-formed or not, in linear time.
pub(super) fn check(text: &str) -> Result<(), ScriptError> {
    check_with_limits(text, MAX_NAMESPACES, MAX_NAMESPACES)
}

/// Checks the tags of a project, well-formed or not, in linear time.
pub(super) fn check_project(text: &str) -> Result<(), ScriptError> {
    check_with_limits(text, MAX_PROJECT_NAMESPACES, MAX_PROJECT_PREFIXES)
}

fn check_with_limits(text: &str, max_namespaces: usize, max_prefixes: usize) -> Result<(), ScriptError> {
    let bytes = text.as_bytes();
    let (mut position, mut namespace_count) = (0, 0);
    let mut prefixes: HashSet<&[u8]> = HashSet::new();
    while let Some(tag_start) = find(bytes, position, b"<") {
        let rest = &bytes[tag_start..];
        position = match rest {
            _ if rest.starts_with(b"<!--") => end_after(bytes, tag_start + 4, b"-->"),
            _ if rest.starts_with(b"<![CDATA[") => end_after(bytes, tag_start + 9, b"]]>"),
            _ if rest.starts_with(b"<?") => end_after(bytes, tag_start + 2, b"?>"),
            _ => {
                let tag = TagCounts::scan(bytes, tag_start + 1);
                namespace_count += tag.namespaces.len();
                prefixes.extend(&tag.namespaces);
                let problem = if tag.attribute_count > MAX_ATTRIBUTES {
                    Some(format!("an element has more than {MAX_ATTRIBUTES} attributes"))
                } else if namespace_count > max_namespaces {
                    Some(format!("there are more than {max_namespaces} namespace declarations"))
                } else if prefixes.len() > max_prefixes {
                    Some(format!("more than {max_prefixes} namespace prefixes are declared"))
                } else {
                    None
                };
                if let Some(problem) = problem {
                    return Err(ScriptError::new(text_position(text, tag_start), problem));
                }
                tag.end
            }
        };
    }
    Ok(())
}

/// The counts of one tag.
struct TagCounts<'t> {
    /// The end of the tag.
    end: usize,
    attribute_count: usize,
    /// The names of its namespace declarations.
    namespaces: Vec<&'t [u8]>,
}

impl<'t> TagCounts<'t> {
    fn scan(bytes: &'t [u8], start: usize) -> Self {
        let mut tag = Self { end: bytes.len(), attribute_count: 0, namespaces: Vec::new() };
        let mut quote = None;
        for (index, byte) in bytes.iter().enumerate().skip(start) {
            match (quote, byte) {
                (Some(opening_quote), _) if opening_quote == byte => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => {
                    tag.attribute_count += 1;
                    let name = name_before(&bytes[start..index]);
                    tag.namespaces.extend(name.starts_with(b"xmlns").then_some(name));
                }
                (None, b'>') => {
                    tag.end = index + 1;
                    return tag;
                }
                _ => {}
            }
        }
        tag
    }
}

/// Returns the attribute name at the end of `bytes`, ignoring trailing spaces.
fn name_before(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.trim_ascii_end();
    let ends_before_name = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'=');
    let start = bytes.iter().rposition(ends_before_name).map_or(0, |position| position + 1);
    &bytes[start..]
}

fn find(bytes: &[u8], from: usize, pattern: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(pattern.len()).position(|window| window == pattern).map(|offset| from + offset)
}

fn end_after(bytes: &[u8], from: usize, pattern: &[u8]) -> usize {
    find(bytes, from, pattern).map_or(bytes.len(), |position| position + pattern.len())
}

fn text_position(text: &str, offset: usize) -> TextPos {
    let before = text.get(..offset).unwrap_or_default();
    let row = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let bounded = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    TextPos::new(bounded(row), bounded(column))
}
