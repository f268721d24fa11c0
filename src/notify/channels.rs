//! Dispatch of messages to the channel of each notification method.

use std::sync::Arc;
use std::time::Duration;

use super::mail::{MailChannel, MailSettings};
use super::message_secrets::{message_redactor, settings_redactor};
use super::outgoing_message::{MessageSender, OutgoingMessage, SendFuture};
use super::send_error::SendError;
use super::sms::SmsSettings;
use super::snmp::{TrapChannel, parse_object_identifier};
use super::webhook::{WebhookClient, WebhookRequest};
use super::{alertmanager, form_post, json_post, pager_duty, service_now, slack, sms, splunk};
use crate::clock::Clock;
use crate::domain::{EgressPrincipal, NotificationMethod, Timestamp};
use crate::net::Net;
use crate::redaction::redactor::Redactor;
use crate::redaction::scope::RedactionScope;
use crate::sync::RwLock;

/// Default enterprise of traps: the one that Net-SNMP reserves for experiments.
pub const DEFAULT_TRAP_ENTERPRISE: &str = "1.3.6.1.4.1.8072.9999.9999";

/// Settings of the channels.
#[derive(Clone, Debug)]
pub struct ChannelSettings {
    /// Longest duration of one attempt by webhook, SMS or trap.
    pub attempt_timeout: Duration,
    /// The mail server; without one, mail stays queued.
    pub mail: Option<MailSettings>,
    /// The SMS gateway; without one, text messages stay queued.
    pub sms: Option<SmsSettings>,
    /// The enterprise object identifier of traps.
    pub trap_enterprise: Vec<u32>,
}

impl Default for ChannelSettings {
    fn default() -> Self {
        let trap_enterprise = parse_object_identifier(DEFAULT_TRAP_ENTERPRISE).unwrap_or_default();
        Self { attempt_timeout: Duration::from_secs(20), mail: None, sms: None, trap_enterprise }
    }
}

/// All notification channels.
pub struct NotificationChannels {
    net: Arc<Net>,
    webhook_client: WebhookClient,
    /// Supplies the time of traps.
    clock: Arc<dyn Clock>,
    started_at: Timestamp,
    /// Replaced when settings are reloaded.
    configured: RwLock<Arc<ConfiguredChannels>>,
}

/// What the settings configure.
struct ConfiguredChannels {
    mail_channel: Option<MailChannel>,
    trap_channel: TrapChannel,
    sms_settings: Option<SmsSettings>,
    attempt_timeout: Duration,
    /// Masks the secrets of the settings.
    redactor: Redactor,
}

impl ConfiguredChannels {
    fn new(net: &Arc<Net>, started_at: Timestamp, settings: ChannelSettings) -> Self {
        let mail_login = settings.mail.iter().map(|mail| (mail.username.as_str(), mail.password.0.as_str()));
        let sms_login = settings.sms.iter().map(|sms| (sms.username.as_str(), sms.password.0.as_str()));
        let gateway_url = settings.sms.as_ref().map(|sms| sms.gateway_url.as_str());
        let redactor = settings_redactor(mail_login.chain(sms_login), gateway_url);
        let ChannelSettings { attempt_timeout, mail, sms, trap_enterprise } = settings;
        Self {
            mail_channel: mail.map(|mail| MailChannel::new(Arc::clone(net), mail)),
            trap_channel: TrapChannel { net: Arc::clone(net), enterprise_oid: trap_enterprise, started_at },
            sms_settings: sms,
            attempt_timeout,
            redactor,
        }
    }
}

impl NotificationChannels {
    /// Creates the channels over `net`.
    #[must_use]
    pub fn new(net: Arc<Net>, clock: Arc<dyn Clock>, settings: ChannelSettings) -> Self {
        let started_at = clock.now();
        Self {
            webhook_client: WebhookClient::new(Arc::clone(&net), Arc::clone(&clock)),
            configured: RwLock::new(Arc::new(ConfiguredChannels::new(&net, started_at, settings))),
            net,
            clock,
            started_at,
        }
    }

    /// Replaces the settings, for messages sent from now on.
    pub fn set_settings(&self, settings: ChannelSettings) {
        let configured = ConfiguredChannels::new(&self.net, self.started_at, settings);
        *self.configured.write() = Arc::new(configured);
    }

    async fn send_by_method(
        &self,
        configured: &ConfiguredChannels,
        message: &OutgoingMessage,
    ) -> Result<(), SendError> {
        let not_configured = |what: &str| SendError::transient(format!("{what} is not set in the settings"));
        let mut egress_principal = message.egress_principal;
        let request: WebhookRequest = match message.recipient.method {
            NotificationMethod::MailText | NotificationMethod::MailHtml => {
                return configured
                    .mail_channel
                    .as_ref()
                    .ok_or_else(|| not_configured("`mail.server`"))?
                    .send(message)
                    .await;
            }
            NotificationMethod::SnmpV1 | NotificationMethod::SnmpV2c => {
                return configured
                    .trap_channel
                    .send(message, self.clock.now(), configured.attempt_timeout)
                    .await;
            }
            NotificationMethod::Sms => {
                // The settings name the gateway.
                egress_principal = EgressPrincipal::Operator;
                sms::to_request(
                    configured.sms_settings.as_ref().ok_or_else(|| not_configured("`sms.url`"))?,
                    message,
                )?
            }
            NotificationMethod::FormPost => form_post::to_request(message)?,
            NotificationMethod::PagerDuty => pager_duty::to_request(message)?,
            NotificationMethod::SplunkHec => splunk::to_request(message)?,
            NotificationMethod::JsonPost => json_post::to_request(message)?,
            NotificationMethod::ServiceNow => service_now::to_request(message)?,
            NotificationMethod::Slack => slack::to_request(message)?,
            NotificationMethod::Alertmanager => alertmanager::to_request(message)?,
        };
        self.webhook_client.send(request, egress_principal, configured.attempt_timeout).await.map(drop)
    }
}

impl MessageSender for NotificationChannels {
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> SendFuture<'a> {
        Box::pin(async move {
            let configured = Arc::clone(&self.configured.read());
            let mail_timeout =
                configured.mail_channel.as_ref().map_or(Duration::ZERO, MailChannel::attempt_timeout);
            let timeout = match message.recipient.method {
                NotificationMethod::MailText | NotificationMethod::MailHtml => mail_timeout,
                _ => configured.attempt_timeout,
            };
            // Channels have their own timeouts; this one covers what they miss.
            let message_redactor = message_redactor(message);
            let scope = RedactionScope::new([configured.redactor.clone(), message_redactor.clone()]);
            let sending = scope.wrap(Box::pin(self.send_by_method(&configured, message)));
            let result = tokio::time::timeout(timeout + Duration::from_secs(5), sending).await;
            let timed_out = |_| SendError::transient(format!("timed out after {} s", timeout.as_secs()));
            result
                .map_err(timed_out)
                .flatten()
                .map_err(|error| error.redact_and_truncate([&configured.redactor, &message_redactor]))
        })
    }
}
