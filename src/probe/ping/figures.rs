//! The figures of a series of echo requests.

use std::time::Duration;

use crate::model::PingFacts;

/// Counts and round trips so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    sent: u32,
    trips: Vec<Duration>,
    error: Option<(u8, u8)>,
}

impl Figures {
    pub(super) fn note_sent(&mut self) {
        self.sent += 1;
    }

    pub(super) fn note_reply(&mut self, took: Duration) {
        self.trips.push(took);
    }

    pub(super) fn note_error(&mut self, kind: u8, code: u8) {
        self.error = Some((kind, code));
    }

    pub(super) fn sent(&self) -> u32 {
        self.sent
    }

    pub(super) fn received(&self) -> u32 {
        u32::try_from(self.trips.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn lost(&self) -> u32 {
        self.sent.saturating_sub(self.received())
    }

    /// The last ICMP error, by type and code.
    pub(super) fn error(&self) -> Option<(u8, u8)> {
        self.error
    }

    /// The round trip that ended first.
    pub(super) fn first(&self) -> Option<Duration> {
        self.trips.first().copied()
    }

    pub(super) fn longest(&self) -> Option<Duration> {
        self.trips.iter().max().copied()
    }

    /// Lost requests in percent of those sent; 100 when none was sent.
    pub(super) fn loss_percent(&self) -> f64 {
        if self.sent == 0 { 100.0 } else { 100.0 * f64::from(self.lost()) / f64::from(self.sent) }
    }

    /// The figures as a result keeps them; the standard deviation is that of these trips, not of a
    /// sample of many (divided by n, as `ping` does).
    pub(super) fn facts(&self, socket: &str) -> PingFacts {
        let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let rounded = |seconds: f64| micros(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let count = f64::from(self.received());
        let seconds = || self.trips.iter().map(Duration::as_secs_f64);
        let mean = (count > 0.0).then(|| seconds().sum::<f64>() / count);
        let deviation = mean.map(|mean| (seconds().map(|s| (s - mean).powi(2)).sum::<f64>() / count).sqrt());
        PingFacts {
            sent: self.sent,
            received: self.received(),
            loss_percent: self.loss_percent(),
            rtt_min_us: self.trips.iter().min().copied().map(micros),
            rtt_avg_us: mean.map(rounded),
            rtt_max_us: self.longest().map(micros),
            rtt_stddev_us: deviation.map(rounded),
            socket: socket.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_and_round_trips_are_counted_over_what_was_sent() {
        let mut figures = Figures::default();
        assert!((figures.loss_percent() - 100.0).abs() < f64::EPSILON);
        for _ in 0..5 {
            figures.note_sent();
        }
        for millis in [2, 4, 4, 6] {
            figures.note_reply(Duration::from_millis(millis));
        }
        let facts = figures.facts("raw");
        assert_eq!((facts.sent, facts.received), (5, 4));
        assert!((facts.loss_percent - 20.0).abs() < 1e-9);
        assert_eq!(
            (facts.rtt_min_us, facts.rtt_avg_us, facts.rtt_max_us),
            (Some(2000), Some(4000), Some(6000))
        );
        assert_eq!(facts.rtt_stddev_us, Some(1414));
    }

    #[test]
    fn a_series_without_replies_has_no_round_trips() {
        let mut figures = Figures::default();
        figures.note_sent();
        let facts = figures.facts("dgram");
        assert_eq!((facts.received, facts.rtt_min_us, facts.rtt_stddev_us), (0, None, None));
        assert!((facts.loss_percent - 100.0).abs() < 1e-9);
    }
}
