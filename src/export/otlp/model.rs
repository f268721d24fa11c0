//! The parts of OTLP bodies that all signals share, as protobuf maps them to JSON: names in lowerCamelCase, 64-bit
//! integers as texts, enums as numbers, ids of traces and spans in hexadecimal digits (OTLP, JSON Protobuf Encoding).

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::domain::Timestamp;

/// An attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct KeyValue {
    pub(super) key: Cow<'static, str>,
    pub(super) value: AnyValue,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum AnyValue {
    StringValue(String),
    IntValue(#[serde(serialize_with = "as_text")] i64),
}

impl From<&str> for AnyValue {
    fn from(text: &str) -> Self {
        Self::StringValue(text.to_owned())
    }
}

impl From<String> for AnyValue {
    fn from(text: String) -> Self {
        Self::StringValue(text)
    }
}

impl From<i64> for AnyValue {
    fn from(number: i64) -> Self {
        Self::IntValue(number)
    }
}

impl KeyValue {
    pub(super) fn new(key: impl Into<Cow<'static, str>>, value: impl Into<AnyValue>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

/// What is described: this Vigie.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Resource {
    pub(super) attributes: Vec<KeyValue>,
}

impl Resource {
    /// Creates the resource of this service, with `own` attributes that are added or replace the usual ones.
    pub(super) fn new(own: &[(String, String)]) -> Self {
        let usual = [("service.name", "vigie"), ("service.version", env!("CARGO_PKG_VERSION"))];
        let kept = usual.into_iter().filter(|(name, _)| own.iter().all(|(own_name, _)| own_name != name));
        let kept = kept.map(|(name, value)| KeyValue::new(name, value));
        let own = own.iter().map(|(name, value)| KeyValue::new(name.clone(), value.as_str()));
        Self { attributes: kept.chain(own).collect() }
    }
}

/// What measured it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Scope {
    name: &'static str,
    version: &'static str,
}

/// The scope of everything that Vigie exports.
pub(super) const SCOPE: Scope = Scope { name: "vigie", version: env!("CARGO_PKG_VERSION") };

/// Nanoseconds since 1970, as a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnixNanos(pub(super) Timestamp);

impl Serialize for UnixNanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The field is unsigned.
        let micros = i128::from(self.0.as_micros().max(0));
        serializer.collect_str(&(micros * 1000))
    }
}

/// Writes an integer of 64 bits as a text.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(super) fn as_text<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_attributes_of_the_resource_replace_the_usual_ones() {
        let own = [("service.name".to_owned(), "probes".to_owned()), ("a.b".to_owned(), "c".to_owned())];
        let names: Vec<_> =
            Resource::new(&own).attributes.into_iter().map(|pair| (pair.key, pair.value)).collect();
        assert_eq!(names.len(), 3);
        assert!(names.contains(&("service.name".into(), "probes".into())));
    }

    #[test]
    fn integers_and_times_are_texts() {
        let json = |value: &AnyValue| serde_json::to_string(value).unwrap();
        assert_eq!(json(&i64::MAX.into()), r#"{"intValue":"9223372036854775807"}"#);
        assert_eq!(json(&"a".into()), r#"{"stringValue":"a"}"#);
        let nanos = UnixNanos(Timestamp::from_micros(i64::MAX));
        assert_eq!(serde_json::to_string(&nanos).unwrap(), r#""9223372036854775807000""#);
    }
}
