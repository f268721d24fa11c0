//! Reads the output of a driver and keeps the last lines for error messages.

use std::collections::VecDeque;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe::Receiver;

use crate::domain::replace_control_chars;

/// Lines that are kept.
const MAX_LINES: usize = 6;
/// Bytes of a line that are kept.
const MAX_LINE_BYTES: usize = 300;

/// The last lines of a driver's output.
#[derive(Debug)]
pub(crate) struct DriverLog {
    output: Option<BufReader<Receiver>>,
    partial_line: Vec<u8>,
    last_lines: VecDeque<String>,
}

impl DriverLog {
    /// Reads from `pipe`, whose other end the driver writes to.
    pub(crate) fn new(pipe: PipeReader) -> io::Result<Self> {
        let pipe = Receiver::from_owned_fd(OwnedFd::from(pipe))?;
        Ok(Self { output: Some(BufReader::new(pipe)), partial_line: Vec::new(), last_lines: VecDeque::new() })
    }

    /// Returns the next line; `None` at the end of the output. Cancel-safe: bytes that were read stay in the buffer or
    /// in `partial_line`.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        loop {
            let pipe = self.output.as_mut()?;
            let buffered = pipe.fill_buf().await.unwrap_or_default();
            if buffered.is_empty() {
                self.output = None;
                return (!self.partial_line.is_empty()).then(|| self.finish_line());
            }
            let newline_at = buffered.iter().position(|byte| *byte == b'\n');
            let part = &buffered[..newline_at.unwrap_or(buffered.len())];
            let capacity = MAX_LINE_BYTES.saturating_sub(self.partial_line.len());
            self.partial_line.extend_from_slice(&part[..part.len().min(capacity)]);
            let consumed = part.len() + usize::from(newline_at.is_some());
            pipe.consume(consumed);
            if newline_at.is_some() {
                return Some(self.finish_line());
            }
        }
    }

    fn finish_line(&mut self) -> String {
        let line =
            replace_control_chars(String::from_utf8_lossy(&std::mem::take(&mut self.partial_line)).trim());
        // Console lines come from the page and may contain anything; errors about the missing desktop are expected.
        if !line.is_empty() && !line.contains("CONSOLE") && !line.contains("dbus") {
            if self.last_lines.len() == MAX_LINES {
                self.last_lines.pop_front();
            }
            self.last_lines.push_back(line.clone());
        }
        line
    }

    /// Reads the output to its end and keeps the last lines; then stays pending, so it never completes.
    pub(crate) async fn drain_forever(&mut self) {
        while self.next_line().await.is_some() {}
        std::future::pending::<()>().await;
    }

    /// Joins the last lines.
    pub(crate) fn joined_last_lines(&self) -> String {
        self.last_lines.iter().map(String::as_str).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn lines_are_complete_after_cancelled_reads() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut log = DriverLog::new(reader).unwrap();
        for part in ["on", "e", "\ntwo\nth"] {
            // Cancelled before the end of the line.
            assert_eq!(log.next_line().now_or_never(), None, "{part}");
            writer.write_all(part.as_bytes()).unwrap();
        }
        assert_eq!(log.next_line().await.as_deref(), Some("one"));
        assert_eq!(log.next_line().await.as_deref(), Some("two"));
        writer.write_all("x".repeat(20_000).as_bytes()).unwrap();
        writer.write_all(b"\n\nend").unwrap();
        drop(writer);
        assert_eq!(log.next_line().await.map(|line| line.len()), Some(MAX_LINE_BYTES));
        assert_eq!(log.next_line().await.as_deref(), Some(""));
        assert_eq!(log.next_line().await.as_deref(), Some("end"));
        assert_eq!(log.next_line().await, None);
        assert!(
            log.joined_last_lines().starts_with("one; two; thxx")
                && log.joined_last_lines().ends_with("; end"),
            "{}",
            log.joined_last_lines()
        );
    }
}
