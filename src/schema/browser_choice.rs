//! `browser` chooses the browser of a script. `browser_type`, which chose it before, is another name for it in files
//! and in the legacy API (fields.md 3).

use serde_json::{Map, Value};

use crate::domain::MonitorType;
use crate::syntax::node::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Moves the value of `browser_type` to `browser`, unless that has one.
pub(super) fn rename_browser_type(monitor_type: MonitorType, values: &mut Map<String, Value>) {
    if monitor_type == MonitorType::BrowserScript
        && let Some(value) = values.shift_remove("browser_type")
        && values.get("browser").is_none_or(Value::is_null)
    {
        values.insert("browser".to_owned(), value);
    }
}

/// Returns the error of fields that name two browsers.
pub(super) fn conflicting_browser_error(values: &Map<String, Value>, body: &Node) -> Option<ValidationError> {
    let chosen = |name: &str| values.get(name).and_then(Value::as_str);
    let (browser, browser_type) = (chosen("browser")?, chosen("browser_type")?);
    let message = format!("`browser_type` is `{browser_type}`, but `browser` is `{browser}`");
    let position = body.position_of("browser_type");
    (browser != browser_type).then(|| {
        ValidationError::new(ValidationErrorKind::Conflict, "browser_type", position, message)
            .with_hint("remove it: `browser` chooses the browser")
    })
}
