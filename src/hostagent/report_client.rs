//! Sends reports to the server, and says what its responses mean.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use url::Url;

use super::report::HostReport;
use crate::clock::Clock;
use crate::domain::ReportToken;
use crate::protocol::http::{PostClient, PostClientError, PostResponse};

/// Header with the seconds between reports that the server wants.
const INTERVAL_HEADER: &str = "vigie-report-seconds";
/// The intervals that a server may ask for, in seconds.
pub(super) const INTERVAL_SECONDS: std::ops::RangeInclusive<u64> = 1..=3600;
/// How long a report may take to be sent.
const SEND_TIMEOUT: Duration = Duration::from_secs(20);
/// The pauses that a server may ask for.
const MIN_RETRY_AFTER: Duration = Duration::from_secs(1);
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Where reports go.
#[derive(Clone, Debug)]
pub struct ReportTarget {
    /// URL of the server, whose path ends with a slash.
    pub server: Url,
    /// The token of this host.
    pub token: ReportToken,
    /// Authorities to trust in addition to those of the system, in PEM.
    pub ca_file: Option<PathBuf>,
}

/// What became of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The server has it, and may say how often it wants reports.
    Accepted(Option<Duration>),
    /// The server never takes it: it is dropped.
    Refused(String),
    /// The server takes no report of this host: the token was revoked, or the host was removed.
    Denied(String),
    /// The server takes it later, perhaps after a pause that it asks for.
    Later(String, Option<Duration>),
}

/// Sends reports.
pub struct ReportClient {
    url: Url,
    authorization: HeaderValue,
    ca_file: Option<PathBuf>,
    client: PostClient,
    clock: Arc<dyn Clock>,
}

impl ReportClient {
    /// Creates a client that sends to `target`.
    ///
    /// # Errors
    /// Fails when the file of authorities cannot be used.
    pub fn new(target: ReportTarget, clock: Arc<dyn Clock>) -> Result<Self, PostClientError> {
        let mut url = target.server;
        let path = format!("{}api/v3/hosts/{}/reports", url.path(), target.token.host_id());
        url.set_path(&path);
        // A token has no characters that a header cannot have.
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", target.token.as_str()))
            .unwrap_or(HeaderValue::from_static(""));
        authorization.set_sensitive(true);
        let client = PostClient::new(target.ca_file.as_deref())?;
        Ok(Self { url, authorization, ca_file: target.ca_file, client, clock })
    }

    /// Sends `report`.
    pub async fn send(&mut self, report: &HostReport) -> SendOutcome {
        let body = match report.to_body(self.clock.now()).await {
            Ok(body) => body,
            Err(error) => return SendOutcome::Refused(format!("it cannot be compressed: {error}")),
        };
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, self.authorization.clone()),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CONTENT_ENCODING, HeaderValue::from_static("gzip")),
        ]);
        // Its own allocation, since it is large.
        match Box::pin(self.client.post(&self.url, headers, body, SEND_TIMEOUT)).await {
            Ok(response) => self.outcome(&response),
            Err(failure) => {
                // This host may have got other name servers.
                if let Ok(client) = PostClient::new(self.ca_file.as_deref()) {
                    self.client = client;
                }
                SendOutcome::Later(failure.detail, None)
            }
        }
    }

    fn outcome(&self, response: &PostResponse) -> SendOutcome {
        let status = response.status;
        let reason = if response.text.is_empty() {
            format!("the server answered `{status}`")
        } else {
            format!("the server answered `{status}`: {}", response.text)
        };
        match status {
            _ if status.is_success() => SendOutcome::Accepted(requested_interval(&response.headers)),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND => {
                SendOutcome::Denied(reason)
            }
            StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
                SendOutcome::Refused(reason)
            }
            _ => {
                let pause = response.retry_after(self.clock.now());
                SendOutcome::Later(reason, pause.map(|pause| pause.clamp(MIN_RETRY_AFTER, MAX_RETRY_AFTER)))
            }
        }
    }
}

/// Returns the interval that a response asks for; `None` for one that is out of bounds.
fn requested_interval(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(INTERVAL_HEADER)?.to_str().ok()?.trim().parse().ok()?;
    INTERVAL_SECONDS.contains(&seconds).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FakeClock;
    use crate::domain::Timestamp;

    fn outcome(status: u16, headers: &[(&'static str, &'static str)]) -> SendOutcome {
        let target = ReportTarget {
            server: Url::parse("https://vigie.test/below/").unwrap(),
            token: ReportToken::parse("vgh_12_secret").unwrap(),
            ca_file: None,
        };
        let clock = Arc::new(FakeClock::new(Timestamp::from_seconds(1_800_000_000)));
        let client = ReportClient::new(target, clock).unwrap();
        assert_eq!(client.url.as_str(), "https://vigie.test/below/api/v3/hosts/12/reports");
        let headers = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)));
        client.outcome(&PostResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers: headers.collect(),
            text: String::new(),
            body: bytes::Bytes::new(),
        })
    }

    #[test]
    fn responses_decide_what_becomes_of_a_report() {
        let interval = |value| outcome(204, &[("vigie-report-seconds", value)]);
        assert_eq!(interval("30"), SendOutcome::Accepted(Some(Duration::from_secs(30))));
        for ignored in ["0", "3601", "-1", "soon"] {
            assert_eq!(interval(ignored), SendOutcome::Accepted(None), "{ignored}");
        }
        assert_eq!(outcome(204, &[]), SendOutcome::Accepted(None));
        for status in [400, 413, 422] {
            assert!(matches!(outcome(status, &[]), SendOutcome::Refused(_)), "{status}");
        }
        for status in [401, 403, 404] {
            assert!(matches!(outcome(status, &[]), SendOutcome::Denied(_)), "{status}");
        }
        for (seconds, pause) in [("90", 90), ("0", 1), ("86400", 3600)] {
            let expected = Some(Duration::from_secs(pause));
            let later = outcome(503, &[("retry-after", seconds)]);
            assert!(matches!(&later, SendOutcome::Later(_, pause) if *pause == expected), "{later:?}");
        }
        for status in [302, 408, 429, 500, 502] {
            assert!(matches!(outcome(status, &[]), SendOutcome::Later(_, None)), "{status}");
        }
    }
}
