//! The body of a report: gzip or plain JSON, bounded in every way.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::domain::{MAX_REPORT_SERIES, SeriesValue, Timestamp};
use crate::syntax::prometheus::series_name::SeriesName;

/// Most bytes of a report, packed and unpacked.
pub const MAX_REPORT_BYTES: usize = 256 * 1024;
/// Most characters of the texts about the host.
const MAX_TEXT_CHARS: usize = 200;

/// A report as it was sent, its times by the clock of the host.
#[derive(Clone, Debug, PartialEq)]
pub struct SentReport {
    /// Number of the report.
    pub sequence: u64,
    /// When the values were measured.
    pub measured_at: Timestamp,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// Version of the agent.
    pub agent_version: String,
    /// Operating system and kernel.
    pub system: String,
    /// The values, sorted by series.
    pub values: Vec<SeriesValue>,
}

/// Why a report is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// It is larger than a report may be.
    #[error("a report has at most {MAX_REPORT_BYTES} bytes, packed and unpacked")]
    TooLarge,
    /// It is no report.
    #[error("{0}")]
    Invalid(String),
}

/// Further members are for later versions of the program.
#[derive(Deserialize)]
struct Body {
    version: u32,
    seq: u64,
    at: String,
    #[serde(default)]
    sent_at: Option<String>,
    #[serde(default)]
    agent_version: String,
    #[serde(default)]
    os: String,
    #[serde(default)]
    kernel: String,
    metrics: Metrics,
}

/// The values by canonical series.
struct Metrics(BTreeMap<String, f64>);

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetricsVisitor;

        impl<'de> Visitor<'de> for MetricsVisitor {
            type Value = Metrics;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a number for each series")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metrics, A::Error> {
                let mut values = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, f64>()? {
                    // Before anything is kept of the rest.
                    if values.len() == MAX_REPORT_SERIES {
                        return Err(Error::custom(format!("it has more than {MAX_REPORT_SERIES} series")));
                    }
                    let series = SeriesName::parse(&name)
                        .map_err(|error| Error::custom(format!("a series cannot be used: {error}")))?;
                    if values.insert(series.to_string(), value).is_some() {
                        return Err(Error::custom(format!("the series `{series}` is there twice")));
                    }
                }
                Ok(Metrics(values))
            }
        }
        deserializer.deserialize_map(MetricsVisitor)
    }
}

/// Reads a report.
///
/// # Errors
/// Fails for a body that is larger than [`MAX_REPORT_BYTES`], packed or not, or that is no report; the message says
/// where.
pub fn read_report(body: &[u8], is_gzip: bool) -> Result<SentReport, ReportError> {
    if body.len() > MAX_REPORT_BYTES {
        return Err(ReportError::TooLarge);
    }
    let mut unpacked = Vec::new();
    let json = if is_gzip {
        let limit = MAX_REPORT_BYTES as u64 + 1;
        flate2::read::MultiGzDecoder::new(body)
            .take(limit)
            .read_to_end(&mut unpacked)
            .map_err(|error| ReportError::Invalid(format!("the gzip data is damaged: {error}")))?;
        unpacked.as_slice()
    } else {
        body
    };
    if json.len() > MAX_REPORT_BYTES {
        return Err(ReportError::TooLarge);
    }
    let body: Body = serde_json::from_slice(json).map_err(|error| ReportError::Invalid(error.to_string()))?;
    if body.version != 1 {
        let reason = format!("`version` must be 1, not {}: update the server first", body.version);
        return Err(ReportError::Invalid(reason));
    }
    let parse_time = |name: &str, text: &str| {
        Timestamp::parse(text).ok_or_else(|| {
            ReportError::Invalid(format!("`{name}` must be a time such as 2026-11-28T12:00:00Z"))
        })
    };
    let measured_at = parse_time("at", &body.at)?;
    let sent_at = body.sent_at.map_or(Ok(measured_at), |text| parse_time("sent_at", &text))?;
    let system = format!("{} {}", body.os, body.kernel);
    Ok(SentReport {
        sequence: body.seq & (u64::MAX >> 1),
        measured_at,
        sent_at,
        agent_version: shorten(&body.agent_version),
        system: shorten(system.trim()),
        values: body.metrics.0.into_iter().map(|(series, value)| SeriesValue { series, value }).collect(),
    })
}

/// Returns a text without control characters, shortened.
fn shorten(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn body(metrics: &str) -> Vec<u8> {
        format!(
            r#"{{"version":1,"seq":7,"at":"2026-11-28T12:00:00Z","sent_at":"2026-11-28T12:00:01Z","metrics":{metrics}}}"#
        )
        .into_bytes()
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_report_is_read_packed_or_not_with_its_series_in_canonical_form() {
        let body = body(r#"{"disk_used_percent{ mount = \"/\" }":95.5,"load1":2}"#);
        let report = read_report(&gzip(&body), true).unwrap();
        assert_eq!(read_report(&body, false).unwrap(), report);
        assert_eq!(report.sequence, 7);
        let series: Vec<_> = report.values.iter().map(|value| (value.series.as_str(), value.value)).collect();
        assert_eq!(series, [(r#"disk_used_percent{mount="/"}"#, 95.5), ("load1", 2.0)]);
    }

    #[test]
    fn a_bomb_and_too_many_series_are_refused() {
        let bomb = gzip(&vec![b' '; 50_000_000]);
        assert!(bomb.len() < MAX_REPORT_BYTES);
        assert!(matches!(read_report(&bomb, true), Err(ReportError::TooLarge)));
        assert!(matches!(read_report(&vec![b' '; 300_000], false), Err(ReportError::TooLarge)));
        let many: Vec<String> = (0..1000).map(|index| format!(r#""m{index}":1"#)).collect();
        let many = body(&format!("{{{}}}", many.join(",")));
        assert!(read_report(&many, false).unwrap_err().to_string().contains("more than 400 series"));
    }

    #[test]
    fn what_is_no_report_is_refused_with_the_place() {
        for metrics in ["{\"load1\":NaN}", "{\"load1\":null}", "{\"load1\":1e999}", "{\"1x\":1}", "[]"] {
            let error = read_report(&body(metrics), false).unwrap_err();
            assert!(matches!(error, ReportError::Invalid(_)), "{metrics}: {error}");
        }
        let twice = body(r#"{"a{x=\"1\",y=\"2\"}":1,"a{y=\"2\",x=\"1\"}":1}"#);
        assert!(read_report(&twice, false).unwrap_err().to_string().contains("twice"));
        assert!(read_report(b"\x1f\x8bgarbage", true).is_err());
    }
}
