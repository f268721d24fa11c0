//! The parts of the settings and of this build that monitors are validated against.

use std::sync::Arc;

use super::cached_browser_lookup::CachedBrowserLookup;
use crate::catalog::{CertificateSummary, InstanceData};
use crate::domain::MonitorType;
use crate::net::TlsVersions;
use crate::probe;
use crate::schema::validation_context::{
    BillingPlan, BrowserLookup, SecurityTargetLookup, ValidationContext,
};
use crate::settings::Settings;

/// Owns the data that [`ValidationContext`] borrows.
#[derive(Clone, Debug)]
pub struct KnownReferences {
    location_ids: Vec<i64>,
    client_certificate_ids: Vec<i64>,
    certificate_authority_ids: Vec<i64>,
    proxy_ids: Vec<i64>,
    device_profile_ids: Vec<i64>,
    dns_name_count: usize,
    requires_provider_host: bool,
    billing_plans: Option<Vec<BillingPlan>>,
    supported_types: Vec<MonitorType>,
    supported_tls_versions: Vec<&'static str>,
    browsers: Arc<dyn BrowserLookup>,
    security_targets: Option<Arc<dyn SecurityTargetLookup>>,
}

impl KnownReferences {
    /// Collects the references of `settings` and this build.
    #[must_use]
    pub fn from_settings(settings: &Settings) -> Self {
        let trust = &settings.net.trust_config;
        let is_supported = |version: &&str| TlsVersions::from_field(version).is_supported();
        let versions = crate::schema::table::shared::SSL_VERSIONS;
        Self {
            location_ids: settings.location_ids(),
            client_certificate_ids: trust.client_certificates.keys().copied().collect(),
            certificate_authority_ids: trust.named_authorities.keys().copied().collect(),
            proxy_ids: settings.proxies.keys().copied().collect(),
            device_profile_ids: settings.mobile_emulation.profile_names.keys().copied().collect(),
            dns_name_count: settings.probe.dns_query_names.len(),
            requires_provider_host: settings.mobile_emulation.provider_host.is_none(),
            billing_plans: (!settings.billing_plans.is_empty()).then(|| settings.billing_plans.clone()),
            supported_types: MonitorType::ALL
                .iter()
                .copied()
                .filter(|monitor_type| probe::find_descriptor(*monitor_type).is_some())
                .collect(),
            supported_tls_versions: versions.iter().copied().filter(is_supported).collect(),
            browsers: Arc::new(CachedBrowserLookup::new(Arc::clone(&settings.probe.browser_pool))),
            security_targets: settings
                .probe
                .security_scan
                .allowed_targets
                .clone()
                .map(|targets| Arc::new(targets) as Arc<dyn SecurityTargetLookup>),
        }
    }

    /// Returns the context for the schema rules.
    #[must_use]
    pub fn validation_context(&self) -> ValidationContext<'_> {
        ValidationContext {
            location_ids: Some(&self.location_ids),
            stored_locations_are_unknown: true,
            // Files name their locations; the default locations of the first account are unknown here.
            default_location_ids: self.location_ids.get(..1).unwrap_or_default(),
            client_certificate_ids: Some(&self.client_certificate_ids),
            certificate_authority_ids: Some(&self.certificate_authority_ids),
            properties: None,
            // They are records of accounts.
            hosts: None,
            proxy_ids: Some(&self.proxy_ids),
            device_profile_ids: Some(&self.device_profile_ids),
            dns_name_count: Some(self.dns_name_count),
            billing_plans: self.billing_plans.as_deref(),
            supported_types: Some(&self.supported_types),
            supported_tls_versions: Some(&self.supported_tls_versions),
            browsers: Some(&*self.browsers),
            security_targets: self.security_targets.as_deref(),
            // Monitors in files name each other by their keys.
            monitors: None,
            monitor_id: None,
            requires_provider_host: self.requires_provider_host,
            author_is_not_admin: false,
        }
    }
}

/// Returns the data that `settings` and this build share with every account.
pub(super) fn instance_data(settings: &Settings) -> InstanceData {
    let references = KnownReferences::from_settings(settings);
    let summary_by_id = |id: &i64, is_client: bool| {
        let name_and_format = settings.client_certificate_names.get(id).cloned();
        let (name, format) = name_and_format.unwrap_or_else(|| (String::new(), "PEM"));
        (*id, CertificateSummary { name, format: format.to_owned(), is_client })
    };
    let clients = references.client_certificate_ids.iter().map(|id| summary_by_id(id, true));
    InstanceData {
        locations: settings.hosted_locations().into_iter().map(|hosted| hosted.location).collect(),
        certificates: references
            .certificate_authority_ids
            .iter()
            .map(|id| summary_by_id(id, false))
            .chain(clients)
            .collect(),
        certificate_accounts: settings.net.trust_config.certificate_accounts.clone(),
        proxies: settings.proxies.iter().map(|(id, proxy)| (*id, proxy.allowed_accounts().clone())).collect(),
        dns_name_count: references.dns_name_count,
        billing_plans: references.billing_plans,
        supported_types: references.supported_types,
        supported_tls_versions: references.supported_tls_versions,
        browsers: Some(references.browsers),
        security_targets: references.security_targets,
        default_certificate_warning_days: settings.probe.certificate_warning_days,
        mobile_emulation: settings.mobile_emulation.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SettingSources;

    #[test]
    fn a_reload_of_the_mobile_settings_applies_to_every_account() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vigie.yaml");
        let load = |text: &str| {
            std::fs::write(&file, text).unwrap();
            Settings::load(&SettingSources { file: Some(file.clone()), ..SettingSources::default() }).unwrap()
        };
        let old = load("");
        let default_mobile_settings = instance_data(&old).mobile_emulation;
        let names: Vec<&str> = default_mobile_settings.profile_names.values().map(String::as_str).collect();
        assert_eq!(
            (default_mobile_settings.region_id, names),
            (None, vec!["small phone", "large phone", "tablet"])
        );
        let mut new = load(
            "mobile: {region: 40, provider_host: devices.test, profiles: [{subtype: 2, name: tablet}]}\n",
        );
        new.keep_restart_only_settings(&old);
        let mobile = instance_data(&new).mobile_emulation;
        assert_eq!((mobile.region_id, mobile.profile_names), (Some(40), [(2, "tablet".to_owned())].into()));
        assert_eq!(mobile.provider_host.as_deref(), Some("devices.test"));
    }

    #[test]
    fn saving_a_script_warns_of_a_browser_that_the_settings_do_not_find() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vigie.yaml");
        std::fs::write(&file, "browser: {chromium: /nowhere/chromium, firefox: /nowhere/firefox}\n").unwrap();
        let settings =
            Settings::load(&SettingSources { file: Some(file), ..SettingSources::default() }).unwrap();
        let references = KnownReferences::from_settings(&settings);
        let warning = |fields: &str| {
            let text = format!("{{name: n, billing_plancode: p, url: 'http://a.test/'{fields}}}");
            let body = crate::syntax::node::Node::from_yaml(&text).unwrap();
            let saved = crate::schema::validate::validate_new(
                MonitorType::BrowserScript,
                crate::schema::reader::InputFormat::V3,
                &body,
                &references.validation_context(),
            );
            saved.unwrap().warnings.join("; ")
        };
        assert_eq!(
            warning(", browser: Google Chrome"),
            "`browser`: no location of this monitor has Google Chrome: `browser.chromium`: `/nowhere/chromium` is not \
             an executable file; checks end as unknown, status 95"
        );
        assert!(warning("").starts_with("no location of this monitor has a browser: `browser.firefox`"));
    }
}
