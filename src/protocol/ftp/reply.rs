//! Replies (RFC 959 4.2), put together from lines. Pure: lines come in, replies come out.

use crate::domain::{Failure, FailureKind, Phase};

/// Bytes of all lines of one reply.
const BYTES: usize = 64 * 1024;
/// Characters of a reply that are kept.
const KEPT: usize = 300;

/// One reply, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Three digits, 100 to 699.
    pub code: u16,
    /// Text of its first line, cut to 300 characters.
    pub first: String,
    /// Texts of all lines, joined by ` / `, cut likewise.
    pub text: String,
}

/// Why lines are no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyFault {
    /// This line should have begun with three digits.
    NoCode(String),
    /// It does not end within 64 KiB.
    Endless,
}

/// Puts replies together. A reply of several lines ends with its own code and a blank; what stands between
/// may begin with any other number.
#[derive(Debug, Default)]
pub struct Replies {
    open: Option<Reply>,
    bytes: usize,
}

impl Reply {
    /// Code and text, as messages quote it.
    #[must_use]
    pub fn quoted(&self) -> String {
        let text = crate::domain::replace_control_chars(&self.text);
        format!("{} {text}", self.code).trim_end().to_owned()
    }

    fn add(&mut self, text: &str) {
        if text.is_empty() || self.text.chars().count() >= KEPT {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str(" / ");
        }
        self.text.push_str(text);
        self.text = self.text.chars().take(KEPT).collect();
    }
}

impl ReplyFault {
    /// As a failure in `phase`.
    #[must_use]
    pub fn in_phase(self, phase: Phase) -> Failure {
        match self {
            Self::NoCode(line) => {
                let start: String = line.chars().take(80).collect();
                let start = crate::domain::replace_control_chars(&start);
                let detail = format!("expected a reply that begins with three digits, it said `{start}`");
                Failure::new(phase, FailureKind::DialogueUnexpected, detail)
            }
            Self::Endless => {
                let detail = format!("one reply has more than {BYTES} bytes");
                Failure::new(phase, FailureKind::ResponseTooLarge, detail)
            }
        }
    }
}

impl Replies {
    /// Takes `line`, without its CR LF; the reply when it was the last one of it.
    pub fn hear(&mut self, line: &str) -> Result<Option<Reply>, ReplyFault> {
        self.bytes += line.len() + 2;
        if self.bytes > BYTES {
            return Err(ReplyFault::Endless);
        }
        let Some(mut reply) = self.open.take() else {
            let (code, more, text) = parts(line).ok_or_else(|| ReplyFault::NoCode(line.to_owned()))?;
            let mut reply = Reply { code, first: text.chars().take(KEPT).collect(), text: String::new() };
            reply.add(text);
            return Ok(self.keep(reply, more));
        };
        match parts(line) {
            Some((code, false, text)) if code == reply.code => {
                reply.add(text);
                Ok(self.keep(reply, false))
            }
            _ => {
                reply.add(line.trim());
                Ok(self.keep(reply, true))
            }
        }
    }

    /// Bytes of the reply that is not whole yet.
    #[must_use]
    pub const fn pending(&self) -> usize {
        self.bytes
    }

    fn keep(&mut self, reply: Reply, more: bool) -> Option<Reply> {
        if more {
            self.open = Some(reply);
            return None;
        }
        self.bytes = 0;
        Some(reply)
    }
}

/// Code, whether more lines follow, and text of a line that begins a reply or ends one.
fn parts(line: &str) -> Option<(u16, bool, &str)> {
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

    fn all(lines: &[&str]) -> Vec<(u16, String)> {
        let mut replies = Replies::default();
        let heard = lines.iter().filter_map(|line| replies.hear(line).unwrap());
        heard.map(|reply| (reply.code, reply.text)).collect()
    }

    #[test]
    fn replies_of_one_and_of_many_lines_are_put_together() {
        assert_eq!(all(&["220 ready", "331 password"]), [(220, "ready".into()), (331, "password".into())]);
        assert_eq!(all(&["226"]), [(226, String::new())]);
        assert_eq!(
            all(&["220-Welcome", "150 users are here", "", " 220 not yet", "220-nor now", "220 ok", "221 x"]),
            [
                (220, "Welcome / 150 users are here / 220 not yet / 220-nor now / ok".to_owned()),
                (221, "x".to_owned())
            ]
        );
        assert_eq!(all(&["211-Features:", " EPSV", "211"]), [(211, "Features: / EPSV".into())]);
    }

    #[test]
    fn what_is_no_reply_is_quoted() {
        for bad in ["SSH-2.0-OpenSSH_9", "22 x", "220x", "999 x", "", "\u{fffd}\u{1}\u{2}", "2²0 x"] {
            assert_eq!(Replies::default().hear(bad), Err(ReplyFault::NoCode(bad.to_owned())));
        }
        let told = ReplyFault::NoCode("a\u{1b}[2J".to_owned()).in_phase(Phase::Banner);
        assert!(told.detail.ends_with("it said `a\u{fffd}[2J`"), "{}", told.detail);
    }

    #[test]
    fn a_reply_without_end_is_given_up_and_keeps_little() {
        let mut replies = Replies::default();
        assert_eq!(replies.hear("220-"), Ok(None));
        let heard = (0..10_000).find_map(|_| replies.hear(&"x".repeat(1000)).err());
        assert_eq!(heard, Some(ReplyFault::Endless));
    }

    proptest! {
        #[test]
        fn no_lines_break_it(lines in proptest::collection::vec(".{0,40}", 0..40)) {
            let mut replies = Replies::default();
            for line in &lines {
                if let Ok(Some(reply)) = replies.hear(line) {
                    prop_assert!((100..700).contains(&reply.code));
                    prop_assert!(reply.text.chars().count() <= KEPT);
                }
            }
        }

        #[test]
        fn a_reply_survives_its_lines(code in 100_u16..700, inner in proptest::collection::vec("[a-z]{1,9}", 0..9)) {
            let mut replies = Replies::default();
            prop_assert_eq!(replies.hear(&format!("{code}-first")), Ok(None));
            for line in &inner {
                prop_assert_eq!(replies.hear(line), Ok(None));
            }
            let reply = replies.hear(&format!("{code} last")).unwrap().unwrap();
            prop_assert_eq!(reply.code, code);
            prop_assert_eq!(reply.first, "first");
            prop_assert_eq!(replies.pending(), 0);
        }
    }
}
