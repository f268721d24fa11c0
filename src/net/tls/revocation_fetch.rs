//! Fetches what authorities publish about revoked certificates: one request over HTTP, bounded in size and time.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use url::Url;

use crate::domain::Phase;
use crate::net::deadline::Deadline;
use crate::net::endpoint::{ConnectionTrace, Endpoint};
use crate::net::stack::Net;

/// Largest OCSP response, in bytes.
pub(super) const OCSP_LIMIT_BYTES: usize = 64 * 1024;
/// Largest revocation list, in bytes.
pub(super) const LIST_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// One request to an authority.
pub(super) struct RevocationRequest<'a> {
    pub(super) url: &'a str,
    /// What is posted to an OCSP responder; `None` fetches a revocation list.
    pub(super) ocsp_request: Option<Vec<u8>>,
    pub(super) limit_bytes: usize,
}

impl RevocationRequest<'_> {
    /// Sends it through the egress policy of `net`, for the account of the monitor, and returns the body. Redirects are
    /// not followed.
    ///
    /// # Errors
    /// A sentence about what failed.
    pub(super) async fn send(self, net: &Net, deadline: Deadline) -> Result<Vec<u8>, String> {
        let url = Url::parse(self.url).map_err(|_| "its address cannot be read".to_owned())?;
        let host = url.host_str().ok_or("its address has no host")?;
        let endpoint = Endpoint::new(host, url.port_or_known_default().unwrap_or(80));
        let mut trace = ConnectionTrace::default();
        let stream = Box::pin(net.connect(&endpoint, deadline, &mut trace))
            .await
            .map_err(|failure| failure.to_string())?;
        let is_ocsp = self.ocsp_request.is_some();
        let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let request = Request::builder()
            .method(if is_ocsp { Method::POST } else { Method::GET })
            .uri(if target.is_empty() { "/" } else { target })
            .header(HOST, authority);
        let request = if is_ocsp {
            request
                .header(CONTENT_TYPE, "application/ocsp-request")
                .header(ACCEPT, "application/ocsp-response")
        } else {
            request
        };
        let request = request
            .body(Full::new(Bytes::from(self.ocsp_request.unwrap_or_default())))
            .map_err(|_| "its address cannot be asked for".to_owned())?;
        let limit_bytes = self.limit_bytes;
        let exchange = exchange(stream, request, limit_bytes);
        deadline.enforce(Phase::Tls, exchange).await.map_err(|failure| failure.to_string())?
    }
}

async fn exchange(
    stream: tokio::net::TcpStream,
    request: Request<Full<Bytes>>,
    limit_bytes: usize,
) -> Result<Vec<u8>, String> {
    let broken = |_| "it broke off the exchange".to_owned();
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(16 * 1024)
        .handshake::<_, Full<Bytes>>(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    let response = async {
        let response = sender.send_request(request).await.map_err(broken)?;
        if response.status() != StatusCode::OK {
            return Err(format!("it responds with the status {}", response.status().as_u16()));
        }
        let body = Limited::new(response.into_body(), limit_bytes).collect().await;
        body.map(|body| body.to_bytes().to_vec())
            .map_err(|_| format!("its response breaks off, or has more than {limit_bytes} bytes"))
    };
    // The response is what counts: it may be complete when the connection has ended.
    let driver = async {
        let _ = connection.await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        result = response => result,
        () = driver => Err("it closed the connection".to_owned()),
    }
}
