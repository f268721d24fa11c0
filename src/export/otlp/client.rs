//! Sends bodies to the receiver.

use std::sync::Arc;

use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::encoder::EncodedBody;
use super::response::SendOutcome;
use super::settings::OtlpSettings;
use super::signal::OtlpSignal;
use crate::clock::Clock;
use crate::domain::EgressPrincipal;
use crate::net::Net;
use crate::protocol::http::PostClient;

/// Sends bodies to the receiver, on behalf of the operator.
pub(super) struct OtlpClient {
    client: PostClient,
    clock: Arc<dyn Clock>,
}

impl OtlpClient {
    /// Creates a client that connects through `net`, and so under its egress policy.
    pub(super) fn new(net: &Net, clock: Arc<dyn Clock>) -> Self {
        let net = net.with_egress_principal(EgressPrincipal::Operator);
        Self { client: PostClient::over(net), clock }
    }

    /// Sends `body` once. Secrets of the settings are masked in what it returns.
    pub(super) async fn send(
        &self,
        settings: &OtlpSettings,
        signal: OtlpSignal,
        body: &EncodedBody,
    ) -> SendOutcome {
        let mut headers = settings.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if body.is_gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let url = settings.url(signal);
        // Its own allocation, since it is large.
        let sent =
            Box::pin(self.client.post(&url, headers, body.bytes.clone(), settings.request_timeout)).await;
        let outcome = match sent {
            Ok(response) => SendOutcome::from_response(signal, &response, self.clock.now()),
            Err(failure) => SendOutcome::from_failure(&failure),
        };
        outcome.redacted(&settings.redactor)
    }
}
