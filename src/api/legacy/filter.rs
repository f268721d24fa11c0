//! What `GET /devices` is asked for: `id`, `site_type`, `show_scripts` (interface.md 4.1).

use std::collections::BTreeSet;

use axum::http::Uri;

use super::answer::Fault;
use crate::api::path::number;
use crate::domain::MonitorId;
use crate::schema::{Monitor, legacy};
use crate::service::{Caller, MonitorContext};

/// Ids and words of one list at most; a URL holds no more that mean anything.
const MOST: usize = 10_000;

/// Which monitors, and whether with their scripts.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    ids: Option<BTreeSet<MonitorId>>,
    site_types: Option<Vec<String>>,
    pub(super) scripts: bool,
}

impl Filter {
    /// Reads the query; 65 for an id that is none, or a single one that is not in the account of `caller`.
    pub(super) fn read(uri: &Uri, caller: &Caller, monitors: &MonitorContext) -> Result<Self, Fault> {
        let list = |name| parameter(uri, name).filter(|text| !text.trim().is_empty());
        let parts = |text: &str| text.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>();
        let ids = list("id").map(|text| parts(&text));
        let ids = ids.map(|ids| read_ids(&ids, caller, monitors)).transpose()?;
        let site_types = list("site_type").map(|text| parts(&text));
        if site_types.as_ref().is_some_and(|types| types.len() > MOST) {
            return Err(Fault::invalid("site_type"));
        }
        let scripts = match list("show_scripts").as_deref().map(str::trim) {
            None | Some("0") => false,
            Some("1") => true,
            Some(_) => return Err(Fault::invalid("show_scripts")),
        };
        Ok(Self { ids, site_types, scripts })
    }

    /// Whether a monitor of the account is asked for.
    pub(super) fn fits(&self, monitor: &Monitor) -> bool {
        legacy::is_visible(monitor.monitor_type())
            && self.ids.as_ref().is_none_or(|ids| ids.contains(&monitor.id))
            && self.site_types.as_ref().is_none_or(|types| {
                types.iter().any(|site_type| legacy::matches_site_type(site_type, &monitor.document))
            })
    }
}

fn read_ids(
    ids: &[String],
    caller: &Caller,
    monitors: &MonitorContext,
) -> Result<BTreeSet<MonitorId>, Fault> {
    if ids.len() > MOST {
        return Err(Fault::device());
    }
    let read: Option<BTreeSet<_>> = ids.iter().map(|id| number(id).map(MonitorId)).collect();
    let read = read.ok_or_else(Fault::device)?;
    if ids.len() == 1 {
        for id in &read {
            one(*id, caller, monitors)?;
        }
    }
    Ok(read)
}

/// A monitor of the account of `caller` that the legacy API knows, or 65.
pub(super) fn one(id: MonitorId, caller: &Caller, monitors: &MonitorContext) -> Result<Monitor, Fault> {
    let known =
        monitors.find(caller.customer, id).filter(|monitor| legacy::is_visible(monitor.monitor_type()));
    known.ok_or_else(Fault::device)
}

/// The first value of the parameter `name`.
pub(super) fn parameter(uri: &Uri, name: &str) -> Option<String> {
    url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
        .find(|(other, _)| other == name)
        .map(|(_, value)| value.into_owned())
}
