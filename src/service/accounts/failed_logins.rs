//! Bounds how many failed logins the audit trail takes.

use std::time::Duration;

use crate::domain::Timestamp;

/// Failed logins that the audit trail takes within [`AUDIT_WINDOW`]; a flood of them must not fill the disk.
const MAX_AUDITED: u32 = 200;

const AUDIT_WINDOW: Duration = Duration::from_hours(1);

/// Failed logins since `since`.
#[derive(Debug, Default)]
pub(super) struct FailedLoginLimiter {
    since: Timestamp,
    recorded: u32,
    suppressed: u64,
}

impl FailedLoginLimiter {
    /// Whether one more is kept; with the number of those that were left out before it.
    pub(super) fn try_record(&mut self, now: Timestamp) -> Option<u64> {
        if now.since(self.since) >= AUDIT_WINDOW || now < self.since {
            (self.since, self.recorded) = (now, 0);
        }
        if self.recorded >= MAX_AUDITED {
            self.suppressed += 1;
            return None;
        }
        self.recorded += 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_logins_are_kept_in_bounded_number_and_the_rest_is_counted() {
        let mut failed = FailedLoginLimiter::default();
        let start = Timestamp::from_seconds(1_800_000_000);
        let kept = (0..1_000).filter(|_| failed.try_record(start).is_some()).count();
        assert_eq!(kept, MAX_AUDITED as usize);
        assert_eq!(failed.try_record(start + AUDIT_WINDOW - Duration::from_micros(1)), None);
        assert_eq!(failed.try_record(start + AUDIT_WINDOW), Some(801));
        assert_eq!(failed.try_record(start + AUDIT_WINDOW), Some(0));
        assert_eq!(failed.try_record(start), Some(0), "the clock was set back");
    }
}
