//! Fields of the entries of settings that are lists of maps, and the types that several settings share.

use super::setting_type::{EntryField, SettingType};
use crate::syntax::text_format::TextFormat;

pub(super) const fn int_range(min: i64, max: i64) -> SettingType {
    SettingType::Int { min, max }
}

const fn entry_field(name: &'static str, kind: SettingType, required: bool) -> EntryField {
    EntryField { name, setting_type: kind, required }
}

pub(super) const ID: SettingType = int_range(1, i64::MAX);
pub(super) const DAYS: SettingType = int_range(1, 36_500);

pub(super) static CERTIFICATE_FIELDS: &[EntryField] = &[
    entry_field("id", ID, true),
    entry_field("name", SettingType::Text, true),
    entry_field("ca_file", SettingType::Text, false),
    entry_field("cert_file", SettingType::Text, false),
    entry_field("key_file", SettingType::Text, false),
    entry_field("pkcs12_file", SettingType::Text, false),
    entry_field("password_file", SettingType::Text, false),
    entry_field("accounts", SettingType::List(&ID), false),
];
pub(super) static REQUEST_HEADER_FIELDS: &[EntryField] = &[
    entry_field("name", SettingType::FormattedText(TextFormat::HeaderName), true),
    entry_field("value", SettingType::FormattedText(TextFormat::HeaderValue), false),
    entry_field("value_file", SettingType::Text, false),
];
pub(super) static RESOURCE_ATTRIBUTE_FIELDS: &[EntryField] = &[
    entry_field("name", SettingType::FormattedText(TextFormat::Name), true),
    entry_field("value", SettingType::FormattedText(TextFormat::Name), true),
];
pub(super) static LOCATION_FIELDS: &[EntryField] = &[
    entry_field("id", ID, true),
    entry_field("name", SettingType::Text, true),
    entry_field("region", int_range(0, i64::MAX), false),
    entry_field("source_ipv4", SettingType::Ipv4, false),
    entry_field("source_ipv6", SettingType::Ipv6, false),
    entry_field("interface", SettingType::Text, false),
    entry_field("name_servers", SettingType::List(&SettingType::NameServerAddress), false),
    entry_field("control_name", SettingType::Text, false),
    entry_field("egress_allow", SettingType::List(&SettingType::IpNetwork), false),
    entry_field("egress_deny", SettingType::List(&SettingType::IpNetwork), false),
    entry_field("proxy", SettingType::Endpoint, false),
    entry_field("proxy_username", SettingType::Text, false),
    entry_field("proxy_password_file", SettingType::Text, false),
    entry_field("verifies", SettingType::Bool, false),
    entry_field("connectivity_targets", SettingType::List(&SettingType::Endpoint), false),
    entry_field("total", int_range(1, 1_000_000), false),
    entry_field("light", int_range(1, 1_000_000), false),
    entry_field("heavy", int_range(1, 1_000), false),
    entry_field("per_target", int_range(1, 1_000_000), false),
    entry_field("queue", int_range(1, 10_000_000), false),
];
pub(super) static PROXY_FIELDS: &[EntryField] = &[
    entry_field("id", ID, true),
    entry_field("kind", SettingType::Choice(&crate::net::ProxyProtocol::NAMES), true),
    entry_field("server", SettingType::Endpoint, true),
    entry_field("username", SettingType::Text, false),
    entry_field("password_file", SettingType::Text, false),
    entry_field("accounts", SettingType::List(&ID), false),
];
pub(super) static REMOTE_WEBDRIVER_FIELDS: &[EntryField] = &[
    entry_field("browser", SettingType::Choice(&crate::browser::BrowserKind::NAMES), true),
    entry_field("url", SettingType::Text, true),
    entry_field("forward_host", SettingType::Text, false),
    entry_field("from", SettingType::List(&SettingType::IpNetwork), false),
    entry_field("forward_ports", SettingType::Text, false),
];
pub(super) static DEVICE_PROFILE_FIELDS: &[EntryField] = &[
    entry_field("subtype", int_range(1, 3), true),
    entry_field("name", SettingType::Text, true),
    entry_field("width", int_range(100, 7680), false),
    entry_field("height", int_range(100, 7680), false),
    entry_field("scale", SettingType::Float { min: 0.5, max: 5.0 }, false),
    entry_field("mobile", SettingType::Bool, false),
    entry_field("touch", SettingType::Bool, false),
    entry_field("user_agent", SettingType::FormattedText(TextFormat::HeaderValue), false),
    entry_field("headers", SettingType::MapList(HEADER_FIELDS), false),
    entry_field("blocked_hosts", SettingType::List(&SettingType::HostPattern), false),
];
static HEADER_FIELDS: &[EntryField] = &[
    entry_field("name", SettingType::FormattedText(TextFormat::HeaderName), true),
    entry_field("value", SettingType::FormattedText(TextFormat::HeaderValue), true),
];
/// Common devices, with the user agents of their browsers.
pub(super) const DEFAULT_DEVICES: &str = "\
[
    {subtype: 1, name: small phone, width: 360, height: 740, scale: 3, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36'},
    {subtype: 2, name: large phone, width: 430, height: 840, scale: 3, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1'},
    {subtype: 3, name: tablet, width: 820, height: 1106, scale: 2, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'},
  ]";
pub(super) static EGRESS_ACCOUNT_FIELDS: &[EntryField] = &[
    entry_field("account", ID, true),
    entry_field("allow", SettingType::List(&SettingType::IpNetwork), true),
];
pub(super) static DNS_NAME_FIELDS: &[EntryField] =
    &[entry_field("id", ID, true), entry_field("name", SettingType::Text, true)];
pub(super) static BILLING_PLAN_FIELDS: &[EntryField] = &[
    entry_field("code", SettingType::Text, true),
    entry_field("types", SettingType::List(&SettingType::Text), false),
    entry_field("least_interval", int_range(1, 120), false),
    entry_field("monitors", int_range(0, i64::MAX), false),
    entry_field("locations", int_range(1, i64::MAX), false),
];
