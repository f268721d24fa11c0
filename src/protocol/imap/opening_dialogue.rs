//! The start of an IMAP session: greeting, CAPABILITY, STARTTLS.

use crate::domain::{Failure, FailureKind, Phase};
use crate::protocol::line_session::{LineProtocol, OutgoingLine, ProtocolAction};

/// Options of the dialogue before the login.
#[derive(Clone, Copy, Debug)]
pub struct OpeningDialogueOptions {
    /// Whether TLS is established before the greeting.
    pub implicit_tls: bool,
    /// Whether a server without TLS fails.
    pub require_tls: bool,
    /// Whether a login follows; otherwise the session ends with LOGOUT.
    pub continue_to_login: bool,
}

/// The dialogue from the greeting to the login.
#[derive(Debug)]
pub struct OpeningDialogue {
    options: OpeningDialogueOptions,
    awaited_reply: AwaitedReply,
    is_encrypted: bool,
    /// Number of tags used so far.
    used_tags: u32,
    /// The greeting, without its prefix.
    pub banner: String,
    /// The capabilities, as last announced.
    pub capabilities: Vec<String>,
    /// Whether the server authenticated us already (`PREAUTH`).
    pub is_preauthenticated: bool,
}

/// The response that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwaitedReply {
    Greeting,
    Capability,
    Starttls,
    Logout,
}

impl LineProtocol for OpeningDialogue {
    fn phase(&self) -> Phase {
        match self.awaited_reply {
            AwaitedReply::Greeting => Phase::Banner,
            AwaitedReply::Capability => Phase::Capability,
            AwaitedReply::Starttls => Phase::Starttls,
            AwaitedReply::Logout => Phase::Quit,
        }
    }

    fn on_line(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        match self.awaited_reply {
            AwaitedReply::Greeting => self.on_greeting(line),
            AwaitedReply::Logout => Ok(ProtocolAction::Done),
            AwaitedReply::Capability | AwaitedReply::Starttls => match split_line(line) {
                Some(("*", "BYE", rest)) => {
                    Err(self.unexpected_response_failure(format!("it closes the session: `{rest}`")))
                }
                Some(("*", "CAPABILITY", rest)) => {
                    self.capabilities = rest.split_whitespace().map(str::to_owned).collect();
                    Ok(ProtocolAction::ReadLine)
                }
                // Other untagged responses are ignored.
                Some(("*", ..)) => Ok(ProtocolAction::ReadLine),
                Some((tag, "OK", _)) if tag == self.current_tag() => self.on_command_ok(),
                // Servers from before CAPABILITY (RFC 1176) do not know it; they can be logged in to all the same.
                Some((tag, "BAD", _))
                    if tag == self.current_tag() && self.awaited_reply == AwaitedReply::Capability =>
                {
                    self.capabilities.clear();
                    self.on_capabilities_known()
                }
                Some((tag, "NO" | "BAD", _)) if tag == self.current_tag() => {
                    let reply = &line[tag.len() + 1..];
                    Err(self.unexpected_response_failure(format!(
                        "it replies to {} with `{reply}`",
                        self.described_last_command()
                    )))
                }
                _ => Err(self.invalid_response_failure(line)),
            },
        }
    }

    fn on_tls_established(&mut self) -> ProtocolAction {
        self.is_encrypted = true;
        // RFC 9051 11.1: capabilities from before TLS are void.
        self.capabilities.clear();
        self.send_command(AwaitedReply::Capability, "CAPABILITY")
    }
}

impl OpeningDialogue {
    /// Creates a session that waits for its greeting.
    #[must_use]
    pub fn new(options: OpeningDialogueOptions) -> Self {
        Self {
            options,
            awaited_reply: AwaitedReply::Greeting,
            is_encrypted: options.implicit_tls,
            used_tags: 0,
            banner: String::new(),
            capabilities: Vec::new(),
            is_preauthenticated: false,
        }
    }

    /// Whether the server offers `capability`.
    #[must_use]
    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|offer| offer.eq_ignore_ascii_case(capability))
    }

    /// Returns the offered SASL mechanisms.
    pub fn mechanisms(&self) -> impl Iterator<Item = &str> {
        let is_auth = |offer: &str| offer.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("AUTH="));
        self.capabilities.iter().filter(move |offer| is_auth(offer)).map(|offer| &offer[5..])
    }

    fn on_greeting(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        let Some(("*", word, rest)) = split_line(line) else {
            return Err(self.invalid_response_failure(line));
        };
        rest.clone_into(&mut self.banner);
        match word {
            "OK" => {}
            "PREAUTH" => self.is_preauthenticated = true,
            "BYE" => return Err(self.unexpected_response_failure(format!("it greets with `BYE {rest}`"))),
            _ => return Err(self.invalid_response_failure(line)),
        }
        Ok(self.send_command(AwaitedReply::Capability, "CAPABILITY"))
    }

    /// Continues after the last command succeeded.
    fn on_command_ok(&mut self) -> Result<ProtocolAction, Failure> {
        if self.awaited_reply == AwaitedReply::Starttls {
            return Ok(ProtocolAction::StartTls);
        }
        if !self.has_capability("IMAP4rev1")
            && !self.has_capability("IMAP4rev2")
            && !self.has_capability("IMAP4")
        {
            let reply = self.capabilities.join(" ");
            return Err(self.unexpected_response_failure(format!(
                "its capabilities contain no version of IMAP: `{reply}`"
            )));
        }
        self.on_capabilities_known()
    }

    fn on_capabilities_known(&mut self) -> Result<ProtocolAction, Failure> {
        if !self.is_encrypted {
            // A preauthenticated session cannot start TLS any more (RFC 9051 6.2.1).
            if self.has_capability("STARTTLS") && !self.is_preauthenticated {
                return Ok(self.send_command(AwaitedReply::Starttls, "STARTTLS"));
            }
            if self.options.require_tls {
                let reason = if self.is_preauthenticated {
                    "it greets with PREAUTH, after which TLS is not possible"
                } else {
                    "it offers no STARTTLS"
                };
                return Err(Failure::new(self.phase(), FailureKind::TlsNotOffered, reason));
            }
        }
        if self.options.continue_to_login {
            Ok(ProtocolAction::Done)
        } else {
            Ok(self.send_command(AwaitedReply::Logout, "LOGOUT"))
        }
    }

    fn described_last_command(&self) -> &'static str {
        match self.awaited_reply {
            AwaitedReply::Starttls => "`STARTTLS`, which it offers,",
            _ => "`CAPABILITY`",
        }
    }

    /// Returns the last tag. It differs from the library's tags, so that responses cannot be confused.
    fn current_tag(&self) -> String {
        format!("v{}", self.used_tags)
    }

    fn send_command(&mut self, awaited_reply: AwaitedReply, command: &str) -> ProtocolAction {
        self.awaited_reply = awaited_reply;
        self.used_tags += 1;
        ProtocolAction::SendLine(OutgoingLine::new(format!("{} {command}", self.current_tag())))
    }

    fn invalid_response_failure(&self, line: &str) -> Failure {
        Failure::new(self.phase(), FailureKind::ResponseInvalid, format!("`{line}` is not an IMAP response"))
    }

    fn unexpected_response_failure(&self, detail: String) -> Failure {
        Failure::new(self.phase(), FailureKind::UnexpectedReply, detail)
    }
}

/// Splits a line into its tag, its first word in capitals if it is a known one, and the rest.
fn split_line(line: &str) -> Option<(&str, &'static str, &str)> {
    let (tag, rest) = line.split_once(' ')?;
    let (keyword, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let known = ["OK", "NO", "BAD", "BYE", "PREAUTH", "CAPABILITY"];
    let keyword = known.into_iter().find(|known| known.eq_ignore_ascii_case(keyword)).unwrap_or("");
    Some((tag, keyword, rest))
}

#[cfg(test)]
mod tests {
    use super::super::super::transcript_test::run_transcript;
    use super::*;

    const TLS_OPTIONAL: OpeningDialogueOptions =
        OpeningDialogueOptions { implicit_tls: false, require_tls: false, continue_to_login: true };

    fn run_to_success(options: OpeningDialogueOptions, dialogue: &str) -> OpeningDialogue {
        let mut opening = OpeningDialogue::new(options);
        assert_eq!(run_transcript(&mut opening, dialogue), None);
        opening
    }

    fn failure_text(options: OpeningDialogueOptions, dialogue: &str) -> String {
        let failure = run_transcript(&mut OpeningDialogue::new(options), dialogue).expect("it does not fail");
        format!("{} {}: {}", failure.phase.name(), failure.status().0, failure.detail)
    }

    #[test]
    fn capabilities_are_known_before_the_login() {
        let opening = run_to_success(
            TLS_OPTIONAL,
            "< * OK [CAPABILITY IMAP4rev1] hello
             > v1 CAPABILITY
             < * OK still here
             < * capability IMAP4rev1 AUTH=PLAIN auth=Cram-MD5 LOGINDISABLED
             < v1 OK done
             * done",
        );
        assert_eq!(opening.banner, "[CAPABILITY IMAP4rev1] hello");
        assert_eq!(opening.mechanisms().collect::<Vec<_>>(), ["PLAIN", "Cram-MD5"]);
        assert!(opening.has_capability("logindisabled") && !opening.is_preauthenticated);
    }

    #[test]
    fn tls_is_started_where_it_is_offered() {
        let opening = run_to_success(
            OpeningDialogueOptions { require_tls: true, ..TLS_OPTIONAL },
            "< * OK hello
             > v1 CAPABILITY
             < * CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED
             < v1 OK
             > v2 STARTTLS
             < v2 OK go
             * tls
             > v3 CAPABILITY
             < * CAPABILITY IMAP4rev1 AUTH=PLAIN
             < v3 OK
             * done",
        );
        assert_eq!(opening.capabilities, ["IMAP4rev1", "AUTH=PLAIN"]);
    }

    #[test]
    fn without_a_login_it_logs_out() {
        let dialogue =
            "< * OK hello\n> v1 CAPABILITY\n< * CAPABILITY IMAP4rev2\n< v1 OK\n> v2 LOGOUT\n< * BYE\n* done";
        run_to_success(OpeningDialogueOptions { continue_to_login: false, ..TLS_OPTIONAL }, dialogue);
    }

    #[test]
    fn failures_are_reported() {
        let hello = "< * OK hello\n> v1 CAPABILITY\n";
        let offers = |text: &str| format!("{hello}< * CAPABILITY {text}\n< v1 OK");
        let starttls_dialogue = format!("{}\n> v2 STARTTLS\n", offers("IMAP4rev1 STARTTLS"));
        let tls_required_options = OpeningDialogueOptions { require_tls: true, ..TLS_OPTIONAL };
        let preauth_dialogue =
            "< * PREAUTH hello\n> v1 CAPABILITY\n< * CAPABILITY IMAP4rev1 STARTTLS\n< v1 OK";
        for (options, dialogue, reply) in [
            (TLS_OPTIONAL, "< * BYE busy", "banner 3: it greets with `BYE busy`"),
            (TLS_OPTIONAL, "< +OK POP3", "banner 3: `+OK POP3` is not an IMAP response"),
            (TLS_OPTIONAL, "< 220 mx ESMTP", "banner 3: `220 mx ESMTP` is not an IMAP response"),
            (TLS_OPTIONAL, "<", "banner 3: `` is not an IMAP response"),
            (TLS_OPTIONAL, "< * 1 EXISTS", "banner 3: `* 1 EXISTS` is not an IMAP response"),
            (tls_required_options, &format!("{hello}< v1 BAD what"), "capability 5: it offers no STARTTLS"),
            (TLS_OPTIONAL, &format!("{hello}< v1 NO"), "capability 3: it replies to `CAPABILITY` with `NO`"),
            (TLS_OPTIONAL, &format!("{hello}< * BYE bye"), "capability 3: it closes the session: `bye`"),
            (TLS_OPTIONAL, &format!("{hello}< v7 OK"), "capability 3: `v7 OK` is not an IMAP response"),
            (
                TLS_OPTIONAL,
                &format!("{hello}< v1 OK"),
                "capability 3: its capabilities contain no version of IMAP: ``",
            ),
            (
                TLS_OPTIONAL,
                &format!("{starttls_dialogue}< v2 NO not now"),
                "starttls 3: it replies to `STARTTLS`, which it offers, with `NO not now`",
            ),
            (
                TLS_OPTIONAL,
                &format!("{starttls_dialogue}< v2 BAD"),
                "starttls 3: it replies to `STARTTLS`, which it offers, with `BAD`",
            ),
            (TLS_OPTIONAL, &format!("{starttls_dialogue}< * BYE"), "starttls 3: it closes the session: ``"),
            (tls_required_options, &offers("IMAP4rev1"), "capability 5: it offers no STARTTLS"),
            (
                tls_required_options,
                preauth_dialogue,
                "capability 5: it greets with PREAUTH, after which TLS is not possible",
            ),
        ] {
            assert_eq!(failure_text(options, dialogue), reply);
        }
        let opening = run_to_success(TLS_OPTIONAL, &format!("{hello}< v1 BAD what\n* done"));
        assert!(
            opening.capabilities.is_empty(),
            "a server that does not know CAPABILITY can be logged in to"
        );
        let opening = run_to_success(TLS_OPTIONAL, &format!("{preauth_dialogue}\n* done"));
        assert!(opening.is_preauthenticated);
    }
}
