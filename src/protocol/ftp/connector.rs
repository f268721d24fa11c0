//! What suppaftp calls when it wants a connection or TLS on it: both are errands for the desk.

use crate::sync::Mutex;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use suppaftp::tokio::AsyncTlsConnector;
use suppaftp::{FtpError, FtpResult};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

use super::wire::Wire;

/// Something that has to be done outside of suppaftp, whose callbacks may borrow nothing. `None` as an
/// answer: it failed, and the watch knows why.
pub(super) enum Errand {
    /// A data connection to where the server said.
    Dial(SocketAddr, oneshot::Sender<Option<TcpStream>>),
    /// TLS on it, when there is TLS.
    Protect(TcpStream, oneshot::Sender<Option<Wire>>),
}

/// Runs no errand itself.
#[derive(Debug)]
pub(super) struct Connector {
    /// The control connection, for the first call.
    control: Mutex<Option<Wire>>,
    errands: mpsc::UnboundedSender<Errand>,
}

impl Connector {
    pub(super) fn new(control: Wire, errands: mpsc::UnboundedSender<Errand>) -> Self {
        Self { control: Mutex::new(Some(control)), errands }
    }
}

impl AsyncTlsConnector for Connector {
    type Stream = Wire;

    fn connect<'a, 'b, 'c>(
        &'a self,
        _: &'b str,
        stream: TcpStream,
    ) -> Pin<Box<dyn Future<Output = FtpResult<Wire>> + Send + 'c>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let control = self.control.lock().take();
        let errands = self.errands.clone();
        Box::pin(async move {
            match control {
                Some(control) => Ok(control),
                None => ask(&errands, |answer| Errand::Protect(stream, answer)).await,
            }
        })
    }
}

/// A data connection to `address`.
pub(super) async fn dial(
    errands: mpsc::UnboundedSender<Errand>,
    address: SocketAddr,
) -> FtpResult<TcpStream> {
    ask(&errands, |answer| Errand::Dial(address, answer)).await
}

async fn ask<T>(
    errands: &mpsc::UnboundedSender<Errand>,
    errand: impl FnOnce(oneshot::Sender<Option<T>>) -> Errand,
) -> FtpResult<T> {
    let (sender, answer) = oneshot::channel();
    let sent = errands.send(errand(sender)).is_ok();
    let got = if sent { answer.await.ok().flatten() } else { None };
    got.ok_or_else(|| FtpError::ConnectionError(io::Error::other("there is no data connection")))
}
