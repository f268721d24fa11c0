//! Status lines (RFC 1939 3) with response codes (RFC 2449 8, RFC 3206), and the failures of refusals.

use crate::domain::{Failure, FailureKind, Phase};

/// Longest line that a failure quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// A parsed status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusLine<'a> {
    /// `+OK`, with the text after it.
    Ok(&'a str),
    /// `-ERR`, with the text after it.
    Err(&'a str),
    /// `+ `: the server continues a SASL exchange (RFC 5034 4).
    Continue(&'a str),
}

impl<'a> StatusLine<'a> {
    /// Parses `line`; `None` when it is not a status line. RFC 1939 requires capitals, but some servers do not use
    /// them.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (status, text) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let text = text.trim();
        if status.eq_ignore_ascii_case("+OK") {
            Some(Self::Ok(text))
        } else if status.eq_ignore_ascii_case("-ERR") {
            Some(Self::Err(text))
        } else {
            (status == "+").then_some(Self::Continue(text))
        }
    }
}

/// Returns the response code at the start of a refusal, such as `IN-USE`.
fn response_code(text: &str) -> Option<&str> {
    text.strip_prefix('[')?.split_once(']').map(|(code, _)| code)
}

/// Returns the failure of a login that ended with `-ERR` and `text`. A locked mailbox is not a refused login, nor is a
/// server that cannot log in anyone.
pub(super) fn login_failure(command: &str, text: &str) -> Failure {
    let reply = quote_reply(command, &format!("-ERR {text}"));
    let code = response_code(text).map(str::to_ascii_uppercase);
    let kind = match code.as_deref() {
        Some("IN-USE") => FailureKind::MailboxLocked,
        Some("LOGIN-DELAY" | "SYS" | "SYS/TEMP" | "SYS/PERM") => FailureKind::UnexpectedReply,
        None if describes_lock(text) => FailureKind::MailboxLocked,
        _ => FailureKind::LoginRejected,
    };
    Failure::new(Phase::Auth, kind, reply)
}

/// Whether the server asks to retry later (RFC 2449 8.1.1, RFC 3206 4).
pub(super) fn is_temporary_refusal(text: &str) -> bool {
    response_code(text)
        .is_some_and(|code| ["LOGIN-DELAY", "SYS/TEMP"].iter().any(|c| c.eq_ignore_ascii_case(code)))
}

/// Whether the text means a locked mailbox: servers without response codes use texts like those of RFC 1939 7, such as
/// `maildrop already locked`. A locked account is something else.
fn describes_lock(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let contains_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    contains_any(&["maildrop", "mail drop", "mailbox"])
        && contains_any(&["lock", "in use", "busy", "already open"])
}

/// Quotes the server's line for a failure.
pub(super) fn quote_reply(command: &str, line: &str) -> String {
    let quoted_start: String = line.trim_end().chars().take(MAX_QUOTED_CHARS).collect();
    let ellipsis = if quoted_start.len() < line.trim_end().len() { " …" } else { "" };
    if command.is_empty() {
        format!("it said `{quoted_start}{ellipsis}`")
    } else {
        format!("it replied to {command} with `{quoted_start}{ellipsis}`")
    }
}

/// Returns the failure of a server that refused `command`, or sent no valid reply to it.
pub(super) fn unexpected_reply_failure(phase: Phase, command: &str, line: &str) -> Failure {
    Failure::new(phase, FailureKind::UnexpectedReply, quote_reply(command, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines_are_recognised_by_their_first_word() {
        for (line, reply) in [
            ("+OK", Some(StatusLine::Ok(""))),
            ("+OK 2 320", Some(StatusLine::Ok("2 320"))),
            ("+ok lower case", Some(StatusLine::Ok("lower case"))),
            ("+OK\ttab", Some(StatusLine::Ok("tab"))),
            ("-ERR [AUTH] no", Some(StatusLine::Err("[AUTH] no"))),
            ("+ UEFzcw==", Some(StatusLine::Continue("UEFzcw=="))),
            ("+", Some(StatusLine::Continue(""))),
            ("+OKAY", None),
            ("OK", None),
            ("", None),
            (" +OK", None),
            ("* OK IMAP4rev1", None),
            ("220 smtp", None),
        ] {
            assert_eq!(StatusLine::parse(line), reply, "{line}");
        }
    }

    #[test]
    fn refusals_are_classified() {
        use FailureKind::{LoginRejected, MailboxLocked, UnexpectedReply};
        for (text, kind) in [
            ("[AUTH] invalid", LoginRejected),
            ("invalid password", LoginRejected),
            ("", LoginRejected),
            ("[IN-USE] busy", MailboxLocked),
            ("[in-use] busy", MailboxLocked),
            ("maildrop already locked", MailboxLocked),
            ("unable to lock maildrop", MailboxLocked),
            ("Your mailbox is in use by another POP session", MailboxLocked),
            ("account locked", LoginRejected),
            ("[AUTH] mailbox locked by the administrator", LoginRejected),
            ("[SYS/TEMP] try later", UnexpectedReply),
            ("[SYS/PERM] no such home", UnexpectedReply),
            ("[LOGIN-DELAY] wait a minute", UnexpectedReply),
            ("[X-OTHER] no", LoginRejected),
            ("[never closed", LoginRejected),
        ] {
            assert_eq!(login_failure("PASS", text).kind, kind, "{text}");
        }
        assert!(is_temporary_refusal("[sys/temp] later") && is_temporary_refusal("[LOGIN-DELAY]"));
        assert!(!is_temporary_refusal("[SYS/PERM] never") && !is_temporary_refusal("later"));
    }
}
