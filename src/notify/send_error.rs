//! Errors of sending a message.

use std::time::Duration;

use http::StatusCode;

use crate::domain::{Failure, FailureKind};
use crate::redaction::redactor::Redactor;

/// Most characters of a detail.
const MAX_DETAIL_CHARS: usize = 400;

/// Why a message was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct SendError {
    /// Whether another attempt may succeed. A refusal of the message or the address is final.
    pub is_retryable: bool,
    /// How long the receiver asks to wait (`Retry-After`).
    pub retry_after: Option<Duration>,
    /// What happened, for people; without secrets.
    pub detail: String,
}

impl SendError {
    /// Creates a temporary error: another attempt may succeed.
    #[must_use]
    pub fn transient(detail: impl Into<String>) -> Self {
        Self { is_retryable: true, retry_after: None, detail: detail.into() }
    }

    /// Creates a final error: the message or the address must be changed.
    #[must_use]
    pub fn permanent(detail: impl Into<String>) -> Self {
        Self { is_retryable: false, retry_after: None, detail: detail.into() }
    }

    /// Creates the error of an HTTP response without success. A status that rejects this request as such is final; all
    /// others may pass (RFC 9110 15.5, 15.6).
    #[must_use]
    pub fn from_status(status: StatusCode, response_text: &str) -> Self {
        let is_final = matches!(status.as_u16(), 400..=406 | 410 | 411 | 413..=415 | 422 | 501 | 505);
        let response_text =
            if response_text.is_empty() { String::new() } else { format!(": {response_text}") };
        let detail = format!("the receiver responded with status `{}`{response_text}", status.as_u16());
        Self { is_retryable: !is_final, retry_after: None, detail }
    }

    /// Masks secrets, which the receiver may have repeated, and shortens the detail to a line or two.
    #[must_use]
    pub(super) fn redact_and_truncate(mut self, redactors: [&Redactor; 2]) -> Self {
        for redactor in redactors {
            redactor.redact_text(&mut self.detail);
        }
        if let Some((end, _)) = self.detail.char_indices().nth(MAX_DETAIL_CHARS) {
            self.detail.truncate(end);
            self.detail.push('…');
        }
        self
    }
}

impl From<Failure> for SendError {
    /// A denial by the egress policy is final; every other connection error may pass.
    fn from(failure: Failure) -> Self {
        let is_retryable = failure.kind != FailureKind::EgressDenied;
        Self { is_retryable, retry_after: None, detail: failure.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::MASK;

    #[test]
    fn only_statuses_about_the_message_or_the_address_are_final() {
        let is_retryable_status =
            |status| SendError::from_status(StatusCode::from_u16(status).unwrap(), "").is_retryable;
        for status in [407, 408, 409, 412, 423, 425, 429, 500, 502, 503, 504] {
            assert!(is_retryable_status(status), "{status}");
        }
        for status in [400, 401, 403, 404, 405, 410, 413, 415, 422, 501] {
            assert!(!is_retryable_status(status), "{status}");
        }
    }

    #[test]
    fn repeated_secrets_are_masked_and_long_details_truncated() {
        let error = SendError::transient(format!("bad token s3cret {}", "x".repeat(1000)))
            .redact_and_truncate([&Redactor::from_secrets(["s3cret"].into_iter()), &Redactor::default()]);
        assert!(error.detail.starts_with(&format!("bad token {MASK} xxx")), "{}", error.detail);
        assert_eq!(error.detail.chars().count(), MAX_DETAIL_CHARS + 1);
        let no_secrets = Redactor::default();
        let error = SendError::permanent("`http://a:b@c/`").redact_and_truncate([&no_secrets, &no_secrets]);
        assert_eq!(error.detail, format!("`http://{MASK}@c/`"));
    }
}
