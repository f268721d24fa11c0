//! Limits how many failed logins the audit trail records.

use std::time::Duration;

use crate::domain::Timestamp;

/// Most failed logins recorded within [`AUDIT_WINDOW`], so that a flood of them cannot fill the disk.
const MAX_AUDITED_PER_WINDOW: u32 = 200;

const AUDIT_WINDOW: Duration = Duration::from_hours(1);

/// Counts failed logins of the current window.
#[derive(Debug, Default)]
pub(super) struct FailedLoginAuditLimiter {
    window_start: Timestamp,
    audited_count: u32,
    skipped_count: u64,
}

impl FailedLoginAuditLimiter {
    /// Returns `None` if this failure must not be recorded, else how many were skipped before it.
    pub(super) fn try_audit(&mut self, now: Timestamp) -> Option<u64> {
        if now.since(self.window_start) >= AUDIT_WINDOW || now < self.window_start {
            (self.window_start, self.audited_count) = (now, 0);
        }
        if self.audited_count >= MAX_AUDITED_PER_WINDOW {
            self.skipped_count += 1;
            return None;
        }
        self.audited_count += 1;
        Some(std::mem::take(&mut self.skipped_count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_failed_logins_are_limited_and_the_rest_is_counted() {
        let mut limiter = FailedLoginAuditLimiter::default();
        let start = Timestamp::from_seconds(1_800_000_000);
        let recorded = (0..1_000).filter(|_| limiter.try_audit(start).is_some()).count();
        assert_eq!(recorded, MAX_AUDITED_PER_WINDOW as usize);
        assert_eq!(limiter.try_audit(start + AUDIT_WINDOW - Duration::from_micros(1)), None);
        assert_eq!(limiter.try_audit(start + AUDIT_WINDOW), Some(801));
        assert_eq!(limiter.try_audit(start + AUDIT_WINDOW), Some(0));
        assert_eq!(limiter.try_audit(start), Some(0), "the clock was set back");
    }
}
