//! Notifications to systemd; without systemd they do nothing.

use std::time::Duration;

use sd_notify::NotifyState;

/// Reports that the process is ready.
pub(super) fn notify_ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Reports that a reload started; [`notify_ready`] ends it.
pub(super) fn notify_reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(_) => notify(&[NotifyState::Reloading]),
    }
}

/// Reports that the process is stopping, which may take up to `timeout`.
pub(super) fn notify_stopping(timeout: Duration) {
    let micros = u32::try_from(timeout.as_micros()).unwrap_or(u32::MAX);
    notify(&[
        NotifyState::Stopping,
        NotifyState::ExtendTimeoutUsec(micros),
        NotifyState::Status("Draining running checks"),
    ]);
}

/// Reports that the process makes progress.
pub(super) fn notify_watchdog() {
    notify(&[NotifyState::Watchdog]);
}

/// Returns the watchdog's timeout; `None` without a watchdog.
pub(super) fn watchdog_timeout() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(error = %error, "failed to notify systemd");
    }
}
