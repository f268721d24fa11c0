//! Query parameters of `GET /devices`: `id`, `site_type`, `show_scripts` (interface.md 4.1).

use std::collections::BTreeSet;

use axum::http::Uri;

use super::response::LegacyError;
use crate::api::path::parse_id;
use crate::domain::MonitorId;
use crate::schema::{Monitor, legacy};
use crate::service::{Caller, MonitorService};

/// Most ids or names in one list. A URL cannot hold more meaningful ones.
const MAX_LIST_ENTRIES: usize = 10_000;

/// Filter of monitors, and whether to include their scripts.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceFilter {
    ids: Option<BTreeSet<MonitorId>>,
    site_types: Option<Vec<String>>,
    pub(super) include_scripts: bool,
}

impl DeviceFilter {
    /// Reads the query. Fails with 65 for an invalid id, or for a single id that is not in the account of `caller`.
    pub(super) fn from_query(
        uri: &Uri,
        caller: &Caller,
        monitors: &MonitorService,
    ) -> Result<Self, LegacyError> {
        let non_blank_parameter = |name| query_parameter(uri, name).filter(|text| !text.trim().is_empty());
        let split_list = |text: &str| text.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>();
        let ids = non_blank_parameter("id").map(|text| split_list(&text));
        let ids = ids.map(|ids| parse_ids(&ids, caller, monitors)).transpose()?;
        let site_types = non_blank_parameter("site_type").map(|text| split_list(&text));
        if site_types.as_ref().is_some_and(|types| types.len() > MAX_LIST_ENTRIES) {
            return Err(LegacyError::invalid_field("site_type"));
        }
        let include_scripts = match non_blank_parameter("show_scripts").as_deref().map(str::trim) {
            None | Some("0") => false,
            Some("1") => true,
            Some(_) => return Err(LegacyError::invalid_field("show_scripts")),
        };
        Ok(Self { ids, site_types, include_scripts })
    }

    /// Whether a monitor of the account matches.
    pub(super) fn matches(&self, monitor: &Monitor) -> bool {
        legacy::is_visible(monitor.monitor_type())
            && self.ids.as_ref().is_none_or(|ids| ids.contains(&monitor.id))
            && self.site_types.as_ref().is_none_or(|types| {
                types.iter().any(|site_type| legacy::matches_site_type(site_type, &monitor.document))
            })
    }
}

fn parse_ids(
    ids: &[String],
    caller: &Caller,
    monitors: &MonitorService,
) -> Result<BTreeSet<MonitorId>, LegacyError> {
    if ids.len() > MAX_LIST_ENTRIES {
        return Err(LegacyError::invalid_device());
    }
    let unique_ids: Option<BTreeSet<_>> = ids.iter().map(|id| parse_id(id).map(MonitorId)).collect();
    let unique_ids = unique_ids.ok_or_else(LegacyError::invalid_device)?;
    if ids.len() == 1 {
        for id in &unique_ids {
            find_device(*id, caller, monitors)?;
        }
    }
    Ok(unique_ids)
}

/// Returns a monitor of the account of `caller` whose type the legacy API supports; fails with 65 otherwise.
pub(super) fn find_device(
    id: MonitorId,
    caller: &Caller,
    monitors: &MonitorService,
) -> Result<Monitor, LegacyError> {
    let device =
        monitors.find(caller.customer, id).filter(|monitor| legacy::is_visible(monitor.monitor_type()));
    device.ok_or_else(LegacyError::invalid_device)
}

/// Returns the first value of the parameter `name`.
pub(super) fn query_parameter(uri: &Uri, name: &str) -> Option<String> {
    url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
        .find(|(other, _)| other == name)
        .map(|(_, value)| value.into_owned())
}
