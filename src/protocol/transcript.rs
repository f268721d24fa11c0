//! The transcript of a session, line by line, with secrets redacted: evidence of a failure.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::domain::CapturedFile;
use crate::syntax::MASK;

/// Longest transcript that is kept, in bytes; the start of a session is the most useful.
const MAX_TRANSCRIPT_BYTES: usize = 32 * 1024;
/// Longest line that is kept, in characters.
const MAX_LINE_CHARS: usize = 500;

/// The lines of a session. A server may repeat a password, so received lines are redacted like sent ones.
#[derive(Debug, Default)]
pub struct Transcript {
    text: String,
    omitted_lines: usize,
    secrets: Secrets,
}

/// Texts to redact. Debug output does not show them.
#[derive(Default)]
struct Secrets(Vec<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

impl Transcript {
    /// Redacts `secret` from now on, both plain and in Base64.
    pub fn add_secret(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.secrets.0.push(secret.to_owned());
        self.secrets.0.push(STANDARD.encode(secret));
        // Replace longer ones first: a short one may be part of a long one, which must not remain in parts.
        self.secrets.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// Returns `text` with every secret masked.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.secrets.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
    }

    /// Records a sent line.
    pub fn record_sent(&mut self, line: &str) {
        self.append_line('>', line);
    }

    /// Records a received line.
    pub fn record_received(&mut self, line: &str) {
        self.append_line('<', line);
    }

    /// Records an event between two lines, such as a TLS handshake.
    pub fn add_note(&mut self, note: &str) {
        self.append_line('*', note);
    }

    fn append_line(&mut self, direction: char, line: &str) {
        let redacted = self.redact(line);
        let kept_text: String = redacted.chars().take(MAX_LINE_CHARS).collect();
        let ellipsis = if kept_text.len() < redacted.len() { " …" } else { "" };
        if self.text.len() + kept_text.len() > MAX_TRANSCRIPT_BYTES {
            self.omitted_lines += 1;
            return;
        }
        // Control characters of a peer must not reach a terminal.
        let _ =
            writeln!(self.text, "{direction} {}{ellipsis}", crate::domain::replace_control_chars(&kept_text));
    }

    /// Returns the transcript as a file of the result; `None` when it is empty.
    #[must_use]
    pub fn to_capture(&self) -> Option<CapturedFile> {
        if self.text.is_empty() {
            return None;
        }
        let mut text = self.text.clone();
        if self.omitted_lines > 0 {
            let _ = writeln!(text, "* {} more lines", self.omitted_lines);
        }
        Some(CapturedFile::new("transcript.txt", "text/plain; charset=utf-8", text.as_bytes()))
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
    fn a_secret_repeated_by_the_server_is_masked() {
        let mut transcript = Transcript::default();
        transcript.add_secret("s3cret");
        transcript.record_sent("PASS s3cret");
        transcript.record_received("-ERR no such password s3cret, nor czNjcmV0");
        assert_eq!(text(&transcript), "> PASS ********\n< -ERR no such password ********, nor ********\n");
    }

    #[test]
    fn a_secret_within_another_leaves_no_parts_of_it() {
        let mut transcript = Transcript::default();
        transcript.add_secret("Zz");
        transcript.add_secret("xxZzyy");
        transcript.record_received("500 xxZzyy? Zz!");
        assert_eq!(text(&transcript), "< 500 ********? ********!\n");
    }

    #[test]
    fn endless_lines_use_little_memory() {
        let mut transcript = Transcript::default();
        for _ in 0..10_000 {
            transcript.record_received(&"x".repeat(10_000));
        }
        let text = text(&transcript);
        assert!(text.len() < MAX_TRANSCRIPT_BYTES + 2 * MAX_LINE_CHARS, "{}", text.len());
        assert!(text.ends_with("more lines\n"), "{text}");
    }
}
