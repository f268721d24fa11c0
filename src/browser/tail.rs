//! What a driver prints: read as it comes, the last lines kept for people.

use std::collections::VecDeque;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

use crate::model::printable;

/// Lines that are kept.
const LINES: usize = 6;
/// Bytes of a line that are kept.
const LINE_BYTES: usize = 300;

/// The end of a driver's output.
#[derive(Debug)]
pub(super) struct Tail {
    pipe: Option<Receiver>,
    line: Vec<u8>,
    lines: VecDeque<String>,
}

impl Tail {
    /// Reads from `pipe`, whose other end the driver writes to.
    pub(super) fn of(pipe: PipeReader) -> io::Result<Self> {
        let pipe = Receiver::from_owned_fd(OwnedFd::from(pipe))?;
        Ok(Self { pipe: Some(pipe), line: Vec::new(), lines: VecDeque::new() })
    }

    /// The next line; `None` when there will be no more.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            let pipe = self.pipe.as_mut()?;
            match pipe.read_u8().await {
                Ok(b'\n') => return Some(self.end_line()),
                Ok(byte) if self.line.len() < LINE_BYTES => self.line.push(byte),
                Ok(_) => {}
                Err(_) => {
                    self.pipe = None;
                    return (!self.line.is_empty()).then(|| self.end_line());
                }
            }
        }
    }

    fn end_line(&mut self) -> String {
        let line = printable(String::from_utf8_lossy(&std::mem::take(&mut self.line)).trim());
        // Lines of the console of a page are the page's, and may have anything in them; that there is no desktop
        // is no news.
        if !line.is_empty() && !line.contains("CONSOLE") && !line.contains("dbus") {
            if self.lines.len() == LINES {
                self.lines.pop_front();
            }
            self.lines.push_back(line.clone());
        }
        line
    }

    /// Reads what comes, and forgets it but for the last lines. Stays pending at the end of the output.
    pub(super) async fn drain(&mut self) {
        while self.next().await.is_some() {}
        std::future::pending::<()>().await;
    }

    /// The last lines in one.
    pub(super) fn told(&self) -> String {
        self.lines.iter().map(String::as_str).collect::<Vec<_>>().join("; ")
    }
}
