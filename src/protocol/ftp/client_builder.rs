//! Handing suppaftp a control connection whose opening is done.

use std::io::{self, Write as _};
use std::net::TcpStream as Plain;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use suppaftp::tokio::ImplAsyncFtpStream;
use suppaftp::{FtpError, FtpResult, Mode};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::connector::{DataConnector, DataRequest, request_data_connection};
use super::stream::FtpStream;

/// What suppaftp waits for before it takes a stream from its connector: a greeting, and leave to begin TLS.
const STUB_REPLIES: &[u8] = b"220 \r\n234 \r\n";

/// A client of suppaftp over `control`, and after that PBSZ and PROT when there is TLS. suppaftp always opens
/// a session itself and takes none that is open; but whatever stream its connector brings, plain or under
/// TLS, it goes on with. So it opens one over a pair of sockets of this process, which is gone when this
/// returns: nothing of it touches the network.
pub(super) async fn build_client(
    control: FtpStream,
    host: &str,
    data_requests: mpsc::UnboundedSender<DataRequest>,
) -> FtpResult<ImplAsyncFtpStream<FtpStream>> {
    let (near, _far) = stub_connection().map_err(FtpError::ConnectionError)?;
    let mut client = ImplAsyncFtpStream::<FtpStream>::connect_with_stream(near).await?;
    client.set_mode(Mode::ExtendedPassive);
    let connector = DataConnector::new(control, data_requests.clone());
    let client = client.passive_stream_builder(move |address| {
        Box::pin(request_data_connection(data_requests.clone(), address))
    });
    client.into_secure(connector, host).await
}

fn stub_connection() -> io::Result<(TcpStream, UnixStream)> {
    let (near, mut far) = UnixStream::pair()?;
    far.write_all(STUB_REPLIES)?;
    near.set_nonblocking(true)?;
    Ok((TcpStream::from_std(Plain::from(OwnedFd::from(near)))?, far))
}
