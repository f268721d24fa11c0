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
        let mut panic_messages = Vec::new();
        let PostCommitActions {
            verifications,
            traceroutes,
            parent_checks,
            checks_to_release: check_ids,
            events,
            has_notifications: wakes_delivery,
        } = actions;
        for request in verifications {
            let command_sender = self.command_sender.clone();
            run_caught(&mut panic_messages, || {
                self.verification_runner.start(request, &self.dependencies, command_sender);
            });
        }
        for request in parent_checks {
            let command_sender = self.command_sender.clone();
            run_caught(&mut panic_messages, || {
                self.parent_checks.start(request, &self.dependencies, command_sender);
            });
        }
        for traceroute in traceroutes {
            let command_sender = self.command_sender.clone();
            run_caught(&mut panic_messages, || {
                self.traceroute_runner.start(traceroute, &self.dependencies, command_sender);
            });
        }
        if wakes_delivery {
            self.dependencies.delivery_wakeup.wake();
        }
        if check_ids.is_empty() && events.is_empty() {
            return panic_messages;
        }
        let dependencies = self.dependencies.clone();
        tokio::spawn(async move {
            for check in check_ids {
                if let Err(error) =
                    dependencies.outbox.make_due_for_check(check, dependencies.clock.now()).await
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
        panic_messages
    }
}

/// Runs `action`; a panic of it is added to `panic_messages`.
fn run_caught(panic_messages: &mut Vec<String>, action: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(action)) {
        panic_messages.push(panic_message(payload.as_ref()).to_owned());
    }
}
