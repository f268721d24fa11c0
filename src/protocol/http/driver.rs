//! Polls hyper's connection in the task that waits for the response.

use crate::sync::Mutex;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::rt::Executor;

use super::timings::ExchangeTimings;

type BoxedTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls a connection and the tasks that it spawned; all of them end when this is dropped.
pub struct ConnectionDriver {
    tasks: Vec<BoxedTask>,
    spawned_tasks: Option<SpawnedTasks>,
    /// The timings of the stream that hyper uses.
    timings: Option<ExchangeTimings>,
}

/// Collects the tasks that hyper's HTTP/2 client spawns.
#[derive(Clone, Default)]
pub(super) struct SpawnedTasks(Arc<Mutex<Vec<BoxedTask>>>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for SpawnedTasks {
    fn execute(&self, task: F) {
        self.0.lock().push(Box::pin(task));
    }
}

/// Completes when the connection has ended.
impl Future for ConnectionDriver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ConnectionDriver::poll(&mut self, cx);
        if self.tasks.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl ConnectionDriver {
    /// Drives `connection`, whose stream records into `timings`, and the tasks in `spawned_tasks`. How the connection
    /// ends does not matter here: it also shows in the response.
    pub(super) fn new<C, T>(
        connection: C,
        timings: Option<ExchangeTimings>,
        spawned_tasks: Option<SpawnedTasks>,
    ) -> Self
    where
        C: Future<Output = T> + Send + 'static,
    {
        let connection = async move {
            connection.await;
        };
        Self { tasks: vec![Box::pin(connection)], spawned_tasks, timings }
    }

    /// Creates a driver without a connection.
    pub(super) fn without_connection() -> Self {
        Self { tasks: Vec::new(), spawned_tasks: None, timings: None }
    }

    /// Waits for `response` and drives the connection meanwhile. `response` is polled first, since it may start the
    /// request, and again afterwards, since it may have arrived.
    pub(super) async fn drive_until<F: Future>(&mut self, response: F) -> F::Output {
        let mut response = std::pin::pin!(response);
        poll_fn(|cx| {
            if let Poll::Ready(response) = response.as_mut().poll(cx) {
                return Poll::Ready(response);
            }
            self.poll(cx);
            response.as_mut().poll(cx)
        })
        .await
    }

    /// Polls everything until no more progress is possible now.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        loop {
            self.tasks.retain_mut(|task| task.as_mut().poll(cx) == Poll::Pending);
            let mut has_progressed = self.timings.as_ref().is_some_and(ExchangeTimings::take_read_wakeup);
            if let Some(new_tasks) = &self.spawned_tasks {
                let mut new_tasks = new_tasks.0.lock();
                has_progressed |= !new_tasks.is_empty();
                self.tasks.append(&mut new_tasks);
            }
            if !has_progressed {
                return;
            }
        }
    }
}
