//! Lists stored monitors and recipients that the egress policy denies: an upgrade or a changed setting may have closed
//! what they need, and their owners cannot see why before the next check.

use std::net::IpAddr;

use serde_json::Value;
use url::Url;

use crate::catalog::alerting_settings::recipient_from_record;
use crate::domain::{ConfigRecord, EgressPrincipal};
use crate::net::EgressPolicy;
use crate::schema::{Monitor, SecretMode};
use crate::settings::Settings;

/// Fields that hold a host.
const HOST_FIELDS: &[&str] =
    &["hostname", "smtp_hostname", "pop_hostname", "imap_hostname", "ipv4", "ip_address"];

/// Returns why the egress policy of the first location denies targets of `monitors` and addresses of `recipients`.
pub(super) fn egress_denial_reasons(
    settings: &Settings,
    monitors: &[Monitor],
    recipients: &[ConfigRecord],
) -> Vec<String> {
    let policy = &settings.net.egress_policy;
    let monitors = monitors.iter().filter_map(|monitor| monitor_denial_reason(policy, monitor));
    monitors.chain(recipients.iter().filter_map(|record| recipient_denial_reason(policy, record))).collect()
}

/// Returns why `monitor` cannot be checked under `policy`; `None` if it can, as far as its addresses are known without
/// a resolver.
fn monitor_denial_reason(policy: &EgressPolicy, monitor: &Monitor) -> Option<String> {
    let principal = monitor.egress_principal();
    if principal == EgressPrincipal::Operator {
        return None;
    }
    let fields = Value::Object(monitor.document.to_json(SecretMode::Masked));
    let steps = fields["api_steps"].as_array().map_or(&[][..], Vec::as_slice);
    let urls = steps.iter().chain([&fields]).filter_map(|object| host_of_url(object["url"].as_str()?));
    let hosts = HOST_FIELDS.iter().filter_map(|name| fields[*name].as_str().map(str::to_owned));
    let mut denials = urls.chain(hosts).filter_map(|host| host_denial_reason(policy, principal, &host));
    let denial = denials.next()?;
    Some(format!("monitor {} `{}` of account {}: {denial}", monitor.id, monitor.name(), monitor.customer))
}

/// Returns why the recipient in `record` cannot be reached under `policy`; `None` if it can, as far as its address is
/// known without a resolver.
fn recipient_denial_reason(policy: &EgressPolicy, record: &ConfigRecord) -> Option<String> {
    let recipient = recipient_from_record(record)?;
    let principal = EgressPrincipal::for_account(record.customer);
    let host = host_of_url(&recipient.address).unwrap_or_else(|| host_without_port(&recipient.address));
    let denial = host_denial_reason(policy, principal, &host)?;
    Some(format!("recipient {} `{}` of account {}: {denial}", record.id, recipient.name, record.customer))
}

fn host_of_url(text: &str) -> Option<String> {
    Url::parse(text).ok()?.host_str().map(str::to_owned)
}

/// Returns the host of `text`, such as `host:162`.
fn host_without_port(text: &str) -> String {
    let has_port = |port: &str| port.parse::<u16>().is_ok();
    let host = text.rsplit_once(':').filter(|(host, port)| has_port(port) && !host.ends_with(':'));
    host.map_or(text, |(host, _)| host).to_owned()
}

/// Returns why `host` is denied, if it is an address or a name of loopback.
fn host_denial_reason(policy: &EgressPolicy, principal: EgressPrincipal, host: &str) -> Option<String> {
    let bare_host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    let is_localhost =
        bare_host.eq_ignore_ascii_case("localhost") || bare_host.to_lowercase().ends_with(".localhost");
    let address =
        if is_localhost { Some(IpAddr::from([127, 0, 0, 1])) } else { bare_host.parse::<IpAddr>().ok() };
    policy.check(principal, address?).err().map(|denied| denied.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::domain::{CustomerId, MonitorId, MonitorType, Revision, Timestamp};
    use crate::schema::{MonitorDocument, Origin};

    fn monitor(account: i64, origin: Origin, kind: MonitorType, fields: Value) -> Monitor {
        let fields = fields.as_object().cloned().unwrap_or_default();
        Monitor {
            id: MonitorId(7),
            customer: CustomerId(account),
            origin,
            revision: Revision(1),
            modified_at: Timestamp::from_seconds(0),
            document: Arc::new(MonitorDocument::new(kind, fields).unwrap()),
            metadata: Arc::default(),
        }
    }

    #[test]
    fn only_addresses_of_the_host_of_other_accounts_are_listed() {
        let policy = EgressPolicy::default();
        let denied = |account, origin, kind, fields| {
            monitor_denial_reason(&policy, &monitor(account, origin, kind, fields))
        };
        let local = || json!({"name": "Shop", "url": "http://localhost:8080/"});
        let reason = denied(2, Origin::Api, MonitorType::Website, local()).unwrap();
        assert!(
            reason.starts_with("monitor 7 `Shop` of account 2: `127.0.0.1` is an address of the Vigie host")
        );
        assert!(reason.contains("egress.accounts"), "{reason}");
        for (kind, fields) in [
            (MonitorType::Tcp, json!({"hostname": "[::1]"})),
            (MonitorType::Ping, json!({"hostname": "app.localhost"})),
            (
                MonitorType::WebsiteApi,
                json!({"api_steps": [{"url": "http://a.example/"}, {"url": "http://127.1/"}]}),
            ),
        ] {
            assert!(denied(2, Origin::Api, kind, fields.clone()).is_some(), "{fields}");
        }
        assert_eq!(denied(1, Origin::Api, MonitorType::Website, local()), None);
        assert_eq!(denied(2, Origin::File { key: "a".into() }, MonitorType::Website, local()), None);
        let other = json!({"name": "Shop", "url": "http://shop.example/"});
        assert_eq!(denied(2, Origin::Api, MonitorType::Website, other), None);
    }
}
