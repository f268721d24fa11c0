//! Lists stored monitors that name a proxy or a certificate of the settings that their account may not use, or that
//! does not exist: an upgrade or a changed setting may have taken it away, and their owners cannot see why before the
//! next check.

use crate::domain::{ConfigRecord, CustomerId, EgressPrincipal};
use crate::schema::{Monitor, Origin, SecretMode};
use crate::settings::Settings;

/// Returns why `monitors` cannot use what they name. `certificates` are those of accounts, of the API.
pub(super) fn settings_object_problems(
    settings: &Settings,
    monitors: &[Monitor],
    certificates: &[ConfigRecord],
) -> Vec<String> {
    let is_certificate_of_account = |customer: CustomerId, id: i64| {
        certificates.iter().any(|record| record.customer == customer && record.id == id)
    };
    monitors
        .iter()
        .filter_map(|monitor| settings_object_problem(settings, monitor, &is_certificate_of_account))
        .collect()
}

/// Returns why `monitor` cannot use what it names; `None` if it can. Loading monitor files checks those of files.
fn settings_object_problem(
    settings: &Settings,
    monitor: &Monitor,
    is_certificate_of_account: &impl Fn(CustomerId, i64) -> bool,
) -> Option<String> {
    if matches!(monitor.origin, Origin::File { .. }) {
        return None;
    }
    let fields = monitor.document.to_json(SecretMode::Masked);
    let problems = ["proxy_id", "ssl_cert_id", "ca_cert_id"].into_iter().filter_map(|field| {
        let id = fields.get(field)?.as_i64()?;
        if field == "proxy_id" {
            return problem_with_proxy(settings, id, monitor.egress_principal());
        }
        let is_usable = is_certificate_of_account(monitor.customer, id);
        (!is_usable)
            .then(|| problem_with_certificate(settings, field, id, monitor.egress_principal()))
            .flatten()
    });
    let problems = problems.collect::<Vec<_>>().join("; ");
    (!problems.is_empty()).then(|| {
        format!("monitor {} `{}` of account {}: {problems}", monitor.id, monitor.name(), monitor.customer)
    })
}

fn problem_with_proxy(settings: &Settings, id: i64, principal: EgressPrincipal) -> Option<String> {
    match settings.proxies.get(&id) {
        None => Some(format!("`proxy_id`: there is no proxy `{id}`; add it to the setting `proxies`")),
        Some(proxy) if proxy.allowed_accounts().allows_principal(principal) => None,
        Some(_) => Some(format!(
            "`proxy_id`: proxy `{id}` is not for this account; add the account to its `accounts` in the setting `proxies`"
        )),
    }
}

fn problem_with_certificate(
    settings: &Settings,
    field: &str,
    id: i64,
    principal: EgressPrincipal,
) -> Option<String> {
    let trust = &settings.net.trust_config;
    let (exists, purpose) = if field == "ca_cert_id" {
        (trust.named_authorities.contains_key(&id), "authority")
    } else {
        (trust.client_certificates.contains_key(&id), "client certificate")
    };
    if !exists {
        return Some(format!(
            "`{field}`: there is no {purpose} `{id}`; upload it, or add it to the setting `certificates`"
        ));
    }
    let accounts = trust.certificate_accounts.get(&id);
    let is_allowed = accounts.is_some_and(|accounts| accounts.allows_principal(principal));
    (!is_allowed).then(|| {
        format!(
            "`{field}`: certificate `{id}` is not for this account; add the account to its `accounts` in the setting `certificates`"
        )
    })
}
