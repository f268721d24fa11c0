//! Connections through a SOCKS 5 proxy (RFC 1928), with or without a login (RFC 1929). tokio-socks runs the protocol
//! over a connection opened here.

use std::net::SocketAddr;

use tokio::net::TcpStream;
use tokio_socks::Error;
use tokio_socks::tcp::Socks5Stream;

use super::failure::{proxy_failure, proxy_io_failure, target_failure_from_proxy, target_failure_text};
use super::proxy_config::UpstreamProxy;
use crate::domain::{Failure, FailureKind};
use crate::net::deadline::Deadline;
use crate::net::timed_stream::TimedStream;

/// Length of the reply to the greeting in bytes. A proxy sends it before it tries a target.
const GREETING_REPLY_BYTES: u64 = 2;

/// Requests a connection to `target_address` from the proxy behind `stream`. The proxy must reply to the greeting by
/// `greeting_deadline`; the caller limits the time of the target.
pub(super) async fn connect(
    stream: TcpStream,
    proxy: &UpstreamProxy,
    target_address: SocketAddr,
    greeting_deadline: Deadline,
) -> Result<TcpStream, Failure> {
    let stream = TimedStream::new(stream);
    let timestamps = stream.timestamps();
    let connection = async {
        match &proxy.credentials {
            None => Socks5Stream::connect_with_socket(stream, target_address).await,
            Some(login) => {
                let (name, password) = (login.username.as_str(), login.password.as_str());
                Socks5Stream::connect_with_password_and_socket(stream, target_address, name, password).await
            }
        }
    };
    let mut connection = std::pin::pin!(connection);
    let result = match tokio::time::timeout_at(greeting_deadline.at, &mut connection).await {
        Ok(result) => result,
        Err(_) if timestamps.bytes_read() < GREETING_REPLY_BYTES => {
            return Err(proxy_failure(proxy, "it does not reply to the SOCKS 5 greeting"));
        }
        Err(_) => connection.await,
    };
    result
        .map(|stream| stream.into_inner().into_inner())
        .map_err(|error| socks_failure(proxy, target_address, error))
}

/// Converts an error to a failure, with whose fault it is. `General SOCKS server failure` says nothing about the
/// target, so it is not the target's fault; proxies report `TTL expired` when the target does not respond.
fn socks_failure(proxy: &UpstreamProxy, target_address: SocketAddr, error: Error) -> Failure {
    let kind = match error {
        Error::ConnectionRefused => FailureKind::ConnectRefused,
        Error::HostUnreachable | Error::NetworkUnreachable => FailureKind::Unreachable,
        Error::TtlExpired => FailureKind::TimedOut,
        Error::Io(error) => return proxy_io_failure(proxy, &error),
        other => return proxy_failure(proxy, &describe_error(&other, target_address)),
    };
    target_failure_from_proxy(kind, proxy, target_address, target_failure_text(kind))
}

fn describe_error(error: &Error, target_address: SocketAddr) -> String {
    match error {
        Error::GeneralSocksServerFailure => {
            format!("it failed to connect to {target_address} without a reason")
        }
        Error::ConnectionNotAllowedByRuleset => format!("its rules do not allow {target_address}"),
        Error::NoAcceptableAuthMethods => "it does not accept the login method".to_owned(),
        Error::AuthorizationRequired => "it asks for a login".to_owned(),
        Error::PasswordAuthFailure(_) => "it refused the login".to_owned(),
        Error::InvalidAuthValues(_) => "user name and password must have 1 to 255 bytes".to_owned(),
        Error::CommandNotSupported => "it does not connect to targets".to_owned(),
        Error::AddressTypeNotSupported => format!("it does not take an address such as {target_address}"),
        Error::InvalidResponseVersion => "it does not speak SOCKS 5".to_owned(),
        _ => "its reply is not valid SOCKS 5".to_owned(),
    }
}
