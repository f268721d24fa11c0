//! The current destination of a notification.

use std::sync::Arc;

use crate::catalog::{AccountCache, RecipientSecrets};
use crate::domain::{
    ConfigRecord, ConfigRecordKind, CustomerId, Notification, NotificationMethod, Recipient,
};
use crate::notify::{AccountTemplate, Secret};
use crate::store::{ConfigStore, StoreError, StoreFuture};
use crate::vault::Keyring;

use super::template::template_from_fields;
use crate::catalog::record_settings::ok_or_log_skipped;

/// A recipient with everything needed to send to it.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The recipient.
    pub recipient: Recipient,
    /// Its credential.
    pub secret: Secret,
    /// The account's template for this notification; `None` for the built-in one.
    pub template: Option<AccountTemplate>,
}

/// Looks up destinations.
pub trait DestinationLookup: Send + Sync + 'static {
    /// Returns the destination of `notification`; `None` when the recipient was removed.
    fn find<'a>(&'a self, notification: &'a Notification) -> StoreFuture<'a, Option<Destination>>;

    /// Returns how the recipient of `notification` is reached; `None` when it was removed.
    fn find_method<'a>(
        &'a self,
        notification: &'a Notification,
    ) -> StoreFuture<'a, Option<NotificationMethod>>;
}

/// The destinations of all accounts.
pub struct AccountDestinations {
    /// Supplies recipients and groups.
    pub account_cache: Arc<AccountCache>,
    /// Stores their secrets, and the templates.
    pub config_store: Arc<dyn ConfigStore>,
    /// Decrypts secrets.
    pub keyring: Arc<Keyring>,
}

impl DestinationLookup for AccountDestinations {
    fn find<'a>(&'a self, notification: &'a Notification) -> StoreFuture<'a, Option<Destination>> {
        Box::pin(async move {
            let (new_notification, customer) = (&notification.message, notification.message.content.customer);
            let account = self.account_cache.account(customer).await?;
            let found_recipient = account
                .contacts
                .recipients
                .iter()
                .find(|recipient| recipient.id == new_notification.recipient_id);
            let Some(mut recipient) = found_recipient.cloned() else { return Ok(None) };
            if recipient.language.is_empty() {
                account.language.code().clone_into(&mut recipient.language);
            }
            let Some(record) = self.config_store.record(ConfigRecordKind::Recipient, recipient.id.0).await?
            else {
                return Ok(None);
            };
            let (recipient, secret) = self.with_secrets(recipient, &record);
            let group =
                account.contacts.groups.iter().find(|group| Some(group.id) == new_notification.group_id);
            let mut best_template: Option<AccountTemplate> = None;
            for id in group.map(|group| group.template_ids.as_slice()).unwrap_or_default() {
                let Some(template) = self.load_template(customer, *id).await? else { continue };
                let is_applicable = template.kind.is_none_or(|kind| kind == new_notification.content.kind)
                    && template.method.is_none_or(|method| method == recipient.method);
                let specificity =
                    |template: &AccountTemplate| (template.method.is_some(), template.kind.is_some());
                if is_applicable
                    && best_template
                        .as_ref()
                        .is_none_or(|best_template| specificity(&template) > specificity(best_template))
                {
                    best_template = Some(template);
                }
            }
            Ok(Some(Destination { recipient, secret, template: best_template }))
        })
    }

    fn find_method<'a>(
        &'a self,
        notification: &'a Notification,
    ) -> StoreFuture<'a, Option<NotificationMethod>> {
        Box::pin(async move {
            let account = self.account_cache.account(notification.message.content.customer).await?;
            let recipient = account.contacts.recipient(notification.message.recipient_id);
            Ok(recipient.map(|recipient| recipient.method))
        })
    }
}

impl AccountDestinations {
    /// Returns `recipient` with its sealed address and community, and its password.
    fn with_secrets(&self, mut recipient: Recipient, record: &ConfigRecord) -> (Recipient, Secret) {
        match RecipientSecrets::open(&self.keyring, record) {
            Ok(secrets) => {
                recipient.address = secrets.recipient.unwrap_or(recipient.address);
                recipient.username = secrets.username.unwrap_or(recipient.username);
                (recipient, Secret(secrets.password.unwrap_or_default()))
            }
            Err(error) => {
                tracing::error!(recipient_id = record.id, error = %error, "failed to decrypt the secrets of a recipient");
                (recipient, Secret::default())
            }
        }
    }

    /// Returns a template of the account; `None` when it does not exist or cannot be read.
    async fn load_template(
        &self,
        customer: CustomerId,
        template_id: i64,
    ) -> Result<Option<AccountTemplate>, StoreError> {
        let record = self.config_store.record(ConfigRecordKind::Template, template_id).await?;
        let record = record.filter(|record| record.customer == customer);
        Ok(record.and_then(|record| ok_or_log_skipped(&record, template_from_fields(&record.fields))))
    }
}
