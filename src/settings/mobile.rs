//! The devices that browser scripts emulate.

use std::collections::BTreeMap;

use super::settings_reader::SettingsReader;
use crate::browser::{DeviceProfile, Emulation};
use crate::catalog::MobileSettings;
use crate::forward_proxy::BlockedHosts;
use crate::syntax::node::Node;

/// Reads the entries of `mobile.profiles`, by `subtype`.
pub(super) fn read_devices(reader: &mut SettingsReader<'_>) -> BTreeMap<i64, DeviceProfile> {
    let entries = reader.entries_reporting_duplicates("mobile.profiles");
    let device =
        |(_, entry): &(usize, Node)| Some((entry.get("subtype")?.to_json().as_i64()?, read_device(entry)?));
    entries.iter().filter_map(device).collect()
}

/// Returns the emulation settings for accounts, with the region of mobile networks.
pub(super) fn read_mobile(
    reader: &SettingsReader<'_>,
    devices: &BTreeMap<i64, DeviceProfile>,
) -> MobileSettings {
    let profiles = devices.iter().map(|(subtype, device)| (*subtype, device.name.clone())).collect();
    let provider_host = reader.node("mobile.provider_host").as_text().map(str::to_owned);
    MobileSettings {
        region_id: reader.node("mobile.region").to_json().as_i64(),
        profile_names: profiles,
        provider_host,
    }
}

fn read_device(entry: &Node) -> Option<DeviceProfile> {
    let defaults = Emulation::default();
    let text = |node: &Node, name: &str| node.get(name).and_then(Node::as_text).map(str::to_owned);
    let pixels = |name: &str| entry.get(name).and_then(|node| u32::try_from(node.to_json().as_u64()?).ok());
    let flag = |name: &str| entry.get(name).is_some_and(|node| node.to_json() == true);
    let headers = entry.get("headers").map(Node::items).unwrap_or_default();
    let blocked_hosts = entry.get("blocked_hosts").map(Node::items).unwrap_or_default();
    let blocked_hosts: Vec<&str> = blocked_hosts.iter().filter_map(Node::as_text).collect();
    Some(DeviceProfile {
        name: text(entry, "name")?,
        emulation: Emulation {
            viewport: (
                pixels("width").unwrap_or(defaults.viewport.0),
                pixels("height").unwrap_or(defaults.viewport.1),
            ),
            device_pixel_ratio: entry
                .get("scale")
                .and_then(|node| node.to_json().as_f64())
                .unwrap_or(defaults.device_pixel_ratio),
            mobile_layout: flag("mobile"),
            touch_screen: flag("touch"),
            user_agent: text(entry, "user_agent"),
            extra_headers: headers
                .iter()
                .filter_map(|field| Some((text(field, "name")?, text(field, "value")?)))
                .collect(),
        },
        // Invalid patterns are already reported as errors.
        blocked_hosts: BlockedHosts::parse(&blocked_hosts).unwrap_or_default(),
    })
}
