//! Counts the monitors that use a record, for error messages.

use super::dependencies::ResourceDependencies;
use crate::domain::CustomerId;
use crate::schema::{Monitor, MonitorDocument};

/// Returns the start of an error message, such as `3 monitors use`; `None` if no monitor uses the record.
pub(super) fn monitors_using(
    dependencies: &ResourceDependencies,
    customer: Option<CustomerId>,
    uses: impl Fn(&MonitorDocument) -> bool,
) -> Option<String> {
    let fits = |monitor: &Monitor| {
        customer.is_none_or(|customer| monitor.customer == customer) && uses(&monitor.document)
    };
    match dependencies.monitors.count_matching(0, fits).0 {
        0 => None,
        1 => Some("1 monitor uses".to_owned()),
        count => Some(format!("{count} monitors use")),
    }
}
