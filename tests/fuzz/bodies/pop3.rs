//! Any bytes as the output of a POP3 server, up to the opened mailbox and of a message in it: the session ends and does
//! not expose the password, and little of a message is kept.

use crate::play::{PASSWORD, SessionRules, USER, run_session};
use vigie::protocol::auth::{Credentials, SaslMechanism};
use vigie::protocol::pop3::{DataLine, HeaderScanner, LoginOptions, OpeningDialogue, OpeningDialogueOptions};

/// The first byte chooses the options of the session.
pub fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let is_set = |bit: u8| choice & (1 << bit) != 0;
    let [require_tls, secure, logs_in] = [0, 1, 2].map(is_set);
    let mechanisms = ["auto", "plain", "login", "cram-md5", "xoauth2"];
    let login = LoginOptions {
        credentials: Credentials { user: USER.to_owned(), password: PASSWORD.to_owned() },
        mechanism: SaslMechanism::from_label(mechanisms[usize::from(choice >> 4) % mechanisms.len()]),
    };
    let mut core = OpeningDialogue::new(OpeningDialogueOptions { require_tls, login: logs_in.then_some(login) }, secure);
    run_session(
        &mut core,
        bytes,
        &SessionRules { secure, may_expose_password: !require_tls, max_reply_lines: 202 },
    );
    assert!(core.facts().mail_capabilities.len() <= 50);

    let mut scanner = HeaderScanner::new("X-Token");
    for line in bytes.split(|&byte| byte == b'\n') {
        let DataLine::Content(line) = DataLine::parse(line) else { break };
        scanner.push_line(line);
    }
    assert!(scanner.single_value().is_none_or(|value| value.len() <= 512));
}
