//! Counts the monitors that use a record, for error messages.

use super::dependencies::ConfigRecordServiceDependencies;
use crate::domain::CustomerId;
use crate::schema::{Monitor, MonitorDocument};

/// Returns the start of an error message, such as `3 monitors use`; `None` if no monitor uses the record.
pub(super) fn monitor_usage_text(
    dependencies: &ConfigRecordServiceDependencies,
    customer: Option<CustomerId>,
    uses_record: impl Fn(&MonitorDocument) -> bool,
) -> Option<String> {
    let matches = |monitor: &Monitor| {
        customer.is_none_or(|customer| monitor.customer == customer) && uses_record(&monitor.document)
    };
    match dependencies.monitor_cache.count_and_nth_match(0, matches).0 {
        0 => None,
        1 => Some("1 monitor uses".to_owned()),
        count => Some(format!("{count} monitors use")),
    }
}
