//! Settings that all checks share.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::mobile::read_devices;
use super::settings_reader::SettingsReader;
use crate::probe::{AllowedTargets, ProbeBuildContext, SecurityScanSettings};
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::Node;

pub(super) fn read_probe(reader: &mut SettingsReader<'_>) -> ProbeBuildContext {
    let mut dns_names = vec![reader.text("dns.default_name")];
    for (index, entry) in reader.entries_reporting_duplicates("dns.names") {
        let Some(id) = entry.get("id").and_then(|id| id.to_json().as_i64()) else { continue };
        let name = entry.get("name").and_then(Node::as_text).unwrap_or_default().to_owned();
        if let Ok(id @ 1..=1000) = usize::try_from(id) {
            dns_names.resize(dns_names.len().max(id + 1), String::new());
            dns_names[id] = name;
            continue;
        }
        let path = format!("dns.names[{index}].id");
        let message = format!("`{path}` must be a whole number from 1 to 1000, not `{id}`");
        reader.add_error(ValidationErrorKind::Range, &path, entry.position, message);
    }
    let defaults = ProbeBuildContext::default();
    ProbeBuildContext {
        dns_query_names: dns_names,
        certificate_warning_days: u32::try_from(reader.int("checks.certificate_days"))
            .unwrap_or(defaults.certificate_warning_days),
        max_body_bytes: reader.int("checks.body_bytes").unsigned_abs(),
        user_agent: reader.optional_text("checks.user_agent").map_or(defaults.user_agent, Into::into),
        device_profiles: Arc::new(read_devices(reader)),
        collections_enabled: reader.is_true("collections.enabled"),
        projects_enabled: reader.is_true("projects.enabled"),
        security_scan: read_security_scan(reader),
        ehlo_name: reader.optional_text("mail.hello").map(Into::into),
        ..defaults
    }
}

/// Reads the settings of security scans; each entry is already checked.
fn read_security_scan(reader: &SettingsReader<'_>) -> SecurityScanSettings {
    let defaults = SecurityScanSettings::default();
    let rate = u32::try_from(reader.int("security.connections_per_second")).ok().and_then(NonZeroU32::new);
    SecurityScanSettings {
        allowed_targets: AllowedTargets::parse(&reader.text_list("security.allowed_targets"))
            .or(defaults.allowed_targets),
        connections_per_second: rate.unwrap_or(defaults.connections_per_second),
    }
}
