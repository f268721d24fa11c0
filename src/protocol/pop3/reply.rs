//! A status line (RFC 1939 3) with its response code (RFC 2449 8, RFC 3206), and what a refusal means.

use crate::domain::{Failure, FailureKind, Phase};

/// Characters of a line that a failure repeats.
const MAX_QUOTED_CHARS: usize = 200;

/// What a status line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply<'a> {
    /// `+OK`, with the text after it.
    Ok(&'a str),
    /// `-ERR`, with the text after it.
    Err(&'a str),
    /// `+ `: the server wants more of a SASL exchange (RFC 5034 4).
    Continue(&'a str),
}

impl<'a> Reply<'a> {
    /// What `line` is; `None` when it is no status line. RFC 1939 wants capitals, servers are less strict.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (word, text) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let text = text.trim();
        if word.eq_ignore_ascii_case("+OK") {
            Some(Self::Ok(text))
        } else if word.eq_ignore_ascii_case("-ERR") {
            Some(Self::Err(text))
        } else {
            (word == "+").then_some(Self::Continue(text))
        }
    }
}

/// The response code in front of the text of a refusal, such as `IN-USE`.
fn response_code(text: &str) -> Option<&str> {
    text.strip_prefix('[')?.split_once(']').map(|(code, _)| code)
}

/// Why a login was refused that ended with `-ERR` and `text`. A locked mailbox is no refused login, nor is
/// a server that cannot log anybody in.
pub(super) fn login_failure(command: &str, text: &str) -> Failure {
    let reply = quote_reply(command, &format!("-ERR {text}"));
    let code = response_code(text).map(str::to_ascii_uppercase);
    let kind = match code.as_deref() {
        Some("IN-USE") => FailureKind::MailboxLocked,
        Some("LOGIN-DELAY" | "SYS" | "SYS/TEMP" | "SYS/PERM") => FailureKind::DialogueUnexpected,
        None if is_lock(text) => FailureKind::MailboxLocked,
        _ => FailureKind::LoginRefused,
    };
    Failure::new(Phase::Auth, kind, reply)
}

/// Whether the server asks to come again later: RFC 2449 8.1.1, RFC 3206 4.
pub(super) fn is_temporary(text: &str) -> bool {
    response_code(text)
        .is_some_and(|code| ["LOGIN-DELAY", "SYS/TEMP"].iter().any(|c| c.eq_ignore_ascii_case(code)))
}

/// Servers without response codes say it in the words of RFC 1939 7, such as `maildrop already locked`. An
/// account that is locked is something else.
fn is_lock(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let holds = |words: &[&str]| words.iter().any(|word| text.contains(word));
    holds(&["maildrop", "mail drop", "mailbox"]) && holds(&["lock", "in use", "busy", "already open"])
}

/// What the server said, for a failure.
pub(super) fn quote_reply(command: &str, line: &str) -> String {
    let start: String = line.trim_end().chars().take(MAX_QUOTED_CHARS).collect();
    let rest = if start.len() < line.trim_end().len() { " …" } else { "" };
    if command.is_empty() {
        format!("it said `{start}{rest}`")
    } else {
        format!("it answered {command} with `{start}{rest}`")
    }
}

/// The failure of a server that refused `command`, or said something that is no answer to it.
pub(super) fn unexpected_reply(phase: Phase, command: &str, line: &str) -> Failure {
    Failure::new(phase, FailureKind::DialogueUnexpected, quote_reply(command, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines_are_known_by_their_first_word_alone() {
        for (line, reply) in [
            ("+OK", Some(Reply::Ok(""))),
            ("+OK 2 320", Some(Reply::Ok("2 320"))),
            ("+ok lower case", Some(Reply::Ok("lower case"))),
            ("+OK\ttab", Some(Reply::Ok("tab"))),
            ("-ERR [AUTH] no", Some(Reply::Err("[AUTH] no"))),
            ("+ UEFzcw==", Some(Reply::Continue("UEFzcw=="))),
            ("+", Some(Reply::Continue(""))),
            ("+OKAY", None),
            ("OK", None),
            ("", None),
            (" +OK", None),
            ("* OK IMAP4rev1", None),
            ("220 smtp", None),
        ] {
            assert_eq!(Reply::parse(line), reply, "{line}");
        }
    }

    #[test]
    fn only_a_refused_login_is_one() {
        use FailureKind::{DialogueUnexpected, LoginRefused, MailboxLocked};
        for (text, kind) in [
            ("[AUTH] invalid", LoginRefused),
            ("invalid password", LoginRefused),
            ("", LoginRefused),
            ("[IN-USE] busy", MailboxLocked),
            ("[in-use] busy", MailboxLocked),
            ("maildrop already locked", MailboxLocked),
            ("unable to lock maildrop", MailboxLocked),
            ("Your mailbox is in use by another POP session", MailboxLocked),
            ("account locked", LoginRefused),
            ("[AUTH] mailbox locked by the administrator", LoginRefused),
            ("[SYS/TEMP] try later", DialogueUnexpected),
            ("[SYS/PERM] no such home", DialogueUnexpected),
            ("[LOGIN-DELAY] wait a minute", DialogueUnexpected),
            ("[X-OTHER] no", LoginRefused),
            ("[never closed", LoginRefused),
        ] {
            assert_eq!(login_failure("PASS", text).kind, kind, "{text}");
        }
        assert!(is_temporary("[sys/temp] later") && is_temporary("[LOGIN-DELAY]"));
        assert!(!is_temporary("[SYS/PERM] never") && !is_temporary("later"));
    }
}
