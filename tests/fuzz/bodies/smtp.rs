//! Any bytes as the output of an SMTP server: the session ends and does not expose the password.

use crate::play::{PASSWORD, SessionRules, USER, run_session};
use vigie::protocol::auth::{Credentials, SaslMechanism};
use vigie::protocol::smtp::{OutgoingMessage, SmtpOptions, SmtpSession};

/// The first byte chooses the options of the session.
pub fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let is_set = |bit: u8| choice & (1 << bit) != 0;
    let [require_tls, implicit_tls, logs_in, sends] = [0, 1, 2, 3].map(is_set);
    let mechanisms = ["auto", "plain", "login", "cram-md5", "xoauth2"];
    let mechanism = SaslMechanism::from_label(mechanisms[usize::from(choice >> 4) % mechanisms.len()]);
    let credentials = Credentials { user: USER.to_owned(), password: PASSWORD.to_owned() };
    let message = OutgoingMessage {
        sender: "a@a.test".to_owned(),
        recipient: "b@b.test".to_owned(),
        content: "Subject: x\n\n.a line\n".to_owned(),
    };
    let mut core = SmtpSession::new(SmtpOptions {
        ehlo_name: "localhost".to_owned(),
        implicit_tls,
        require_tls,
        credentials: logs_in.then_some(credentials),
        mechanism,
        message: sends.then_some(message),
    });
    run_session(
        &mut core,
        bytes,
        &SessionRules { secure: implicit_tls, may_expose_password: !require_tls, max_reply_lines: 100 },
    );
    assert!(!core.was_message_accepted || sends);
    assert!(!core.password_in_clear || logs_in && !require_tls && !implicit_tls);
}
