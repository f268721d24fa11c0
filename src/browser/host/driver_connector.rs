//! Connects a WebDriver client to the driver of a hosted session.

use std::path::PathBuf;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tower::{BoxError, Service};

use super::messages::{OpenRequest, write_message};
use crate::subprocess::response_limit_connector::ResponseLimitStream;

/// Opens connections to the driver of one session.
#[derive(Clone, Debug)]
pub(in crate::browser) struct DriverConnector {
    pub(super) socket: PathBuf,
    pub(super) session_name: String,
}

impl Service<Uri> for DriverConnector {
    type Response = TokioIo<ResponseLimitStream<UnixStream>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let Self { socket, session_name } = self.clone();
        Box::pin(async move {
            let mut stream = UnixStream::connect(socket).await?;
            write_message(&mut stream, &OpenRequest::Driver { session_name }).await?;
            Ok(TokioIo::new(ResponseLimitStream::new(stream)))
        })
    }
}
