//! Feeds bytes, split into lines, to the core of a protocol, as a session does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use vigie::domain::FailureKind;
use vigie::protocol::{LineProtocol, ProtocolAction};

/// The user that logs in.
pub const USER: &str = "user@a.test";
/// The password, which must not be exposed.
pub const PASSWORD: &str = "the-password-of-nobody";

/// Longest line that a session hands on, in bytes.
const LINE: usize = 8 * 1024;

/// The conditions of a session.
pub struct SessionRules {
    /// Whether TLS is used from the start.
    pub secure: bool,
    /// Whether the password may be sent without TLS.
    pub may_expose_password: bool,
    /// Greatest number of lines of one reply.
    pub max_reply_lines: usize,
}

/// Feeds `bytes` to `core`. It must end, must not expose the password, and may start TLS once.
pub fn run_session(core: &mut impl LineProtocol, bytes: &[u8], rules: &SessionRules) {
    let mut secure = rules.secure;
    let mut reply_lines = 0;
    // A server that knows the password may send it back; the session masks that.
    let is_echoed = contains_password(&String::from_utf8_lossy(bytes));
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > LINE {
            return;
        }
        let mut action = match core.on_line(&String::from_utf8_lossy(line)) {
            Ok(action) => action,
            Err(failure) => {
                assert!(is_echoed || !contains_password(&failure.detail), "{failure}");
                assert!(failure.kind != FailureKind::Internal, "the peer's fault is called ours: {failure}");
                return;
            }
        };
        if action == ProtocolAction::StartTls {
            assert!(!secure, "TLS twice");
            secure = true;
            action = core.on_tls_established();
        }
        match action {
            ProtocolAction::StartTls => panic!("TLS twice"),
            ProtocolAction::Done => return,
            ProtocolAction::ReadLine => {
                reply_lines += 1;
                assert!(reply_lines <= rules.max_reply_lines, "an answer without end");
            }
            ProtocolAction::SendLine(line) => {
                reply_lines = 0;
                assert!(
                    secure || rules.may_expose_password || !contains_password(line.text()),
                    "in clear: {line:?}"
                );
                assert!(is_echoed || !contains_password(line.redacted()), "in the transcript: {line:?}");
                assert!(
                    line.redacted() != line.text() || !line.text().contains(['\r', '\n']),
                    "two commands in one: {line:?}"
                );
            }
        }
    }
}

/// Whether `text` contains the password, in clear or in Base64.
fn contains_password(text: &str) -> bool {
    let decoded = |token: &str| STANDARD.decode(token.trim_matches(['`', '"', '.', ','])).unwrap_or_default();
    let password = PASSWORD.as_bytes();
    text.contains(PASSWORD)
        || text
            .split_whitespace()
            .any(|token| decoded(token).windows(password.len()).any(|part| part == password))
}
