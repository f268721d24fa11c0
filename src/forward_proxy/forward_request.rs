//! Forwards requests in absolute form according to RFC 9110 7.6. `Via` is left out: to the target, this proxy is a part
//! of the browser.

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri, Version, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::browser_connection::{BrowserConnection, ProxyError, ResponseBody, Tunnel};
use super::upstream_connection::{UpstreamBody, UpstreamConnection};
use crate::domain::{Failure, FailureKind, Phase};

/// Header fields of a single connection (RFC 9110 7.6.1), in addition to those that `Connection` names.
const HOP_BY_HOP_HEADERS: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Sends `request` to its target and returns the response.
pub(super) async fn forward(
    connection: &BrowserConnection<'_>,
    mut request: Request<Incoming>,
) -> Result<Response<ResponseBody>, ProxyError> {
    let (host, port) = parse_target(request.uri())?;
    let requested_protocols = upgrade_protocols(request.headers());
    let browser_upgrade = requested_protocols.is_some().then(|| hyper::upgrade::on(&mut request));
    rewrite_request(&mut request, requested_protocols.as_ref())?;
    if let Some(trace_context) = connection.proxy.trace_context_for(&host) {
        trace_context.inject(request.headers_mut());
    }
    let mut upstream = idle_or_new_upstream(connection, &host, port).await?;
    let exchange = upstream.sender.try_send_request(request);
    let result = match upstream.drive_until(exchange).await {
        // The idle connection was closed by the target meanwhile, and the request was not sent.
        Err(mut error) if error.message().is_some() => match error.take_message() {
            Some(request) => {
                upstream = connect_upstream(connection, &host, port).await?;
                let exchange = upstream.sender.send_request(request);
                upstream.drive_until(exchange).await
            }
            None => Err(error.into_error()),
        },
        other => other.map_err(hyper::client::conn::TrySendError::into_error),
    };
    let mut response = result.map_err(|error| {
        let failure = upstream_failure(&error);
        connection.proxy.target_log.record_failure(&host, port, &failure);
        ProxyError { status: StatusCode::BAD_GATEWAY, reason: failure.to_string() }
    })?;
    let is_upgrade = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    let accepted_protocols = upgrade_protocols(response.headers()).filter(|_| is_upgrade);
    strip_hop_by_hop(response.headers_mut());
    response.headers_mut().remove(super::config::PROXY_ERROR_HEADER);
    if is_upgrade {
        let Some((browser_upgrade, accepted_protocols)) = browser_upgrade.zip(accepted_protocols) else {
            return Err(ProxyError {
                status: StatusCode::BAD_GATEWAY,
                reason: "the target switched protocols without a request".to_owned(),
            });
        };
        let target_upgrade = hyper::upgrade::on(&mut response);
        set_upgrade_headers(response.headers_mut(), &accepted_protocols);
        connection.set_pending_tunnel(Tunnel::Upgrade {
            browser: browser_upgrade,
            target: target_upgrade,
            upstream,
        });
        return Ok(response.map(BodyExt::boxed_unsync));
    }
    *response.version_mut() = Version::HTTP_11;
    Ok(response.map(|body| UpstreamBody::new(body, upstream, &connection.idle_upstream).boxed_unsync()))
}

/// Returns the idle connection when it leads to this target, otherwise a new one.
async fn idle_or_new_upstream(
    connection: &BrowserConnection<'_>,
    host: &str,
    port: u16,
) -> Result<UpstreamConnection, ProxyError> {
    let idle_upstream = connection.idle_upstream.lock().take();
    if let Some(mut idle_upstream) = idle_upstream
        && idle_upstream.can_serve(host, port).await
    {
        return Ok(idle_upstream);
    }
    connect_upstream(connection, host, port).await
}

async fn connect_upstream(
    connection: &BrowserConnection<'_>,
    host: &str,
    port: u16,
) -> Result<UpstreamConnection, ProxyError> {
    let stream = connection.connect_target(host, port).await?;
    UpstreamConnection::new(host, port, stream).await.map_err(|error| {
        let failure = upstream_failure(&error);
        connection.proxy.target_log.record_failure(host, port, &failure);
        ProxyError { status: StatusCode::BAD_GATEWAY, reason: failure.to_string() }
    })
}

/// Returns host and port of a request in absolute form.
fn parse_target(uri: &Uri) -> Result<(String, u16), ProxyError> {
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "ws"), Some(host)) => Ok((host.to_owned(), uri.port_u16().unwrap_or(80))),
        _ => Err(ProxyError::bad_request("this is a proxy: request an address that starts with http://")),
    }
}

/// Returns the protocols that the sender of these fields wants to upgrade to.
fn upgrade_protocols(headers: &HeaderMap) -> Option<HeaderValue> {
    let is_upgrade = connection_options(headers).any(|name| name == "upgrade");
    headers.get(header::UPGRADE).filter(|_| is_upgrade).cloned()
}

/// Returns the names in `Connection`, in lower case.
fn connection_options(headers: &HeaderMap) -> impl Iterator<Item = String> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase())
}

/// Turns the request of the browser into the request to the target: origin form, with the `Host` of the address
/// (RFC 9112 3.2.2).
fn rewrite_request(
    request: &mut Request<Incoming>,
    requested_protocols: Option<&HeaderValue>,
) -> Result<(), ProxyError> {
    let uri = request.uri();
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    // Credentials in the address do not belong in `Host`.
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = HeaderValue::from_str(host).map_err(|_| ProxyError::bad_request("the host is not valid"))?;
    *request.uri_mut() = Uri::from(path);
    *request.version_mut() = Version::HTTP_11;
    strip_hop_by_hop(request.headers_mut());
    request.headers_mut().insert(header::HOST, host);
    if let Some(requested_protocols) = requested_protocols {
        set_upgrade_headers(request.headers_mut(), requested_protocols);
    }
    Ok(())
}

fn set_upgrade_headers(headers: &mut HeaderMap, protocols: &HeaderValue) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, protocols.clone());
}

/// Removes the fields of a single connection, also those that `Connection` names (RFC 9110 7.6.1).
pub fn strip_hop_by_hop(headers: &mut HeaderMap) {
    for name in connection_options(headers).collect::<Vec<_>>() {
        headers.remove(name.as_str());
    }
    for name in &HOP_BY_HOP_HEADERS {
        headers.remove(name);
    }
}

/// Returns the failure for an exchange with the target that failed.
fn upstream_failure(error: &hyper::Error) -> Failure {
    let kind = if error.is_parse_too_large() {
        FailureKind::ResponseTooLarge
    } else if error.is_parse() {
        FailureKind::ResponseInvalid
    } else if error.is_incomplete_message() || error.is_canceled() {
        FailureKind::NoResponse
    } else {
        FailureKind::ResponseReset
    };
    Failure::new(Phase::FirstByte, kind, error.to_string())
}
