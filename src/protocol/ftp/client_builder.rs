//! Hands an opened control connection to suppaftp.

use std::io::{self, Write as _};
use std::net::TcpStream as StdTcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use suppaftp::tokio::ImplAsyncFtpStream;
use suppaftp::{FtpError, FtpResult, Mode};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::connector::{DataRequest, SuppaftpConnector, request_data_connection};
use super::stream::FtpStream;

/// The replies that suppaftp expects before it takes a stream from its connector: a greeting, and the permission to
/// start TLS.
const HANDSHAKE_REPLIES_FOR_SUPPAFTP: &[u8] = b"220 \r\n234 \r\n";

/// Creates a suppaftp client on `control`, and then sends PBSZ and PROT with TLS. suppaftp always opens sessions itself
/// and accepts no open one, but it continues with any stream that its connector returns, plain or TLS. So it opens a
/// session over a socket pair within this process, which is closed when this returns: nothing of it touches the
/// network.
pub(super) async fn build_client(
    control: FtpStream,
    host: &str,
    data_requests: mpsc::UnboundedSender<DataRequest>,
) -> FtpResult<ImplAsyncFtpStream<FtpStream>> {
    let (stub_stream, _stub_server) = connection_to_stub_server().map_err(FtpError::ConnectionError)?;
    let mut client = ImplAsyncFtpStream::<FtpStream>::connect_with_stream(stub_stream).await?;
    client.set_mode(Mode::ExtendedPassive);
    let connector = SuppaftpConnector::new(control, data_requests.clone());
    let client = client.passive_stream_builder(move |address| {
        Box::pin(request_data_connection(data_requests.clone(), address))
    });
    client.into_secure(connector, host).await
}

fn connection_to_stub_server() -> io::Result<(TcpStream, UnixStream)> {
    let (client, mut server) = UnixStream::pair()?;
    server.write_all(HANDSHAKE_REPLIES_FOR_SUPPAFTP)?;
    client.set_nonblocking(true)?;
    Ok((TcpStream::from_std(StdTcpStream::from(OwnedFd::from(client)))?, server))
}
