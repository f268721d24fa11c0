//! Runs the parts of the bus again after each loss of the connection.

use std::time::Duration;

use tokio::time::Instant;

use super::connection::NatsError;

/// Pause before a part of the bus starts again.
pub(super) const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// A part that ran for so long had worked: its next failure begins another outage. Longer than any request may take.
const WORKED_AFTER: Duration = Duration::from_secs(15);

/// Runs `work`, the part `what` of the bus, again after each error and each end, for ever. Logs `problem` for each outage,
/// and again when the reason becomes another one.
pub(super) async fn repeat<T>(what: &'static str, problem: &'static str, work: impl Fn() -> T)
where
    T: Future<Output = Result<(), NatsError>>,
{
    let mut outage = Outage::default();
    loop {
        let started = Instant::now();
        match work().await {
            Ok(()) => outage = Outage::default(),
            Err(error) => {
                let now = Instant::now();
                if outage.is_new(&error.to_string(), now.duration_since(started), now) {
                    tracing::warn!(what, error = %error, "{problem}; trying again every second");
                }
            }
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

/// What was logged about a part that fails.
#[derive(Default)]
struct Outage {
    /// The reason that was logged last, and when; `None` outside an outage.
    logged: Option<(String, Instant)>,
}

impl Outage {
    /// Records a failure after the part ran for `ran`; returns whether it is to be logged. Reasons that take turns are
    /// logged now and then.
    fn is_new(&mut self, reason: &str, ran: Duration, now: Instant) -> bool {
        let is_new = ran >= WORKED_AFTER
            || self
                .logged
                .as_ref()
                .is_none_or(|(last, at)| last != reason && now.duration_since(*at) >= WORKED_AFTER);
        if is_new {
            self.logged = Some((reason.to_owned(), now));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outage_and_each_other_reason_are_logged_once() {
        let (mut outage, start, short) = (Outage::default(), Instant::now(), Duration::from_millis(3));
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(outage.is_new("refused", short, start));
        assert!(!outage.is_new("refused", short, after(1)));
        assert!(!outage.is_new("refused", short, after(3_600)));
        assert!(outage.is_new("no stream", short, after(3_601)));
        assert!(!outage.is_new("refused", short, after(3_602)), "two reasons that take turns fill the log");
        assert!(outage.is_new("refused", short, after(3_617)));
        // It had worked for an hour.
        assert!(outage.is_new("refused", Duration::from_hours(1), after(7_300)));
        assert!(!outage.is_new("refused", short, after(7_301)));
    }
}
