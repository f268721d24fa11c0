//! The field table and what derives from it: documents, monitors, rules, and the forms of files and APIs.

pub mod accept;
pub mod blackout;
mod document;
mod document_fields;
mod document_secrets;
pub mod field;
pub mod forms;
pub mod intake;
pub mod legacy;
mod monitor;
pub mod monitor_file;
mod rules;
mod run_plan;
pub mod table;
pub mod typed;
mod url_login;
pub mod validation_context;

pub use document::MonitorDocument;
pub use document_secrets::SecretMode;
pub use monitor::{Monitor, MonitorMetadata, Origin};
pub use typed::InvalidSettings;
