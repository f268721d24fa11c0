//! What the response to a request means (OTLP/HTTP response).

use std::time::Duration;

use http::StatusCode;
use serde::{Deserialize, Deserializer};

use super::signal::OtlpSignal;
use crate::domain::{Failure, FailureKind, Timestamp, replace_control_chars};
use crate::protocol::http::PostResponse;
use crate::redaction::redactor::Redactor;

/// Longest pause that a receiver may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(10);
/// Most characters of a message of the receiver that are quoted.
const MAX_QUOTED_CHARS: usize = 200;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SendOutcome {
    /// The receiver took it, but for `rejected` of its items.
    Accepted {
        rejected: u64,
        /// Why it rejected those, or what it warns of; empty without either.
        message: String,
    },
    /// Another attempt may succeed.
    RetryLater { detail: String, retry_after: Option<Duration> },
    /// The body is too large for the receiver.
    TooLarge { detail: String },
    /// Another attempt would fail, too.
    Rejected { detail: String },
}

/// The body of a successful response.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ExportResponse {
    partial_success: Option<PartialSuccess>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    #[serde(deserialize_with = "count")]
    rejected_data_points: u64,
    #[serde(deserialize_with = "count")]
    rejected_log_records: u64,
    #[serde(deserialize_with = "count")]
    rejected_spans: u64,
    error_message: String,
}

/// Reads an integer of 64 bits: a text, or a number of senders that do not know better.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_default())
}

impl SendOutcome {
    /// Reads the response to a request with `signal`.
    pub(super) fn from_response(signal: OtlpSignal, response: &PostResponse, now: Timestamp) -> Self {
        let status = response.status;
        if status.is_success() {
            return accepted(signal, &response.body);
        }
        let detail = if response.text.is_empty() {
            format!("the receiver responded with status `{}`", status.as_u16())
        } else {
            format!("the receiver responded with status `{}`: {}", status.as_u16(), response.text)
        };
        match status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => {
                let retry_after = response.retry_after(now).map(|delay| delay.min(MAX_RETRY_AFTER));
                Self::RetryLater { detail, retry_after }
            }
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge { detail },
            _ => Self::Rejected { detail },
        }
    }

    /// Masks secrets, which the receiver may have repeated.
    pub(super) fn redacted(mut self, redactor: &Redactor) -> Self {
        match &mut self {
            Self::Accepted { message: text, .. }
            | Self::RetryLater { detail: text, .. }
            | Self::TooLarge { detail: text }
            | Self::Rejected { detail: text } => redactor.redact_text(text),
        }
        self
    }

    /// Reads a failure without response. A denial by the egress policy is final; all others may pass.
    pub(super) fn from_failure(failure: &Failure) -> Self {
        let detail = failure.to_string();
        if failure.kind == FailureKind::EgressDenied {
            Self::Rejected { detail }
        } else {
            Self::RetryLater { detail, retry_after: None }
        }
    }
}

/// Reads the body of a response with success. An empty one, or one that is no JSON, rejects nothing.
fn accepted(signal: OtlpSignal, body: &[u8]) -> SendOutcome {
    let response: ExportResponse = serde_json::from_slice(body).unwrap_or_default();
    let partial = response.partial_success.unwrap_or_default();
    let rejected = match signal {
        OtlpSignal::Metrics => partial.rejected_data_points,
        OtlpSignal::Logs => partial.rejected_log_records,
        OtlpSignal::Traces => partial.rejected_spans,
    };
    let message =
        replace_control_chars(partial.error_message.trim()).chars().take(MAX_QUOTED_CHARS).collect();
    SendOutcome::Accepted { rejected, message }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue};

    use super::*;
    use crate::domain::Phase;

    fn outcome(status: u16, headers: &[(&'static str, &'static str)], body: &'static str) -> SendOutcome {
        let headers = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)));
        let response = PostResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers: headers.collect::<HeaderMap>(),
            text: body.to_owned(),
            body: Bytes::from_static(body.as_bytes()),
        };
        SendOutcome::from_response(OtlpSignal::Logs, &response, Timestamp::from_seconds(0))
    }

    #[test]
    fn only_the_statuses_of_the_specification_are_repeated() {
        for status in [429, 502, 503, 504] {
            let later = outcome(status, &[("retry-after", "7")], "");
            assert!(
                matches!(later, SendOutcome::RetryLater { retry_after: Some(delay), .. } if delay.as_secs() == 7),
                "{status}: {later:?}"
            );
        }
        for status in [301, 400, 401, 404, 408, 500, 501] {
            let refused = outcome(status, &[("retry-after", "7")], "no");
            assert!(
                matches!(&refused, SendOutcome::Rejected { detail } if detail.ends_with(": no")),
                "{refused:?}"
            );
        }
        assert!(matches!(outcome(413, &[], ""), SendOutcome::TooLarge { .. }));
        let far = outcome(503, &[("retry-after", "86400")], "");
        assert!(
            matches!(far, SendOutcome::RetryLater { retry_after: Some(delay), .. } if delay == MAX_RETRY_AFTER)
        );
    }

    #[test]
    fn a_partial_success_names_what_was_rejected() {
        let accepted =
            |rejected, message: &str| SendOutcome::Accepted { rejected, message: message.to_owned() };
        for body in ["", "{}", "no JSON", r#"{"partialSuccess":{"rejectedSpans":"4"}}"#] {
            assert_eq!(outcome(200, &[], body), accepted(0, ""), "{body}");
        }
        let body = r#"{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"too\nold"}}"#;
        assert!(
            matches!(outcome(200, &[], body), SendOutcome::Accepted { rejected: 3, message } if message.starts_with("too"))
        );
        let number = r#"{"partialSuccess":{"rejectedLogRecords":2}}"#;
        assert_eq!(outcome(202, &[], number), accepted(2, ""));
    }

    #[test]
    fn a_denied_address_is_final_and_a_closed_port_is_not() {
        let failure = |kind| SendOutcome::from_failure(&Failure::new(Phase::Connect, kind, "a"));
        assert!(matches!(failure(FailureKind::EgressDenied), SendOutcome::Rejected { .. }));
        assert!(matches!(failure(FailureKind::ConnectRefused), SendOutcome::RetryLater { .. }));
    }
}
