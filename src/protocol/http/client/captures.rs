//! Captures of the response of a failed attempt: its head, and the beginning of its body.

use std::fmt::Write;

use super::record::version_name;
use crate::domain::CapturedFile;
use crate::protocol::http::exchange::ResponseHead;
use crate::redaction::sensitive_names::is_sensitive_header;
use crate::syntax::MASK;

/// Longest captured body, in bytes after decoding.
pub const MAX_CAPTURED_BODY_BYTES: usize = 64 * 1024;

/// Captures the status line and the header fields, with credentials redacted.
#[must_use]
pub fn head_capture(head: &ResponseHead) -> CapturedFile {
    let mut text = format!("{} {}", version_name(head.version), head.status.as_u16());
    if let Some(reason) = &head.reason_phrase {
        let _ = write!(text, " {reason}");
    }
    text.push_str("\r\n");
    let values = head.headers.iter().map(|(name, value)| (name, String::from_utf8_lossy(value.as_bytes())));
    let values: Vec<_> = values.collect();
    text.push_str(&format_headers(values.iter().map(|(name, value)| (name.as_str(), &**value))));
    CapturedFile::new("response-head.txt", "text/plain; charset=utf-8", text.as_bytes())
}

/// Formats header fields, one per line, with credentials redacted.
#[must_use]
pub fn format_headers<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        let _ = write!(text, "{name}: {}\r\n", if is_sensitive_header(name) { MASK } else { value });
    }
    text
}

/// Captures the beginning of a body of this media type; `None` for an empty one.
#[must_use]
pub fn body_capture(bytes: &[u8], content_type: Option<&str>) -> Option<CapturedFile> {
    let bytes = bytes.get(..MAX_CAPTURED_BODY_BYTES).unwrap_or(bytes);
    if bytes.is_empty() {
        return None;
    }
    let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
    let (media_type, parameters) = content_type.split_once(';').unwrap_or((&content_type, ""));
    let media_type = media_type.trim();
    let (name, mimetype) = match media_type {
        "text/html" | "application/xhtml+xml" => ("response-body.html", "text/html"),
        json if json == "application/json" || json.ends_with("+json") => {
            ("response-body.json", "application/json")
        }
        _ => ("response-body.txt", "text/plain"),
    };
    let charset = parameters.split(';').find_map(|part| part.trim().strip_prefix("charset="));
    let charset = charset.map(|charset| charset.trim_matches('"')).filter(|charset| is_charset_name(charset));
    let mimetype = charset.map_or(mimetype.to_owned(), |charset| format!("{mimetype}; charset={charset}"));
    Some(CapturedFile::new(name, mimetype, bytes))
}

fn is_charset_name(text: &str) -> bool {
    let in_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+".contains(&byte);
    (1..=40).contains(&text.len()) && text.bytes().all(in_token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_redacted() {
        let mut headers = http::HeaderMap::new();
        for (name, value) in [
            ("set-cookie", "sid=hunter2"),
            ("www-authenticate", "Digest nonce=\"hunter2\""),
            ("x-auth-token", "hunter2"),
            ("server", "shop/1"),
        ] {
            headers.append(name, value.parse().unwrap_or(http::HeaderValue::from_static("")));
        }
        let status = http::StatusCode::SERVICE_UNAVAILABLE;
        let reason = Some("Busy".to_owned());
        let capture = head_capture(&ResponseHead {
            status,
            version: http::Version::HTTP_11,
            reason_phrase: reason,
            headers,
        });
        let text = String::from_utf8_lossy(capture.content.as_deref().unwrap_or_default()).into_owned();
        assert_eq!(
            text,
            "HTTP/1.1 503 Busy\r\nset-cookie: ********\r\nwww-authenticate: ********\r\n\
             x-auth-token: ********\r\nserver: shop/1\r\n"
        );
    }

    #[test]
    fn bodies_are_named_by_their_type_and_truncated() {
        let name_and_media_type =
            |content_type| body_capture(b"x", content_type).map(|capture| (capture.name, capture.media_type));
        let expected = |name: &str, mimetype: &str| Some((name.to_owned(), mimetype.to_owned()));
        assert_eq!(name_and_media_type(None), expected("response-body.txt", "text/plain"));
        let html = Some("Text/HTML; Charset=\"ISO-8859-1\"");
        assert_eq!(
            name_and_media_type(html),
            expected("response-body.html", "text/html; charset=iso-8859-1")
        );
        assert_eq!(
            name_and_media_type(Some("application/problem+json")),
            expected("response-body.json", "application/json")
        );
        assert_eq!(name_and_media_type(Some("image/png")), expected("response-body.txt", "text/plain"));
        assert_eq!(
            name_and_media_type(Some("text/html; charset=a\r\nb")),
            expected("response-body.html", "text/html")
        );
        assert_eq!(body_capture(&[], None), None);
        assert_eq!(
            body_capture(&vec![b'x'; MAX_CAPTURED_BODY_BYTES + 9], None).map(|c| c.content_bytes),
            Some(MAX_CAPTURED_BODY_BYTES as u64)
        );
    }
}
