//! What is secret of a recipient: its password, the address of a webhook, and the community of SNMP. Its record holds
//! them sealed, and their masks in the fields. Records of earlier versions have the address and the community as plain
//! fields until they are written again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, NotificationMethod};
use crate::store::seal_context;
use crate::syntax::MASK;
use crate::vault::{Keyring, VaultError};

/// First byte of sealed secrets in JSON. A password alone is sealed as its text, which never begins like this: the byte
/// does not occur in UTF-8.
const JSON_MARK: u8 = 0xff;

/// The secrets of a recipient.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipientSecrets {
    /// The password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// The whole address of a webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// The community of SNMP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
}

impl RecipientSecrets {
    /// Opens the secrets of `record`; all empty if it has none.
    ///
    /// # Errors
    /// Fails when the vault cannot decrypt them.
    pub fn open(keyring: &Keyring, record: &ConfigRecord) -> Result<Self, VaultError> {
        let Some(sealed) = record.private_data.as_deref() else { return Ok(Self::default()) };
        let plaintext = keyring.open(&recipient_seal_context(record.customer), sealed)?;
        if let Some((&JSON_MARK, json)) = plaintext.split_first() {
            return serde_json::from_slice(json).map_err(|_| VaultError::AuthenticationFailed);
        }
        let password = std::str::from_utf8(&plaintext).map_err(|_| VaultError::AuthenticationFailed)?;
        Ok(Self { password: Some(password.to_owned()), ..Self::default() })
    }

    /// Seals them for a record of `customer`; `None` if there are none.
    #[must_use]
    pub fn seal(&self, keyring: &Keyring, customer: CustomerId) -> Option<Vec<u8>> {
        if *self == Self::default() {
            return None;
        }
        let plaintext = if let Self { password: Some(password), recipient: None, username: None } = self {
            Zeroizing::new(password.clone().into_bytes())
        } else {
            let mut plaintext = Zeroizing::new(vec![JSON_MARK]);
            // Cannot fail: texts are always valid JSON.
            plaintext.extend(serde_json::to_vec(self).unwrap_or_default());
            plaintext
        };
        Some(keyring.seal(&recipient_seal_context(customer), &plaintext))
    }

    /// Takes the address and the community out of `fields` and leaves their masks.
    pub fn take_and_mask(&mut self, fields: &mut Map<String, Value>) {
        let masked = masked_recipient_fields(fields);
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_masked = |name: &str| masked.get(name) != fields.get(name);
        self.recipient = text("recipient").filter(|_| is_masked("recipient"));
        self.username = text("username").filter(|_| is_masked("username"));
        *fields = masked;
    }

    /// Returns `fields` with the address and the community instead of their masks.
    #[must_use]
    pub fn unmasked_fields(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut fields = fields.clone();
        for (name, secret) in [("recipient", &self.recipient), ("username", &self.username)] {
            if let Some(secret) = secret {
                fields.insert(name.to_owned(), Value::from(secret.as_str()));
            }
        }
        fields
    }
}

/// Decrypts the password of the recipient of `record`; empty when it has none.
///
/// # Errors
/// Fails when the vault cannot decrypt it.
pub fn decrypt_recipient_password(
    keyring: &Keyring,
    record: &ConfigRecord,
) -> Result<Zeroizing<String>, VaultError> {
    Ok(Zeroizing::new(RecipientSecrets::open(keyring, record)?.password.unwrap_or_default()))
}

/// Returns the seal context of the secrets of recipients.
fn recipient_seal_context(customer: CustomerId) -> String {
    seal_context(ConfigRecordKind::Recipient.name(), customer)
}

/// Returns the fields of a recipient as everybody may see them.
#[must_use]
pub fn masked_recipient_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut masked = fields.clone();
    if let Some(address) = fields.get("recipient").and_then(Value::as_str).and_then(masked_webhook_url) {
        masked.insert("recipient".to_owned(), Value::from(address));
    }
    let method = fields.get("method_id").and_then(Value::as_i64).and_then(NotificationMethod::from_id);
    let is_snmp = matches!(method, Some(NotificationMethod::SnmpV1 | NotificationMethod::SnmpV2c));
    let has_community = fields.get("username").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if is_snmp && has_community {
        masked.insert("username".to_owned(), Value::from(MASK));
    }
    masked
}

/// Masks the address of a webhook: everything after its host is secret. `None` when nothing needs masking.
#[must_use]
pub fn masked_webhook_url(address: &str) -> Option<String> {
    let url = url::Url::parse(address).ok().filter(url::Url::has_host)?;
    let has_secret = url.path() != "/" || url.query().is_some() || url.fragment().is_some();
    has_secret.then(|| format!("{}/{MASK}", url.origin().ascii_serialization()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{Revision, Timestamp};

    fn record(private_data: Option<Vec<u8>>) -> ConfigRecord {
        ConfigRecord {
            id: 7,
            kind: ConfigRecordKind::Recipient,
            customer: CustomerId(1),
            parent_id: None,
            unique_key: None,
            revision: Revision(1),
            created_at: Timestamp::from_seconds(0),
            created_by: String::new(),
            modified_at: Timestamp::from_seconds(0),
            fields: Map::new(),
            private_data,
        }
    }

    #[test]
    fn secrets_survive_sealing_and_those_of_earlier_versions_are_opened() {
        let keyring = Keyring::ephemeral();
        let text = |text: &str| Some(text.to_owned());
        for secrets in [
            RecipientSecrets::default(),
            RecipientSecrets { password: text("{\"password\":1}"), ..RecipientSecrets::default() },
            RecipientSecrets { recipient: text("https://a.example/x"), ..RecipientSecrets::default() },
            RecipientSecrets { password: text("p"), recipient: text("r"), username: text("u") },
        ] {
            let sealed = secrets.seal(&keyring, CustomerId(1));
            assert!(RecipientSecrets::open(&keyring, &record(sealed)).unwrap() == secrets);
        }
        let old = keyring.seal(&recipient_seal_context(CustomerId(1)), b"s3cret");
        let opened = RecipientSecrets::open(&keyring, &record(Some(old))).unwrap();
        assert_eq!((opened.password.as_deref(), opened.recipient), (Some("s3cret"), None));
    }

    #[test]
    fn addresses_of_webhooks_and_communities_are_taken_and_restored() {
        let taken = |fields: Value| {
            let Value::Object(before) = fields else { unreachable!() };
            let (mut secrets, mut after) = (RecipientSecrets::default(), before.clone());
            secrets.take_and_mask(&mut after);
            assert_eq!(secrets.unmasked_fields(&after), before);
            (after["recipient"].clone(), after.get("username").cloned().unwrap_or_default())
        };
        let hook = json!({"recipient": "https://a.example/T/B", "method_id": 101, "username": "anna"});
        assert_eq!(taken(hook), (json!("https://a.example/********"), json!("anna")));
        let trap = json!({"recipient": "10.0.0.1", "method_id": 8, "username": "c0mmunity"});
        assert_eq!(taken(trap), (json!("10.0.0.1"), json!("********")));
        let mail = json!({"recipient": "a@b.example", "method_id": 1});
        assert_eq!(taken(mail), (json!("a@b.example"), Value::Null));
    }

    #[test]
    fn a_url_is_masked_beyond_its_host() {
        let masked = |address: &str| masked_webhook_url(address).unwrap_or_default();
        assert_eq!(masked("https://hooks.example/services/T/B"), "https://hooks.example/********");
        assert_eq!(masked("https://hooks.example:8443/?key=s3cret"), "https://hooks.example:8443/********");
        for unmasked in
            ["https://hooks.example/", "https://hooks.example", "a@b.example", "+49 30 1", "a.example:162"]
        {
            assert_eq!(masked_webhook_url(unmasked), None, "{unmasked}");
        }
    }
}
