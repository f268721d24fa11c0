//! A message as an email (RFC 5322, 2045): text, alternative HTML, and attachments.

use std::time::{Duration, SystemTime};

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message as LettreMessage};

use crate::domain::CapturedFile;
use crate::notify::outgoing_message::OutgoingMessage;
use crate::notify::send_error::SendError;

/// Builds the email for `message`, sent by `from`. The same message has the same `Message-ID` at each attempt; the
/// messages of one episode form one thread.
pub(super) fn build_email(message: &OutgoingMessage, from: &str) -> Result<LettreMessage, SendError> {
    let permanent_error =
        |what: &str, error: &dyn std::fmt::Display| SendError::permanent(format!("{what}: {error}"));
    let from: Mailbox =
        from.parse().map_err(|error| SendError::transient(format!("`mail.from`: {error}")))?;
    let recipient_address: Address = message
        .recipient
        .address
        .trim()
        .parse()
        .map_err(|error| permanent_error("the address is not a valid mail address", &error))?;
    let domain = from.email.domain().to_owned();
    let message_id = |name: &str| format!("<{}@{domain}>", to_header_token(name));
    let sent_at_micros = u64::try_from(message.content.occurred_at.as_micros()).unwrap_or_default();
    let mut builder = LettreMessage::builder()
        .from(from)
        .to(Mailbox::new(None, recipient_address))
        .subject(to_single_line(&message.subject))
        .message_id(Some(message_id(&message.idempotency_key)))
        .date(SystemTime::UNIX_EPOCH + Duration::from_micros(sent_at_micros));
    if let Some(episode) = message.content.episode_id {
        let thread_id = message_id(&format!("episode-{episode}"));
        builder = builder.in_reply_to(thread_id.clone()).references(thread_id);
    }
    // RFC 3834: prevents automatic replies such as absence notes.
    builder = builder.raw_header(HeaderValue::new(
        HeaderName::new_from_ascii_str("Auto-Submitted"),
        "auto-generated".to_owned(),
    ));
    let text = SinglePart::plain(message.text.clone());
    let email = match (&message.html, message.attachments.is_empty()) {
        (None, true) => builder.singlepart(text),
        (Some(html), true) => {
            builder.multipart(MultiPart::alternative_plain_html(message.text.clone(), html.clone()))
        }
        (None, false) => {
            builder.multipart(with_attachments(MultiPart::mixed().singlepart(text), &message.attachments))
        }
        (Some(html), false) => {
            let alternatives = MultiPart::alternative_plain_html(message.text.clone(), html.clone());
            builder
                .multipart(with_attachments(MultiPart::mixed().multipart(alternatives), &message.attachments))
        }
    };
    email.map_err(|error| permanent_error("the mail cannot be built", &error))
}

fn with_attachments(mut parts: MultiPart, files: &[CapturedFile]) -> MultiPart {
    for file in files {
        let Some(content) = &file.content else { continue };
        let content_type =
            ContentType::parse(&file.media_type).or_else(|_| ContentType::parse("application/octet-stream"));
        let Ok(content_type) = content_type else { continue };
        parts = parts
            .singlepart(Attachment::new(to_header_token(&file.name)).body(content.to_vec(), content_type));
    }
    parts
}

/// Replaces every character of `name` that has a meaning in a header.
fn to_header_token(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().take(200).map(plain).collect()
}

/// Replaces control characters with spaces, since a header has one line.
fn to_single_line(subject: &str) -> String {
    subject.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_subject_or_key_can_start_a_header() {
        assert_eq!(to_single_line("a\r\nBcc: b@c.test\u{0}"), "a  Bcc: b@c.test ");
        assert_eq!(to_header_token("k>\r\nX: 1/../é"), "k___X__1_..__");
    }
}
