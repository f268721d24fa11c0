//! Sends pushes: the start of a job once it runs, and how it ended.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::job_secrets::JobSecrets;
use super::push_url::with_parameters;
use crate::cli::output::print_note;
use crate::clock::{Clock, SystemClock};
use crate::protocol::http::PostClient;

/// How often a push is tried.
const MAX_ATTEMPTS: u32 = 3;
/// How long all tries of a push may take together.
const PUSH_TIMEOUT: Duration = Duration::from_secs(30);
/// How long one try may take: the end of a job waits as long for that of its start.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time before the second try; that before the third is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Sends the pushes of one job.
pub(super) struct Pusher {
    client: PostClient,
    url: Url,
}

/// Why a try failed.
struct PushFailure {
    reason: String,
    /// Whether another try may help.
    is_temporary: bool,
    /// The pause before it that the server asks for.
    requested_pause: Option<Duration>,
}

impl Pusher {
    pub(super) const fn new(client: PostClient, url: Url) -> Self {
        Self { client, url }
    }

    /// Sends a push with `parameters` and `body`, in several tries; gives up once `stop` is cancelled, but not within a
    /// try. Prints a warning when it could not be sent.
    pub(super) async fn push(
        &self,
        what: &str,
        parameters: &[(&str, String)],
        body: String,
        secrets: &JobSecrets,
        stop: &CancellationToken,
    ) {
        let url = with_parameters(&self.url, parameters);
        let body = Bytes::from(body);
        let deadline = Instant::now() + PUSH_TIMEOUT;
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let Err(failure) = self.try_once(&url, body.clone()).await else { return };
            let wait = failure.requested_pause.unwrap_or(pause);
            if !failure.is_temporary || attempt == MAX_ATTEMPTS || Instant::now() + wait >= deadline {
                let reason = secrets.redact(&failure.reason);
                return print_note(&format!("warning: {what} of the job was not reported: {reason}"));
            }
            pause *= 2;
            if stop.run_until_cancelled(sleep(wait)).await.is_none() {
                return;
            }
        }
    }

    async fn try_once(&self, url: &Url, body: Bytes) -> Result<(), PushFailure> {
        let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type)]);
        let response = Box::pin(self.client.post(url, headers, body, ATTEMPT_TIMEOUT)).await;
        let response = response.map_err(|failure| PushFailure {
            reason: failure.detail,
            is_temporary: true,
            requested_pause: None,
        })?;
        let status = response.status;
        if status.is_success() {
            return Ok(());
        }
        let is_temporary = status.is_server_error()
            || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        let reason = match response.text.as_str() {
            "" => format!("the server answered `{status}`"),
            text => format!("the server answered `{status}`: {text}"),
        };
        let requested_pause = response.retry_after(SystemClock.now());
        Err(PushFailure { reason, is_temporary, requested_pause })
    }
}
