//! Inputs of alert decisions: the monitor's policy, its account's recipients, blackouts and the time.

use super::alert_policy::AlertPolicy;
use super::parent_monitors::ParentState;
use crate::domain::{LocationId, NotifierGroup, Recipient, RecipientId, Timestamp};
use crate::schedule::BlackoutCalendar;

/// Recipients and notifier groups of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    /// All recipients.
    pub recipients: Vec<Recipient>,
    /// Which recipients get which alerts. With no groups, every recipient gets every alert.
    pub groups: Vec<NotifierGroup>,
}

impl Contacts {
    /// Returns the recipient with this id.
    #[must_use]
    pub fn recipient(&self, recipient_id: RecipientId) -> Option<&Recipient> {
        self.recipients.iter().find(|recipient| recipient.id == recipient_id)
    }
}

/// Inputs of alert decisions, as they are at the moment of the call.
#[derive(Clone, Copy, Debug)]
pub struct AlertContext<'a> {
    /// Alerting settings of the monitor.
    pub policy: &'a AlertPolicy,
    /// Recipients and groups of its account.
    pub contacts: &'a Contacts,
    /// Blackouts.
    pub blackout_calendar: &'a BlackoutCalendar,
    /// Locations without a live agent now.
    pub offline_locations: &'a [LocationId],
    /// The monitors that it depends on, without those that suppress nothing: removed, inactive or in a blackout.
    pub parents: &'a [ParentState],
    /// The current time.
    pub now: Timestamp,
}
