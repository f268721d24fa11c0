//! The way through a SOCKS 5 proxy (RFC 1928), with or without a login (RFC 1929). tokio-socks speaks it over the
//! connection that was opened here.

use std::net::SocketAddr;

use tokio::net::TcpStream;
use tokio_socks::Error;
use tokio_socks::tcp::Socks5Stream;

use super::failure::{failure_text, proxy_failure, proxy_io_failure, target_failure};
use super::proxy_config::UpstreamProxy;
use crate::domain::{Failure, FailureKind};
use crate::net::deadline::Deadline;
use crate::net::timed_stream::TimedStream;

/// Bytes of the answer to the greeting, which a proxy gives before it looks at any target.
const GREETING_REPLY_BYTES: u64 = 2;

/// Asks the proxy behind `stream` for a connection to `to`. It has to answer the greeting by `patience`; how long
/// it takes with the target is up to the caller.
pub(super) async fn connect(
    stream: TcpStream,
    proxy: &UpstreamProxy,
    to: SocketAddr,
    time_limit: Deadline,
) -> Result<TcpStream, Failure> {
    let stream = TimedStream::new(stream);
    let timestamps = stream.timestamps();
    let asking = async {
        match &proxy.login {
            None => Socks5Stream::connect_with_socket(stream, to).await,
            Some(login) => {
                let (name, password) = (login.username.as_str(), login.password.as_str());
                Socks5Stream::connect_with_password_and_socket(stream, to, name, password).await
            }
        }
    };
    let mut asking = std::pin::pin!(asking);
    let answered = match tokio::time::timeout_at(time_limit.at, &mut asking).await {
        Ok(answered) => answered,
        Err(_) if timestamps.bytes_read() < GREETING_REPLY_BYTES => {
            return Err(proxy_failure(proxy, "it does not answer the greeting of SOCKS 5"));
        }
        Err(_) => asking.await,
    };
    answered.map(|stream| stream.into_inner().into_inner()).map_err(|error| socks_failure(proxy, to, error))
}

/// Whose fault an error is. `General SOCKS server failure` says nothing of the target, and so is not held
/// against it; `TTL expired` is what proxies say when the target does not answer.
fn socks_failure(proxy: &UpstreamProxy, to: SocketAddr, error: Error) -> Failure {
    let kind = match error {
        Error::ConnectionRefused => FailureKind::ConnectRefused,
        Error::HostUnreachable | Error::NetworkUnreachable => FailureKind::Unreachable,
        Error::TtlExpired => FailureKind::TimedOut,
        Error::Io(error) => return proxy_io_failure(proxy, &error),
        other => return proxy_failure(proxy, &reason(&other, to)),
    };
    target_failure(kind, proxy, to, failure_text(kind))
}

fn reason(error: &Error, to: SocketAddr) -> String {
    match error {
        Error::GeneralSocksServerFailure => format!("it failed to connect to {to} and does not say why"),
        Error::ConnectionNotAllowedByRuleset => format!("its rules do not allow {to}"),
        Error::NoAcceptableAuthMethods => "it takes no login of the kind that it got".to_owned(),
        Error::AuthorizationRequired => "it asks for a login".to_owned(),
        Error::PasswordAuthFailure(_) => "it refused the login".to_owned(),
        Error::InvalidAuthValues(_) => "user name and password must have 1 to 255 bytes".to_owned(),
        Error::CommandNotSupported => "it does not connect to targets".to_owned(),
        Error::AddressTypeNotSupported => format!("it does not take an address such as {to}"),
        Error::InvalidResponseVersion => "it does not speak SOCKS 5".to_owned(),
        _ => "its answer is not one of SOCKS 5".to_owned(),
    }
}
