//! What a long-running task offers to the supervisor that runs it.

use std::any::Any;
use std::pin::Pin;

use super::task_health::TaskHeartbeat;

/// The run of a task.
pub type TaskFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A task that goes on after a panic: whatever it must not lose stands in `self`, which outlives the run.
pub trait SupervisedTask: Send + 'static {
    /// Returns its heartbeat.
    fn heartbeat(&self) -> &TaskHeartbeat;

    /// Runs until its end. After a panic it is called again, and starts from what is stored.
    fn run(&mut self) -> TaskFuture<'_>;
}

/// Returns the message of a panic.
#[must_use]
pub fn panic_message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
