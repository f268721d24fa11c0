//! What systemd is told. Without systemd, all of it does nothing.

use std::time::Duration;

use sd_notify::NotifyState;

/// The process serves.
pub(super) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// A reload began; [`ready`] ends it.
pub(super) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// The process ends, and may take `within`.
pub(super) fn stopping(within: Duration) {
    let micros = u32::try_from(within.as_micros()).unwrap_or(u32::MAX);
    tell(&[
        NotifyState::Stopping,
        NotifyState::ExtendTimeoutUsec(micros),
        NotifyState::Status("Draining running checks"),
    ]);
}

/// The process makes progress.
pub(super) fn feed_watchdog() {
    tell(&[NotifyState::Watchdog]);
}

/// Within which time the watchdog wants to be fed; `None` without one.
pub(super) fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(error = %error, "systemd cannot be told");
    }
}
