//! Failures of HTTP/3.

use h3::error::StreamError;
use quinn::ConnectionError;

use crate::domain::{Failure, FailureKind, Phase, replace_control_chars};
use crate::net::{QuicMeter, quic_connection_failure};
use crate::protocol::http::limits::{MAX_HEAD_BYTES, MAX_HEADER_FIELDS};

/// Returns the failure of more data than the meter allows.
pub(super) fn too_large_failure(phase: Phase) -> Failure {
    Failure::new(phase, FailureKind::ResponseTooLarge, "received more than the limit of a response")
}

/// Determines the failure of an exchange.
#[derive(Clone)]
pub(super) struct FailureContext {
    pub(super) connection: quinn::Connection,
    pub(super) meter: QuicMeter,
}

impl FailureContext {
    /// Returns the failure of an exchange.
    pub(super) fn stream_failure(&self, phase: Phase, error: &StreamError) -> Failure {
        let failure = |kind, detail: String| Failure::new(phase, kind, detail);
        match error {
            StreamError::HeaderTooBig { .. } => failure(
                FailureKind::ResponseTooLarge,
                format!("the head has more than {MAX_HEAD_BYTES} bytes or {MAX_HEADER_FIELDS} fields"),
            ),
            StreamError::RemoteTerminate { code, .. } => {
                let kind = match phase {
                    Phase::Transfer => FailureKind::ResponseTruncated,
                    _ => FailureKind::ResponseReset,
                };
                failure(kind, format!("the server reset the stream ({code})"))
            }
            StreamError::RemoteClosing { .. } => failure(
                FailureKind::NoResponse,
                "the server accepts no more requests on the connection".to_owned(),
            ),
            other => self.connection_failure(phase, &other.to_string()),
        }
    }

    /// Returns the failure of a closed connection, or of a peer that violated HTTP/3 as described by `error_text`.
    pub(super) fn connection_failure(&self, phase: Phase, error_text: &str) -> Failure {
        let failure = |kind, detail: &str| Failure::new(phase, kind, detail);
        match self.connection.close_reason() {
            None | Some(ConnectionError::LocallyClosed) => {
                failure(FailureKind::ResponseInvalid, &replace_control_chars(error_text))
            }
            Some(ConnectionError::ApplicationClosed(close)) => {
                let kind = match phase {
                    Phase::Transfer => FailureKind::ResponseTruncated,
                    _ => FailureKind::NoResponse,
                };
                failure(kind, &replace_control_chars(&format!("the server closed the connection: {close}")))
            }
            Some(error) => {
                Failure { phase, ..quic_connection_failure(self.connection.remote_address(), &error) }
            }
        }
    }
}
