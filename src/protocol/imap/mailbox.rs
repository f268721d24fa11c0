//! Login, mailbox and logout, by the IMAP library.

use async_imap::error::Error;
use async_imap::{Authenticator, Client};
use tokio::time::Instant;

use super::super::auth::{Credentials, SaslMechanism, choose_mechanism, client_response};
use super::super::line_session::{LineSession, QUIT_TIMEOUT};
use super::super::transcript::Transcript;
use super::bounded_stream::{BoundedStream, SharedLog};
use super::opening_dialogue::OpeningDialogue;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{Deadline, connection_closed_failure, io_failure};

/// How to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginMethod {
    /// The command LOGIN, which every server supports unless it announces otherwise.
    LoginCommand,
    /// AUTHENTICATE with this mechanism.
    Sasl(SaslMechanism),
}

impl LoginMethod {
    /// Chooses the method for `requested` (`None` is `auto`) from the capabilities of `opening_dialogue`. `auto` uses
    /// LOGIN under TLS, and without TLS only when CRAM-MD5, which hides the password, is not offered.
    pub fn choose(
        opening_dialogue: &OpeningDialogue,
        requested: Option<SaslMechanism>,
        is_encrypted: bool,
    ) -> Result<Self, Failure> {
        let allows_login_command = !opening_dialogue.has_capability("LOGINDISABLED");
        let prefers_cram_md5 =
            !is_encrypted && opening_dialogue.mechanisms().any(|name| name.eq_ignore_ascii_case("CRAM-MD5"));
        match requested {
            None if allows_login_command && !prefers_cram_md5 => Ok(Self::LoginCommand),
            Some(SaslMechanism::Login) if allows_login_command => Ok(Self::LoginCommand),
            // The server does not know CAPABILITY; what it can is seen when it is tried.
            Some(mechanism) if opening_dialogue.capabilities.is_empty() => Ok(Self::Sasl(mechanism)),
            _ => choose_mechanism(requested, opening_dialogue.mechanisms(), is_encrypted).map(Self::Sasl),
        }
    }

    /// Returns the mechanism; the command LOGIN counts as the mechanism LOGIN.
    #[must_use]
    pub const fn mechanism(self) -> SaslMechanism {
        match self {
            Self::LoginCommand => SaslMechanism::Login,
            Self::Sasl(mechanism) => mechanism,
        }
    }

    const fn command_name(self) -> &'static str {
        match self {
            Self::LoginCommand => "LOGIN",
            Self::Sasl(mechanism) => mechanism.sasl_name(),
        }
    }
}

/// The rest of a session after its opening: login, INBOX, logout.
#[derive(Debug)]
pub struct ImapSession<'a> {
    credentials: &'a Credentials,
    login_method: Option<LoginMethod>,
    deadline: Deadline,
    log: SharedLog,
    /// Number of messages in INBOX, once it was opened.
    pub message_count: Option<u64>,
}

impl<'a> ImapSession<'a> {
    /// Creates a session before its login. `login_method` is `None` if the server authenticated us already (`PREAUTH`).
    #[must_use]
    pub fn new(credentials: &'a Credentials, login_method: Option<LoginMethod>, deadline: Deadline) -> Self {
        Self { credentials, login_method, deadline, log: SharedLog::new(Phase::Auth), message_count: None }
    }

    /// Logs in, opens INBOX and logs out. Durations and the dialogue are recorded in `session`.
    pub async fn run_inbox_session(&mut self, session: &mut LineSession<'_>) -> Result<(), Failure> {
        let Some((stream, read_ahead)) = session.take_stream() else {
            return Err(Failure::new(Phase::Auth, FailureKind::Internal, "the session has no connection"));
        };
        session.transcript.add_secret(&escape_quoted(&self.credentials.password));
        let client = Client::new(BoundedStream::new(stream, read_ahead, self.log.clone()));
        let result = match self.login_method {
            Some(login) => self.log_in_and_select(client, login, session).await,
            None => self.select_preauthenticated(client, session).await,
        };
        self.log.lock_with(|log| write_transcript(log, &mut session.transcript));
        result
    }

    async fn log_in_and_select(
        &mut self,
        client: Client<BoundedStream>,
        login_method: LoginMethod,
        session: &mut LineSession<'_>,
    ) -> Result<(), Failure> {
        let Credentials { user, password } = self.credentials;
        let login_future = async {
            match login_method {
                LoginMethod::LoginCommand => client.login(user, password).await,
                LoginMethod::Sasl(mechanism) => {
                    let authenticator =
                        SaslAuthenticator { mechanism, credentials: self.credentials, responses_sent: 0 };
                    client.authenticate(mechanism.sasl_name(), authenticator).await
                }
            }
            .map_err(|(error, _)| error)
        };
        let mut logged_in_session = self.run_phase(Phase::Auth, session, login_future).await?;
        let inbox = self.run_phase(Phase::Select, session, logged_in_session.select("INBOX")).await?;
        self.message_count = Some(u64::from(inbox.exists));
        // The check is complete, whether the logout works or not.
        self.deadline.at = self.deadline.at.min(Instant::now() + QUIT_TIMEOUT);
        let _ = self.run_phase(Phase::Quit, session, logged_in_session.logout()).await;
        Ok(())
    }

    /// Like [`ImapSession::log_in_and_select`], for a preauthenticated session. The library has no session without a
    /// login, so the number of messages is read from the dialogue.
    async fn select_preauthenticated(
        &mut self,
        mut client: Client<BoundedStream>,
        session: &mut LineSession<'_>,
    ) -> Result<(), Failure> {
        let select = client.run_command_and_check_ok("SELECT INBOX", None);
        self.run_phase(Phase::Select, session, select).await?;
        let parse_exists = |line: &str| line.strip_prefix("* ")?.strip_suffix(" EXISTS")?.parse().ok();
        self.message_count =
            self.log.lock_with(|log| log.pending_lines.iter().rev().find_map(|(_, line)| parse_exists(line)));
        self.deadline.at = self.deadline.at.min(Instant::now() + QUIT_TIMEOUT);
        let _ = self.run_phase(Phase::Quit, session, client.run_command_and_check_ok("LOGOUT", None)).await;
        Ok(())
    }

    /// Runs `command` within the deadline, and records its time.
    async fn run_phase<T>(
        &self,
        phase: Phase,
        session: &mut LineSession<'_>,
        command: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        self.log.lock_with(|log| {
            log.phase = phase;
            log.last_received_line.clear();
        });
        let started = Instant::now();
        let result = self.deadline.enforce(phase, command).await;
        session.connect_trace.phases.add(phase, started.elapsed());
        // The library also reports success when the server closes in the middle of its response.
        let is_reply_complete = self
            .log
            .lock_with(|log| !log.last_received_line.is_empty() && !log.last_received_line.starts_with('*'));
        let result = result?
            .and_then(|output| if is_reply_complete { Ok(output) } else { Err(Error::ConnectionLost) });
        result.map_err(|error| self.to_failure(phase, error))
    }

    /// Returns the failure of a library error. Its texts are for programmers; the server's last line is more useful.
    fn to_failure(&self, phase: Phase, error: Error) -> Failure {
        let last_line = self.log.lock_with(|log| log.last_received_line.clone());
        let fail = |kind, detail| Failure::new(phase, kind, detail);
        // The text after the tag.
        let reply = last_line.split_once(' ').map_or(last_line.as_str(), |(_, reply)| reply);
        if reply.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("BYE")) {
            return fail(FailureKind::UnexpectedReply, format!("it closes the session: `{reply}`"));
        }
        let method = self.login_method.map_or("", LoginMethod::command_name);
        let command = match phase {
            Phase::Auth => format!("`{method}`"),
            _ => "`SELECT INBOX`".to_owned(),
        };
        match error {
            Error::Io(error) => match error.downcast::<Failure>() {
                Ok(failure) => failure,
                Err(error) if error.kind() == std::io::ErrorKind::Other => {
                    fail(FailureKind::ResponseInvalid, format!("`{last_line}` is not an IMAP response"))
                }
                Err(error) => io_failure(phase, &error),
            },
            // A temporary refusal says nothing about the password (RFC 9051 7.1).
            Error::No(_) if phase == Phase::Auth && !is_temporary_refusal(reply) => {
                let user = &self.credentials.user;
                fail(FailureKind::LoginRejected, format!("`{user}` by {method}: `{reply}`"))
            }
            Error::No(_) | Error::Bad(_) => {
                fail(FailureKind::UnexpectedReply, format!("it replies to {command} with `{reply}`"))
            }
            Error::ConnectionLost => connection_closed_failure(phase, 0),
            Error::Validate(_) => fail(
                FailureKind::ProbeUnsupported,
                "a name or password has a line break, which this protocol cannot carry".to_owned(),
            ),
            _ => fail(FailureKind::ResponseInvalid, format!("`{last_line}` is not a reply to {command}")),
        }
    }
}

/// Escapes text for a quoted string of LOGIN (RFC 9051 4.3); adds no quotes.
fn escape_quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn is_temporary_refusal(reply: &str) -> bool {
    ["[UNAVAILABLE]", "[INUSE]", "[SERVERBUG]", "[LIMIT]"].iter().any(|code| reply.contains(code))
}

/// Adds the dialogue to the transcript; texts of the login are redacted wherever the server repeats them.
fn write_transcript(log: &mut super::bounded_stream::DialogueLog, transcript: &mut Transcript) {
    log.secrets.drain(..).for_each(|secret| transcript.add_secret(&secret));
    for (is_sent, line) in log.pending_lines.drain(..) {
        if is_sent { transcript.record_sent(&line) } else { transcript.record_received(&line) }
    }
}

/// The client side of AUTHENTICATE.
struct SaslAuthenticator<'a> {
    mechanism: SaslMechanism,
    credentials: &'a Credentials,
    responses_sent: usize,
}

impl Authenticator for SaslAuthenticator<'_> {
    type Response = Vec<u8>;

    /// After the last message of a mechanism the response is empty: the server must decide.
    fn process(&mut self, challenge: &[u8]) -> Vec<u8> {
        let response = client_response(self.mechanism, self.credentials, self.responses_sent, challenge);
        self.responses_sent += 1;
        response.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::opening_dialogue::OpeningDialogueOptions;
    use super::*;
    use crate::protocol::line_session::LineProtocol;

    fn opening_with_capabilities(text: &str) -> OpeningDialogue {
        let mut opening = OpeningDialogue::new(OpeningDialogueOptions {
            implicit_tls: false,
            require_tls: false,
            continue_to_login: true,
        });
        for line in ["* OK hello", &format!("* CAPABILITY {text}")] {
            opening.on_line(line).unwrap();
        }
        opening
    }

    #[test]
    fn the_login_method_depends_on_capabilities_and_settings() {
        use LoginMethod::{LoginCommand, Sasl};
        use SaslMechanism::{CramMd5, Login as SaslLogin, Plain, Xoauth2};
        for (text, requested, is_encrypted, login) in [
            ("IMAP4rev1", None, true, Some(LoginCommand)),
            ("IMAP4rev1 AUTH=PLAIN", None, false, Some(LoginCommand)),
            ("IMAP4rev1 AUTH=PLAIN AUTH=CRAM-MD5", None, false, Some(Sasl(CramMd5))),
            ("IMAP4rev1 AUTH=PLAIN AUTH=CRAM-MD5", None, true, Some(LoginCommand)),
            ("IMAP4rev1 LOGINDISABLED AUTH=PLAIN", None, true, Some(Sasl(Plain))),
            ("IMAP4rev1 LOGINDISABLED", None, true, None),
            ("IMAP4rev1", Some(SaslLogin), true, Some(LoginCommand)),
            ("IMAP4rev1 LOGINDISABLED AUTH=LOGIN", Some(SaslLogin), true, Some(Sasl(SaslLogin))),
            ("IMAP4rev1", Some(Plain), true, None),
            ("IMAP4rev1 AUTH=XOAUTH2", Some(Xoauth2), true, Some(Sasl(Xoauth2))),
        ] {
            let chosen = LoginMethod::choose(&opening_with_capabilities(text), requested, is_encrypted);
            assert_eq!(chosen.ok(), login, "{text} {requested:?} {is_encrypted}");
        }
    }
}
