//! Request bodies that are neither a monitor nor a record: logins, bulk edits, copies, tests.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::deserializer::deserialize_fields;
use super::invalid_settings::InvalidFieldValue;
use super::schedule::LocationReference;
use crate::schema::field::FieldTable;

/// Reads a request from `fields`, which were read with `table`.
///
/// # Errors
/// A field that is missing, or whose value cannot be used.
pub fn parse_request_fields<'a, T: Deserialize<'a>>(
    table: &'static FieldTable,
    fields: &'a Map<String, Value>,
) -> Result<T, InvalidFieldValue> {
    deserialize_fields(table, &|_, field| fields.get(field.name))
}

/// The credentials of a login.
#[derive(Clone, Copy, Deserialize)]
pub struct LoginRequest<'a> {
    /// User name.
    pub username: &'a str,
    /// The password.
    pub password: &'a str,
}

/// What an agent enrols with.
#[derive(Clone, Copy, Deserialize)]
pub struct AgentEnrolmentRequest<'a> {
    /// The enrolment secret.
    pub secret: &'a str,
    /// Display name.
    pub name: &'a str,
    /// Its key of NATS.
    pub public_key: &'a str,
    /// Its X25519 key.
    pub exchange_key: &'a str,
    /// Version of its program.
    pub version: &'a str,
}

/// What an agent with an expired token renews it with.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct AgentRenewalRequest<'a> {
    /// When the request was made.
    pub time: &'a str,
    /// Random text.
    pub nonce: &'a str,
    /// Its signature.
    pub signature: &'a str,
    /// Version of its program.
    pub version: &'a str,
    /// Number of the newest data key that it has.
    pub newest_data_key: i64,
}

/// A token for a program.
#[derive(Clone, Debug, Deserialize)]
pub struct ProgramTokenRequest<'a> {
    /// What it is for.
    pub name: &'a str,
    /// What it may do.
    #[serde(borrow)]
    pub scopes: Vec<&'a str>,
    /// Its lifetime in seconds; `None` for the default.
    pub expires_in: Option<u64>,
}

/// How a result is shared.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ShareRequest {
    /// Days after which the link ends.
    pub days: u64,
}

/// Replacement of a text or password in several monitors.
#[derive(Clone, Copy, Deserialize)]
pub struct ReplaceTextRequest<'a> {
    /// The text to replace.
    pub current_value: &'a str,
    /// The new text.
    pub new_value: &'a str,
}

/// The change of locations in a bulk edit.
#[derive(Clone, Debug, Deserialize)]
pub struct UpdateLocationsRequest {
    /// Whether the current locations stay.
    pub update_locations_action: UpdateLocationsAction,
    /// The locations; `None` keeps those of each monitor.
    pub locations: Option<Vec<LocationReference>>,
}

/// What happens to the current entries of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UpdateLocationsAction {
    /// They stay, and the new ones follow them.
    Append,
    /// The new ones replace them.
    Replace,
}

/// A copy of a monitor.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CloneRequest<'a> {
    /// Name of the copy.
    pub name: Option<&'a str>,
}

/// A test alert.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TestAlertRequest {
    /// The recipient.
    pub recipient_id: i64,
}

/// The monitor that a test notification or the preview of a template is about.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ExampleMonitorRequest {
    /// The monitor whose name and fields are shown; `None` for an invented one.
    pub monitor_id: Option<i64>,
}

/// The order of a test, without the monitor that it may hold.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TestOrderRequest {
    /// Id of the monitor to test, or of the one that a draft would change.
    pub monitor_id: Option<i64>,
    /// Location to test from.
    pub location_id: Option<i64>,
}

/// Options of an apply, which updates monitors to match files.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ApplyRequest {
    /// Whether the apply only reports what it would do.
    pub dry_run: bool,
    /// Whether monitors of an earlier apply that are no longer in the files are removed.
    pub prune: bool,
}
