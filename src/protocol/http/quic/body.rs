//! The body of an answer over HTTP/3.

use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};

use super::stream::{Sender, Stream};
use super::told::{Told, flooded};
use crate::domain::{Failure, FailureKind, Phase};

/// The body of an answer, not read yet.
pub(in crate::protocol::http) struct QuicBody {
    pub(super) stream: Stream,
    /// The connection is closed when the last of these goes.
    pub(super) _sender: Sender,
    pub(super) told: Told,
    /// Bytes that `Content-Length` promises.
    pub(super) declared: Option<u64>,
    pub(super) came: u64,
}

impl QuicBody {
    /// Lets so many bytes in.
    pub(in crate::protocol::http) fn allow(&self, bytes: u64) {
        // Frames and datagrams have heads of their own.
        self.told.gauge.raise_limit(bytes.saturating_mul(2));
    }

    /// The next piece; `None` at the end.
    pub(in crate::protocol::http) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Failure>>> {
        if self.told.gauge.is_over_limit() {
            return Poll::Ready(Some(Err(flooded(Phase::Transfer))));
        }
        let came = ready!(self.stream.poll_recv_data(cx)).map(|data| {
            data.map(|mut data| {
                let length = data.remaining();
                data.copy_to_bytes(length)
            })
        });
        Poll::Ready(match came {
            Ok(Some(data)) => {
                self.came += data.len() as u64;
                Some(Ok(data))
            }
            Ok(None) if self.declared.is_some_and(|declared| declared != self.came) => {
                let detail = format!("ended after {} bytes, which is not what it declares", self.came);
                Some(Err(Failure::new(Phase::Transfer, FailureKind::ResponseTruncated, detail)))
            }
            Ok(None) => None,
            Err(error) => Some(Err(self.told.of_stream(Phase::Transfer, &error))),
        })
    }
}
