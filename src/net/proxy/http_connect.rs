//! Connections through an HTTP proxy: `CONNECT` to the address (RFC 9110 9.3.6).

use std::io;
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zeroize::Zeroizing;

use super::failure::{proxy_failure, proxy_io_failure, target_failure_from_proxy, target_failure_text};
use super::proxy_config::{ProxyCredentials, UpstreamProxy};
use crate::domain::{Failure, FailureKind, replace_control_chars};
use crate::net::socket;

/// Longest response head of the proxy, in bytes.
const MAX_HEAD_BYTES: usize = 8192;
/// Maximum number of responses that are read, including the final one.
const MAX_RESPONSES: usize = 8;

/// Requests a connection to `target_address` from the proxy behind `stream`. It has no timeout: the caller sets one,
/// since the proxy responds only after it has tried the target.
pub(super) async fn connect(
    mut stream: TcpStream,
    proxy: &UpstreamProxy,
    target_address: SocketAddr,
) -> Result<TcpStream, Failure> {
    let request = build_connect_request(proxy.credentials.as_ref(), target_address);
    stream.write_all(request.as_bytes()).await.map_err(|error| proxy_io_failure(proxy, &error))?;
    let (status, head) = read_final_response(&mut stream, proxy).await?;
    let failure = match (status, &proxy.credentials) {
        (200..=299, _) => return Ok(stream),
        (407, Some(_)) => proxy_failure(proxy, "it refused the login"),
        (407, None) => proxy_failure(proxy, "it asks for a login"),
        _ => match target_failure_kind(status, &head) {
            Some(kind) => target_failure_from_proxy(
                kind,
                proxy,
                target_address,
                &format!("{} (status {status})", target_failure_text(kind)),
            ),
            None => proxy_failure(proxy, &format!("it refused {target_address} with status {status}")),
        },
    };
    Err(failure)
}

fn build_connect_request(
    credentials: Option<&ProxyCredentials>,
    target_address: SocketAddr,
) -> Zeroizing<String> {
    let encoded_credentials = credentials.map(|credentials| {
        let name_and_password =
            Zeroizing::new(format!("{}:{}", credentials.username, credentials.password.as_str()));
        Zeroizing::new(STANDARD.encode(name_and_password.as_bytes()))
    });
    let authorization_header = encoded_credentials.map(|encoded_credentials| {
        format!("Proxy-Authorization: Basic {}\r\n", encoded_credentials.as_str())
    });
    let authorization_header = Zeroizing::new(authorization_header.unwrap_or_default());
    Zeroizing::new(format!(
        "CONNECT {target_address} HTTP/1.1\r\nHost: {target_address}\r\n{}\r\n",
        authorization_header.as_str()
    ))
}

/// Reads the final response of the proxy and skips interim responses (RFC 9110 15.2).
async fn read_final_response(
    stream: &mut TcpStream,
    proxy: &UpstreamProxy,
) -> Result<(u16, Vec<u8>), Failure> {
    for _ in 0..MAX_RESPONSES {
        let head = read_response_head(stream).await.map_err(|error| proxy_io_failure(proxy, &error))?;
        match parse_status_code(&head) {
            None => return Err(proxy_failure(proxy, "it does not speak HTTP")),
            Some(100..=199) => {}
            Some(status) => return Ok((status, head)),
        }
    }
    Err(proxy_failure(proxy, "it sends no final response"))
}

/// Reads the head of the proxy's response. Bytes after the head come from the target, such as a greeting, and
/// stay in the stream.
async fn read_response_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while head.len() < MAX_HEAD_BYTES {
        let mut chunk = [0; 1024];
        let received = stream.peek(&mut chunk).await?;
        if received == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let previous_len = head.len();
        head.extend_from_slice(&chunk[..received]);
        let end = head.windows(4).position(|four| four == b"\r\n\r\n").map(|index| index + 4);
        head.truncate(end.unwrap_or(head.len()));
        stream.read_exact(&mut chunk[..head.len() - previous_len]).await?;
        if end.is_some() {
            return Ok(head);
        }
    }
    Err(io::Error::other("the head of its response is too long"))
}

/// Parses the status of a response such as `HTTP/1.1 200 OK`.
fn parse_status_code(head: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(head.split(|byte| *byte == b'\r').next()?).ok()?;
    let (version, rest) = line.split_once(' ')?;
    version.strip_prefix("HTTP/1.")?;
    rest.get(..3)?.parse().ok()
}

/// Returns the failure of the target that the response reports; `None` if the proxy itself failed or denied the
/// request. `Proxy-Status` (RFC 9209) and squid's own field are more precise than the status.
fn target_failure_kind(status: u16, head: &[u8]) -> Option<FailureKind> {
    let proxy_status_kind =
        header_value(head, "proxy-status").and_then(|value| kind_from_proxy_status(&value));
    proxy_status_kind
        .or_else(|| header_value(head, "x-squid-error").and_then(|value| kind_from_squid_error(&value)))
        .or(match status {
            502 | 503 => Some(FailureKind::Unreachable),
            504 => Some(FailureKind::TimedOut),
            _ => None,
        })
}

/// Returns the kind of the `error` parameter of a proxy (RFC 9209 2.3).
fn kind_from_proxy_status(header_value: &str) -> Option<FailureKind> {
    let error = header_value.split([';', ',']).find_map(|part| part.trim().strip_prefix("error="))?;
    match error.trim_matches('"') {
        "connection_refused" => Some(FailureKind::ConnectRefused),
        "connection_terminated" => Some(FailureKind::ConnectReset),
        "connection_timeout" => Some(FailureKind::TimedOut),
        "destination_ip_unroutable" | "destination_unavailable" => Some(FailureKind::Unreachable),
        _ => None,
    }
}

/// Returns the kind of a value such as `ERR_CONNECT_FAIL 111`: the number is the proxy's `errno`.
fn kind_from_squid_error(header_value: &str) -> Option<FailureKind> {
    let errno = header_value.trim().strip_prefix("ERR_CONNECT_FAIL ")?.trim().parse().ok()?;
    socket::socket_failure_kind(&io::Error::from_raw_os_error(errno)).filter(|kind| {
        use FailureKind::{ConnectRefused, ConnectReset, TimedOut, Unreachable};
        matches!(kind, ConnectRefused | ConnectReset | TimedOut | Unreachable)
    })
}

/// Returns the first value of the header field `name`, which must be in lower case.
fn header_value(head: &[u8], name: &str) -> Option<String> {
    head.split(|byte| *byte == b'\n').skip(1).find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let (field_name, value) = line.split_once(':')?;
        field_name.trim().eq_ignore_ascii_case(name).then(|| replace_control_chars(value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_gives_the_failure_of_the_target() {
        use FailureKind::{ConnectRefused, ConnectReset, TimedOut, Unreachable};
        for (status, fields, expected) in [
            (502, "", Some(Unreachable)),
            (504, "", Some(TimedOut)),
            (500, "", None),
            (503, "X-Squid-Error: ERR_CONNECT_FAIL 111\r\n", Some(ConnectRefused)),
            (503, "x-squid-error:ERR_CONNECT_FAIL 110\r\n", Some(TimedOut)),
            (503, "X-Squid-Error: ERR_CONNECT_FAIL 113\r\n", Some(Unreachable)),
            (503, "X-Squid-Error: ERR_CONNECT_FAIL 24\r\n", Some(Unreachable)),
            (403, "X-Squid-Error: ERR_ACCESS_DENIED 0\r\n", None),
            (502, "Proxy-Status: edge; error=connection_refused\r\n", Some(ConnectRefused)),
            (502, "Proxy-Status: a, b;x=1; error=connection_terminated\r\n", Some(ConnectReset)),
            (502, "Proxy-Status: edge; error=connection_timeout\r\n", Some(TimedOut)),
            (502, "Proxy-Status: edge; error=proxy_internal_error\r\n", Some(Unreachable)),
        ] {
            let head = format!("HTTP/1.1 {status} x\r\nVia: y\r\n{fields}\r\n");
            assert_eq!(target_failure_kind(status, head.as_bytes()), expected, "{head}");
        }
    }
}
