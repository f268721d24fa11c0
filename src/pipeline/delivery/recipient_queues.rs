//! The lanes of all recipients, and how much goes to one host at once.

use std::collections::HashMap;

use super::recipient_queue::RecipientQueue;
use super::settings::DeliverySettings;
use crate::domain::{NotificationMethod, Recipient, RecipientId, Timestamp};

/// Lanes from which on idle ones are let go.
const PRUNE_THRESHOLD: usize = 1_000;

/// Every lane that has something to remember.
#[derive(Debug, Default)]
pub(super) struct RecipientQueues {
    queues: HashMap<RecipientId, RecipientQueue>,
    /// Messages on their way, by host.
    hosts: HashMap<String, usize>,
}

impl RecipientQueues {
    /// The lane of `recipient`.
    pub(super) fn queue_mut(&mut self, recipient: RecipientId) -> &mut RecipientQueue {
        self.queues.entry(recipient).or_default()
    }

    /// Takes a place of `host`; `false` when it has none left.
    pub(super) fn try_acquire_host(&mut self, host: &str, settings: &DeliverySettings) -> bool {
        let going = self.hosts.entry(host.to_owned()).or_default();
        let free = *going < settings.max_per_host;
        *going += usize::from(free);
        free
    }

    /// Gives it back.
    pub(super) fn release_host(&mut self, host: &str) {
        if let Some(going) = self.hosts.get_mut(host) {
            *going = going.saturating_sub(1);
            if *going == 0 {
                self.hosts.remove(host);
            }
        }
    }

    /// How many lanes wait or are busy: each may show one message that cannot go yet.
    pub(super) fn waiting_count(&self, now: Timestamp) -> usize {
        self.queues.values().filter(|queue| queue.is_busy || queue.ready_at(now).is_some()).count()
    }

    /// Recipients whose digest is due.
    pub(super) fn due_digests(&self, now: Timestamp) -> Vec<RecipientId> {
        let due = |queue: &RecipientQueue| !queue.is_busy && queue.digest_at.is_some_and(|at| at <= now);
        self.queues.iter().filter(|(_, queue)| due(queue)).map(|(recipient, _)| *recipient).collect()
    }

    /// When the next lane opens or the next digest is due.
    pub(super) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let moments =
            |queue: &RecipientQueue| [queue.ready_at(now), queue.digest_at.filter(|_| !queue.is_busy)];
        self.queues.values().flat_map(moments).flatten().min()
    }

    /// Lets go of what is idle.
    pub(super) fn prune(&mut self, now: Timestamp) {
        if self.queues.len() > PRUNE_THRESHOLD {
            self.queues.retain(|_, queue| !queue.is_idle(now));
        }
    }
}

/// What messages to `recipient` share with others: the server behind its address.
pub(super) fn destination_host(recipient: &Recipient) -> String {
    match recipient.method {
        NotificationMethod::MailText | NotificationMethod::MailHtml => "mail".to_owned(),
        NotificationMethod::Sms => "sms".to_owned(),
        _ => {
            let address = recipient.address.as_str();
            let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            host.rsplit('@').next().unwrap_or_default().to_ascii_lowercase()
        }
    }
}
