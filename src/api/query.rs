//! Query parameters. Every error is reported, not only the first.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt::Display;
use std::iter::{Skip, Take};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::error::ApiError;
use crate::domain::Timestamp;

/// Most errors that are reported for one query.
const MAX_REPORTED_ERRORS: usize = 100;
/// Longest name that is compared with the known ones, in bytes.
const MAX_SUGGESTION_NAME_BYTES: usize = 64;

/// Parameters that may be given several times.
const REPEATABLE_PARAMS: [&str; 1] = ["property"];

/// Names of the parameters that an operation takes. [`super::operation_router::OperationRouter`] attaches them to
/// each call.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownParams(Arc<[&'static str]>);

impl From<Vec<&'static str>> for KnownParams {
    fn from(names: Vec<&'static str>) -> Self {
        Self(names.into())
    }
}

/// Parameters of one call, with the errors found so far. A handler takes it as an argument; the known names are those
/// of its operation.
pub(super) struct QueryParams {
    pairs: Vec<(String, String)>,
    errors: Vec<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let names = parts.extensions.get::<KnownParams>().cloned().unwrap_or_default();
        Ok(Self::parse(&parts.uri, &names.0))
    }
}

impl QueryParams {
    /// Parses the parameters of `uri`. Only those in `known_names` are allowed, each once unless it
    /// is repeatable.
    pub(super) fn parse(uri: &Uri, known_names: &[&str]) -> Self {
        let mut query = Self { pairs: Vec::new(), errors: Vec::new() };
        for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            if query.errors.len() >= MAX_REPORTED_ERRORS {
                query.errors.push("too many errors; the rest of the query was not read".to_owned());
                break;
            }
            if known_names.contains(&&*name) {
                query.insert(name.into_owned(), value.into_owned());
            } else {
                query.errors.push(unknown_param_message(&name, known_names));
            }
        }
        query
    }

    /// Like [`QueryParams::parse`], but ignores unknown parameters, which the handler reads. Stops at the first
    /// error.
    pub(super) fn parse_ignoring_unknown(uri: &Uri, known_names: &[&str]) -> Self {
        let mut query = Self { pairs: Vec::new(), errors: Vec::new() };
        for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            if known_names.contains(&&*name) {
                query.insert(name.into_owned(), value.into_owned());
            }
            if !query.errors.is_empty() {
                break;
            }
        }
        query
    }

    fn insert(&mut self, name: String, value: String) {
        if !REPEATABLE_PARAMS.contains(&&*name)
            && self.pairs.iter().any(|(known_name, _)| *known_name == name)
        {
            self.errors.push(format!("`{name}` is given twice"));
        } else {
            self.pairs.push((name, value));
        }
    }

    /// Returns all values of the parameter `name`, one of [`REPEATABLE_PARAMS`].
    pub(super) fn values(&self, name: &str) -> Vec<String> {
        self.pairs
            .iter()
            .filter(|(param_name, _)| param_name == name)
            .map(|(_, value)| value.clone())
            .collect()
    }

    /// Returns the value of the parameter `name`.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(param_name, _)| param_name == name).map(|(_, value)| value.as_str())
    }

    /// Parses the parameter `name` with `parse`; `requirement` describes the accepted values in the error.
    pub(super) fn parse_value<T>(
        &mut self,
        name: &str,
        requirement: impl Display,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.value(name)?;
        let value = parse(text);
        if value.is_none() {
            let error = format!("`{name}` must be {requirement}, not `{}`", truncate_for_message(text));
            self.errors.push(error);
        }
        value
    }

    /// Parses a comma-separated list; empty when the parameter is absent or invalid.
    pub(super) fn parse_comma_list<T>(
        &mut self,
        name: &str,
        requirement: impl Display,
        parse_item: impl Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let parse_items =
            |text: &str| text.split(',').map(str::trim).map(&parse_item).collect::<Option<Vec<_>>>();
        self.parse_value(name, requirement, parse_items).unwrap_or_default()
    }

    /// Reads `limit`, `offset` and `select` (behaviour.md 1).
    pub(super) fn paging(&mut self) -> Paging {
        let parse_number = |text: &str| text.parse::<u64>().ok().filter(|&n| i64::try_from(n).is_ok());
        let limit = self.parse_value("limit", "a whole number from 0", parse_number);
        let offset = self.parse_value("offset", "a whole number from 0", parse_number);
        Paging { limit, offset, selection: self.field_selection() }
    }

    /// Reads `select` (behaviour.md 1).
    pub(super) fn field_selection(&self) -> FieldSelection {
        let split_names = |text: &str| text.split(',').map(|name| name.trim().to_owned()).collect();
        FieldSelection(self.value("select").map(split_names))
    }

    /// Adds an error.
    pub(super) fn push_error(&mut self, error: impl Into<String>) {
        self.errors.push(error.into());
    }

    /// Fails with 400 and all errors, if there were any.
    pub(super) fn into_result(self) -> Result<(), ApiError> {
        if self.errors.is_empty() { Ok(()) } else { Err(ApiError::bad_request(self.errors)) }
    }
}

/// The requested part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Paging {
    /// Most entries; all when absent.
    pub limit: Option<u64>,
    /// Entries to skip; 0 when absent.
    pub offset: Option<u64>,
    /// Fields of each entry to return.
    pub selection: FieldSelection,
}

impl Paging {
    /// Returns the requested part of `rows`.
    pub(super) fn slice<I: Iterator>(&self, rows: I) -> Take<Skip<I>> {
        let bound = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        rows.skip(bound(self.offset.unwrap_or(0))).take(bound(self.limit.unwrap_or(u64::MAX)))
    }
}

/// Accepted values of a time parameter, for the error message.
pub(super) const TIME_REQUIREMENT: &str =
    "a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";

/// Parses an RFC 3339 time, or a local time in `zone` (behaviour.md 1 "Times"). A local time that daylight saving
/// skips is moved past the gap; of a repeated one, the earlier counts (RFC 5545).
pub(super) fn parse_time_in_zone(zone: &TimeZone, text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).or_else(|| {
        let local = jiff::fmt::strtime::parse("%Y-%m-%d %H:%M:%S", text).ok()?.to_datetime().ok()?;
        let zoned = local.to_zoned(zone.clone()).ok()?;
        Some(Timestamp::from_micros(zoned.timestamp().as_microsecond()))
    })
}

/// The fields that `select` names (behaviour.md 1), spelled as in the table. Unknown names are ignored; an empty
/// `select` selects no field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSelection(Option<HashSet<String>>);

impl FieldSelection {
    /// Whether every field is selected.
    pub(super) fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Whether `field` is selected.
    pub(super) fn contains(&self, field: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.contains(field))
    }

    /// Removes the fields of `object` that are not selected.
    pub(super) fn remove_unselected(&self, object: &mut Map<String, Value>) {
        if self.0.is_some() {
            object.retain(|name, _| self.contains(name));
        }
    }
}

fn unknown_param_message(name: &str, known_names: &[&str]) -> String {
    let known_names = if name.len() > MAX_SUGGESTION_NAME_BYTES { &[] } else { known_names };
    let closest = known_names
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    match closest.filter(|closest| strsim::jaro_winkler(closest, name) > 0.8) {
        Some(closest) => {
            format!("unknown parameter `{}`; did you mean `{closest}`?", truncate_for_message(name))
        }
        None => {
            format!(
                "unknown parameter `{}`; known parameters are {}",
                truncate_for_message(name),
                quoted_list(known_names)
            )
        }
    }
}

/// Lists the items in back-ticks, separated by commas, for messages.
pub(super) fn quoted_list<T: Display>(items: &[T]) -> String {
    items.iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the first characters of a text from a request, for messages.
fn truncate_for_message(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_a_zone() {
        let time = |text| parse_time_in_zone(&TimeZone::UTC, text);
        let noon = Timestamp::from_seconds(1_795_176_000);
        assert_eq!(time("2026-11-20T12:00:00Z"), Some(noon));
        assert_eq!(time("2026-11-20T14:00:00+02:00"), Some(noon));
        assert_eq!(time("2026-11-20 12:00:00"), Some(noon));
        for invalid in ["", "yesterday", "2026-11-20", "2026-13-01 00:00:00", "2026-11-20 12:00"] {
            assert_eq!(time(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn times_without_a_zone_are_in_that_of_the_account() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let at = |text| parse_time_in_zone(&zone, text).unwrap();
        assert_eq!(at("2026-11-20 13:00:00"), Timestamp::from_seconds(1_795_176_000));
        assert_eq!(at("2026-11-20T12:00:00Z"), Timestamp::from_seconds(1_795_176_000));
        // Skipped in spring, repeated in autumn.
        assert_eq!(at("2026-03-29 02:30:00"), at("2026-03-29T01:30:00Z"));
        assert_eq!(at("2026-10-25 02:30:00"), at("2026-10-25T00:30:00Z"));
    }

    #[test]
    fn select_keeps_the_named_fields_and_an_empty_one_keeps_none() {
        let selected = |text: &str| {
            let uri: Uri = format!("/x?{text}").parse().unwrap();
            let mut object = serde_json::json!({"id": 1, "name": "a"}).as_object().unwrap().clone();
            QueryParams::parse(&uri, &["select"]).field_selection().remove_unselected(&mut object);
            object.keys().cloned().collect::<Vec<_>>().join(",")
        };
        assert_eq!(selected(""), "id,name");
        assert_eq!(selected("select="), "");
        assert_eq!(selected("select=name,nothing"), "name");
        assert_eq!(selected("select=Name,%20id"), "id");
    }

    #[test]
    fn every_error_is_reported() {
        let uri: Uri = "/x?limit=-1&ofset=2&offset=x&offset=3&type=".parse().unwrap();
        let mut query = QueryParams::parse(&uri, &["limit", "offset", "type"]);
        query.paging();
        query.parse_comma_list("type", "a number", |text| text.parse::<u8>().ok());
        let error = format!("{:?}", query.into_result().unwrap_err());
        for part in [
            "`limit` must be",
            "did you mean `offset`?",
            "`offset` is given twice",
            "`offset` must be",
            "`type` must be a number, not ``",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
