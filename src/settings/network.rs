//! Network settings of the first location, and the trust settings of checks.

use std::collections::BTreeMap;

use serde_json::Value;

use super::certificates::read_certificates_by_id;
use super::egress::read_networks_by_account;
use super::hosted_location::{read_net_config, read_proxy};
use super::settings_reader::SettingsReader;
use crate::net::{NetConfig, Pem, PublicRoots, TrustConfig, UpstreamProxy};

pub(super) fn read_first_location_proxy(reader: &mut SettingsReader<'_>) -> Option<UpstreamProxy> {
    let with_value = |name: &&str| ((*name).to_owned(), reader.node(&format!("location.{name}")).clone());
    let values: BTreeMap<_, _> =
        ["proxy", "proxy_username", "proxy_password_file"].iter().map(with_value).collect();
    read_proxy(reader, "location", |name| values.get(name).cloned())
}

pub(super) fn read_first_location_net(reader: &mut SettingsReader<'_>) -> NetConfig {
    let config = read_net_config(|name| reader.node(&format!("location.{name}")));
    let egress = config.egress_policy.with_accounts(read_networks_by_account(reader));
    NetConfig { trust_config: read_trust(reader), egress_policy: egress, ..config }
}

fn read_trust(reader: &mut SettingsReader<'_>) -> TrustConfig {
    let trusts_system_roots = reader.node("tls.system_roots").to_json() == Value::Bool(true);
    let mut trust = TrustConfig {
        public_roots: if trusts_system_roots { PublicRoots::System } else { PublicRoots::None },
        ..TrustConfig::default()
    };
    for (index, item) in reader.node("tls.ca_files").clone().items().iter().enumerate() {
        let path = format!("tls.ca_files[{index}]");
        trust.additional_authorities.extend(reader.read_pem(&path, item, Pem::check_certificates));
    }
    read_certificates_by_id(reader, &mut trust);
    trust
}
