//! Failures of an exchange, from hyper's errors and the end of the stream.

use std::error::Error;
use std::io::ErrorKind as Io;

use super::limits::{MAX_HEAD_BYTES, MAX_HEADER_FIELDS, MAX_PREAMBLE_BYTES};
use super::timings::{ExchangeTimings, StreamEnd};
use crate::domain::{Failure, FailureKind};

/// Returns the failure of `error`. Protocol errors have precedence over the end of the stream, since peers that send
/// invalid data often close too.
pub(super) fn from_hyper_error(timings: &ExchangeTimings, error: &hyper::Error) -> Failure {
    let phase = timings.phase();
    if error.is_parse_too_large() {
        let detail = format!("the head has more than {MAX_HEAD_BYTES} bytes or {MAX_HEADER_FIELDS} fields");
        return Failure::new(phase, FailureKind::ResponseTooLarge, detail);
    }
    if error.is_parse() {
        return Failure::new(phase, FailureKind::ResponseInvalid, error_chain_text(error));
    }
    match timings.stream_end() {
        Some(end) => from_stream_end(timings, &end),
        None => Failure::new(phase, FailureKind::ResponseInvalid, error_chain_text(error)),
    }
}

fn from_stream_end(timings: &ExchangeTimings, end: &StreamEnd) -> Failure {
    let (phase, bytes_read) = (timings.phase(), timings.bytes_read());
    let (kind, detail) = match end {
        StreamEnd::Failed { message: text, tls_alert: true, .. } => {
            (FailureKind::TlsHandshakeFailed, text.clone())
        }
        StreamEnd::Closed | StreamEnd::Failed { kind: Io::UnexpectedEof, .. } if bytes_read == 0 => {
            (FailureKind::NoResponse, "closed before the first byte".to_owned())
        }
        StreamEnd::PreambleTooLarge => (
            FailureKind::ResponseTooLarge,
            format!("received {MAX_PREAMBLE_BYTES} bytes without a complete response head"),
        ),
        StreamEnd::Closed => (FailureKind::ResponseTruncated, format!("closed after {bytes_read} bytes")),
        StreamEnd::Failed { kind: Io::UnexpectedEof, .. } => (
            FailureKind::ResponseTruncated,
            format!("closed after {bytes_read} bytes, without the end of TLS"),
        ),
        StreamEnd::Failed { kind: Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe, .. } => {
            match bytes_read {
                0 => (FailureKind::ResponseReset, "reset before the first byte".to_owned()),
                _ => (FailureKind::ResponseTruncated, format!("reset after {bytes_read} bytes")),
            }
        }
        StreamEnd::Failed { kind: Io::HostUnreachable | Io::NetworkUnreachable, message: text, .. } => {
            (FailureKind::Unreachable, text.clone())
        }
        StreamEnd::Failed { kind: Io::TimedOut, message: text, .. } => (FailureKind::TimedOut, text.clone()),
        StreamEnd::Failed { kind: Io::InvalidData, message: text, .. } => {
            (FailureKind::ResponseInvalid, text.clone())
        }
        StreamEnd::Failed { message: text, .. } => (FailureKind::Internal, text.clone()),
    };
    Failure::new(phase, kind, detail)
}

/// Returns the texts of an error and its causes.
fn error_chain_text(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let cause_text = error.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        cause = error.source();
    }
    text
}
