//! How alerts leave the process: limits, the mail server, the gateway of short messages, traps, the heartbeat.

use std::path::Path;
use std::time::Duration;

use super::build::Reader;
use crate::notify::{ChannelSettings, MailSettings, MailTls, Secret, SmsSettings, object_identifier};
use crate::pipeline::{AlarmSettings, DeliverySettings};
use crate::schema::intake::SecretAt;
use crate::syntax::Rule;
use crate::syntax::format::service;
use crate::syntax::source::Node;

/// How alerts leave the process.
#[derive(Clone, Debug)]
pub struct AlertSettings {
    /// When alerts are written.
    pub alarms: AlarmSettings,
    /// Limits and retries.
    pub delivery: DeliverySettings,
    /// What channels need.
    pub channels: ChannelSettings,
    /// Called each minute while everything works.
    pub heartbeat: Option<String>,
}

impl Reader<'_> {
    /// The sections `alerts`, `mail`, `sms` and `heartbeat`.
    pub(super) fn alerts(&mut self) -> AlertSettings {
        let whole = |read: &Self, path| read.number(path).unsigned_abs();
        let standard = DeliverySettings::default();
        let delivery = DeliverySettings {
            per_minute: u32::try_from(self.number("alerts.per_minute")).unwrap_or(standard.per_minute),
            at_once: self.count("alerts.at_once"),
            longest_pause: Duration::from_secs(whole(self, "alerts.longest_pause_seconds")),
            give_up: Duration::from_secs(3_600 * whole(self, "alerts.give_up_hours")),
            ..standard
        };
        let path = "alerts.trap_enterprise";
        let enterprise = object_identifier(&self.text(path));
        if enterprise.is_none() {
            let message = format!("`{path}` must be an object identifier, such as `1.3.6.1.4.1.8072`");
            self.fault(Rule::Format, path, self.node(path).place, message);
        }
        let channels = ChannelSettings {
            try_time: Duration::from_secs(whole(self, "alerts.try_seconds")),
            mail: self.mail(),
            sms: self.sms(),
            trap_enterprise: enterprise.unwrap_or_default(),
        };
        let usual = AlarmSettings::default();
        let no_data_runs = u32::try_from(self.number("alerts.no_data_runs")).unwrap_or(usual.no_data_runs);
        let size_tolerance_percent =
            u32::try_from(self.number("page.size_tolerance_percent")).unwrap_or(usual.size_tolerance_percent);
        let alarms = AlarmSettings { no_data_runs, size_tolerance_percent, ..usual };
        AlertSettings { alarms, delivery, channels, heartbeat: self.optional("heartbeat.url") }
    }

    fn mail(&mut self) -> Option<MailSettings> {
        let path = "mail.server";
        let text = self.optional(path)?;
        let Some(server) = service(&text, &[]) else {
            let message =
                format!("`{path}` must be a host, with or without a port, such as `mail.example.org:587`");
            self.fault(Rule::Format, path, self.node(path).place, message);
            return None;
        };
        let tls = match self.text("mail.tls").as_str() {
            "starttls" => MailTls::StartTls,
            "implicit" => MailTls::Implicit,
            "none" => MailTls::None,
            _ => MailTls::Auto,
        };
        let usual = if tls == MailTls::Implicit { 465 } else { 25 };
        Some(MailSettings {
            host: server.host.to_owned(),
            port: server.port.unwrap_or(usual),
            tls,
            verify: self.flag("mail.verify_certificate"),
            username: self.optional("mail.username").unwrap_or_default(),
            password: self.password("mail.password_file"),
            from: self.text("mail.from"),
            hello: self.optional("mail.hello").unwrap_or_else(|| "localhost".to_owned()),
            try_time: Duration::from_secs(self.number("mail.try_seconds").unsigned_abs()),
        })
    }

    fn sms(&mut self) -> Option<SmsSettings> {
        let url = self.optional("sms.url")?;
        Some(SmsSettings {
            url,
            body: self.text("sms.body"),
            json: self.text("sms.format") == "json",
            from: self.optional("sms.from").unwrap_or_default(),
            username: self.optional("sms.username").unwrap_or_default(),
            password: self.password("sms.password_file"),
        })
    }

    fn flag(&self, path: &str) -> bool {
        self.node(path).to_json() == serde_json::Value::Bool(true)
    }

    fn password(&mut self, path: &str) -> Secret {
        let node = self.node(path).clone();
        self.secret(path, &node)
    }

    /// What the file holds that `node` at `path` names; empty without one.
    pub(super) fn secret(&mut self, path: &str, node: &Node) -> Secret {
        let Some(file) = node.as_text() else { return Secret::default() };
        match crate::app::read_secret(Path::new(""), SecretAt::File(file)) {
            Ok(secret) => Secret(secret),
            Err(reason) => {
                self.fault(Rule::Conflict, path, node.place, format!("`{path}`: {reason}"));
                Secret::default()
            }
        }
    }
}
