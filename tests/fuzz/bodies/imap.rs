//! Any bytes as what an IMAP server says before the login: the session ends by itself, goes nowhere without
//! the TLS that is required, and chooses a login that the server offers. What comes after the login is read
//! by a library.

use crate::play::{Rules, play};
use vigie::domain::{Failure, Phase};
use vigie::protocol::auth::Mechanism;
use vigie::protocol::imap::{LoginMethod, Opening, OpeningOptions};
use vigie::protocol::{ProtocolAction, LineProtocol};

/// The first byte says what the session is for.
pub fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let is_set = |bit: u8| choice & (1 << bit) != 0;
    let [require_tls, implicit_tls, goes_on] = [0, 1, 2].map(is_set);
    let mechanisms = ["auto", "plain", "login", "cram-md5", "xoauth2"];
    let wanted = Mechanism::from_field(mechanisms[usize::from(choice >> 4) % mechanisms.len()]);
    let opening = Opening::new(OpeningOptions { implicit_tls, require_tls, continue_to_login: goes_on });
    let mut seen = Seen { opening, secure: implicit_tls, done: false };
    // A server may say as much as it likes beside its answers, up to the bytes that a session takes.
    play(&mut seen, bytes, &Rules { secure: implicit_tls, may_show: !require_tls, lines: usize::MAX });
    assert!(!seen.done || seen.secure || !require_tls, "it went on without TLS");
    if seen.done && goes_on {
        login(&seen.opening, wanted, seen.secure);
    }
}

/// A login is one of those on offer, and does not show the password where another one would hide it.
fn login(opening: &Opening, wanted: Option<Mechanism>, secure: bool) {
    let offered = |name: &str| opening.mechanisms().any(|offer| offer.eq_ignore_ascii_case(name));
    match LoginMethod::choose(opening, wanted, secure) {
        Ok(login) => {
            assert!(wanted.is_none_or(|wanted| login.mechanism() == wanted));
            match login {
                LoginMethod::Command => assert!(!opening.has_capability("LOGINDISABLED")),
                LoginMethod::Sasl(mechanism) => assert!(offered(mechanism.name())),
            }
            let shown = !secure && wanted.is_none() && login.mechanism().exposes_password();
            assert!(!shown || !offered("CRAM-MD5"));
        }
        Err(failure) => assert!(failure.phase == Phase::Auth && !failure.detail.is_empty()),
    }
}

/// An opening, and what came of it.
struct Seen {
    opening: Opening,
    secure: bool,
    done: bool,
}

impl LineProtocol for Seen {
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
