//! Actions after a batch was committed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::batch::PostCommitActions;
use super::engine::AlertEngine;
use crate::store::ConfigChange;
use crate::telemetry::panic_message;

impl AlertEngine {
    /// Starts verifications and traceroutes, records events, and wakes the delivery. Returns the messages of panics:
    /// one action does not take the others with it.
    pub(in crate::pipeline) fn run_post_commit_actions(&self, actions: PostCommitActions) -> Vec<String> {
        let mut panics = Vec::new();
        let PostCommitActions {
            verifications,
            traceroutes,
            parent_checks,
            checks_to_release: release_checks,
            events,
            has_notifications: wakes_delivery,
        } = actions;
        for request in verifications {
            let commands = self.command_sender.clone();
            run_caught(&mut panics, || {
                self.verification_runner.start(request, &self.dependencies, commands);
            });
        }
        for request in parent_checks {
            let commands = self.command_sender.clone();
            run_caught(&mut panics, || self.parent_checks.start(request, &self.dependencies, commands));
        }
        for traceroute in traceroutes {
            let commands = self.command_sender.clone();
            run_caught(&mut panics, || {
                self.traceroute_runner.start(traceroute, &self.dependencies, commands);
            });
        }
        if wakes_delivery {
            self.dependencies.delivery_wakeup.wake();
        }
        if release_checks.is_empty() && events.is_empty() {
            return panics;
        }
        let dependencies = self.dependencies.clone();
        tokio::spawn(async move {
            for check in release_checks {
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
            dependencies.delivery_wakeup.wake();
        });
        panics
    }
}

fn run_caught(panics: &mut Vec<String>, action: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(action)) {
        panics.push(panic_message(payload.as_ref()).to_owned());
    }
}
