//! Bounds how many failed logins the audit trail takes.

use std::time::Duration;

use crate::domain::Timestamp;

/// Failed logins that the audit trail takes within [`FAILED_SPAN`]; a flood of them must not fill the disk.
const FAILED_MOST: u32 = 200;

const FAILED_SPAN: Duration = Duration::from_hours(1);

/// Failed logins since `since`.
#[derive(Debug, Default)]
pub(super) struct FailedLogins {
    since: Timestamp,
    kept: u32,
    left_out: u64,
}

impl FailedLogins {
    /// Whether one more is kept; with the number of those that were left out before it.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<u64> {
        if now.since(self.since) >= FAILED_SPAN || now < self.since {
            (self.since, self.kept) = (now, 0);
        }
        if self.kept >= FAILED_MOST {
            self.left_out += 1;
            return None;
        }
        self.kept += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_logins_are_kept_in_bounded_number_and_the_rest_is_counted() {
        let mut failed = FailedLogins::default();
        let start = Timestamp::from_seconds(1_800_000_000);
        let kept = (0..1_000).filter(|_| failed.take(start).is_some()).count();
        assert_eq!(kept, FAILED_MOST as usize);
        assert_eq!(failed.take(start + FAILED_SPAN - Duration::from_micros(1)), None);
        assert_eq!(failed.take(start + FAILED_SPAN), Some(801));
        assert_eq!(failed.take(start + FAILED_SPAN), Some(0));
        assert_eq!(failed.take(start), Some(0), "the clock was set back");
    }
}
