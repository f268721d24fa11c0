//! The callbacks of suppaftp for connections and TLS. They send requests to the driver, `FtpDriver`, which owns
//! the network and the deadline of the session.

use crate::sync::Mutex;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use suppaftp::tokio::AsyncTlsConnector;
use suppaftp::{FtpError, FtpResult};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

use super::stream::FtpStream;

/// A request to the driver, since callbacks of suppaftp may borrow nothing. The response `None` means that it failed;
/// the `SessionRecorder` has the reason.
pub(super) enum DataRequest {
    /// A data connection to the address that the server sent.
    Connect(SocketAddr, oneshot::Sender<Option<TcpStream>>),
    /// TLS on a data connection, if the session uses TLS.
    StartTls(TcpStream, oneshot::Sender<Option<FtpStream>>),
}

/// A connector that only sends requests to the driver.
#[derive(Debug)]
pub(super) struct SuppaftpConnector {
    /// The control connection: the first call of `connect` returns it; later ones are for data connections.
    control: Mutex<Option<FtpStream>>,
    data_requests: mpsc::UnboundedSender<DataRequest>,
}

impl SuppaftpConnector {
    pub(super) fn new(control: FtpStream, data_requests: mpsc::UnboundedSender<DataRequest>) -> Self {
        Self { control: Mutex::new(Some(control)), data_requests }
    }
}

impl AsyncTlsConnector for SuppaftpConnector {
    type Stream = FtpStream;

    fn connect<'a, 'b, 'c>(
        &'a self,
        _: &'b str,
        stream: TcpStream,
    ) -> Pin<Box<dyn Future<Output = FtpResult<FtpStream>> + Send + 'c>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let control = self.control.lock().take();
        let data_requests = self.data_requests.clone();
        Box::pin(async move {
            match control {
                Some(control) => Ok(control),
                None => {
                    send_data_request(&data_requests, |response_sender| {
                        DataRequest::StartTls(stream, response_sender)
                    })
                    .await
                }
            }
        })
    }
}

/// Requests a data connection to `address`.
pub(super) async fn request_data_connection(
    data_requests: mpsc::UnboundedSender<DataRequest>,
    address: SocketAddr,
) -> FtpResult<TcpStream> {
    send_data_request(&data_requests, |response_sender| DataRequest::Connect(address, response_sender)).await
}

async fn send_data_request<T>(
    data_requests: &mpsc::UnboundedSender<DataRequest>,
    data_request: impl FnOnce(oneshot::Sender<Option<T>>) -> DataRequest,
) -> FtpResult<T> {
    let (sender, response) = oneshot::channel();
    let sent = data_requests.send(data_request(sender)).is_ok();
    let result = if sent { response.await.ok().flatten() } else { None };
    result.ok_or_else(|| FtpError::ConnectionError(io::Error::other("there is no data connection")))
}
