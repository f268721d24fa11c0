//! Bodies of calls that are no monitor and no record: logins, bulk edits, copies, tests.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::deserializer::deserialize_fields;
use super::invalid_settings::InvalidSettings;
use super::schedule::LocationReference;
use crate::schema::field::FieldTable;

/// The request that `fields` make, which were read by `table`.
///
/// # Errors
/// A field that is missing, or whose value cannot be used.
pub fn read_request<'a, T: Deserialize<'a>>(
    table: &'static FieldTable,
    fields: &'a Map<String, Value>,
) -> Result<T, InvalidSettings> {
    deserialize_fields(table, &|_, field| fields.get(field.name))
}

/// Who logs in.
#[derive(Clone, Copy, Deserialize)]
pub struct LoginRequest<'a> {
    /// The user.
    pub username: &'a str,
    /// The password.
    pub password: &'a str,
}

/// A text or password of several monitors in the place of another.
#[derive(Clone, Copy, Deserialize)]
pub struct ReplaceTextRequest<'a> {
    /// What is replaced.
    pub current_value: &'a str,
    /// What stands there from now on.
    pub new_value: &'a str,
}

/// What a bulk edit does with locations.
#[derive(Clone, Debug, Deserialize)]
pub struct UpdateLocationsRequest {
    /// Whether the present locations stay.
    pub update_locations_action: UpdateLocationsAction,
    /// The locations; without them each monitor keeps its own.
    pub locations: Option<Vec<LocationReference>>,
}

/// What becomes of the present entries of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UpdateLocationsAction {
    /// They stay, and the new ones go behind them.
    Append,
    /// The new ones take their place.
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
    /// Who is to get it.
    pub recipient_id: i64,
}

/// An example of an alert.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PreviewRequest {
    /// A monitor whose name and fields it has.
    pub monitor_id: Option<i64>,
}

/// How monitors of files are brought in line.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ApplyRequest {
    /// Whether nothing is done.
    pub dry_run: bool,
    /// Whether what an earlier apply made and is not among them goes.
    pub prune: bool,
}
