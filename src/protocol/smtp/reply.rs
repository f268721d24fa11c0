//! Replies of an SMTP server (RFC 5321 4.2): lines that start with the same three digits.

/// Maximum number of lines of a reply. Those to EHLO are the longest, in practice less than thirty.
const MAX_REPLY_LINES: usize = 100;

/// A complete reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpReply {
    /// Its code, from 200 to 599.
    pub code: u16,
    /// The texts after the code, line by line.
    pub lines: Vec<String>,
}

impl SmtpReply {
    /// Whether the command succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code / 100 == 2
    }
}

/// Writes the code once, followed by all lines.
impl std::fmt::Display for SmtpReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.code)?;
        self.lines.iter().filter(|text| !text.is_empty()).try_for_each(|text| write!(f, " {text}"))
    }
}

/// Assembles the lines of a reply.
#[derive(Debug, Default)]
pub struct SmtpReplyParser {
    code: Option<u16>,
    lines: Vec<String>,
}

impl SmtpReplyParser {
    /// Adds the next line, without its CR LF; returns the reply when it is complete. Fails with the reason as text.
    pub fn push_line(&mut self, line: &str) -> Result<Option<SmtpReply>, String> {
        let (code, has_more_lines, text) =
            parse_line(line).ok_or_else(|| format!("`{line}` is not an SMTP reply"))?;
        if let Some(first_code) = self.code.filter(|first_code| *first_code != code) {
            return Err(format!("its answer begins with {first_code} and goes on with `{line}`"));
        }
        if self.lines.len() == MAX_REPLY_LINES {
            return Err(format!("its answer has more than {MAX_REPLY_LINES} lines"));
        }
        self.code = Some(code);
        self.lines.push(text.to_owned());
        if has_more_lines {
            return Ok(None);
        }
        self.code = None;
        Ok(Some(SmtpReply { code, lines: std::mem::take(&mut self.lines) }))
    }
}

/// Parses code, whether more lines follow, and text. A bare code is a complete line (RFC 5321 4.2.1).
fn parse_line(line: &str) -> Option<(u16, bool, &str)> {
    let code = line.get(..3).filter(|code| code.bytes().all(|byte| byte.is_ascii_digit()))?;
    let code = code.parse().ok().filter(|code| (200..600).contains(code))?;
    match line.as_bytes().get(3) {
        None => Some((code, false, "")),
        Some(b' ') => Some((code, false, &line[4..])),
        Some(b'-') => Some((code, true, &line[4..])),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the reply of `lines`; `Ok(None)` when it is incomplete.
    fn reply(lines: &[&str]) -> Result<Option<String>, String> {
        let mut parser = SmtpReplyParser::default();
        let mut last = None;
        for line in lines {
            last = parser.push_line(line)?;
        }
        Ok(last.map(|reply| reply.to_string()))
    }

    #[test]
    fn replies_of_every_form_are_parsed() {
        for (lines, expected) in [
            (&["220 mx.test ESMTP"][..], Some("220 mx.test ESMTP")),
            (&["250"], Some("250")),
            (&["250 "], Some("250")),
            (&["250-mx", "250-SIZE 1", "250 HELP"], Some("250 mx SIZE 1 HELP")),
            (&["250-", "250-", "250"], Some("250")),
            (&["550-5.1.1 no", "550 5.1.1 such user"], Some("550 5.1.1 no 5.1.1 such user")),
            (&["250-a", "250-b"], None),
            (&["220 gr\u{fffd}\u{1b}[2J"], Some("220 gr\u{fffd}\u{1b}[2J")),
        ] {
            assert_eq!(reply(lines).unwrap().as_deref(), expected, "{lines:?}");
        }
    }

    #[test]
    fn an_invalid_reply_is_reported() {
        for (lines, reason) in [
            (&[""][..], "`` is not an SMTP reply"),
            (&["22"], "`22` is not an SMTP reply"),
            (&["22x hi"], "`22x hi` is not an SMTP reply"),
            (&["2200 hi"], "`2200 hi` is not an SMTP reply"),
            (&["120 soon"], "`120 soon` is not an SMTP reply"),
            (&["620 hi"], "`620 hi` is not an SMTP reply"),
            (&["+20 hi"], "`+20 hi` is not an SMTP reply"),
            (&["22é"], "`22é` is not an SMTP reply"),
            (&["HTTP/1.1 400 Bad Request"], "`HTTP/1.1 400 Bad Request` is not an SMTP reply"),
            (&["250-a", "251 b"], "its answer begins with 250 and goes on with `251 b`"),
            (&["250-a", "b"], "`b` is not an SMTP reply"),
        ] {
            assert_eq!(reply(lines).unwrap_err(), reason);
        }
    }

    #[test]
    fn an_endless_reply_fails() {
        let reason = reply(&["250-x"; 101]).unwrap_err();
        assert_eq!(reason, "its answer has more than 100 lines");
        assert_eq!(reply(&["250-x"; 100]), Ok(None));
    }
}
