//! The delivery states of all recipients, and the limit of concurrent messages to one host.

use std::collections::HashMap;

use super::recipient_delivery_state::RecipientDeliveryState;
use super::settings::DeliverySettings;
use crate::domain::{NotificationMethod, Recipient, RecipientId, Timestamp};

/// Number of states above which those not worth keeping are removed.
const PRUNE_THRESHOLD: usize = 1_000;

/// The delivery states of all recipients; those not worth keeping are removed.
#[derive(Debug, Default)]
pub(super) struct RecipientDeliveryStates {
    states: HashMap<RecipientId, RecipientDeliveryState>,
    /// Messages being sent, by host.
    in_flight_by_host: HashMap<String, usize>,
}

impl RecipientDeliveryStates {
    /// Returns the delivery state of `recipient_id`, a new one if it has none.
    pub(super) fn state_mut(&mut self, recipient_id: RecipientId) -> &mut RecipientDeliveryState {
        self.states.entry(recipient_id).or_default()
    }

    /// Counts a message in flight to `host`, unless it has `max_per_host` of them; returns whether it was counted.
    pub(super) fn try_acquire_host_permit(&mut self, host: &str, settings: &DeliverySettings) -> bool {
        let in_flight = self.in_flight_by_host.entry(host.to_owned()).or_default();
        let is_available = *in_flight < settings.max_per_host;
        *in_flight += usize::from(is_available);
        is_available
    }

    /// Uncounts a message in flight to `host`.
    pub(super) fn release_host_permit(&mut self, host: &str) {
        if let Some(in_flight) = self.in_flight_by_host.get_mut(host) {
            *in_flight = in_flight.saturating_sub(1);
            if *in_flight == 0 {
                self.in_flight_by_host.remove(host);
            }
        }
    }

    /// Returns the number of recipients that wait or are busy. Each may have one due message that cannot be sent yet.
    pub(super) fn blocked_recipient_count(&self, now: Timestamp) -> usize {
        self.states.values().filter(|state| state.is_busy || state.blocked_until(now).is_some()).count()
    }

    /// Returns the recipients whose digest is due.
    pub(super) fn recipients_with_due_digest(&self, now: Timestamp) -> Vec<RecipientId> {
        let has_due_digest =
            |state: &RecipientDeliveryState| !state.is_busy && state.digest_at.is_some_and(|at| at <= now);
        self.states
            .iter()
            .filter(|(_, state)| has_due_digest(state))
            .map(|(recipient, _)| *recipient)
            .collect()
    }

    /// Returns when the next queue is ready or the next digest is due.
    pub(super) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let due_times = |state: &RecipientDeliveryState| {
            [state.blocked_until(now), state.digest_at.filter(|_| !state.is_busy)]
        };
        self.states.values().flat_map(due_times).flatten().min()
    }

    /// Removes states that are not worth keeping, once there are many.
    pub(super) fn remove_discardable(&mut self, now: Timestamp) {
        if self.states.len() > PRUNE_THRESHOLD {
            self.states.retain(|_, state| !state.is_discardable(now));
        }
    }
}

/// Returns the key of the limit per host: the host of the address; `mail` or `sms` for the one server or gateway.
pub(super) fn host_limit_key(recipient: &Recipient) -> String {
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
