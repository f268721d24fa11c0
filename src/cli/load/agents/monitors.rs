//! The monitors of agents, as the database stores them.

use serde_json::json;

use crate::cli::load::targets::LoadTargets;
use crate::cli::output::InvalidInput;
use crate::clock::{Clock, SystemClock};
use crate::domain::{CustomerId, LocationId, MonitorType};
use crate::schema::reader::InputFormat;
use crate::schema::validate::validate_new;
use crate::schema::validation_context::ValidationContext;
use crate::schema::{MonitorMetadata, Origin};
use crate::settings::Settings;
use crate::store::NewMonitor;
use crate::syntax::node::Node;

/// What the monitors of all agents have in common.
pub(super) struct MonitorTemplate<'a> {
    pub(super) targets: &'a LoadTargets,
    pub(super) monitor_type: MonitorType,
    pub(super) interval_seconds: u32,
    pub(super) settings: &'a Settings,
}

impl MonitorTemplate<'_> {
    /// Builds the monitors with these numbers for `location`.
    ///
    /// # Errors
    /// Fails for an interval that monitors cannot have.
    pub(super) fn build(
        &self,
        location: LocationId,
        numbers: std::ops::Range<usize>,
    ) -> anyhow::Result<Vec<NewMonitor>> {
        numbers.map(|number| self.build_one(location, number)).collect()
    }

    fn build_one(&self, location: LocationId, number: usize) -> anyhow::Result<NewMonitor> {
        let mut fields = self.targets.monitor_fields(self.monitor_type, number).unwrap_or_default();
        let seconds = self.interval_seconds;
        let (name, interval) = match seconds % 60 {
            0 => ("interval", seconds / 60),
            _ => ("interval_seconds", seconds),
        };
        fields.insert(name.to_owned(), json!(interval));
        fields.insert("locations".to_owned(), json!([{ "id": location }]));
        fields.insert("home_location".to_owned(), json!(location));
        let context = ValidationContext {
            dns_name_count: Some(self.settings.probe.dns_query_names.len()),
            ..ValidationContext::default()
        };
        let body = Node::from_yaml(&serde_json::Value::Object(fields).to_string())?;
        let validated = validate_new(self.monitor_type, InputFormat::V3, &body, &context);
        Ok(NewMonitor {
            customer: CustomerId::OPERATOR,
            origin: Origin::Api,
            modified_at: SystemClock.now(),
            metadata: MonitorMetadata::default(),
            document: validated.map_err(InvalidInput)?.document.into(),
            sealed_secrets: None,
        })
    }
}
