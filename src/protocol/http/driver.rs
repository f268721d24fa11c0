//! Polls hyper's connection in the task of whoever waits for it.

use crate::sync::Mutex;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::rt::Executor;

use super::timings::ExchangeTimings;

type BoxedTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection and the tasks that it asked for; all of it ends when this is dropped.
pub struct ConnectionDriver {
    tasks: Vec<BoxedTask>,
    wanted: Option<TaskQueue>,
    /// Of the stream below.
    timings: Option<ExchangeTimings>,
}

/// Where hyper's HTTP/2 client leaves the tasks that it wants to have run.
#[derive(Clone, Default)]
pub(super) struct TaskQueue(Arc<Mutex<Vec<BoxedTask>>>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for TaskQueue {
    fn execute(&self, task: F) {
        self.0.lock().push(Box::pin(task));
    }
}

/// Moves everything on until the connection has ended.
impl Future for ConnectionDriver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ConnectionDriver::poll(&mut self, cx);
        if self.tasks.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl ConnectionDriver {
    /// Drives `connection`, which goes over a stream that notes into `marks`, and what comes in over `wanted`. How
    /// the connection ends does not matter here: whoever waits for the answer hears it too.
    pub(super) fn new<C, T>(
        connection: C,
        timings: Option<ExchangeTimings>,
        wanted: Option<TaskQueue>,
    ) -> Self
    where
        C: Future<Output = T> + Send + 'static,
    {
        let connection = async move {
            connection.await;
        };
        Self { tasks: vec![Box::pin(connection)], wanted, timings }
    }

    /// Of nothing.
    pub(super) fn noop() -> Self {
        Self { tasks: Vec::new(), wanted: None, timings: None }
    }

    /// Waits for `answer` and keeps the connection moving meanwhile. `answer` is asked first, since it can be the
    /// request that the connection is to carry, and again behind it: it may have come.
    pub(super) async fn drive_until<F: Future>(&mut self, answer: F) -> F::Output {
        let mut answer = std::pin::pin!(answer);
        poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(answer);
            }
            self.poll(cx);
            answer.as_mut().poll(cx)
        })
        .await
    }

    /// Moves everything on as far as it goes now.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        loop {
            self.tasks.retain_mut(|task| task.as_mut().poll(cx) == Poll::Pending);
            let mut goes_on = self.timings.as_ref().is_some_and(ExchangeTimings::take_progress);
            if let Some(wanted) = &self.wanted {
                let mut wanted = wanted.0.lock();
                goes_on |= !wanted.is_empty();
                self.tasks.append(&mut wanted);
            }
            if !goes_on {
                return;
            }
        }
    }
}
