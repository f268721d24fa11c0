//! Accessors for single fields of a document: texts, ids and lists of ids.

use serde_json::Value;

use super::monitor_document::MonitorDocument;
use super::typed::schedule::PropertyReference;
use crate::domain::{LocationId, MonitorId, MonitorType};
use crate::script::ScriptOverview;

impl MonitorDocument {
    /// Returns the name; empty without one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name").unwrap_or_default()
    }

    /// Returns the billing plan that its checks count towards; empty without one.
    #[must_use]
    pub fn billing_plancode(&self) -> &str {
        self.text("billing_plancode").unwrap_or_default()
    }

    /// Returns the text that every alert contains; empty without one.
    #[must_use]
    pub fn alert_note(&self) -> &str {
        self.text("alert_note").unwrap_or_default()
    }

    /// Returns the note for people who view the monitor; empty without one.
    #[must_use]
    pub fn note(&self) -> &str {
        self.text("note").unwrap_or_default()
    }

    /// Returns the URL that is checked, for types that have one.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.text("url")
    }

    /// Returns the host that is checked, for types that have one.
    #[must_use]
    pub fn hostname(&self) -> Option<&str> {
        self.text("hostname")
    }

    /// Returns the id or name of the host that reports, for types that have one.
    #[must_use]
    pub fn host_reference(&self) -> Option<&str> {
        self.text("host_id")
    }

    /// Whether a job pushes what the monitor shows.
    #[must_use]
    pub fn is_pushed(&self) -> bool {
        self.monitor_type() == MonitorType::HostAgent && self.text("report") == Some("push")
    }

    /// Returns the port that is checked, if one is set.
    #[must_use]
    pub fn port(&self) -> Option<i64> {
        self.int("port")
    }

    /// Returns the script, for types that have one.
    #[must_use]
    pub fn script(&self) -> Option<&str> {
        self.text("script")
    }

    /// Returns the total length in bytes of the texts that may be long: script, environment and data.
    #[must_use]
    pub fn large_text_bytes(&self) -> usize {
        ["script", "environment", "data"].iter().filter_map(|field| self.text(field)).map(str::len).sum()
    }

    /// Whether it has API steps of its own.
    #[must_use]
    pub fn has_api_steps(&self) -> bool {
        !self.list("api_steps").is_empty()
    }

    /// Returns the emulation profile of a browser script; 0 for none.
    #[must_use]
    pub fn subtype(&self) -> i64 {
        self.int("subtype").unwrap_or_default()
    }

    /// Returns the application that the profile of a browser script stands for.
    #[must_use]
    pub fn subtype_application(&self) -> Option<&str> {
        self.text("subtype_application")
    }

    /// Returns the name of the profile of a browser script.
    #[must_use]
    pub fn subtype_name(&self) -> Option<&str> {
        self.text("subtype_name")
    }

    /// Returns the id of the client certificate.
    #[must_use]
    pub fn client_certificate_id(&self) -> Option<i64> {
        self.int("ssl_cert_id")
    }

    /// Returns the id of the private certificate authority.
    #[must_use]
    pub fn certificate_authority_id(&self) -> Option<i64> {
        self.int("ca_cert_id")
    }

    /// Returns the monitor's own pool of locations; empty for the pool of the account.
    #[must_use]
    pub fn location_ids(&self) -> Vec<LocationId> {
        self.list("locations").iter().filter_map(entry_id).map(LocationId).collect()
    }

    /// Returns the monitors that it depends on.
    #[must_use]
    pub fn parent_ids(&self) -> Vec<MonitorId> {
        self.list("depends_on").iter().filter_map(Value::as_i64).map(MonitorId).collect()
    }

    /// Returns the values of custom properties.
    pub fn custom_properties(&self) -> impl Iterator<Item = PropertyReference> + '_ {
        self.list("custom_properties").iter().filter_map(|entry| {
            Some(PropertyReference { id: entry_id(entry)?, value_id: entry.get("value_id")?.as_i64()? })
        })
    }

    /// Returns the ids of its content views.
    #[must_use]
    pub fn content_view_ids(&self) -> Vec<i64> {
        self.list("content_views").iter().filter_map(entry_id).collect()
    }

    /// Returns the summary of its script in the APIs, or that of the single step that opens its `url`. `None` for types
    /// without browser scripts, and for scripts that cannot be parsed.
    #[must_use]
    pub fn script_summary(&self) -> Option<ScriptOverview> {
        if self.monitor_type() != MonitorType::BrowserScript {
            return None;
        }
        match self.script() {
            Some(text) => ScriptOverview::parse(text).ok(),
            None => Some(ScriptOverview { step_count: 1, action_count: 1, protected_variables: Vec::new() }),
        }
    }

    fn int(&self, field: &str) -> Option<i64> {
        self.value(field).and_then(Value::as_i64)
    }
}

fn entry_id(entry: &Value) -> Option<i64> {
    entry.get("id")?.as_i64()
}
