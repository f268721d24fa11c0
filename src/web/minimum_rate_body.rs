//! A request body that fails when it arrives too slowly, so that a client cannot hold memory and connections with a
//! trickle of bytes.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::Limited;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// Least rate of a body in bytes per second, on average since it was first read.
const MIN_BODY_BYTES_PER_SECOND: u32 = 16 * 1024;
/// Time that a body may take beyond that.
const MIN_RATE_GRACE: Duration = Duration::from_secs(10);

/// The body arrived more slowly than [`MIN_BODY_BYTES_PER_SECOND`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body arrived at less than {} kB a second", MIN_BODY_BYTES_PER_SECOND / 1024)]
struct BodyTooSlow;

/// A body of limited size that fails with [`BodyTooSlow`].
pub(super) struct MinimumRateBody {
    inner: Limited<Body>,
    bytes_received: u64,
    /// When it was first read.
    started_at: Option<Instant>,
    /// Wakes the reader at the deadline.
    timer: Pin<Box<Sleep>>,
}

impl MinimumRateBody {
    /// Limits `body` to `max_bytes` and to the least rate.
    pub(super) fn new(body: Body, max_bytes: usize) -> Self {
        let timer = Box::pin(tokio::time::sleep(MIN_RATE_GRACE));
        Self { inner: Limited::new(body, max_bytes), bytes_received: 0, started_at: None, timer }
    }

    /// When a body fails unless more of it has arrived.
    fn deadline(&self, started_at: Instant) -> Instant {
        let milliseconds = self.bytes_received * 1000 / u64::from(MIN_BODY_BYTES_PER_SECOND);
        started_at + MIN_RATE_GRACE + Duration::from_millis(milliseconds)
    }
}

impl HttpBody for MinimumRateBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let started_at = *self.started_at.get_or_insert_with(Instant::now);
        let frame = Pin::new(&mut self.inner).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            self.bytes_received += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        if frame.is_ready() {
            return frame;
        }
        loop {
            let deadline = self.deadline(started_at);
            if self.timer.deadline() != deadline {
                self.timer.as_mut().reset(deadline);
            }
            match self.timer.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) if deadline <= Instant::now() => {
                    return Poll::Ready(Some(Err(BodyTooSlow.into())));
                }
                Poll::Ready(()) => {}
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use http_body_util::BodyExt;

    use super::*;

    /// A body of `count` pieces of 1 kB, one every `pause`.
    fn trickle(count: usize, pause: Duration) -> MinimumRateBody {
        let pieces = stream::unfold(0, move |sent| async move {
            if sent == count {
                return None;
            }
            tokio::time::sleep(pause).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 1024])), sent + 1))
        });
        MinimumRateBody::new(Body::from_stream(pieces), 1 << 20)
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_below_the_least_rate_fails_and_one_above_it_does_not() {
        let started = Instant::now();
        let error = trickle(1000, Duration::from_millis(500)).collect().await.unwrap_err();
        assert!(error.is::<BodyTooSlow>(), "{error}");
        // 2 kB a second are an eighth of the least rate: the grace is used up after a little more than 10 s.
        assert!((11..13).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
        let body = trickle(1000, Duration::from_millis(60)).collect().await.unwrap();
        assert_eq!(body.to_bytes().len(), 1000 * 1024);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_fails_after_the_grace() {
        let body =
            MinimumRateBody::new(Body::from_stream(stream::pending::<Result<Bytes, axum::Error>>()), 9);
        let error = tokio::time::timeout(MIN_RATE_GRACE + Duration::from_secs(1), body.collect()).await;
        assert!(error.unwrap().unwrap_err().is::<BodyTooSlow>());
    }
}
