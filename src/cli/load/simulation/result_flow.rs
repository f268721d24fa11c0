//! The way of the results during an outage of the database, second by second: they wait in NATS and on the agents, then
//! the controller that leads stores what came meanwhile.

/// Bytes that the stream of results holds at most (`MAX_STREAM_BYTES`); then agents keep their results.
pub(super) const STREAM_BYTES: f64 = 1024.0 * 1024.0 * 1024.0;
/// Results that an agent has sent and that are not stored, at most (`MAX_UNCONFIRMED` of the outbox).
pub(super) const UNCONFIRMED_PER_AGENT: f64 = 4_096.0;
/// How long to simulate after the outage: a week.
const LONGEST_CATCH_UP_SECONDS: u32 = 7 * 86_400;

/// What flows, and what holds it up.
pub(super) struct ResultFlow<'a> {
    /// Results of each second of an interval, which repeats.
    pub(super) results_of_second: &'a [u32],
    pub(super) stored_per_second: f64,
    /// Seconds without a store.
    pub(super) outage_seconds: u32,
    pub(super) agents: f64,
    pub(super) waiting_bytes: f64,
}

/// What the outage came to.
#[derive(Debug, PartialEq)]
pub(super) struct OutageOutcome {
    /// Most results that waited.
    pub(super) most_waiting: f64,
    /// Most bytes of them in NATS.
    pub(super) most_in_nats: f64,
    /// Most bytes of them that an agent kept for lack of room in NATS, all agents alike.
    pub(super) most_per_agent: f64,
    /// Seconds from the end of the outage until nothing waits any more; `None` when that is not within a week.
    pub(super) catch_up_seconds: Option<u32>,
}

impl ResultFlow<'_> {
    pub(super) fn run(&self) -> OutageOutcome {
        let mut outcome = OutageOutcome {
            most_waiting: 0.0,
            most_in_nats: 0.0,
            most_per_agent: 0.0,
            catch_up_seconds: None,
        };
        let mut waiting = 0.0_f64;
        let mut seconds = self.results_of_second.iter().cycle();
        let catch_up = if self.is_caught_up_ever() { LONGEST_CATCH_UP_SECONDS } else { 0 };
        for second in 0..self.outage_seconds.saturating_add(catch_up) {
            waiting += seconds.next().map_or(0.0, |&results| f64::from(results));
            outcome.most_waiting = outcome.most_waiting.max(waiting);
            let in_nats =
                (waiting.min(self.agents * UNCONFIRMED_PER_AGENT) * self.waiting_bytes).min(STREAM_BYTES);
            outcome.most_in_nats = outcome.most_in_nats.max(in_nats);
            let kept = waiting * self.waiting_bytes - in_nats;
            outcome.most_per_agent = outcome.most_per_agent.max(kept / self.agents);
            if second < self.outage_seconds {
                continue;
            }
            waiting = (waiting - self.stored_per_second).max(0.0);
            if waiting == 0.0 {
                outcome.catch_up_seconds = Some(second + 1 - self.outage_seconds);
                break;
            }
        }
        outcome
    }

    /// Whether more is stored than comes; otherwise the backlog grows without end.
    fn is_caught_up_ever(&self) -> bool {
        let results: f64 = self.results_of_second.iter().copied().map(f64::from).sum();
        results / (self.results_of_second.len() as f64) < self.stored_per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(results_of_second: &[u32]) -> ResultFlow<'_> {
        ResultFlow {
            results_of_second,
            stored_per_second: 300.0,
            outage_seconds: 600,
            agents: 10.0,
            waiting_bytes: 200.0,
        }
    }

    #[test]
    fn what_came_in_an_outage_is_stored_with_the_capacity_that_is_left() {
        let expected = OutageOutcome {
            // 601 seconds have come when the first are stored.
            most_waiting: 600.0 * 100.0 + 50.0,
            // Ten agents send no more than 4,096 each.
            most_in_nats: 40_960.0 * 200.0,
            most_per_agent: (60_050.0 - 40_960.0) * 200.0 / 10.0,
            // 60,000 results at 300 - 100 a second.
            catch_up_seconds: Some(300),
        };
        assert_eq!(flow(&[50, 150]).run(), expected);
    }

    #[test]
    fn more_than_can_be_stored_is_never_caught_up() {
        let outcome = flow(&[301]).run();
        assert_eq!((outcome.catch_up_seconds, outcome.most_waiting), (None, 301.0 * 600.0));
    }

    #[test]
    fn a_full_stream_leaves_the_rest_on_the_agents() {
        let mut many_agents = flow(&[100_000]);
        many_agents.agents = 10_000.0;
        let outcome = many_agents.run();
        assert!(outcome.most_in_nats >= STREAM_BYTES && outcome.most_per_agent > 1e6, "{outcome:?}");
    }
}
