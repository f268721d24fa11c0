//! Streams of an HTTP/3 connection.

use bytes::Bytes;
use h3::client::{RequestStream, SendRequest};
use h3_quinn::{BidiStream, OpenStreams};

pub(super) type Http3Stream = RequestStream<BidiStream<Bytes>, Bytes>;

pub(super) type Http3Sender = SendRequest<OpenStreams, Bytes>;
