//! What begins once a turn is kept.

use super::batch::PostCommitActions;
use super::engine::AlertEngine;
use crate::store::ConfigChange;

impl AlertEngine {
    /// Asks, traces, reports, and wakes the delivery.
    pub(in crate::pipeline) fn run_post_commit(&self, after: PostCommitActions) {
        let PostCommitActions {
            verifications: asks,
            traceroutes: traces,
            release_checks: hasten,
            events,
            wakes_delivery: rings,
        } = after;
        for request in asks {
            self.verifications.start(request, &self.dependencies, self.commands.clone());
        }
        for trace in traces {
            self.traceroutes.start(trace, &self.dependencies, self.commands.clone());
        }
        if rings {
            self.dependencies.wakeup.wake();
        }
        if hasten.is_empty() && events.is_empty() {
            return;
        }
        let dependencies = self.dependencies.clone();
        tokio::spawn(async move {
            for check in hasten {
                if let Err(error) =
                    dependencies.outbox.release_for_check(check, dependencies.clock.now()).await
                {
                    tracing::warn!(check_id = %check, error = %error, "failed to release notifications early; they are sent a few seconds later");
                }
            }
            let events: Vec<_> = events.into_iter().map(ConfigChange::CreateRecord).collect();
            if !events.is_empty()
                && let Err(error) = dependencies.config_store.write_changes(events, Vec::new()).await
            {
                tracing::warn!(error = %error, "failed to record the event of a location that went offline or came back");
            }
            dependencies.wakeup.wake();
        });
    }
}
