//! Parser of monitor types on the command line.

use crate::domain::MonitorType;
use crate::syntax::closest_match;

/// Returns the type with the version 3 name `name`; otherwise an error that suggests the closest name, or lists all.
pub(super) fn parse_monitor_type(name: &str) -> Result<MonitorType, String> {
    let all_names = || MonitorType::ALL.iter().map(|monitor_type| monitor_type.name());
    MonitorType::from_name(name).ok_or_else(|| {
        let hint = closest_match(name, all_names()).map_or_else(
            || format!("the types are `{}`", all_names().collect::<Vec<_>>().join("`, `")),
            |closest| format!("did you mean `{closest}`?"),
        );
        format!("unknown monitor type `{name}`\nhint: {hint}")
    })
}
