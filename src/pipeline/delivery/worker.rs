//! The delivery worker owns all recipient queues: it sends due notifications and records their outcomes.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::destination::Destination;
use super::digest::{is_digest, is_exempt_from_limit};
use super::recipient_delivery_state::DeliveryDecision;
use super::recipient_delivery_states::{RecipientDeliveryStates, host_limit_key};
use super::settings::{DeliveryDependencies, DeliverySettings};
use super::{attachments, dead_letter_event};
use crate::domain::{EgressPrincipal, Notification, Recipient, RecipientId, Timestamp};
use crate::notify::{OutgoingMessage, SendError};
use crate::pipeline::wakeup::DeliveryWakeup;
use crate::store::{DeliveryOutcome, StoreError};
use crate::telemetry::{TaskHeartbeat, fault_point};
use crate::texts::Language;

/// Due messages read in one round, in addition to one for each waiting queue.
const MAX_DUE_PER_ROUND: usize = 256;
/// Longest sleep, since due times can change without a wakeup.
const MAX_SLEEP: Duration = Duration::from_mins(1);
/// Delay when everything due has to wait, or the store fails.
const ROUND_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Time between two events about messages given up for one recipient.
const DEAD_LETTER_REPORT_INTERVAL: Duration = Duration::from_hours(1);

/// Outcome of one attempt.
pub(super) struct FinishedAttempt {
    notification: Notification,
    recipient: Recipient,
    /// Key of the limit per host that counts the attempt.
    host: String,
    result: Result<(), SendError>,
}

/// Delivers notifications.
pub struct DeliveryWorker {
    pub(super) dependencies: DeliveryDependencies,
    /// The settings of this round; reloaded ones are taken from the receiver.
    settings: DeliverySettings,
    settings_receiver: watch::Receiver<DeliverySettings>,
    wakeup: DeliveryWakeup,
    drain_timeout_receiver: watch::Receiver<Option<Duration>>,
    pub(super) heartbeat: TaskHeartbeat,
    /// Ends the loop at once.
    pub(super) abort: CancellationToken,
    /// Cancelled by the worker once it has ended.
    pub(super) ended: CancellationToken,
    /// Whether the loop has run before: the supervisor starts it again only after a panic.
    needs_recovery: bool,
    /// The message that is being dispatched.
    pub(super) dispatching_id: Option<i64>,
    /// How often the delivery panicked while it dispatched each message.
    pub(super) panics_by_message: HashMap<i64, u32>,
    pub(super) delivery_states: RecipientDeliveryStates,
    /// Attempts in progress.
    pub(super) in_flight: JoinSet<FinishedAttempt>,
    /// Outcomes that the store does not have yet.
    pub(super) unsaved_outcomes: Vec<(i64, DeliveryOutcome)>,
    /// Recipients whose last attempt has ended: not busy any more once `unsaved_outcomes` are stored.
    pub(super) recipients_to_unblock: Vec<RecipientId>,
    /// Whether the current store failure was logged.
    store_error_logged: bool,
}

impl DeliveryWorker {
    pub(super) fn new(
        dependencies: DeliveryDependencies,
        settings_receiver: watch::Receiver<DeliverySettings>,
        wakeup: DeliveryWakeup,
        drain_timeout_receiver: watch::Receiver<Option<Duration>>,
        heartbeat: TaskHeartbeat,
        (abort, ended): (CancellationToken, CancellationToken),
    ) -> Self {
        let settings = settings_receiver.borrow().clone();
        Self {
            dependencies,
            settings,
            settings_receiver,
            wakeup,
            drain_timeout_receiver,
            heartbeat,
            abort,
            ended,
            needs_recovery: false,
            dispatching_id: None,
            panics_by_message: HashMap::new(),
            delivery_states: RecipientDeliveryStates::default(),
            in_flight: JoinSet::new(),
            unsaved_outcomes: Vec::new(),
            recipients_to_unblock: Vec::new(),
            store_error_logged: false,
        }
    }

    /// Delivers until the drain is requested; starts with a recovery after a panic.
    pub(super) async fn run_loop(&mut self) {
        if std::mem::replace(&mut self.needs_recovery, true) {
            self.recover().await;
        }
        if let Ok(recipients) = self.dependencies.outbox.recipients_with_held().await {
            let now = self.dependencies.clock.now();
            for recipient in recipients {
                self.delivery_states.state_mut(recipient).digest_at = Some(now);
            }
        }
        let drain_timeout = loop {
            self.heartbeat.beat();
            let sleep_time = self.run_round().await;
            let clock = Arc::clone(&self.dependencies.clock);
            self.heartbeat.mark_idle_for(sleep_time);
            if let Some(drain_timeout) = *self.drain_timeout_receiver.borrow() {
                break drain_timeout;
            }
            tokio::select! {
                _ = self.drain_timeout_receiver.changed() => break self.drain_timeout_receiver.borrow().unwrap_or_default(),
                Some(finished) = self.in_flight.join_next(), if !self.in_flight.is_empty() => self.on_send_finished(finished.ok()).await,
                () = self.wakeup.wait() => {}
                () = clock.sleep(sleep_time) => {}
            }
        };
        self.drain(drain_timeout).await;
    }

    /// Sends what is due and stops. Attempts that take longer than `timeout` are aborted and repeated at the next
    /// start.
    async fn drain(&mut self, timeout: Duration) {
        let drain_deadline = Instant::now() + timeout;
        // However many messages wait or are held back, the end is at the deadline.
        while Instant::now() < drain_deadline {
            self.heartbeat.beat();
            // A store error was logged already; the rest stays in the outbox.
            let Ok(dispatched) = tokio::time::timeout_at(drain_deadline, self.dispatch_due()).await else {
                break;
            };
            let has_more = dispatched.unwrap_or(false);
            if self.in_flight.is_empty() && !has_more {
                break;
            }
            match tokio::time::timeout_at(drain_deadline, self.in_flight.join_next()).await {
                Ok(Some(finished)) => self.on_send_finished(finished.ok()).await,
                Ok(None) => {}
                Err(_) => break,
            }
        }
        self.in_flight.abort_all();
        if let Err(error) = self.save_outcomes().await {
            tracing::warn!(error = %error, messages = self.unsaved_outcomes.len(), "failed to store delivery outcomes; duplicates possible");
        }
    }

    /// Runs one round; returns how long to sleep.
    async fn run_round(&mut self) -> Duration {
        while let Some(finished) = self.in_flight.try_join_next() {
            self.on_send_finished(finished.ok()).await;
        }
        match self.dispatch_due().await {
            Ok(true) => return Duration::ZERO,
            Ok(false) => self.store_error_logged = false,
            Err(error) => {
                if !std::mem::replace(&mut self.store_error_logged, true) {
                    tracing::error!(error = %error, "delivery paused: failed to read the store");
                }
                return ROUND_RETRY_DELAY;
            }
        }
        let now = self.dependencies.clock.now();
        let next_due_at = self.dependencies.outbox.next_due().await.unwrap_or_default();
        match [next_due_at, self.delivery_states.next_at(now)].into_iter().flatten().min() {
            None => MAX_SLEEP,
            // Due in the outbox, but the recipient's queue is not ready yet.
            Some(at) if at <= now => ROUND_RETRY_DELAY,
            Some(at) => at.since(now).min(MAX_SLEEP),
        }
    }

    /// Stores outcomes and sends due messages; returns whether there may be more to do at once.
    async fn dispatch_due(&mut self) -> Result<bool, StoreError> {
        self.save_outcomes().await?;
        self.settings.clone_from(&self.settings_receiver.borrow());
        let now = self.dependencies.clock.now();
        self.delivery_states.remove_discardable(now);
        self.enqueue_due_digests(now).await?;
        let max_messages =
            u32::try_from(MAX_DUE_PER_ROUND + self.delivery_states.blocked_recipient_count(now))
                .unwrap_or(u32::MAX);
        let due_notifications = self.dependencies.outbox.due_notifications(now, max_messages, 1).await?;
        let mut methods = HashMap::new();
        let mut recipients_over_limit = HashSet::new();
        for notification in due_notifications {
            if self.must_be_quarantined(notification.id) {
                self.quarantine(&notification, now).await;
                continue;
            }
            let recipient = notification.message.recipient_id;
            let is_exempt = is_exempt_from_limit(&notification);
            let state = self.delivery_states.state_mut(recipient);
            let mut decision = state.decide_next(now, is_exempt, &self.settings);
            if (decision == DeliveryDecision::HoldBack || is_digest(&notification))
                && !self.is_for_people(&notification, &mut methods).await?
            {
                if is_digest(&notification) {
                    self.discard_digest(&notification).await?;
                    continue;
                }
                decision = DeliveryDecision::Send;
            }
            let state = self.delivery_states.state_mut(recipient);
            match decision {
                DeliveryDecision::Wait => {}
                DeliveryDecision::HoldBack => {
                    state.schedule_digest(now);
                    recipients_over_limit.insert(recipient);
                }
                DeliveryDecision::Send if self.in_flight.len() >= self.settings.max_concurrent => break,
                // After a long downtime of the receiver, only messages that are not too old are sent.
                DeliveryDecision::Send if state.is_failing() && self.is_expired(&notification, now) => {
                    self.give_up_expired(&notification, now).await?;
                }
                DeliveryDecision::Send => self.dispatch(notification).await?,
            }
        }
        let has_held_back = self.hold_back(&recipients_over_limit, now).await?;
        Ok(has_held_back || !self.unsaved_outcomes.is_empty())
    }

    /// Whether `notification` is older than `max_age`.
    fn is_expired(&self, notification: &Notification, now: Timestamp) -> bool {
        now.since(notification.message.created_at) >= self.settings.max_age
    }

    /// Gives up a message that is too old, unless its recipient no longer exists, which `find_destination` handles.
    async fn give_up_expired(
        &mut self,
        notification: &Notification,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(destination) = self.find_destination(notification, now).await? else { return Ok(()) };
        let hours = self.settings.max_age.as_secs() / 3_600;
        let last_error =
            if notification.error.is_empty() { String::new() } else { format!(": {}", notification.error) };
        let error = format!("given up after {hours} h and {} attempts{last_error}", notification.attempts);
        self.give_up(notification, Some(&destination.recipient), error, now).await;
        Ok(())
    }

    /// Stores outcomes and frees the queues of their recipients.
    pub(super) async fn save_outcomes(&mut self) -> Result<(), StoreError> {
        if !self.unsaved_outcomes.is_empty() {
            self.dependencies
                .outbox
                .record_outcomes(self.unsaved_outcomes.clone(), self.dependencies.clock.now())
                .await?;
            self.unsaved_outcomes.clear();
        }
        for recipient in self.recipients_to_unblock.drain(..) {
            self.delivery_states.state_mut(recipient).is_busy = false;
        }
        Ok(())
    }

    /// Returns the destination of `notification`; marks the message dead when the recipient no longer exists.
    async fn find_destination(
        &mut self,
        notification: &Notification,
        now: Timestamp,
    ) -> Result<Option<Destination>, StoreError> {
        let found = self.dependencies.destination_lookup.find(notification).await?;
        if found.is_none() {
            let dead_outcome = DeliveryOutcome::Dead { error: "the recipient was removed".to_owned() };
            self.unsaved_outcomes.push((notification.id, dead_outcome.clone()));
            self.record_digest_outcome(notification, dead_outcome, now).await;
        }
        Ok(found)
    }

    /// Sends `notification` in a task of its own.
    async fn dispatch(&mut self, notification: Notification) -> Result<(), StoreError> {
        let now = self.dependencies.clock.now();
        self.dispatching_id = Some(notification.id);
        let found = match fault_point("delivery").await {
            Ok(()) => self.find_destination(&notification, now).await,
            Err(error) => Err(error),
        };
        // Only a panic leaves it set.
        self.dispatching_id = None;
        let Some(destination) = found? else { return Ok(()) };
        let host = host_limit_key(&destination.recipient);
        if !self.delivery_states.try_acquire_host_permit(&host, &self.settings) {
            return Ok(());
        }
        self.delivery_states.state_mut(notification.message.recipient_id).is_busy = true;
        let dependencies = self.dependencies.clone();
        self.in_flight.spawn(async move {
            let started = Instant::now();
            let recipient = destination.recipient.clone();
            let method = recipient.method;
            // A panic in one channel fails its message alone.
            let send_result = AssertUnwindSafe(render_and_send(&dependencies, &notification, destination))
                .catch_unwind()
                .await;
            let attempt_result = send_result
                .unwrap_or_else(|_| Err(SendError::transient("internal error of Vigie; see its log")));
            dependencies.metrics.record_delivery(method, attempt_result.is_ok(), started.elapsed());
            FinishedAttempt { notification, recipient, host, result: attempt_result }
        });
        Ok(())
    }

    /// Handles the outcome of an attempt; `None` for an aborted task.
    pub(super) async fn on_send_finished(&mut self, finished: Option<FinishedAttempt>) {
        let Some(FinishedAttempt { notification, recipient, host, result: attempt_result }) = finished else {
            return;
        };
        let now = self.dependencies.clock.now();
        self.delivery_states.release_host_permit(&host);
        self.recipients_to_unblock.push(recipient.id);
        let attempts = notification.attempts.saturating_add(1);
        let state = self.delivery_states.state_mut(recipient.id);
        match attempt_result {
            Ok(()) => {
                state.on_sent(now, is_exempt_from_limit(&notification));
                self.unsaved_outcomes.push((notification.id, DeliveryOutcome::Sent));
                self.dependencies.metrics.count_notifications("sent", 1);
                self.record_digest_outcome(&notification, DeliveryOutcome::Digested(notification.id), now)
                    .await;
            }
            Err(error) if error.is_retryable => {
                let next_at = state.on_failed(
                    now,
                    &notification.message.idempotency_key,
                    attempts,
                    error.retry_after,
                    &self.settings,
                );
                tracing::warn!(
                    notification_id = notification.id,
                    recipient_id = %recipient.id,
                    attempts,
                    error = %error,
                    "delivery attempt failed, will retry"
                );
                if self.is_expired(&notification, now) {
                    let hours = self.settings.max_age.as_secs() / 3_600;
                    let text = format!("given up after {hours} h and {attempts} attempts: {}", error.detail);
                    self.give_up(&notification, Some(&recipient), text, now).await;
                } else {
                    self.unsaved_outcomes.push((
                        notification.id,
                        DeliveryOutcome::RetryScheduled { error: error.detail, next_attempt_at: next_at },
                    ));
                }
            }
            Err(error) => {
                state.on_rejected();
                self.give_up(&notification, Some(&recipient), error.detail, now).await;
            }
        }
    }

    /// Marks `notification` as dead, and the messages that it covers as a digest; records at most one event an hour.
    pub(super) async fn give_up(
        &mut self,
        notification: &Notification,
        recipient: Option<&Recipient>,
        error: String,
        now: Timestamp,
    ) {
        let recipient_id = notification.message.recipient_id;
        tracing::error!(
            notification_id = notification.id,
            %recipient_id,
            error,
            "notification given up"
        );
        self.dependencies.metrics.count_notifications("dead", 1);
        let state = self.delivery_states.state_mut(recipient_id);
        let was_reported_recently = state
            .dead_letter_reported_at
            .is_some_and(|at| at <= now && now.since(at) < DEAD_LETTER_REPORT_INTERVAL);
        if let Some(config_store) = self.dependencies.config_store.as_ref().filter(|_| !was_reported_recently)
        {
            state.dead_letter_reported_at = Some(now);
            let recipient_name = recipient.map_or("", |recipient| recipient.name.as_str());
            let event = dead_letter_event::dead_letter_event(notification, recipient_name, &error, now);
            if let Err(error) = config_store.write_changes(vec![event], Vec::new()).await {
                tracing::warn!(error = %error, "failed to record the event of a notification that was given up");
            }
        }
        let dead_outcome = DeliveryOutcome::Dead { error };
        self.unsaved_outcomes.push((notification.id, dead_outcome.clone()));
        self.record_digest_outcome(notification, dead_outcome, now).await;
    }
}

/// Renders the message and sends it through its channel.
async fn render_and_send(
    dependencies: &DeliveryDependencies,
    notification: &Notification,
    destination: Destination,
) -> Result<(), SendError> {
    let Destination { recipient, secret, template } = destination;
    let new_notification = &notification.message;
    let language = Language::from_code(&recipient.language).unwrap_or_default();
    let renderer = dependencies.renderer.in_language(language);
    let attachments = attachments::load_attachments(
        dependencies.result_store.as_ref(),
        new_notification.content.check_id,
        &recipient,
    )
    .await;
    let mut content = new_notification.content.clone();
    if let Some(traceroute) = attachments::traceroute_text(&attachments) {
        content.extra.entry("traceroute").or_insert(traceroute.into());
    }
    let rendered = match renderer.render(&content, recipient.method, template.as_ref()) {
        Err(error) if template.is_some() => {
            // The recipient must be notified: the built-in text is better than none.
            tracing::warn!(recipient_id = %recipient.id, error = %error, "failed to use a template; used the built-in one");
            renderer.render(&content, recipient.method, None)
        }
        rendered => rendered,
    };
    let rendered = rendered.map_err(|error| SendError::permanent(error.to_string()))?;
    let outgoing_message = OutgoingMessage {
        idempotency_key: new_notification.idempotency_key.clone(),
        content,
        recipient,
        egress_principal: EgressPrincipal::for_account(new_notification.content.customer),
        credential: secret,
        subject: rendered.subject,
        text: rendered.text,
        html: rendered.html,
        json_body: rendered.json_body,
        attachments,
    };
    dependencies.sender.send(&outgoing_message).await
}
