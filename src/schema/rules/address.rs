//! Rules for names, addresses and certificates (fields.md 1 and 2).

use std::net::IpAddr;

use super::super::table::{ftp, mail};
use super::rule_context::RuleContext;
use crate::domain::MonitorType;
use crate::syntax::text_format::{ServiceAddress, parse_service_address};

pub(super) fn check(cx: &mut RuleContext<'_>) {
    check_address(cx);
    check_client_certificate(cx);
    check_referenced_ids(cx);
    check_device_profile(cx);
    check_name_to_resolve(cx);
}

/// Returns the address field of this type, if it has one.
pub(super) fn address_field(cx: &RuleContext<'_>) -> Option<&'static str> {
    ["ipv4", "ip_address"].into_iter().find(|field| cx.has_field(field))
}

/// Rejects `resolve_dns` false for a host name when no address is set.
fn check_address(cx: &mut RuleContext<'_>) {
    let Some(field) = address_field(cx) else { return };
    let document = cx.document();
    let valid = cx.are_valid(&[field, "resolve_dns", "hostname", "url"]);
    if !valid || document.flag("resolve_dns") || document.text(field).is_some() {
        return;
    }
    let Some(host) = checked_host(cx) else { return };
    if host.parse::<IpAddr>().is_err() {
        let message = format!("`{field}` is required when `resolve_dns` is false and the host is a name");
        cx.add_conflict(field, message);
    }
}

/// Returns the host that the monitor checks, without scheme, port and brackets.
fn checked_host(cx: &RuleContext<'_>) -> Option<String> {
    let document = cx.document();
    if let Some(url) = document.text("url") {
        let url = url::Url::parse(url).ok()?;
        return url.host_str().map(|host| host.trim_matches(['[', ']']).to_owned());
    }
    let schemes = match document.monitor_type() {
        MonitorType::EmailImap => mail::IMAP_SCHEMES,
        MonitorType::EmailPop => mail::POP_SCHEMES,
        MonitorType::EmailSmtp => mail::SMTP_SCHEMES,
        MonitorType::Ftp | MonitorType::FtpSsl => ftp::FTP_SCHEMES,
        _ => &[],
    };
    let ServiceAddress { host, .. } = parse_service_address(document.text("hostname")?, schemes)?;
    Some(host.to_owned())
}

fn check_client_certificate(cx: &mut RuleContext<'_>) {
    let document = cx.document();
    let enabled = cx.has_field("use_client_ssl_cert") && document.flag("use_client_ssl_cert");
    if enabled
        && document.int_or_zero("ssl_cert_id") == 0
        && cx.are_valid(&["use_client_ssl_cert", "ssl_cert_id"])
    {
        cx.add_conflict(
            "ssl_cert_id",
            "`ssl_cert_id` is required when `use_client_ssl_cert` is true".to_owned(),
        );
    }
}

fn check_referenced_ids(cx: &mut RuleContext<'_>) {
    let context = cx.context();
    let lists = [
        ("ssl_cert_id", context.client_certificate_ids, "client certificate"),
        ("ca_cert_id", context.certificate_authority_ids, "certificate authority"),
        ("proxy_id", context.proxy_ids, "proxy"),
    ];
    for (field, existing_ids, object_name) in lists {
        let id = cx.document().int_or_zero(field);
        if id != 0 && existing_ids.is_some_and(|existing_ids| !existing_ids.contains(&id)) {
            cx.add_conflict(field, format!("`{field}`: there is no {object_name} `{id}`"));
        }
    }
}

/// Requires that a `subtype` above 0 is a profile of the settings (fields.md 3).
fn check_device_profile(cx: &mut RuleContext<'_>) {
    let subtype = cx.document().int_or_zero("subtype");
    let profile_ids = cx.context().device_profile_ids;
    if subtype != 0
        && profile_ids.is_some_and(|profile_ids| !profile_ids.contains(&subtype))
        && cx.are_valid(&["subtype"])
    {
        cx.add_conflict_with_hint(
            "subtype",
            format!("`subtype`: the settings have no profile `{subtype}`"),
            "add it to `mobile.profiles`, or set 0".to_owned(),
        );
    }
}

/// Checks `name_to_resolve_id`, which is used when `name_to_resolve` is empty (fields.md 3).
fn check_name_to_resolve(cx: &mut RuleContext<'_>) {
    let document = cx.document();
    if document.monitor_type() != MonitorType::NameServer || document.text("name_to_resolve").is_some() {
        return;
    }
    let id = document.int_or_zero("name_to_resolve_id");
    let name_count = cx.context().dns_name_count.unwrap_or(usize::MAX).max(1);
    if cx.are_valid(&["name_to_resolve", "name_to_resolve_id"])
        && usize::try_from(id).is_ok_and(|id| id >= name_count)
    {
        cx.add_conflict_with_hint(
            "name_to_resolve_id",
            format!("`name_to_resolve_id`: the settings have no name `{id}`"),
            "add it to `dns.names`, or set `name_to_resolve`".to_owned(),
        );
    }
}
