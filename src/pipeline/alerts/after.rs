//! What begins once a turn is kept.

use super::engine::Lookout;
use super::turn::After;
use crate::store::ConfigChange;

impl Lookout {
    /// Asks, traces, reports, and wakes the delivery.
    pub(in crate::pipeline) fn carry_out(&self, after: After) {
        let After { asks, traces, hasten, events, rings } = after;
        for ask in asks {
            self.asks.send(ask, &self.parts, self.words.clone());
        }
        for trace in traces {
            self.traces.begin(trace, &self.parts, self.words.clone());
        }
        if rings {
            self.parts.bell.ring();
        }
        if hasten.is_empty() && events.is_empty() {
            return;
        }
        let parts = self.parts.clone();
        tokio::spawn(async move {
            for check in hasten {
                if let Err(error) = parts.outbox.release_for_check(check, parts.clock.now()).await {
                    tracing::warn!(check_id = %check, error = %error, "its messages wait a few seconds more");
                }
            }
            let events: Vec<_> = events.into_iter().map(ConfigChange::CreateRecord).collect();
            if !events.is_empty()
                && let Err(error) = parts.ledger.write_changes(events, Vec::new()).await
            {
                tracing::warn!(error = %error, "that a location is away, or back, is in no event");
            }
            parts.bell.ring();
        });
    }
}
