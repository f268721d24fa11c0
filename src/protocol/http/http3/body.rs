//! The body of an HTTP/3 response.

use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};

use super::failure::{FailureContext, too_large_failure};
use super::stream::{Http3Sender, Http3Stream};
use crate::domain::{Failure, FailureKind, Phase};

/// The body of a response, not read yet.
pub(in crate::protocol::http) struct Http3Body {
    pub(super) stream: Http3Stream,
    /// The connection is closed when its last sender is dropped.
    pub(super) _sender: Http3Sender,
    pub(super) failure_context: FailureContext,
    /// Bytes announced by `Content-Length`.
    pub(super) content_length: Option<u64>,
    pub(super) received_bytes: u64,
}

impl Http3Body {
    /// Raises the receive limit by `bytes`.
    pub(in crate::protocol::http) fn raise_limit(&self, bytes: u64) {
        // Frames and datagrams have their own headers.
        self.failure_context.meter.raise_limit(bytes.saturating_mul(2));
    }

    /// Returns the next chunk; `None` at the end.
    pub(in crate::protocol::http) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Failure>>> {
        if self.failure_context.meter.is_over_limit() {
            return Poll::Ready(Some(Err(too_large_failure(Phase::Transfer))));
        }
        let received = ready!(self.stream.poll_recv_data(cx)).map(|data| {
            data.map(|mut data| {
                let length = data.remaining();
                data.copy_to_bytes(length)
            })
        });
        Poll::Ready(match received {
            Ok(Some(data)) => {
                self.received_bytes += data.len() as u64;
                Some(Ok(data))
            }
            Ok(None)
                if self
                    .content_length
                    .is_some_and(|content_length| content_length != self.received_bytes) =>
            {
                let detail =
                    format!("ended after {} bytes, which is not what it declares", self.received_bytes);
                Some(Err(Failure::new(Phase::Transfer, FailureKind::ResponseTruncated, detail)))
            }
            Ok(None) => None,
            Err(error) => Some(Err(self.failure_context.stream_failure(Phase::Transfer, &error))),
        })
    }
}
