//! Runs transcripts against a [`LineProtocol`] in unit tests, without sockets.

use super::line_session::{LineProtocol, ProtocolAction};
use crate::domain::Failure;

/// Runs `dialogue` with `protocol`: `< line` is sent by the server, `> line` is expected from the client, `* tls` and
/// `* done` are expected actions. Returns the failure, which only the last line may cause.
pub(crate) fn run_transcript(protocol: &mut impl LineProtocol, dialogue: &str) -> Option<Failure> {
    let mut lines = dialogue.lines().map(str::trim_start).filter(|line| !line.is_empty()).peekable();
    let mut action = ProtocolAction::ReadLine;
    while let Some(line) = lines.next() {
        if let Some(received) = line.strip_prefix('<') {
            assert_eq!(action, ProtocolAction::ReadLine, "before `{line}`");
            match protocol.on_line(received.strip_prefix(' ').unwrap_or(received)) {
                Ok(next) => action = next,
                Err(failure) => {
                    assert_eq!(lines.peek(), None, "it fails early: {failure}");
                    return Some(failure);
                }
            }
        } else if let Some(expected_line) = line.strip_prefix('>') {
            let ProtocolAction::SendLine(line) = action else {
                panic!("it says nothing, not `{expected_line}`: {action:?}")
            };
            assert_eq!(line.text(), expected_line.strip_prefix(' ').unwrap_or(expected_line));
            action = ProtocolAction::ReadLine;
        } else if line == "* tls" {
            assert_eq!(action, ProtocolAction::StartTls);
            action = protocol.on_tls_established();
        } else if line == "* done" {
            assert_eq!(action, ProtocolAction::Done);
            action = ProtocolAction::ReadLine;
        } else {
            panic!("`{line}` is not a line of a script");
        }
    }
    assert_eq!(action, ProtocolAction::ReadLine, "the script ends before the session");
    None
}
