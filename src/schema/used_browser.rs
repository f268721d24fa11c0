//! The browser that plays the script of a monitor.

use super::monitor_document::MonitorDocument;
use super::validation_context::BrowserLookup;

/// The browser that a monitor uses which names none, where the location has it.
const PREFERRED_BROWSER: &str = "Firefox";
/// The browsers that may take its place, in this order.
const OTHER_BROWSERS: [&str; 2] = ["Google Chrome", "Internet Explorer"];

impl MonitorDocument {
    /// Returns the browser that is used: the chosen one, else Firefox, or what `lookup` has in its place.
    #[must_use]
    pub fn used_browser(&self, lookup: Option<&dyn BrowserLookup>) -> &str {
        if let Some(chosen) = self.text("browser") {
            return chosen;
        }
        let is_available = |name: &str| lookup.is_none_or(|lookup| lookup.missing_reason(name).is_none());
        let other = || OTHER_BROWSERS.into_iter().find(|name| is_available(name));
        if is_available(PREFERRED_BROWSER) { PREFERRED_BROWSER } else { other().unwrap_or(PREFERRED_BROWSER) }
    }
}
