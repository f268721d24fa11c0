//! Settings for alerts: limits, the mail server, the SMS gateway, traps, the heartbeat.

use std::time::Duration;

use super::settings_reader::SettingsReader;
use crate::notify::{ChannelSettings, MailEncryption, MailSettings, SmsSettings, parse_object_identifier};
use crate::pipeline::{AlertEngineSettings, DeliverySettings};
use crate::syntax::ValidationErrorKind;
use crate::syntax::text_format::parse_service_address;

/// Settings for alerts.
#[derive(Clone, Debug)]
pub struct AlertSettings {
    /// Settings of the alert engine.
    pub engine: AlertEngineSettings,
    /// Limits and retries of deliveries.
    pub delivery: DeliverySettings,
    /// Settings of the channels.
    pub channels: ChannelSettings,
    /// URL that is called each minute while everything works.
    pub heartbeat_url: Option<String>,
}

/// Reads the sections `alerts`, `mail`, `sms` and `heartbeat`.
pub(super) fn read_alerts(reader: &mut SettingsReader<'_>) -> AlertSettings {
    let unsigned = |reader: &SettingsReader<'_>, path| reader.int(path).unsigned_abs();
    let delivery_defaults = DeliverySettings::default();
    let delivery = DeliverySettings {
        max_per_minute: u32::try_from(reader.int("alerts.per_minute"))
            .unwrap_or(delivery_defaults.max_per_minute),
        max_concurrent: reader.count("alerts.at_once"),
        max_retry_delay: Duration::from_secs(unsigned(reader, "alerts.longest_pause_seconds")),
        max_age: Duration::from_secs(3_600 * unsigned(reader, "alerts.give_up_hours")),
        ..delivery_defaults
    };
    let path = "alerts.trap_enterprise";
    let trap_enterprise = parse_object_identifier(&reader.text(path));
    if trap_enterprise.is_none() {
        let message = format!("`{path}` must be an object identifier, such as `1.3.6.1.4.1.8072`");
        reader.add_error(ValidationErrorKind::Format, path, reader.node(path).position, message);
    }
    let channels = ChannelSettings {
        attempt_timeout: Duration::from_secs(unsigned(reader, "alerts.try_seconds")),
        mail: read_mail(reader),
        sms: read_sms(reader),
        trap_enterprise: trap_enterprise.unwrap_or_default(),
    };
    let alert_defaults = AlertEngineSettings::default();
    let no_data_runs =
        u32::try_from(reader.int("alerts.no_data_runs")).unwrap_or(alert_defaults.no_data_threshold);
    let size_tolerance_percent = u32::try_from(reader.int("page.size_tolerance_percent"))
        .unwrap_or(alert_defaults.size_tolerance_percent);
    let engine_settings =
        AlertEngineSettings { no_data_threshold: no_data_runs, size_tolerance_percent, ..alert_defaults };
    AlertSettings {
        engine: engine_settings,
        delivery,
        channels,
        heartbeat_url: reader.optional_text("heartbeat.url"),
    }
}

fn read_mail(reader: &mut SettingsReader<'_>) -> Option<MailSettings> {
    let path = "mail.server";
    let text = reader.optional_text(path)?;
    let Some(server) = parse_service_address(&text, &[]) else {
        let message =
            format!("`{path}` must be a host, with or without a port, such as `mail.example.org:587`");
        reader.add_error(ValidationErrorKind::Format, path, reader.node(path).position, message);
        return None;
    };
    let tls = match reader.text("mail.tls").as_str() {
        "starttls" => MailEncryption::StartTls,
        "implicit" => MailEncryption::ImplicitTls,
        "none" => MailEncryption::Unencrypted,
        _ => MailEncryption::Auto,
    };
    let default_port = if tls == MailEncryption::ImplicitTls { 465 } else { 25 };
    Some(MailSettings {
        host: server.host.to_owned(),
        port: server.port.unwrap_or(default_port),
        encryption: tls,
        verify_certificate: reader.is_true("mail.verify_certificate"),
        username: reader.optional_text("mail.username").unwrap_or_default(),
        password: reader.read_password("mail.password_file"),
        sender: reader.text("mail.from"),
        ehlo_name: reader.optional_text("mail.hello").unwrap_or_else(|| "localhost".to_owned()),
        attempt_timeout: Duration::from_secs(reader.int("mail.try_seconds").unsigned_abs()),
    })
}

fn read_sms(reader: &mut SettingsReader<'_>) -> Option<SmsSettings> {
    let url = reader.optional_text("sms.url")?;
    Some(SmsSettings {
        gateway_url: url,
        body_template: reader.text("sms.body"),
        body_is_json: reader.text("sms.format") == "json",
        sender: reader.optional_text("sms.from").unwrap_or_default(),
        username: reader.optional_text("sms.username").unwrap_or_default(),
        password: reader.read_password("sms.password_file"),
    })
}
