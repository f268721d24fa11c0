//! Parses the answer of a server to a hello as its bytes arrive: records, the messages in them, and their bounds.

use super::byte_reader::ByteReader;
use super::malformed::Malformed;
use super::server_flight::{ServerFlight, parse_certificate_status, parse_certificates, parse_key_exchange};
use super::server_hello::ServerHello;
use crate::domain::ScannedTlsVersion;

/// Longest answer, in bytes.
pub(super) const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// Longest message, in bytes: room for the certificates of a server.
const MAX_MESSAGE_BYTES: usize = 128 * 1024;
/// Bytes of type, version and length of a record.
const RECORD_HEAD_BYTES: usize = 5;
/// Longest record, in bytes: that of TLS 1.2 with the room for encryption (RFC 5246 6.2.3).
const MAX_RECORD_BYTES: usize = 16 * 1024 + 2048;
/// Most records that say nothing: warnings, empty ones, requests for a hello.
const MAX_IDLE_RECORDS: usize = 64;
/// Bytes of something other than TLS that are shown.
const MAX_SHOWN_BYTES: usize = 24;

const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
/// Types of records: from [`CHANGE_CIPHER_SPEC`] to heartbeats.
const RECORD_TYPES: std::ops::RangeInclusive<u8> = CHANGE_CIPHER_SPEC..=24;
const FATAL: u8 = 2;
const CLOSE_NOTIFY: u8 = 0;

/// How much of an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerExtent {
    /// Up to the `ServerHello`.
    Hello,
    /// Up to the end of what the server sends by itself. In TLS 1.3 the rest is encrypted, and the same as
    /// [`Self::Hello`].
    Flight,
}

/// What a server answered to a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAnswer {
    /// It chose something.
    Accepted(Box<ServerFlight>),
    /// It refused with the alert of this number (RFC 8446 6.2).
    Alert(u8),
    /// It closed the connection without a word.
    Closed,
    /// It does not speak TLS: the start of what it sent, escaped.
    NotTls(String),
    /// It breaks the rules of TLS.
    Malformed(Malformed),
    /// It sends without end; the reason.
    Endless(&'static str),
}

/// Collects the bytes of one answer.
#[derive(Debug)]
pub struct AnswerParser {
    extent: AnswerExtent,
    records: Vec<u8>,
    /// Content of handshake records that is not a whole message yet.
    messages: Vec<u8>,
    received_bytes: usize,
    idle_records: usize,
    has_seen_record: bool,
    has_seen_hello: bool,
    flight: ServerFlight,
}

impl AnswerParser {
    /// Starts with nothing received.
    #[must_use]
    pub fn new(extent: AnswerExtent) -> Self {
        Self {
            extent,
            records: Vec::new(),
            messages: Vec::new(),
            received_bytes: 0,
            idle_records: 0,
            has_seen_record: false,
            has_seen_hello: false,
            flight: ServerFlight::default(),
        }
    }

    /// Adds bytes; returns the answer once it is complete.
    pub fn push(&mut self, bytes: &[u8]) -> Option<ServerAnswer> {
        self.received_bytes += bytes.len();
        self.records.extend_from_slice(bytes);
        let mut start = 0;
        loop {
            match self.record_at(start) {
                Ok(Some((kind, content))) => {
                    start += RECORD_HEAD_BYTES + content.len();
                    self.has_seen_record = true;
                    if let Some(answer) = self.on_record(kind, &content) {
                        return Some(answer);
                    }
                }
                Ok(None) if self.received_bytes > MAX_ANSWER_BYTES => {
                    return Some(ServerAnswer::Endless("more than 256 KiB without an end"));
                }
                Ok(None) => {
                    self.records.drain(..start);
                    return None;
                }
                Err(answer) => return Some(answer),
            }
        }
    }

    /// Returns the answer of a server that closed the connection.
    #[must_use]
    pub fn on_closed(self) -> ServerAnswer {
        if self.has_seen_hello {
            return ServerAnswer::Accepted(Box::new(self.flight));
        }
        // The end of a line that is shorter than the head of a record.
        if !self.has_seen_record && !self.records.is_empty() {
            return self.not_tls();
        }
        ServerAnswer::Closed
    }

    fn not_tls(&self) -> ServerAnswer {
        let shown = &self.records[..self.records.len().min(MAX_SHOWN_BYTES)];
        ServerAnswer::NotTls(shown.escape_ascii().to_string())
    }

    /// Returns type and content of the record at `start`; `None` when it is not complete.
    fn record_at(&self, start: usize) -> Result<Option<(u8, Vec<u8>)>, ServerAnswer> {
        let mut reader = ByteReader(&self.records[start..]);
        let Some(kind) = reader.u8() else { return Ok(None) };
        let version = reader.u8();
        let is_record = RECORD_TYPES.contains(&kind) && version.is_none_or(|major| major == 3);
        if !is_record {
            let malformed = ServerAnswer::Malformed(Malformed("the head of a record"));
            return Err(if self.has_seen_record { malformed } else { self.not_tls() });
        }
        let Some(length) = reader.u8().and_then(|_| reader.u16()).map(usize::from) else { return Ok(None) };
        if length > MAX_RECORD_BYTES {
            return Err(ServerAnswer::Malformed(Malformed("the length of a record")));
        }
        Ok(reader.take(length).map(|content| (kind, content.to_vec())))
    }

    fn on_record(&mut self, kind: u8, content: &[u8]) -> Option<ServerAnswer> {
        match kind {
            HANDSHAKE if !content.is_empty() => {
                self.messages.extend_from_slice(content);
                self.read_messages()
            }
            ALERT => match content {
                [FATAL, description] => Some(self.on_alert(*description)),
                // A warning that the connection ends is an end too.
                [_, CLOSE_NOTIFY] => Some(self.on_alert(CLOSE_NOTIFY)),
                [_, _] => self.count_idle_record(),
                _ => Some(ServerAnswer::Malformed(Malformed("an alert"))),
            },
            // From here on everything is encrypted.
            CHANGE_CIPHER_SPEC if self.has_seen_hello => Some(self.accepted()),
            _ => self.count_idle_record(),
        }
    }

    fn on_alert(&self, description: u8) -> ServerAnswer {
        // After its hello the server has chosen, whatever it misses then.
        if self.has_seen_hello { self.accepted() } else { ServerAnswer::Alert(description) }
    }

    fn accepted(&self) -> ServerAnswer {
        ServerAnswer::Accepted(Box::new(self.flight.clone()))
    }

    fn count_idle_record(&mut self) -> Option<ServerAnswer> {
        self.idle_records += 1;
        (self.idle_records > MAX_IDLE_RECORDS).then_some(ServerAnswer::Endless("records that say nothing"))
    }

    fn read_messages(&mut self) -> Option<ServerAnswer> {
        let mut reader_start = 0;
        let answer = loop {
            let mut reader = ByteReader(&self.messages[reader_start..]);
            let Some(kind) = reader.u8() else { break None };
            if reader.peek_u24().is_some_and(|length| length > MAX_MESSAGE_BYTES) {
                break Some(ServerAnswer::Endless("a message of more than 128 KiB"));
            }
            let Some(body) = reader.vector24() else { break None };
            let body = body.to_vec();
            reader_start += 4 + body.len();
            match self.on_message(kind, &body) {
                Ok(None) => {}
                Ok(Some(answer)) => break Some(answer),
                Err(malformed) => break Some(ServerAnswer::Malformed(malformed)),
            }
        };
        self.messages.drain(..reader_start);
        answer
    }

    fn on_message(&mut self, kind: u8, body: &[u8]) -> Result<Option<ServerAnswer>, Malformed> {
        const HELLO_REQUEST: u8 = 0;
        const SERVER_HELLO: u8 = 2;
        const CERTIFICATE: u8 = 11;
        const SERVER_KEY_EXCHANGE: u8 = 12;
        const SERVER_HELLO_DONE: u8 = 14;
        const CERTIFICATE_STATUS: u8 = 22;
        match kind {
            HELLO_REQUEST => return Ok(self.count_idle_record()),
            SERVER_HELLO => {
                if self.has_seen_hello {
                    return Err(Malformed("the second ServerHello"));
                }
                self.flight.hello = ServerHello::parse(body)?;
                self.has_seen_hello = true;
                let is_tls13 = self.flight.hello.version == ScannedTlsVersion::Tls13.wire_version();
                if is_tls13 || self.extent == AnswerExtent::Hello {
                    return Ok(Some(self.accepted()));
                }
            }
            _ if !self.has_seen_hello => return Err(Malformed("the message before ServerHello")),
            CERTIFICATE => self.flight.certificate_chain = parse_certificates(body)?,
            CERTIFICATE_STATUS => self.flight.ocsp_response = parse_certificate_status(body)?,
            SERVER_KEY_EXCHANGE => self.flight.key_exchange = parse_key_exchange(&self.flight.hello, body)?,
            SERVER_HELLO_DONE => return Ok(Some(self.accepted())),
            // Requests for a certificate of the client, tickets and what else there may be.
            _ => {}
        }
        Ok(None)
    }
}
