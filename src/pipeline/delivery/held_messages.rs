//! Messages over the limit of a recipient: held back, then sent in a digest or released.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::digest::{self, is_digest, is_exempt_from_limit};
use super::worker::DeliveryWorker;
use crate::domain::{Notification, NotificationMethod, RecipientId, Timestamp};
use crate::store::{DeliveryOutcome, StoreError};

/// Most messages of one recipient held back in one round.
const MAX_HELD_PER_RECIPIENT: u32 = 500;
/// Most messages that one digest covers.
const MAX_DIGEST_MESSAGES: u32 = 10_000;
/// Time between two digests to one recipient.
const DIGEST_INTERVAL: Duration = Duration::from_mins(1);

impl DeliveryWorker {
    /// Whether people read the messages to the recipient of `notification`; `methods` holds what was looked up.
    pub(super) async fn is_for_people(
        &self,
        notification: &Notification,
        methods: &mut HashMap<RecipientId, Option<NotificationMethod>>,
    ) -> Result<bool, StoreError> {
        let recipient = notification.message.recipient_id;
        let method = if let Some(method) = methods.get(&recipient) {
            *method
        } else {
            let found_method = self.dependencies.destination_lookup.find_method(notification).await?;
            methods.insert(recipient, found_method);
            found_method
        };
        // A recipient that was removed gets nothing: its messages are marked dead when they are sent.
        Ok(method.is_some_and(NotificationMethod::is_read_by_people))
    }

    /// Holds back the due messages of `recipients_over_limit`; returns whether there are any such recipients.
    pub(super) async fn hold_back(
        &mut self,
        recipients_over_limit: &HashSet<RecipientId>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if recipients_over_limit.is_empty() {
            return Ok(false);
        }
        let max = MAX_HELD_PER_RECIPIENT
            .saturating_mul(u32::try_from(recipients_over_limit.len()).unwrap_or(u32::MAX))
            .max(MAX_DIGEST_MESSAGES);
        let due = self.dependencies.outbox.due_notifications(now, max, MAX_HELD_PER_RECIPIENT).await?;
        let held_messages = due.iter().filter(|message| {
            recipients_over_limit.contains(&message.message.recipient_id) && !is_exempt_from_limit(message)
        });
        let held_outcomes: Vec<_> =
            held_messages.map(|message| (message.id, DeliveryOutcome::Held)).collect();
        self.dependencies.metrics.count_notifications("held", held_outcomes.len());
        self.unsaved_outcomes.extend(held_outcomes);
        Ok(true)
    }

    /// Enqueues the due digests of messages held back. What no digest may cover is released: a single message, what an
    /// earlier version held back of clears, and everything for a recipient that programs read now.
    pub(super) async fn enqueue_due_digests(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let mut methods = HashMap::new();
        for recipient in self.delivery_states.recipients_with_due_digest(now) {
            let mut held =
                self.dependencies.outbox.held_notifications(recipient, MAX_DIGEST_MESSAGES).await?;
            let is_for_people = match held.first() {
                Some(first) => self.is_for_people(first, &mut methods).await?,
                None => true,
            };
            let mut released: Vec<Notification> =
                held.extract_if(.., |message| !is_for_people || is_exempt_from_limit(message)).collect();
            if held.len() == 1 {
                released.append(&mut held);
            }
            if let Some(digest_notification) = digest::build_digest(&held, now) {
                self.dependencies.outbox.enqueue(vec![digest_notification]).await?;
            }
            self.release_held(&released);
            self.delivery_states.state_mut(recipient).digest_at = None;
        }
        self.save_outcomes().await
    }

    /// Lets messages that were held back be sent one by one.
    fn release_held(&mut self, held: &[Notification]) {
        self.unsaved_outcomes.extend(held.iter().map(|message| (message.id, DeliveryOutcome::Released)));
    }

    /// Gives up a digest for a recipient that programs read since, and sends its messages one by one.
    pub(super) async fn discard_digest(&mut self, digest: &Notification) -> Result<(), StoreError> {
        let recipient = digest.message.recipient_id;
        let held = self.dependencies.outbox.held_notifications(recipient, MAX_DIGEST_MESSAGES).await?;
        self.release_held(&held);
        let error = "the recipient gets its messages one by one now, not in a digest".to_owned();
        self.unsaved_outcomes.push((digest.id, DeliveryOutcome::Dead { error }));
        Ok(())
    }

    /// Records the outcome of a digest for the messages that it covers.
    pub(super) async fn record_digest_outcome(
        &mut self,
        notification: &Notification,
        outcome: DeliveryOutcome,
        now: Timestamp,
    ) {
        let Some(last_included_id) =
            digest::last_included_id(&notification.message.content).filter(|_| is_digest(notification))
        else {
            return;
        };
        let recipient = notification.message.recipient_id;
        match self.dependencies.outbox.held_notifications(recipient, MAX_DIGEST_MESSAGES).await {
            Ok(held) => {
                let (included, still_held): (Vec<_>, Vec<_>) =
                    held.iter().partition(|held| held.id <= last_included_id);
                self.unsaved_outcomes.extend(included.iter().map(|held| (held.id, outcome.clone())));
                let state = self.delivery_states.state_mut(recipient);
                state.digest_at = (!still_held.is_empty()).then(|| now + DIGEST_INTERVAL);
            }
            // The messages are repeated in the next digest: a duplicate is better than a loss.
            Err(error) => {
                tracing::warn!(error = %error, "failed to store which notifications a digest contained");
            }
        }
    }
}
