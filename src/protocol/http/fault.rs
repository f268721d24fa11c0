//! What went wrong with an exchange, from what hyper says and how the stream ended.

use std::error::Error;
use std::io::ErrorKind as Io;

use super::limits::{HEAD_BYTES, HEAD_FIELDS, PREAMBLE_BYTES};
use super::recorder::{End, Marks};
use crate::domain::{Failure, FailureKind};

/// The failure behind `error`. A breach of the protocol is told before the end of the stream, since a
/// peer that speaks nonsense often closes too.
pub(super) fn of(marks: &Marks, error: &hyper::Error) -> Failure {
    let phase = marks.phase();
    if error.is_parse_too_large() {
        let detail = format!("the head has more than {HEAD_BYTES} bytes or {HEAD_FIELDS} fields");
        return Failure::new(phase, FailureKind::ResponseTooLarge, detail);
    }
    if error.is_parse() {
        return Failure::new(phase, FailureKind::ResponseInvalid, words(error));
    }
    match marks.end() {
        Some(end) => ended(marks, &end),
        None => Failure::new(phase, FailureKind::ResponseInvalid, words(error)),
    }
}

fn ended(marks: &Marks, end: &End) -> Failure {
    let (phase, bytes) = (marks.phase(), marks.bytes_read());
    let (kind, detail) = match end {
        End::Failed { words, tls_alert: true, .. } => (FailureKind::TlsHandshake, words.clone()),
        End::Closed | End::Failed { kind: Io::UnexpectedEof, .. } if bytes == 0 => {
            (FailureKind::NoResponse, "closed before the first byte".to_owned())
        }
        End::Flooded => (
            FailureKind::ResponseTooLarge,
            format!("{PREAMBLE_BYTES} bytes came without the head of an answer"),
        ),
        End::Closed => (FailureKind::ResponseTruncated, format!("closed after {bytes} bytes")),
        End::Failed { kind: Io::UnexpectedEof, .. } => {
            (FailureKind::ResponseTruncated, format!("closed after {bytes} bytes, without the end of TLS"))
        }
        End::Failed { kind: Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe, .. } => match bytes
        {
            0 => (FailureKind::ResponseReset, "reset before the first byte".to_owned()),
            _ => (FailureKind::ResponseTruncated, format!("reset after {bytes} bytes")),
        },
        End::Failed { kind: Io::HostUnreachable | Io::NetworkUnreachable, words, .. } => {
            (FailureKind::Unreachable, words.clone())
        }
        End::Failed { kind: Io::TimedOut, words, .. } => (FailureKind::TimedOut, words.clone()),
        End::Failed { kind: Io::InvalidData, words, .. } => (FailureKind::ResponseInvalid, words.clone()),
        End::Failed { words, .. } => (FailureKind::Internal, words.clone()),
    };
    Failure::new(phase, kind, detail)
}

/// The words of an error and of what caused it.
fn words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    words
}
