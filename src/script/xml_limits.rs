//! Refuses XML that would cost its parser too much, before it is parsed.

use roxmltree::TextPos;

use super::script_error::ScriptError;

/// Attributes of one element: the parser compares each with all before it.
const MAX_ATTRIBUTES: usize = 1000;

/// Namespace declarations of a script: the parser copies those around an element that declares more.
const MAX_NAMESPACES: usize = 64;

/// Goes once over the tags of `text`, well-formed or not, in time linear to its length.
pub(super) fn check(text: &str) -> Result<(), ScriptError> {
    let bytes = text.as_bytes();
    let (mut at, mut namespaces) = (0, 0);
    while let Some(found) = find(bytes, at, b"<") {
        let rest = &bytes[found..];
        at = match rest {
            _ if rest.starts_with(b"<!--") => end_of(bytes, found + 4, b"-->"),
            _ if rest.starts_with(b"<![CDATA[") => end_of(bytes, found + 9, b"]]>"),
            _ if rest.starts_with(b"<?") => end_of(bytes, found + 2, b"?>"),
            _ => {
                let tag = Tag::scan(bytes, found + 1);
                namespaces += tag.namespaces;
                let problem = if tag.attributes > MAX_ATTRIBUTES {
                    Some(format!("an element has more than {MAX_ATTRIBUTES} attributes"))
                } else if namespaces > MAX_NAMESPACES {
                    Some(format!("there are more than {MAX_NAMESPACES} namespace declarations"))
                } else {
                    None
                };
                if let Some(problem) = problem {
                    return Err(ScriptError::new(text_position(text, found), problem));
                }
                tag.end
            }
        };
    }
    Ok(())
}

/// What counts of one tag.
struct Tag {
    /// Where reading goes on.
    end: usize,
    attributes: usize,
    namespaces: usize,
}

impl Tag {
    fn scan(bytes: &[u8], start: usize) -> Self {
        let mut tag = Self { end: bytes.len(), attributes: 0, namespaces: 0 };
        let mut quote = None;
        for (at, byte) in bytes.iter().enumerate().skip(start) {
            match (quote, byte) {
                (Some(open), _) if open == byte => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => {
                    tag.attributes += 1;
                    tag.namespaces += usize::from(name_before(&bytes[start..at]).starts_with(b"xmlns"));
                }
                (None, b'>') => {
                    tag.end = at + 1;
                    return tag;
                }
                _ => {}
            }
        }
        tag
    }
}

/// The word at the end of `bytes`, spaces behind it aside.
fn name_before(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.trim_ascii_end();
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'=');
    let start = bytes.iter().rposition(ends).map_or(0, |at| at + 1);
    &bytes[start..]
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(what.len()).position(|window| window == what).map(|at| from + at)
}

fn end_of(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    find(bytes, from, what).map_or(bytes.len(), |at| at + what.len())
}

fn text_position(text: &str, at: usize) -> TextPos {
    let before = text.get(..at).unwrap_or_default();
    let row = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let bounded = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    TextPos::new(bounded(row), bounded(column))
}
