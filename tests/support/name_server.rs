//! A scripted DNS server on loopback, over UDP and TCP.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hickory_proto::op::{Message, MessageType, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

/// How the server replies to one query.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Replies with these records.
    Records(Vec<RData>),
    /// Replies with these records, with the flag "recursion available".
    Recursive(Vec<RData>),
    /// Replies with a response code and no records.
    Code(ResponseCode),
    /// Replies with the truncation flag over UDP, and with these records over TCP.
    TruncatedOverUdp(Vec<RData>),
    /// Sends no reply; over TCP closes the connection.
    Silence,
    /// Replies with a wrong id.
    WrongId,
    /// Replies to a different question.
    WrongQuestion,
    /// Sends a valid header and then a cut body.
    Rubbish,
    /// Sends these bytes first, then the records.
    After(Vec<u8>, Vec<RData>),
    /// Sends half a message over TCP.
    Half,
}

pub struct NameServer {
    pub at: SocketAddr,
    questions: Arc<AtomicUsize>,
    client_addresses: Arc<Mutex<Vec<SocketAddr>>>,
}

impl NameServer {
    /// Starts a server on `ip`. `script` decides the reply by name (lower case, without the last dot) and type.
    pub async fn start<F>(ip: &str, script: F) -> Self
    where
        F: Fn(&str, RecordType) -> Reply + Send + Sync + 'static,
    {
        let (tcp, udp) = loop {
            let tcp = TcpListener::bind((ip, 0)).await.unwrap();
            // The same port may be in use for UDP.
            if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
                break (tcp, udp);
            }
        };
        let at = tcp.local_addr().unwrap();
        let questions = Arc::new(AtomicUsize::new(0));
        let script = Arc::new(script);
        let client_addresses = Arc::new(Mutex::default());
        tokio::spawn(serve_udp(udp, script.clone(), questions.clone(), client_addresses.clone()));
        tokio::spawn(serve_tcp(tcp, script));
        Self { at, questions, client_addresses }
    }

    /// Returns how many UDP queries have arrived so far.
    pub fn questions(&self) -> usize {
        self.questions.load(Ordering::SeqCst)
    }

    /// Returns the source addresses of those queries.
    pub fn client_addresses(&self) -> Vec<SocketAddr> {
        self.client_addresses.lock().unwrap().clone()
    }
}

type Script = Arc<dyn Fn(&str, RecordType) -> Reply + Send + Sync>;

async fn serve_udp(
    socket: UdpSocket,
    script: Script,
    questions: Arc<AtomicUsize>,
    client_addresses: Arc<Mutex<Vec<SocketAddr>>>,
) {
    let mut buffer = [0; 4096];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        questions.fetch_add(1, Ordering::SeqCst);
        client_addresses.lock().unwrap().push(from);
        let query = Message::from_vec(&buffer[..length]).unwrap();
        for datagram in datagrams(&query, &scripted_reply(&script, &query)) {
            socket.send_to(&datagram, from).await.unwrap();
        }
    }
}

async fn serve_tcp(listener: TcpListener, script: Script) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let length = stream.read_u16().await.unwrap();
        let mut bytes = vec![0; usize::from(length)];
        stream.read_exact(&mut bytes).await.unwrap();
        let query = Message::from_vec(&bytes).unwrap();
        let reply = scripted_reply(&script, &query);
        let messages = match &reply {
            Reply::TruncatedOverUdp(records) => {
                vec![answer(&query, records, ResponseCode::NoError).to_vec().unwrap()]
            }
            Reply::Half => {
                stream.write_all(&[1, 0, 7, 7, 7]).await.unwrap();
                continue;
            }
            other => datagrams(&query, other),
        };
        for message in messages {
            stream.write_u16(u16::try_from(message.len()).unwrap()).await.unwrap();
            stream.write_all(&message).await.unwrap();
        }
    }
}

fn scripted_reply(script: &Script, query: &Message) -> Reply {
    let question = &query.queries[0];
    let name = question.name().to_string().to_ascii_lowercase();
    script(name.trim_end_matches('.'), question.query_type())
}

fn datagrams(query: &Message, reply: &Reply) -> Vec<Vec<u8>> {
    let bytes = |message: Message| message.to_vec().unwrap();
    let fine = ResponseCode::NoError;
    match reply {
        Reply::Records(records) => vec![bytes(answer(query, records, fine))],
        Reply::Recursive(records) => {
            let mut message = answer(query, records, fine);
            message.metadata.recursion_available = true;
            vec![bytes(message)]
        }
        Reply::Code(code) => vec![bytes(answer(query, &[], *code))],
        Reply::TruncatedOverUdp(_) | Reply::Half => {
            let mut message = answer(query, &[], fine);
            message.metadata.truncation = true;
            vec![bytes(message)]
        }
        Reply::Silence => Vec::new(),
        Reply::WrongId => {
            let mut message = answer(query, &[v4("192.0.2.66")], fine);
            message.metadata.id ^= 1;
            vec![bytes(message)]
        }
        Reply::WrongQuestion => {
            let mut message = answer(query, &[v4("192.0.2.66")], fine);
            message.queries = vec![Query::query(Name::from_ascii("other.test.").unwrap(), RecordType::A)];
            vec![bytes(message)]
        }
        Reply::Rubbish => {
            let mut whole = bytes(answer(query, &[v4("192.0.2.1")], fine));
            whole.truncate(whole.len() - 3);
            vec![whole]
        }
        Reply::After(first, records) => vec![first.clone(), bytes(answer(query, records, fine))],
    }
}

pub fn answer(query: &Message, records: &[RData], code: ResponseCode) -> Message {
    let mut message = Message::new(query.metadata.id, MessageType::Response, query.metadata.op_code);
    message.metadata.response_code = code;
    message.metadata.authoritative = true;
    message.add_queries(query.queries.clone());
    // Records after an alias belong to the name that the alias points to.
    let mut name = query.queries[0].name().clone();
    for data in records {
        message.add_answer(Record::from_rdata(name.clone(), 60, data.clone()));
        if let RData::CNAME(alias) = data {
            name = alias.0.clone();
        }
    }
    message
}

pub fn v4(text: &str) -> RData {
    let IpAddr::V4(ip) = text.parse().unwrap() else { panic!("{text} is not IPv4") };
    RData::A(A(ip))
}

pub fn v6(text: &str) -> RData {
    let IpAddr::V6(ip) = text.parse().unwrap() else { panic!("{text} is not IPv6") };
    RData::AAAA(AAAA(ip))
}

pub fn alias(text: &str) -> RData {
    RData::CNAME(CNAME(Name::from_ascii(text).unwrap()))
}
