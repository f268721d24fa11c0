//! A fingerprint of the visible text of a page.

use std::convert::Infallible;

use aws_lc_rs::digest::{Context, SHA256};
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::error_skipping_emitter::ErrorSkippingEmitter;
use crate::domain::to_hex;

/// Returns the SHA-256 in lower-case hexadecimal of the visible text of `html`: without tags, comments, and the content
/// of `script`, `style`, `template`, `noscript`, `title` and frames. Runs of white space and block boundaries count as
/// one space.
#[must_use]
pub fn text_fingerprint(html: &str) -> String {
    let mut hasher = TextHasher {
        digest: Context::new(&SHA256),
        has_pending_space: false,
        has_text: false,
        hidden_element: Vec::new(),
        open_templates: 0,
    };
    let mut emitter = CallbackEmitter::new(&mut hasher);
    emitter.naively_switch_states(true);
    // The events do all the work; the tokenizer returns nothing.
    let _ = Tokenizer::new_with_emitter(html, ErrorSkippingEmitter(emitter)).next();
    to_hex(hasher.digest.finish().as_ref())
}

/// Hashes the visible text of a document, token by token.
struct TextHasher {
    digest: Context,
    /// Whether a space precedes the next character.
    has_pending_space: bool,
    /// Whether any text was hashed, so that a space may precede the next.
    has_text: bool,
    /// The current element whose text is hidden; such elements are not nested.
    hidden_element: Vec<u8>,
    /// Number of open `template`s, whose text is hidden.
    open_templates: u32,
}

impl Callback<Infallible, ()> for &mut TextHasher {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.has_pending_space |= !is_inline_element(name);
                if name == b"template" {
                    self.open_templates += 1;
                } else if self.hidden_element.is_empty() && hides_text(name) {
                    self.hidden_element.extend_from_slice(name);
                }
            }
            CallbackEvent::EndTag { name } => {
                self.has_pending_space |= !is_inline_element(name);
                if name == b"template" {
                    self.open_templates = self.open_templates.saturating_sub(1);
                } else if self.hidden_element == name {
                    self.hidden_element.clear();
                }
            }
            CallbackEvent::String { value } if self.hidden_element.is_empty() && self.open_templates == 0 => {
                self.push_text(value);
            }
            _ => {}
        }
        None
    }
}

impl TextHasher {
    fn push_text(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let mut rest: &str = &text;
        while let Some(first) = rest.chars().next() {
            let is_space = |c: char| c.is_whitespace();
            if is_space(first) {
                self.has_pending_space = true;
                rest = rest.trim_start_matches(is_space);
                continue;
            }
            let end = rest.find(is_space).unwrap_or(rest.len());
            if std::mem::take(&mut self.has_pending_space) && self.has_text {
                self.digest.update(b" ");
            }
            self.has_text = true;
            self.digest.update(&rest.as_bytes()[..end]);
            rest = &rest[end..];
        }
    }
}

fn hides_text(name: &[u8]) -> bool {
    matches!(
        name,
        b"script"
            | b"style"
            | b"noscript"
            | b"title"
            | b"iframe"
            | b"noframes"
            | b"noembed"
            | b"object"
            | b"svg"
    )
}

/// Whether the element is part of a line of text.
fn is_inline_element(name: &[u8]) -> bool {
    matches!(
        name,
        b"a" | b"abbr"
            | b"acronym"
            | b"b"
            | b"bdi"
            | b"bdo"
            | b"big"
            | b"cite"
            | b"code"
            | b"data"
            | b"del"
            | b"dfn"
            | b"em"
            | b"font"
            | b"i"
            | b"ins"
            | b"kbd"
            | b"label"
            | b"mark"
            | b"q"
            | b"rp"
            | b"rt"
            | b"ruby"
            | b"s"
            | b"samp"
            | b"small"
            | b"span"
            | b"strike"
            | b"strong"
            | b"sub"
            | b"sup"
            | b"time"
            | b"tt"
            | b"u"
            | b"var"
            | b"wbr"
            | b"script"
            | b"style"
            | b"noscript"
            | b"template"
    )
}

#[cfg(test)]
mod tests {
    use super::text_fingerprint;

    #[test]
    fn only_visible_text_counts() {
        let page = "<title>a</title><p>Two  words</p><p>and <b>mo</b>re</p>";
        for same in [
            "<title>b</title><p>Two\n words</p>\n\n<p class=x>and <b>mo</b>re</p>",
            "<div>Two words</div>and more",
            "<p>Two words<p>and more<!-- 7 --><script>var n = 7;</script><style>p{}</style>",
            "Two&#32;words <template><p>7</p></template><noscript>7</noscript>and more",
            "Two words<br>and<svg><text>7</text></svg> more",
        ] {
            assert_eq!(text_fingerprint(page), text_fingerprint(same), "{same}");
        }
        for other in ["<p>Two words</p><p>and mores</p>", "<p>Twowords</p><p>and more</p>", ""] {
            assert_ne!(text_fingerprint(page), text_fingerprint(other), "{other}");
        }
        assert_eq!(text_fingerprint(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(text_fingerprint("a <i> b").len(), 64);
    }
}
