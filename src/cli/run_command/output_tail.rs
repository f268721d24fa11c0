//! The last lines of the output of a command.

use std::collections::VecDeque;

/// Most lines that are kept.
const MAX_LINES: usize = 50;
/// Most bytes of the text that is sent.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Most bytes that are kept: more than are sent, so that what is masked is cut last.
const MAX_KEPT_BYTES: usize = 4 * MAX_TEXT_BYTES;

/// The last lines of standard output and standard error together, as they came.
#[derive(Debug, Default)]
pub(super) struct OutputTail {
    lines: VecDeque<Vec<u8>>,
    /// Bytes of `lines`.
    byte_count: usize,
    /// The line of each stream that has not ended yet.
    open_lines: [Vec<u8>; 2],
}

/// A stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputStream {
    Stdout,
    Stderr,
}

impl OutputTail {
    /// Adds `bytes` of a stream.
    pub(super) fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        let mut parts = bytes.split(|byte| *byte == b'\n');
        // What follows the last line break, or everything, belongs to a line that has not ended.
        let last = parts.next_back().unwrap_or_default();
        for part in parts {
            let mut line = self.extend_open_line(stream, part);
            line.truncate(line.strip_suffix(b"\r").map_or(line.len(), <[u8]>::len));
            self.push_line(line);
        }
        let open = self.extend_open_line(stream, last);
        self.open_lines[stream as usize] = open;
    }

    /// Takes the open line of `stream`, and appends `part` to it; of a line that is too long, the end is kept.
    fn extend_open_line(&mut self, stream: OutputStream, part: &[u8]) -> Vec<u8> {
        let mut line = std::mem::take(&mut self.open_lines[stream as usize]);
        line.extend_from_slice(&part[part.len().saturating_sub(MAX_KEPT_BYTES)..]);
        if line.len() > MAX_KEPT_BYTES {
            let excess = line.len() - MAX_KEPT_BYTES;
            // Half a word could be half a secret, which no redactor knows.
            let blank = line[excess..].iter().position(u8::is_ascii_whitespace);
            line.drain(..blank.map_or(line.len(), |blank| excess + blank));
        }
        line
    }

    fn push_line(&mut self, line: Vec<u8>) {
        self.byte_count += line.len();
        self.lines.push_back(line);
        while self.lines.len() > MAX_LINES || self.byte_count > MAX_KEPT_BYTES {
            self.byte_count -= self.lines.pop_front().map_or(0, |line| line.len());
        }
    }

    /// Returns the lines as text, without control characters. `redact` masks secrets in it before it is cut to its
    /// greatest length.
    pub(super) fn into_text(mut self, redact: impl FnOnce(String) -> String) -> String {
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            let open = std::mem::take(&mut self.open_lines[stream as usize]);
            if !open.is_empty() {
                self.push_line(open);
            }
        }
        let bytes = self.lines.make_contiguous().join(&b'\n');
        let text: String = String::from_utf8_lossy(&bytes)
            .chars()
            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
            .collect();
        let text = redact(text);
        let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_TEXT_BYTES));
        text[start..].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::OutputStream::{Stderr, Stdout};
    use super::*;

    fn text(parts: &[(OutputStream, &str)]) -> String {
        let mut tail = OutputTail::default();
        for (stream, part) in parts {
            tail.push(*stream, part.as_bytes());
        }
        tail.into_text(|text| text)
    }

    #[test]
    fn lines_of_both_streams_stay_whole() {
        assert_eq!(text(&[(Stdout, "one\ntw"), (Stderr, "err\n"), (Stdout, "o\r\n")]), "one\nerr\ntwo");
        assert_eq!(text(&[(Stdout, "a\n\nb"), (Stderr, "c")]), "a\n\nb\nc");
        assert_eq!(text(&[(Stdout, "\u{1b}[1mred\u{7}\tx\n")]), "[1mred\tx");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn the_last_lines_and_bytes_are_kept() {
        let lines: Vec<_> = (0..200).map(|n| format!("line {n}")).collect();
        let kept = text(&[(Stdout, &lines.join("\n"))]);
        assert!(kept.starts_with("line 150\n") && kept.ends_with("line 199"), "{kept}");
        let long = "é".repeat(600) + "\n";
        let kept = text(&[(Stdout, &long.repeat(40))]);
        assert!(kept.len() <= MAX_TEXT_BYTES && kept.len() > MAX_TEXT_BYTES - 2, "{}", kept.len());
    }

    #[test]
    fn an_endless_line_is_cut_at_a_word() {
        let mut tail = OutputTail::default();
        for _ in 0..100 {
            tail.push(Stdout, "word ".repeat(2000).as_bytes());
            assert!(tail.open_lines[0].len() <= MAX_KEPT_BYTES);
        }
        assert!(tail.into_text(|text| text).ends_with("word word "));
        let mut tail = OutputTail::default();
        tail.push(Stdout, "x".repeat(10 * MAX_KEPT_BYTES).as_bytes());
        tail.push(Stdout, b"y");
        assert!(tail.into_text(|text| text).len() <= MAX_TEXT_BYTES);
    }
}
