//! What decisions on alerts are made by: the monitor's policy, its account's recipients, blackouts and the time.

use super::alert_policy::AlertPolicy;
use crate::domain::{LocationId, NotifierGroup, Recipient, RecipientId, Timestamp};
use crate::schedule::BlackoutCalendar;

/// The people of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    /// Who may be told.
    pub recipients: Vec<Recipient>,
    /// Who is told of what; none means everybody of all.
    pub groups: Vec<NotifierGroup>,
}

impl Contacts {
    /// The recipient with this number.
    #[must_use]
    pub fn recipient(&self, id: RecipientId) -> Option<&Recipient> {
        self.recipients.iter().find(|recipient| recipient.id == id)
    }
}

/// What decisions are made by. Everything here is of the moment of the call.
#[derive(Clone, Copy, Debug)]
pub struct AlertContext<'a> {
    /// What the monitor says.
    pub policy: &'a AlertPolicy,
    /// Who there is.
    pub contacts: &'a Contacts,
    /// What is silenced.
    pub calendar: &'a BlackoutCalendar,
    /// Locations without a live agent now.
    pub offline_locations: &'a [LocationId],
    /// Now.
    pub now: Timestamp,
}
