//! What of an account a person can choose in a list: recipients and values of custom properties.

use crate::catalog::AccountSnapshot;
use crate::domain::RecipientId;

/// What of an account a person can choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountChoices {
    /// Ids and names of the recipients.
    pub recipients: Vec<(RecipientId, String)>,
    /// The custom properties.
    pub properties: Vec<PropertyChoice>,
}

/// How an account is called, and its time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountLabels {
    /// The name; empty for an account that does not exist.
    pub name: String,
    /// IANA name of the time zone.
    pub time_zone: Option<String>,
}

/// A custom property with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyChoice {
    /// Id.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Ids and texts of the values.
    pub values: Vec<(i64, String)>,
}

impl AccountChoices {
    pub(super) fn new(account: &AccountSnapshot) -> Self {
        let recipients = account.contacts.recipients.iter();
        let to_choice = |(id, property): (&i64, &crate::catalog::PropertyDefinition)| PropertyChoice {
            id: *id,
            name: property.name.clone(),
            values: property.values.iter().map(|(id, value)| (*id, value.clone())).collect(),
        };
        Self {
            recipients: recipients.map(|recipient| (recipient.id, recipient.name.clone())).collect(),
            properties: account.properties.iter().map(to_choice).collect(),
        }
    }
}
