//! Records the cipher suite that a server chooses. quinn does not report it, so it is read from the `ServerHello`
//! before that reaches the TLS library.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use quinn::ConnectError;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::crypto::{ClientConfig, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectionId, Side, TransportError};

/// The type of a `ServerHello` (RFC 8446 4). A `HelloRetryRequest` has the same form, and must name the same suite as
/// the `ServerHello` after it.
const SERVER_HELLO: u8 = 2;
/// Bytes before the length of the session id: type, length, version, random.
const SESSION_ID_LEN_OFFSET: usize = 1 + 3 + 2 + 32;
/// Longest prefix up to the suite, in bytes: a session id has at most 32.
const MAX_HELLO_PREFIX: usize = SESSION_ID_LEN_OFFSET + 1 + 32 + 2;

/// The number of the suite, once it is known.
pub(super) type SharedCipherSuite = Arc<OnceLock<u16>>;

/// A configuration whose sessions record their suite.
pub(super) struct SuiteRecordingConfig {
    pub(super) inner: Arc<QuicClientConfig>,
    pub(super) suite: SharedCipherSuite,
}

impl ClientConfig for SuiteRecordingConfig {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let inner = Arc::clone(&self.inner).start_session(version, server_name, params)?;
        Ok(Box::new(SuiteRecordingSession {
            inner,
            suite: Arc::clone(&self.suite),
            hello_prefix: Vec::with_capacity(MAX_HELLO_PREFIX),
        }))
    }
}

/// A session that records its suite.
struct SuiteRecordingSession {
    inner: Box<dyn Session>,
    suite: SharedCipherSuite,
    /// The first bytes received from the server.
    hello_prefix: Vec<u8>,
}

impl SuiteRecordingSession {
    fn record_hello_bytes(&mut self, bytes: &[u8]) {
        let appended_len = bytes.len().min(MAX_HELLO_PREFIX - self.hello_prefix.len());
        self.hello_prefix.extend_from_slice(&bytes[..appended_len]);
        if let Some(suite) = parse_cipher_suite(&self.hello_prefix) {
            self.suite.get_or_init(|| suite);
        }
    }
}

/// Parses the suite of a `ServerHello`, once enough of it was received.
fn parse_cipher_suite(hello_prefix: &[u8]) -> Option<u16> {
    let session_id_len = usize::from(*hello_prefix.get(SESSION_ID_LEN_OFFSET)?);
    let suite = hello_prefix.get(SESSION_ID_LEN_OFFSET + 1 + session_id_len..)?.get(..2)?;
    (hello_prefix[0] == SERVER_HELLO).then(|| u16::from_be_bytes([suite[0], suite[1]]))
}

impl Session for SuiteRecordingSession {
    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.record_hello_bytes(bytes);
        self.inner.read_handshake(bytes)
    }

    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        self.inner.initial_keys(dst_cid, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.inner.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.inner.transport_parameters()
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        self.inner.write_handshake(out)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.inner.next_1rtt_keys()
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(kind: u8, session_id_len: usize) -> Vec<u8> {
        let mut hello = vec![kind, 0, 0, 90, 3, 3];
        hello.extend([7; 32]);
        hello.extend([u8::try_from(session_id_len).unwrap()]);
        hello.extend(vec![9; session_id_len]);
        hello.extend([0x13, 0x02, 0, 0, 40]);
        hello
    }

    #[test]
    fn the_suite_is_found_once_enough_of_a_server_hello_was_received() {
        for session_id_len in [0, 1, 32] {
            let full_hello = hello(SERVER_HELLO, session_id_len);
            let end = SESSION_ID_LEN_OFFSET + 1 + session_id_len + 2;
            for received_len in 0..full_hello.len() {
                assert_eq!(
                    parse_cipher_suite(&full_hello[..received_len]),
                    (received_len >= end).then_some(0x1302),
                    "{session_id_len} {received_len}"
                );
            }
        }
        assert_eq!(parse_cipher_suite(&hello(1, 0)), None);
        assert_eq!(parse_cipher_suite(&[SERVER_HELLO; MAX_HELLO_PREFIX]), Some(0x0202));
        assert_eq!(parse_cipher_suite(&[0xff; MAX_HELLO_PREFIX]), None);
    }
}
