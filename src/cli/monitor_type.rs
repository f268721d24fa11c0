//! Monitor types as people type them.

use crate::domain::MonitorType;
use crate::syntax::closest_match;

/// The type with the version 3 name `word`; else words that name the nearest one, or all.
pub(super) fn parse_monitor_type(word: &str) -> Result<MonitorType, String> {
    let names = || MonitorType::ALL.iter().map(|kind| kind.name());
    MonitorType::from_name(word).ok_or_else(|| {
        let hint = closest_match(word, names()).map_or_else(
            || format!("the types are `{}`", names().collect::<Vec<_>>().join("`, `")),
            |near| format!("did you mean `{near}`?"),
        );
        format!("there is no monitor type `{word}`\nhint: {hint}")
    })
}
