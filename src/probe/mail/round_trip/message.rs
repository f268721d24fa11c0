//! The message of a mail round trip (RFC 5322).

use crate::domain::Timestamp;
use crate::protocol::smtp::OutgoingMessage;

use super::token::TOKEN_HEADER;

/// Composes a message from and to `email` that carries `token`. Returns it with its Message-ID, without angle brackets.
/// `Auto-Submitted` (RFC 3834 5) prevents vacation replies.
pub(super) fn compose(email: &str, token: &str, now: Timestamp) -> (OutgoingMessage, String) {
    let domain = email.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    let id = format!("{token}@{domain}");
    let date = date(now);
    let text = format!(
        "Date: {date}\r\n\
         From: <{email}>\r\n\
         To: <{email}>\r\n\
         Subject: Vigie mail round trip\r\n\
         Message-ID: <{id}>\r\n\
         {TOKEN_HEADER}: {token}\r\n\
         Auto-Submitted: auto-generated\r\n\
         MIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=us-ascii\r\n\
         \r\n\
         Vigie sent this message to see whether mail arrives here, and deletes it once it\r\n\
         has. One that was left behind may be deleted by hand.\r\n"
    );
    (OutgoingMessage { sender: email.to_owned(), recipient: email.to_owned(), content: text }, id)
}

/// Formats a date (RFC 5322 3.3), in UTC.
fn date(now: Timestamp) -> String {
    let utc = jiff::Timestamp::from_microsecond(now.as_micros()).unwrap_or_default();
    utc.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::pop3::HeaderScanner;

    #[test]
    fn the_message_conforms_to_rfc_5322_and_carries_its_token() {
        let token = format!("1795262400000000.{}.{}", "f".repeat(16), "0".repeat(64));
        let (message, id) = compose("monitor@example.test", &token, Timestamp::from_seconds(1_795_262_400));
        assert_eq!(id, format!("{token}@example.test"));
        assert_eq!(
            (message.sender.as_str(), message.recipient.as_str()),
            ("monitor@example.test", "monitor@example.test")
        );
        let text = &message.content;
        assert!(text.starts_with("Date: Sat, 21 Nov 2026 12:00:00 +0000\r\n"), "{text}");
        assert!(text.is_ascii() && !text.replace("\r\n", "").contains(['\r', '\n']));
        assert!(text.contains(&format!("\r\nMessage-ID: <{id}>\r\n")), "{text}");
        assert!(text.contains("\r\nAuto-Submitted: auto-generated\r\n"), "{text}");
        let longest = text.lines().map(str::len).max().unwrap();
        assert!(longest < 200, "RFC 5322 2.1.1 allows 998: {longest}");
        let mut scanner = HeaderScanner::new(TOKEN_HEADER);
        text.lines().for_each(|line| scanner.push_line(line.as_bytes()));
        assert_eq!(scanner.single_value().as_deref(), Some(token.as_str()));
        let mut names: Vec<&str> = (text.split("\r\n\r\n").next().unwrap().lines())
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split_once(':').unwrap().0)
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a header is set twice");
    }
}
