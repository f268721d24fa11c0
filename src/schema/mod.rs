//! The field table and everything derived from it: documents, monitors, rules, and the formats of files and APIs.

pub mod blackout;
mod browser_choice;
pub mod dependency_circle;
pub mod duplicate_errors;
pub mod field;
pub mod file_dependencies;
pub mod host_file;
pub mod host_reference;
pub mod json_schema;
pub mod legacy;
mod monitor;
mod monitor_document;
mod monitor_document_fields;
pub mod monitor_file;
pub mod parent_keys;
pub mod reader;
mod rules;
mod run_plan;
mod secret_values;
mod secrets_to_mask;
pub mod table;
pub mod typed;
mod url_credentials;
mod used_browser;
pub mod validate;
pub mod validation_context;

pub use monitor::{Monitor, MonitorMetadata, Origin};
pub use monitor_document::MonitorDocument;
pub use rules::PUSH_METRIC;
pub use secret_values::SecretMode;
pub use typed::InvalidFieldValue;
pub use url_credentials::is_masked as is_masked_url;
