//! Plays bytes, cut into lines, against the core of a protocol, as a session would.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use vigie::domain::FailureKind;
use vigie::protocol::{LineProtocol, ProtocolAction};

/// A user.
pub const USER: &str = "user@a.test";
/// What nobody may see.
pub const PASSWORD: &str = "the-password-of-nobody";

/// Bytes of one line that a session hands on.
const LINE: usize = 8 * 1024;

/// What holds for a session.
pub struct Rules {
    /// Whether TLS stands from the start.
    pub secure: bool,
    /// Whether the password may go out without TLS.
    pub may_show: bool,
    /// Lines of one answer, at most.
    pub lines: usize,
}

/// Lets `core` hear `bytes`. It ends by itself, says no password where it must not, and asks for TLS once.
pub fn play(core: &mut impl LineProtocol, bytes: &[u8], rules: &Rules) {
    let mut secure = rules.secure;
    let mut waited = 0;
    // A server that knows the password may say it; the session masks that.
    let told = shows(&String::from_utf8_lossy(bytes));
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > LINE {
            return;
        }
        let mut action = match core.on_line(&String::from_utf8_lossy(line)) {
            Ok(action) => action,
            Err(failure) => {
                assert!(told || !shows(&failure.detail), "{failure}");
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
                waited += 1;
                assert!(waited <= rules.lines, "an answer without end");
            }
            ProtocolAction::SendLine(line) => {
                waited = 0;
                assert!(secure || rules.may_show || !shows(line.text()), "in clear: {line:?}");
                assert!(told || !shows(line.redacted()), "in the transcript: {line:?}");
                assert!(
                    line.redacted() != line.text() || !line.text().contains(['\r', '\n']),
                    "two commands in one: {line:?}"
                );
            }
        }
    }
}

/// Whether the password stands in `text`, as it is or in Base64.
fn shows(text: &str) -> bool {
    let decoded = |word: &str| STANDARD.decode(word.trim_matches(['`', '"', '.', ','])).unwrap_or_default();
    let hidden = PASSWORD.as_bytes();
    text.contains(PASSWORD)
        || text.split_whitespace().any(|word| decoded(word).windows(hidden.len()).any(|part| part == hidden))
}
