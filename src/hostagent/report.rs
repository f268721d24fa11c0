//! A report of this host: its JSON, and its form on the wire.

use async_compression::tokio::write::GzipEncoder;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use sysinfo::System;
use tokio::io::AsyncWriteExt;

use super::measurements::Measurements;
use crate::domain::{Timestamp, replace_control_chars};

/// Version of the form of reports.
const REPORT_VERSION: u32 = 1;
/// Longest name of a system, in characters.
const MAX_NAME_CHARS: usize = 200;

/// What a report says of the host besides the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFacts {
    /// The operating system, such as `Debian GNU/Linux 12`.
    pub os: String,
    /// Version of the kernel.
    pub kernel: String,
}

impl HostFacts {
    /// Reads the names of this host's system; empty where they are not known.
    #[must_use]
    pub fn read() -> Self {
        let os = [System::name(), System::os_version()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        Self { os: bounded(&os), kernel: bounded(&System::kernel_version().unwrap_or_default()) }
    }
}

fn bounded(text: &str) -> String {
    replace_control_chars(text.trim()).chars().take(MAX_NAME_CHARS).collect()
}

/// A report, without what is known only when it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct HostReport {
    seq: u64,
    /// Its JSON.
    fields: Map<String, Value>,
}

/// Returns the JSON of what was measured `at` a time, without what only a report has that is sent.
pub(super) fn report_fields(
    at: Timestamp,
    facts: &HostFacts,
    measurements: &Measurements,
) -> Map<String, Value> {
    let fields = [
        ("version", json!(REPORT_VERSION)),
        ("at", json!(at.to_string())),
        ("agent_version", json!(env!("CARGO_PKG_VERSION"))),
        ("os", json!(facts.os)),
        ("kernel", json!(facts.kernel)),
        ("metrics", json!(measurements.values())),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// Returns JSON for people, in several lines.
pub(super) fn pretty_json(fields: &Map<String, Value>) -> String {
    format!("{:#}\n", Value::Object(fields.clone()))
}

impl HostReport {
    /// Creates the report of what was measured `at` a time.
    #[must_use]
    pub fn new(seq: u64, at: Timestamp, facts: &HostFacts, measurements: &Measurements) -> Self {
        let mut fields = report_fields(at, facts, measurements);
        fields.insert("seq".to_owned(), json!(seq));
        Self { seq, fields }
    }

    /// Returns the number of the report, which no other one of this host has.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns its JSON for the spool.
    pub(super) fn to_stored_json(&self) -> Vec<u8> {
        Value::Object(self.fields.clone()).to_string().into_bytes()
    }

    /// Reads what [`Self::to_stored_json`] returned; `None` for anything else.
    pub(super) fn from_stored_json(bytes: &[u8]) -> Option<Self> {
        let fields: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
        Some(Self { seq: fields.get("seq")?.as_u64()?, fields })
    }

    /// Returns its JSON for people, in several lines.
    #[must_use]
    pub fn to_pretty_json(&self) -> String {
        pretty_json(&self.fields)
    }

    /// Returns the body of the request that sends it: JSON, compressed by gzip.
    pub(super) async fn to_body(&self, sent_at: Timestamp) -> std::io::Result<Bytes> {
        let mut fields = self.fields.clone();
        fields.insert("sent_at".to_owned(), json!(sent_at.to_string()));
        let mut encoder = GzipEncoder::new(Vec::new());
        encoder.write_all(Value::Object(fields).to_string().as_bytes()).await?;
        encoder.shutdown().await?;
        Ok(encoder.into_inner().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_spool() {
        let facts = HostFacts { os: "Debian GNU/Linux 12".to_owned(), kernel: "6.1.0".to_owned() };
        let mut measurements = Measurements::default();
        measurements.set("load1", 0.5);
        measurements.set_labelled("disk_used_percent", "/", 95.2);
        let report = HostReport::new(12, Timestamp::from_seconds(1_795_826_400), &facts, &measurements);
        let stored = report.to_stored_json();
        let expected = format!(
            r#"{{"version":1,"seq":12,"at":"2026-11-28T02:00:00Z","agent_version":"{}","os":"Debian GNU/Linux 12","kernel":"6.1.0","metrics":{{"disk_used_percent{{mount=\"/\"}}":95.2,"load1":0.5}}}}"#,
            env!("CARGO_PKG_VERSION")
        );
        let parse = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap();
        let (mut stored_value, mut expected_value) = (parse(&stored), parse(expected.as_bytes()));
        stored_value["at"].take();
        expected_value["at"].take();
        assert_eq!(stored_value, expected_value);
        assert_eq!(HostReport::from_stored_json(&stored), Some(report));
        for other in ["", "{", "[]", "{}", r#"{"seq":-1}"#, r#"{"seq":"1"}"#] {
            assert_eq!(HostReport::from_stored_json(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn the_system_has_a_name() {
        let facts = HostFacts::read();
        assert!(!facts.os.is_empty() && !facts.kernel.is_empty(), "{facts:?}");
    }
}
