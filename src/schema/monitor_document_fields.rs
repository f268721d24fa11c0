//! What a document says in single fields that are used one by one: texts, ids and lists of ids.

use serde_json::Value;

use super::monitor_document::MonitorDocument;
use super::typed::schedule::PropertyReference;
use crate::domain::{LocationId, MonitorType};
use crate::script::ScriptSummary;

impl MonitorDocument {
    /// The name; empty without one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name").unwrap_or_default()
    }

    /// The billing plan that its checks are counted under; empty without one.
    #[must_use]
    pub fn billing_plancode(&self) -> &str {
        self.text("billing_plancode").unwrap_or_default()
    }

    /// The text that goes into every alert; empty without one.
    #[must_use]
    pub fn alert_note(&self) -> &str {
        self.text("alert_note").unwrap_or_default()
    }

    /// The text for people who look at the monitor; empty without one.
    #[must_use]
    pub fn note(&self) -> &str {
        self.text("note").unwrap_or_default()
    }

    /// The URL that is checked, of types that have one.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.text("url")
    }

    /// The host that is checked, of types that have one.
    #[must_use]
    pub fn hostname(&self) -> Option<&str> {
        self.text("hostname")
    }

    /// The port that is checked, where one is set.
    #[must_use]
    pub fn port(&self) -> Option<i64> {
        self.int("port")
    }

    /// The script, of types that have one.
    #[must_use]
    pub fn script(&self) -> Option<&str> {
        self.text("script")
    }

    /// Bytes of its texts that may be long: script, environment and data.
    #[must_use]
    pub fn large_text_bytes(&self) -> usize {
        ["script", "environment", "data"].iter().filter_map(|field| self.text(field)).map(str::len).sum()
    }

    /// Whether it has API steps of its own.
    #[must_use]
    pub fn has_api_steps(&self) -> bool {
        !self.list("api_steps").is_empty()
    }

    /// The emulation profile of a browser script; 0 is none.
    #[must_use]
    pub fn subtype(&self) -> i64 {
        self.int("subtype").unwrap_or_default()
    }

    /// The application that the profile of a browser script stands for.
    #[must_use]
    pub fn subtype_application(&self) -> Option<&str> {
        self.text("subtype_application")
    }

    /// The name of the profile of a browser script.
    #[must_use]
    pub fn subtype_name(&self) -> Option<&str> {
        self.text("subtype_name")
    }

    /// The client certificate that it names.
    #[must_use]
    pub fn client_certificate_id(&self) -> Option<i64> {
        self.int("ssl_cert_id")
    }

    /// The private authority that it names.
    #[must_use]
    pub fn certificate_authority_id(&self) -> Option<i64> {
        self.int("ca_cert_id")
    }

    /// Its own pool of locations; empty is that of the account.
    #[must_use]
    pub fn location_ids(&self) -> Vec<LocationId> {
        self.list("locations").iter().filter_map(entry_id).map(LocationId).collect()
    }

    /// The values that it has of custom properties.
    pub fn custom_properties(&self) -> impl Iterator<Item = PropertyReference> + '_ {
        self.list("custom_properties").iter().filter_map(|entry| {
            Some(PropertyReference { id: entry_id(entry)?, value_id: entry.get("value_id")?.as_i64()? })
        })
    }

    /// The ids of its content views.
    #[must_use]
    pub fn content_view_ids(&self) -> Vec<i64> {
        self.list("content_views").iter().filter_map(entry_id).collect()
    }

    /// What the APIs show of its script, or of the one step that opens its `url`. `None` for types without scripts of a
    /// browser, and for scripts that cannot be read.
    #[must_use]
    pub fn script_summary(&self) -> Option<ScriptSummary> {
        if self.monitor_type() != MonitorType::BrowserScript {
            return None;
        }
        match self.script() {
            Some(text) => ScriptSummary::parse(text).ok(),
            None => Some(ScriptSummary { steps: 1, events: 1, protected_variables: Vec::new() }),
        }
    }

    fn int(&self, field: &str) -> Option<i64> {
        self.value(field).and_then(Value::as_i64)
    }
}

fn entry_id(entry: &Value) -> Option<i64> {
    entry.get("id")?.as_i64()
}
