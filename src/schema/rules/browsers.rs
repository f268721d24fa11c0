//! Warns of a script that no location of the monitor can play.

use crate::domain::MonitorType;
use crate::schema::monitor_document::MonitorDocument;
use crate::schema::validation_context::BrowserLookup;

/// Returns the warning about a script that no location of `document` can play.
pub(super) fn missing_browser_warning(
    document: &MonitorDocument,
    lookup: Option<&dyn BrowserLookup>,
) -> Option<String> {
    let lookup = lookup.filter(|_| document.monitor_type() == MonitorType::BrowserScript)?;
    let reason = lookup.missing_reason(document.used_browser(Some(lookup)))?;
    let problem = match document.text("browser") {
        Some(chosen) => format!("`browser`: no location of this monitor has {chosen}"),
        None => "no location of this monitor has a browser".to_owned(),
    };
    Some(format!("{problem}: {reason}; checks end as unknown, status 95"))
}
