//! The DNS target, over UDP and TCP (RFC 1035).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, Metadata, ResponseCode};
use hickory_proto::rr::{RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio_util::sync::CancellationToken;

use super::sockets;

/// Idle clients are disconnected after this time.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);
/// Longest query that is read, in bytes; a question fits into 300 bytes.
const MAX_QUERY_BYTES: usize = 1024;
/// TTL of every record in a reply.
const TTL_SECONDS: u32 = 60;

/// Serves on `sockets` until `shutdown` and returns the first address.
pub(super) fn serve(sockets: Vec<(TcpListener, UdpSocket)>, shutdown: &CancellationToken) -> SocketAddr {
    let first_address =
        sockets.first().map(|(listener, _)| sockets::first_address(std::slice::from_ref(listener)));
    for (listener, socket) in sockets {
        sockets::spawn_accept_loop(listener, shutdown, serve_tcp);
        let shutdown = shutdown.clone();
        tokio::spawn(async move { shutdown.run_until_cancelled(serve_udp(socket)).await });
    }
    first_address.unwrap_or_else(sockets::unbound_address)
}

async fn serve_udp(socket: UdpSocket) {
    let mut buffer = [0; MAX_QUERY_BYTES];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((read, client)) => {
                if let Some(reply) = build_reply(&buffer[..read]) {
                    // UDP may lose replies.
                    let _ = socket.send_to(&reply, client).await;
                }
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn serve_tcp(mut stream: TcpStream) {
    while let Ok(Ok(true)) = tokio::time::timeout(IDLE_TIMEOUT, serve_query(&mut stream)).await {}
}

/// Serves one query over TCP, where each message follows its length in two bytes. Returns false when no more queries
/// are expected.
async fn serve_query(stream: &mut TcpStream) -> io::Result<bool> {
    let length = usize::from(stream.read_u16().await?);
    if length > MAX_QUERY_BYTES {
        return Ok(false);
    }
    let mut query = vec![0; length];
    stream.read_exact(&mut query).await?;
    let Some(reply) = build_reply(&query) else { return Ok(false) };
    let mut framed = u16::try_from(reply.len()).map_err(io::Error::other)?.to_be_bytes().to_vec();
    framed.extend(reply);
    stream.write_all(&framed).await?;
    Ok(true)
}

/// Returns the reply to `query`; `None` for other messages.
fn build_reply(query: &[u8]) -> Option<Vec<u8>> {
    let query = Message::from_vec(query).ok()?;
    if query.metadata.message_type != MessageType::Query {
        return None;
    }
    let mut response = Message::response(query.metadata.id, query.metadata.op_code);
    response.metadata = Metadata::response_from_request(&query.metadata);
    response.metadata.authoritative = true;
    match query.queries.first() {
        None => response.metadata.response_code = ResponseCode::FormErr,
        Some(question) if question.name().iter().next() == Some(b"missing") => {
            response.metadata.response_code = ResponseCode::NXDomain;
        }
        Some(question) => {
            let data = match question.query_type() {
                RecordType::A => Some(RData::A(Ipv4Addr::LOCALHOST.into())),
                RecordType::AAAA => Some(RData::AAAA(Ipv6Addr::LOCALHOST.into())),
                _ => None,
            };
            let record = data.map(|data| Record::from_rdata(question.name().clone(), TTL_SECONDS, data));
            response.add_answers(record);
        }
    }
    response.add_queries(query.queries);
    response.to_vec().ok()
}
