//! Any bytes as the output of an IMAP server before the login: the session ends, never continues without required TLS,
//! and chooses a login that the server offers. A library reads what follows the login.

use crate::play::{SessionRules, run_session};
use vigie::domain::{Failure, Phase};
use vigie::protocol::auth::SaslMechanism;
use vigie::protocol::imap::{LoginMethod, OpeningDialogue, OpeningDialogueOptions};
use vigie::protocol::{LineProtocol, ProtocolAction};

/// The first byte chooses the options of the session.
pub fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let is_set = |bit: u8| choice & (1 << bit) != 0;
    let [require_tls, implicit_tls, logs_in] = [0, 1, 2].map(is_set);
    let mechanisms = ["auto", "plain", "login", "cram-md5", "xoauth2"];
    let requested = SaslMechanism::from_label(mechanisms[usize::from(choice >> 4) % mechanisms.len()]);
    let opening = OpeningDialogue::new(OpeningDialogueOptions { implicit_tls, require_tls, continue_to_login: logs_in });
    let mut core = OpeningSession { opening, secure: implicit_tls, done: false };
    // A server may send any number of lines beside its replies, up to the byte limit of a session.
    run_session(
        &mut core,
        bytes,
        &SessionRules {
            secure: implicit_tls,
            may_expose_password: !require_tls,
            max_reply_lines: usize::MAX,
        },
    );
    assert!(!core.done || core.secure || !require_tls, "it went on without TLS");
    if core.done && logs_in {
        login(&core.opening, requested, core.secure);
    }
}

/// Checks that the login is on offer, and that it does not expose the password where another one would not.
fn login(opening: &OpeningDialogue, requested: Option<SaslMechanism>, secure: bool) {
    let offered = |name: &str| opening.mechanisms().any(|offer| offer.eq_ignore_ascii_case(name));
    match LoginMethod::choose(opening, requested, secure) {
        Ok(login) => {
            assert!(requested.is_none_or(|requested| login.mechanism() == requested));
            match login {
                LoginMethod::LoginCommand => assert!(!opening.has_capability("LOGINDISABLED")),
                LoginMethod::Sasl(mechanism) => assert!(offered(mechanism.sasl_name())),
            }
            let is_exposed = !secure && requested.is_none() && login.mechanism().exposes_password();
            assert!(!is_exposed || !offered("CRAM-MD5"));
        }
        Err(failure) => assert!(failure.phase == Phase::Auth && !failure.detail.is_empty()),
    }
}

/// An opening and its state.
struct OpeningSession {
    opening: OpeningDialogue,
    secure: bool,
    done: bool,
}

impl LineProtocol for OpeningSession {
    fn phase(&self) -> Phase {
        self.opening.phase()
    }

    fn on_line(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        let action = self.opening.on_line(line)?;
        self.done = action == ProtocolAction::Done;
        Ok(action)
    }

    fn on_tls_established(&mut self) -> ProtocolAction {
        assert!(!self.opening.is_preauthenticated, "TLS for somebody who is logged in");
        self.secure = true;
        let action = self.opening.on_tls_established();
        assert!(self.opening.capabilities.is_empty(), "what was offered without TLS still counts");
        action
    }
}
