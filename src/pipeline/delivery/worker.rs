//! The one task that owns all lanes: takes what is due, lets it go, notes how it ended.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::addressee::Addressee;
use super::lane::Next;
use super::lanes::{Lanes, host};
use super::settings::{DeliveryParts, DeliverySettings};
use super::{digest, evidence, report};
use crate::domain::{Notification, NotificationKind, Recipient, RecipientId, Timestamp};
use crate::notify::{OutgoingMessage, SendError};
use crate::pipeline::wakeup::Bell;
use crate::store::{DeliveryOutcome, StoreError};

/// Messages that are looked at in one round, beside one of each lane that waits.
const ROUND: usize = 256;
/// Messages of one recipient that are held back in one go.
const HOLD: u32 = 500;
/// Messages that one digest stands for at most.
const DIGEST: u32 = 10_000;
/// The longest sleep: due times can move while nobody rings.
const LONGEST_SLEEP: Duration = Duration::from_mins(1);
/// How soon to look again when everything that is due has to wait, or the store is in trouble.
const SOON: Duration = Duration::from_secs(1);
/// Time between two digests to one recipient.
const BETWEEN_DIGESTS: Duration = Duration::from_mins(1);
/// Time between two reports of given up messages to one recipient.
const BETWEEN_REPORTS: Duration = Duration::from_hours(1);

/// How a message came back.
struct Back {
    message: Notification,
    recipient: Recipient,
    host: String,
    outcome: Result<(), SendError>,
}

pub(super) struct Worker {
    parts: DeliveryParts,
    settings: DeliverySettings,
    bell: Bell,
    lanes: Lanes,
    going: JoinSet<Back>,
    /// How messages ended, as far as the store does not know it yet.
    ended: Vec<(i64, DeliveryOutcome)>,
    /// Lanes that are free once it does.
    freed: Vec<RecipientId>,
    /// The store is in trouble, and that was told.
    told: bool,
}

impl Worker {
    pub(super) fn new(parts: DeliveryParts, settings: DeliverySettings, bell: Bell) -> Self {
        Self {
            parts,
            settings,
            bell,
            lanes: Lanes::default(),
            going: JoinSet::new(),
            ended: Vec::new(),
            freed: Vec::new(),
            told: false,
        }
    }

    pub(super) async fn run(mut self, mut end: watch::Receiver<Option<Duration>>) {
        if let Ok(holding) = self.parts.outbox.recipients_with_held().await {
            let now = self.parts.clock.now();
            for recipient in holding {
                self.lanes.of(recipient).digest_at = Some(now);
            }
        }
        let within = loop {
            let pause = self.turn().await;
            let clock = Arc::clone(&self.parts.clock);
            tokio::select! {
                _ = end.changed() => break end.borrow().unwrap_or_default(),
                Some(back) = self.going.join_next(), if !self.going.is_empty() => self.came_back(back.ok()).await,
                () = self.bell.rung() => {}
                () = clock.sleep(pause) => {}
            }
        };
        self.drain(within).await;
    }

    /// Lets go what can go now and ends; tries that take longer than `within` are cut off and made again at the
    /// next start.
    async fn drain(&mut self, within: Duration) {
        let until = Instant::now() + within;
        loop {
            // An error of the store was told; what is left stays in the outbox.
            let progress = self.round().await.unwrap_or(false);
            if self.going.is_empty() && !progress {
                break;
            }
            match tokio::time::timeout_at(until, self.going.join_next()).await {
                Ok(Some(back)) => self.came_back(back.ok()).await,
                Ok(None) => {}
                Err(_) => break,
            }
        }
        self.going.abort_all();
        if let Err(error) = self.settle().await {
            tracing::warn!(error = %error, messages = self.ended.len(), "how messages ended is not noted; they may go out again");
        }
    }

    /// One round; answers how long nothing is to be done.
    async fn turn(&mut self) -> Duration {
        while let Some(back) = self.going.try_join_next() {
            self.came_back(back.ok()).await;
        }
        match self.round().await {
            Ok(true) => return Duration::ZERO,
            Ok(false) => self.told = false,
            Err(error) => {
                if !std::mem::replace(&mut self.told, true) {
                    tracing::error!(error = %error, "messages wait: the store is in trouble");
                }
                return SOON;
            }
        }
        let now = self.parts.clock.now();
        let due = self.parts.outbox.next_due().await.unwrap_or_default();
        match [due, self.lanes.next_at(now)].into_iter().flatten().min() {
            None => LONGEST_SLEEP,
            // Due, and still here: it waits for its lane, of which others know nothing.
            Some(at) if at <= now => SOON,
            Some(at) => at.since(now).min(LONGEST_SLEEP),
        }
    }

    /// Notes what ended and lets go what is due; answers whether there may be more to do at once.
    async fn round(&mut self) -> Result<bool, StoreError> {
        self.settle().await?;
        let now = self.parts.clock.now();
        self.lanes.tidy(now);
        self.write_digests(now).await?;
        let most = u32::try_from(ROUND + self.lanes.waiting(now)).unwrap_or(u32::MAX);
        let due = self.parts.outbox.due(now, most, 1).await?;
        let mut over = HashSet::new();
        for message in due {
            let (recipient, is_digest) = (message.message.recipient, is_digest(&message));
            let lane = self.lanes.of(recipient);
            match lane.next(now, is_digest, &self.settings) {
                Next::Wait => {}
                Next::Hold => drop(over.insert(recipient)),
                Next::Send if self.going.len() >= self.settings.at_once => break,
                // Behind a receiver that is down for long, tries are for what is still of use.
                Next::Send if lane.is_failing() && self.is_old(&message, now) => {
                    self.too_old(&message, now).await?;
                }
                Next::Send => self.let_go(message).await?,
            }
        }
        let held = self.hold(&over, now).await?;
        Ok(held || !self.ended.is_empty())
    }

    fn is_old(&self, message: &Notification, now: Timestamp) -> bool {
        now.since(message.message.created_at) >= self.settings.give_up
    }

    async fn too_old(&mut self, message: &Notification, now: Timestamp) -> Result<(), StoreError> {
        let Some(to) = self.find(message, now).await? else { return Ok(()) };
        let hours = self.settings.give_up.as_secs() / 3_600;
        let last = if message.error.is_empty() { String::new() } else { format!(": {}", message.error) };
        let error = format!("given up after {hours} h and {} tries{last}", message.attempts);
        self.give_up(message, &to.recipient, error, now).await;
        Ok(())
    }

    /// Keeps how messages ended; their lanes are free then.
    async fn settle(&mut self) -> Result<(), StoreError> {
        if !self.ended.is_empty() {
            self.parts.outbox.record_outcomes(self.ended.clone(), self.parts.clock.now()).await?;
            self.ended.clear();
        }
        for recipient in self.freed.drain(..) {
            self.lanes.of(recipient).busy = false;
        }
        Ok(())
    }

    /// Holds back what waits for the recipients in `over`.
    async fn hold(&mut self, over: &HashSet<RecipientId>, now: Timestamp) -> Result<bool, StoreError> {
        if over.is_empty() {
            return Ok(false);
        }
        let most = HOLD.saturating_mul(u32::try_from(over.len()).unwrap_or(u32::MAX)).max(DIGEST);
        let due = self.parts.outbox.due(now, most, HOLD).await?;
        let held =
            due.iter().filter(|message| over.contains(&message.message.recipient) && !is_digest(message));
        let held: Vec<_> = held.map(|message| (message.id, DeliveryOutcome::Held)).collect();
        self.parts.metrics.record_notifications("held", held.len());
        self.ended.extend(held);
        Ok(true)
    }

    /// Puts digests into the outbox for those who have messages held back.
    async fn write_digests(&mut self, now: Timestamp) -> Result<(), StoreError> {
        for recipient in self.lanes.digests(now) {
            let held = self.parts.outbox.held(recipient, DIGEST).await?;
            if let Some(new) = digest::of(&held, now) {
                self.parts.outbox.enqueue(vec![new]).await?;
            }
            self.lanes.of(recipient).digest_at = None;
        }
        Ok(())
    }

    /// Who `message` goes to; it ends here when the recipient is gone.
    async fn find(
        &mut self,
        message: &Notification,
        now: Timestamp,
    ) -> Result<Option<Addressee>, StoreError> {
        let found = self.parts.addresses.find(message).await?;
        if found.is_none() {
            let dead = DeliveryOutcome::Dead { error: "the recipient was removed".to_owned() };
            self.ended.push((message.id, dead.clone()));
            self.after_digest(message, dead, now).await;
        }
        Ok(found)
    }

    /// Sends `message`, in a task of its own.
    async fn let_go(&mut self, message: Notification) -> Result<(), StoreError> {
        let now = self.parts.clock.now();
        let Some(to) = self.find(&message, now).await? else { return Ok(()) };
        let host = host(&to.recipient);
        if !self.lanes.enter(&host, &self.settings) {
            return Ok(());
        }
        self.lanes.of(message.message.recipient).busy = true;
        let parts = self.parts.clone();
        self.going.spawn(async move {
            let began = Instant::now();
            let recipient = to.recipient.clone();
            let method = recipient.method;
            // A defect in one channel ends its message alone.
            let sent = AssertUnwindSafe(hand_over(&parts, &message, to)).catch_unwind().await;
            let outcome =
                sent.unwrap_or_else(|_| Err(SendError::transient("a defect of Vigie; see its log")));
            parts.metrics.record_delivery(method, outcome.is_ok(), began.elapsed());
            Back { message, recipient, host, outcome }
        });
        Ok(())
    }

    /// Takes how a message came back; `None` only of a task that was cut off.
    async fn came_back(&mut self, back: Option<Back>) {
        let Some(Back { message, recipient, host, outcome }) = back else { return };
        let now = self.parts.clock.now();
        self.lanes.leave(&host);
        self.freed.push(recipient.id);
        let attempts = message.attempts.saturating_add(1);
        let lane = self.lanes.of(recipient.id);
        match outcome {
            Ok(()) => {
                lane.took(now, is_digest(&message));
                self.ended.push((message.id, DeliveryOutcome::Sent));
                self.parts.metrics.record_notifications("sent", 1);
                self.after_digest(&message, DeliveryOutcome::Digested(message.id), now).await;
            }
            Err(error) if error.is_retryable => {
                let next_at =
                    lane.failed(now, &message.message.key, attempts, error.not_before, &self.settings);
                tracing::warn!(
                    notification_id = message.id,
                    recipient_id = %recipient.id,
                    attempts,
                    error = %error,
                    "a message was not taken, it is tried again"
                );
                if self.is_old(&message, now) {
                    let hours = self.settings.give_up.as_secs() / 3_600;
                    let words = format!("given up after {hours} h and {attempts} tries: {}", error.detail);
                    self.give_up(&message, &recipient, words, now).await;
                } else {
                    self.ended.push((message.id, DeliveryOutcome::Failed { error: error.detail, next_at }));
                }
            }
            Err(error) => {
                lane.refused();
                self.give_up(&message, &recipient, error.detail, now).await;
            }
        }
    }

    async fn give_up(
        &mut self,
        message: &Notification,
        recipient: &Recipient,
        error: String,
        now: Timestamp,
    ) {
        tracing::error!(
            notification_id = message.id,
            recipient_id = %recipient.id,
            error,
            "a message was given up"
        );
        self.parts.metrics.record_notifications("dead", 1);
        let lane = self.lanes.of(recipient.id);
        let told = lane.reported_at.is_some_and(|at| at <= now && now.since(at) < BETWEEN_REPORTS);
        if let Some(ledger) = self.parts.ledger.as_ref().filter(|_| !told) {
            lane.reported_at = Some(now);
            let event = report::given_up(message, recipient, &error, now);
            if let Err(error) = ledger.write_changes(vec![event], Vec::new()).await {
                tracing::warn!(error = %error, "a given up message is not reported as an event");
            }
        }
        let dead = DeliveryOutcome::Dead { error };
        self.ended.push((message.id, dead.clone()));
        self.after_digest(message, dead, now).await;
    }

    /// What a digest stood for ends with it.
    async fn after_digest(&mut self, message: &Notification, end: DeliveryOutcome, now: Timestamp) {
        let Some(last) = digest::last_of(&message.message.content).filter(|_| is_digest(message)) else {
            return;
        };
        let recipient = message.message.recipient;
        match self.parts.outbox.held(recipient, DIGEST).await {
            Ok(held) => {
                let (told, left): (Vec<_>, Vec<_>) = held.iter().partition(|held| held.id <= last);
                self.ended.extend(told.iter().map(|held| (held.id, end.clone())));
                let lane = self.lanes.of(recipient);
                lane.digest_at = (!left.is_empty()).then(|| now + BETWEEN_DIGESTS);
            }
            // They come again with the next one: told twice is better than never.
            Err(error) => tracing::warn!(error = %error, "what a digest told is not noted"),
        }
    }
}

fn is_digest(message: &Notification) -> bool {
    message.message.content.kind == NotificationKind::Digest
}

/// Makes the words and hands the message to its channel.
async fn hand_over(parts: &DeliveryParts, message: &Notification, to: Addressee) -> Result<(), SendError> {
    let Addressee { recipient, secret, template } = to;
    let (new, composer) = (&message.message, &parts.composer);
    let attachments = evidence::of(parts.results.as_ref(), new.content.check_id, &recipient).await;
    let mut notice = new.content.clone();
    if let Some(traceroute) = evidence::traceroute(&attachments) {
        notice.extra.entry("traceroute").or_insert(traceroute.into());
    }
    let words = match composer.render(&notice, recipient.method, template.as_ref()) {
        Err(fault) if template.is_some() => {
            // Somebody is to be told something: better in other words than not at all.
            tracing::warn!(recipient_id = %recipient.id, error = %fault, "a template cannot be used, the built-in one is");
            composer.render(&notice, recipient.method, None)
        }
        words => words,
    };
    let words = words.map_err(|fault| SendError::permanent(fault.to_string()))?;
    let message = OutgoingMessage {
        key: new.key.clone(),
        content: notice,
        recipient,
        secret,
        subject: words.subject,
        text: words.text,
        html: words.html,
        body: words.body,
        attachments,
    };
    parts.courier.send(&message).await
}
