//! Any bytes as what a POP3 server says, up to the opened mailbox and of a message in it: the session ends by
//! itself and gives no password away, and little of a message is kept.

use crate::play::{PASSWORD, Rules, USER, play};
use vigie::protocol::auth::{Credentials, Mechanism};
use vigie::protocol::pop3::{OpeningOptions, LoginOptions, Opening, DataLine, HeaderScanner};

/// The first byte says what the session is for.
pub fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let is_set = |bit: u8| choice & (1 << bit) != 0;
    let [require_tls, secure, logs_in] = [0, 1, 2].map(is_set);
    let mechanisms = ["auto", "plain", "login", "cram-md5", "xoauth2"];
    let login = LoginOptions {
        credentials: Credentials { user: USER.to_owned(), password: PASSWORD.to_owned() },
        mechanism: Mechanism::from_field(mechanisms[usize::from(choice >> 4) % mechanisms.len()]),
    };
    let mut core = Opening::new(OpeningOptions { require_tls, login: logs_in.then_some(login) }, secure);
    play(&mut core, bytes, &Rules { secure, may_show: !require_tls, lines: 202 });
    assert!(core.facts().mail_offers.len() <= 50);

    let mut scanner = HeaderScanner::new("X-Token");
    for line in bytes.split(|&byte| byte == b'\n') {
        let DataLine::Content(line) = DataLine::parse(line) else { break };
        scanner.push_line(line);
    }
    assert!(scanner.single_value().is_none_or(|value| value.len() <= 512));
}
