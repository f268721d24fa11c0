//! An outgoing message: its envelope, and its text for DATA.

use crate::protocol::line_session::OutgoingLine;

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// Address of the sender, for MAIL.
    pub sender: String,
    /// Address of the recipient, for RCPT.
    pub recipient: String,
    /// Header and body, in ASCII, with any line ends.
    pub content: String,
}

impl OutgoingMessage {
    /// Returns the size in bytes as defined by RFC 1870 3: with CR LF line ends, without dot-stuffing.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.content.lines().map(|line| line.len() + 2).sum()
    }

    /// Returns the text for DATA (RFC 5321 4.5.2): CR LF line ends, an additional dot before lines that start with one,
    /// and the final dot. The session adds the last CR LF.
    pub(super) fn to_data(&self) -> OutgoingLine {
        let mut data = String::with_capacity(self.content.len() + 64);
        for line in self.content.lines() {
            if line.starts_with('.') {
                data.push('.');
            }
            data.push_str(line);
            data.push_str("\r\n");
        }
        data.push('.');
        OutgoingLine::multiline(format!("(a message of {} bytes)", self.size_bytes()), data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> OutgoingMessage {
        OutgoingMessage {
            sender: "a@b.test".to_owned(),
            recipient: "c@d.test".to_owned(),
            content: text.to_owned(),
        }
    }

    #[test]
    fn dots_are_stuffed_and_line_ends_are_normalised() {
        let message = message("Subject: x\r\n\n.\n..\r\n.a\r\nlast");
        assert_eq!(message.to_data().text(), "Subject: x\r\n\r\n..\r\n...\r\n..a\r\nlast\r\n.");
        assert_eq!(message.size_bytes(), 12 + 2 + 3 + 4 + 4 + 6);
        assert_eq!(message.to_data().redacted(), "(a message of 31 bytes)");
    }

    #[test]
    fn an_empty_message_is_one_dot() {
        assert_eq!(message("").to_data().text(), ".");
    }
}
