//! Settings of the export.

use std::time::Duration;

use http::HeaderMap;
use url::Url;

use super::signal::{OtlpSignal, OtlpSignals};
use crate::domain::CustomerId;
use crate::redaction::redactor::Redactor;

/// Settings of the export by OTLP.
#[derive(Clone, Debug)]
pub struct OtlpSettings {
    /// URL of the receiver, without login, query and fragment; each signal has a path below it.
    pub endpoint: Url,
    /// Header fields of each request. Those that hold secrets are marked as sensitive.
    pub headers: HeaderMap,
    /// Masks the values of the header fields in responses that errors quote.
    pub redactor: Redactor,
    /// What is exported.
    pub signals: OtlpSignals,
    /// Whether bodies are compressed with gzip.
    pub compresses: bool,
    /// Most results that wait; further ones replace the oldest.
    pub queue_capacity: usize,
    /// Most results of one request.
    pub max_batch_results: usize,
    /// How long a result waits for others.
    pub flush_interval: Duration,
    /// Time limit of one request.
    pub request_timeout: Duration,
    /// How long a request is repeated.
    pub give_up_after: Duration,
    /// Names and values that describe this Vigie, added to `service.name` and `service.version` or replacing them.
    pub resource_attributes: Vec<(String, String)>,
    /// The accounts whose results are exported; `None` for all.
    pub accounts: Option<Vec<CustomerId>>,
}

impl OtlpSettings {
    /// Returns the URL that takes `signal`: `<endpoint>/v1/<name>` (OTLP/HTTP request).
    #[must_use]
    pub fn url(&self, signal: OtlpSignal) -> Url {
        let mut url = self.endpoint.clone();
        let path = format!("{}/v1/{}", url.path().trim_end_matches('/'), signal.name());
        url.set_path(&path);
        url
    }

    /// Whether the results of `account` are exported.
    #[must_use]
    pub fn exports_account(&self, account: CustomerId) -> bool {
        self.accounts.as_ref().is_none_or(|accounts| accounts.contains(&account))
    }
}
