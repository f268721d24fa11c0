//! Parses replies (RFC 959 4.2) from lines. Pure.

use crate::domain::{Failure, FailureKind, Phase};

/// Longest reply, in bytes of all lines.
const MAX_REPLY_BYTES: usize = 64 * 1024;
/// Longest text of a reply that is kept, in characters.
const MAX_TEXT_CHARS: usize = 300;

/// A complete reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FtpReply {
    /// Three digits, 100 to 699.
    pub code: u16,
    /// Text of the first line, cut to 300 characters.
    pub first_line: String,
    /// Texts of all lines, joined by ` / `, cut likewise.
    pub text: String,
}

/// Why lines are not a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FtpReplyError {
    /// This line should have started with three digits.
    NoCode(String),
    /// The reply does not end within 64 KiB.
    TooLong,
}

/// Assembles replies. A reply of several lines ends with its own code and a space; lines in between may start with any
/// other number.
#[derive(Debug, Default)]
pub struct FtpReplyParser {
    incomplete_reply: Option<FtpReply>,
    reply_bytes: usize,
}

impl FtpReply {
    /// Returns code and text, as messages quote it.
    #[must_use]
    pub fn to_quoted(&self) -> String {
        let text = crate::domain::replace_control_chars(&self.text);
        format!("{} {text}", self.code).trim_end().to_owned()
    }

    fn append_text(&mut self, text: &str) {
        if text.is_empty() || self.text.chars().count() >= MAX_TEXT_CHARS {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str(" / ");
        }
        self.text.push_str(text);
        self.text = self.text.chars().take(MAX_TEXT_CHARS).collect();
    }
}

impl FtpReplyError {
    /// Converts it to a failure in `phase`.
    #[must_use]
    pub fn into_failure(self, phase: Phase) -> Failure {
        match self {
            Self::NoCode(line) => {
                let start: String = line.chars().take(80).collect();
                let start = crate::domain::replace_control_chars(&start);
                let detail = format!("expected a reply that starts with three digits, got `{start}`");
                Failure::new(phase, FailureKind::UnexpectedReply, detail)
            }
            Self::TooLong => {
                let detail = format!("one reply has more than {MAX_REPLY_BYTES} bytes");
                Failure::new(phase, FailureKind::ResponseTooLarge, detail)
            }
        }
    }
}

impl FtpReplyParser {
    /// Adds `line`, without its CR LF; returns the reply when it is complete.
    pub fn push_line(&mut self, line: &str) -> Result<Option<FtpReply>, FtpReplyError> {
        self.reply_bytes += line.len() + 2;
        if self.reply_bytes > MAX_REPLY_BYTES {
            return Err(FtpReplyError::TooLong);
        }
        let Some(mut reply) = self.incomplete_reply.take() else {
            let (code, has_more_lines, text) =
                parse_line(line).ok_or_else(|| FtpReplyError::NoCode(line.to_owned()))?;
            let mut reply = FtpReply {
                code,
                first_line: text.chars().take(MAX_TEXT_CHARS).collect(),
                text: String::new(),
            };
            reply.append_text(text);
            return Ok(self.finish_or_keep_open(reply, has_more_lines));
        };
        match parse_line(line) {
            Some((code, false, text)) if code == reply.code => {
                reply.append_text(text);
                Ok(self.finish_or_keep_open(reply, false))
            }
            _ => {
                reply.append_text(line.trim());
                Ok(self.finish_or_keep_open(reply, true))
            }
        }
    }

    /// Returns the number of bytes of the incomplete reply.
    #[must_use]
    pub const fn pending_bytes(&self) -> usize {
        self.reply_bytes
    }

    fn finish_or_keep_open(&mut self, reply: FtpReply, has_more_lines: bool) -> Option<FtpReply> {
        if has_more_lines {
            self.incomplete_reply = Some(reply);
            return None;
        }
        self.reply_bytes = 0;
        Some(reply)
    }
}

/// Parses the code, whether more lines follow, and the text of a line that starts or ends a reply.
fn parse_line(line: &str) -> Option<(u16, bool, &str)> {
    let digits = line.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let code = digits.parse().ok().filter(|code| (100..700).contains(code))?;
    match line.as_bytes().get(3) {
        None => Some((code, false, "")),
        Some(b' ') => Some((code, false, line[4..].trim())),
        Some(b'-') => Some((code, true, line[4..].trim())),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_replies(lines: &[&str]) -> Vec<(u16, String)> {
        let mut parser = FtpReplyParser::default();
        let parsed = lines.iter().filter_map(|line| parser.push_line(line).unwrap());
        parsed.map(|reply| (reply.code, reply.text)).collect()
    }

    #[test]
    fn replies_of_one_and_of_many_lines_are_assembled() {
        assert_eq!(
            parse_replies(&["220 ready", "331 password"]),
            [(220, "ready".into()), (331, "password".into())]
        );
        assert_eq!(parse_replies(&["226"]), [(226, String::new())]);
        assert_eq!(
            parse_replies(&[
                "220-Welcome",
                "150 users are here",
                "",
                " 220 not yet",
                "220-nor now",
                "220 ok",
                "221 x"
            ]),
            [
                (220, "Welcome / 150 users are here / 220 not yet / 220-nor now / ok".to_owned()),
                (221, "x".to_owned())
            ]
        );
        assert_eq!(parse_replies(&["211-Features:", " EPSV", "211"]), [(211, "Features: / EPSV".into())]);
    }

    #[test]
    fn an_invalid_reply_is_quoted() {
        for line in ["SSH-2.0-OpenSSH_9", "22 x", "220x", "999 x", "", "\u{fffd}\u{1}\u{2}", "2²0 x"] {
            assert_eq!(
                FtpReplyParser::default().push_line(line),
                Err(FtpReplyError::NoCode(line.to_owned()))
            );
        }
        let failure = FtpReplyError::NoCode("a\u{1b}[2J".to_owned()).into_failure(Phase::Banner);
        assert!(failure.detail.ends_with("got `a\u{fffd}[2J`"), "{}", failure.detail);
    }

    #[test]
    fn an_endless_reply_fails() {
        let mut parser = FtpReplyParser::default();
        assert_eq!(parser.push_line("220-"), Ok(None));
        let error = (0..10_000).find_map(|_| parser.push_line(&"x".repeat(1000)).err());
        assert_eq!(error, Some(FtpReplyError::TooLong));
    }

    proptest! {
        #[test]
        fn parsing_never_panics(lines in proptest::collection::vec(".{0,40}", 0..40)) {
            let mut parser = FtpReplyParser::default();
            for line in &lines {
                if let Ok(Some(reply)) = parser.push_line(line) {
                    prop_assert!((100..700).contains(&reply.code));
                    prop_assert!(reply.text.chars().count() <= MAX_TEXT_CHARS);
                }
            }
        }

        #[test]
        fn a_multi_line_reply_is_assembled(code in 100_u16..700, inner in proptest::collection::vec("[a-z]{1,9}", 0..9)) {
            let mut parser = FtpReplyParser::default();
            prop_assert_eq!(parser.push_line(&format!("{code}-first")), Ok(None));
            for line in &inner {
                prop_assert_eq!(parser.push_line(line), Ok(None));
            }
            let reply = parser.push_line(&format!("{code} last")).unwrap().unwrap();
            prop_assert_eq!(reply.code, code);
            prop_assert_eq!(reply.first_line, "first");
            prop_assert_eq!(parser.pending_bytes(), 0);
        }
    }
}
