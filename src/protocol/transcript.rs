//! What was said in a session, line by line, without secrets: evidence of a failure.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::domain::Capture;
use crate::syntax::MASK;

/// Bytes that are kept; the start of a session tells most.
const MAX_BYTES: usize = 32 * 1024;
/// Characters of one line that are kept.
const MAX_LINE_CHARS: usize = 500;

/// The lines of a session. A server may say a password again, so what came is masked like what was sent.
#[derive(Debug, Default)]
pub struct Transcript {
    text: String,
    omitted_lines: usize,
    secrets: Secrets,
}

/// Texts that must not be shown. Shows none itself.
#[derive(Default)]
struct Secrets(Vec<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

impl Transcript {
    /// From now on `secret` is masked, plain and in Base64 by itself.
    pub fn add_secret(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.secrets.0.push(secret.to_owned());
        self.secrets.0.push(STANDARD.encode(secret));
        // A short one may be part of a long one, which must not be left in pieces.
        self.secrets.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// `text` with every secret masked.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.secrets.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
    }

    /// A line that was sent.
    pub fn record_sent(&mut self, line: &str) {
        self.add('>', line);
    }

    /// A line that came.
    pub fn record_received(&mut self, line: &str) {
        self.add('<', line);
    }

    /// Something that happened in between, such as a TLS handshake.
    pub fn add_note(&mut self, what: &str) {
        self.add('*', what);
    }

    fn add(&mut self, sign: char, line: &str) {
        let masked = self.redact(line);
        let start: String = masked.chars().take(MAX_LINE_CHARS).collect();
        let rest = if start.len() < masked.len() { " …" } else { "" };
        if self.text.len() + start.len() > MAX_BYTES {
            self.omitted_lines += 1;
            return;
        }
        // Control characters of a peer must not reach a terminal.
        let _ = writeln!(self.text, "{sign} {}{rest}", crate::domain::replace_control_chars(&start));
    }

    /// As a file of the result; `None` when nothing was said.
    #[must_use]
    pub fn to_capture(&self) -> Option<Capture> {
        if self.text.is_empty() {
            return None;
        }
        let mut text = self.text.clone();
        if self.omitted_lines > 0 {
            let _ = writeln!(text, "* {} more lines", self.omitted_lines);
        }
        Some(Capture::new("transcript.txt", "text/plain; charset=utf-8", text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(transcript: &Transcript) -> String {
        let content = transcript.to_capture().unwrap().content.unwrap();
        String::from_utf8(content.to_vec()).unwrap()
    }

    #[test]
    fn a_secret_that_the_server_says_again_is_masked() {
        let mut transcript = Transcript::default();
        transcript.add_secret("s3cret");
        transcript.record_sent("PASS s3cret");
        transcript.record_received("-ERR no such password s3cret, nor czNjcmV0");
        assert_eq!(text(&transcript), "> PASS ********\n< -ERR no such password ********, nor ********\n");
    }

    #[test]
    fn a_secret_that_is_part_of_another_leaves_no_pieces_of_it() {
        let mut transcript = Transcript::default();
        transcript.add_secret("Zz");
        transcript.add_secret("xxZzyy");
        transcript.record_received("500 xxZzyy? Zz!");
        assert_eq!(text(&transcript), "< 500 ********? ********!\n");
    }

    #[test]
    fn lines_without_end_take_little_memory() {
        let mut transcript = Transcript::default();
        for _ in 0..10_000 {
            transcript.record_received(&"x".repeat(10_000));
        }
        let text = text(&transcript);
        assert!(text.len() < MAX_BYTES + 2 * MAX_LINE_CHARS, "{}", text.len());
        assert!(text.ends_with("more lines\n"), "{text}");
    }
}
