//! Statistics of a series of echo requests.

use std::time::Duration;

use crate::domain::PingFacts;
use crate::net::IcmpError;

/// Maximum number of different ICMP errors that are kept.
const MAX_DISTINCT_ICMP_ERRORS: usize = 8;

/// Counts and round trip times so far.
#[derive(Clone, Debug, Default)]
pub(super) struct PingStatistics {
    sent_count: u32,
    round_trip_times: Vec<Duration>,
    /// ICMP errors in order of arrival, with their counts.
    icmp_errors: Vec<(IcmpError, u32)>,
}

impl PingStatistics {
    pub(super) fn record_sent(&mut self) {
        self.sent_count += 1;
    }

    pub(super) fn record_reply(&mut self, rtt: Duration) {
        self.round_trip_times.push(rtt);
    }

    pub(super) fn record_error(&mut self, error: IcmpError) {
        if let Some((_, count)) = self.icmp_errors.iter_mut().find(|(recorded, _)| *recorded == error) {
            *count += 1;
        } else if self.icmp_errors.len() < MAX_DISTINCT_ICMP_ERRORS {
            self.icmp_errors.push((error, 1));
        }
    }

    pub(super) fn sent_count(&self) -> u32 {
        self.sent_count
    }

    pub(super) fn received_count(&self) -> u32 {
        u32::try_from(self.round_trip_times.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn lost_count(&self) -> u32 {
        self.sent_count.saturating_sub(self.received_count())
    }

    /// Returns the ICMP errors received, with their counts.
    pub(super) fn describe_icmp_errors(&self) -> Vec<String> {
        let times = |count| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        self.icmp_errors.iter().map(|(error, count)| format!("{error}, {}", times(*count))).collect()
    }

    /// Returns the mean round trip time; `None` without a reply.
    pub(super) fn mean_rtt(&self) -> Option<Duration> {
        let total: Duration = self.round_trip_times.iter().sum();
        total.checked_div(self.received_count())
    }

    pub(super) fn max_rtt(&self) -> Option<Duration> {
        self.round_trip_times.iter().max().copied()
    }

    /// Returns the lost requests in percent of those sent; 100 when none was sent.
    pub(super) fn loss_percent(&self) -> f64 {
        if self.sent_count == 0 {
            100.0
        } else {
            100.0 * f64::from(self.lost_count()) / f64::from(self.sent_count)
        }
    }

    /// Returns the statistics as facts. The standard deviation is that of the population (divided by n, like `ping`).
    pub(super) fn to_facts(&self, socket_kind: &str) -> PingFacts {
        let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let seconds_to_micros =
            |seconds: f64| micros(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let count = f64::from(self.received_count());
        let seconds = || self.round_trip_times.iter().map(Duration::as_secs_f64);
        let mean = (count > 0.0).then(|| seconds().sum::<f64>() / count);
        let deviation = mean.map(|mean| (seconds().map(|s| (s - mean).powi(2)).sum::<f64>() / count).sqrt());
        PingFacts {
            requests_sent: self.sent_count,
            replies_received: self.received_count(),
            loss_percent: self.loss_percent(),
            rtt_min_us: self.round_trip_times.iter().min().copied().map(micros),
            rtt_avg_us: mean.map(seconds_to_micros),
            rtt_max_us: self.max_rtt().map(micros),
            rtt_stddev_us: deviation.map(seconds_to_micros),
            socket_type: socket_kind.to_owned(),
            icmp_errors: self.describe_icmp_errors(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_and_round_trips_are_counted_over_what_was_sent() {
        let mut statistics = PingStatistics::default();
        assert!((statistics.loss_percent() - 100.0).abs() < f64::EPSILON);
        for _ in 0..5 {
            statistics.record_sent();
        }
        for millis in [2, 4, 4, 6] {
            statistics.record_reply(Duration::from_millis(millis));
        }
        let facts = statistics.to_facts("raw");
        assert_eq!((facts.requests_sent, facts.replies_received), (5, 4));
        assert!((facts.loss_percent - 20.0).abs() < 1e-9);
        assert_eq!(
            (facts.rtt_min_us, facts.rtt_avg_us, facts.rtt_max_us),
            (Some(2000), Some(4000), Some(6000))
        );
        assert_eq!(facts.rtt_stddev_us, Some(1414));
    }

    #[test]
    fn errors_are_counted_by_sender_and_kind_and_bounded() {
        let mut statistics = PingStatistics::default();
        for from in 0..100_u8 {
            for _ in 0..2 {
                statistics.record_error(IcmpError {
                    sender: [192, 0, 2, from].into(),
                    icmp_type: 3,
                    icmp_code: 1,
                    mtu: None,
                });
            }
        }
        let errors = statistics.to_facts("raw").icmp_errors;
        assert_eq!(errors.len(), MAX_DISTINCT_ICMP_ERRORS);
        assert_eq!(errors[1], "192.0.2.1 reported: host unreachable (ICMP type 3, code 1), 2 times");
    }

    #[test]
    fn a_series_without_replies_has_no_round_trips() {
        let mut statistics = PingStatistics::default();
        statistics.record_sent();
        let facts = statistics.to_facts("dgram");
        assert_eq!((facts.replies_received, facts.rtt_min_us, facts.rtt_stddev_us), (0, None, None));
        assert!((facts.loss_percent - 100.0).abs() < 1e-9);
    }
}
