//! Decodes the bytes of a body to its source text (behaviour.md 4, Keyword: charset from header, BOM or meta).

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Number of bytes that are searched for an encoding declaration in the document (WHATWG HTML 13.2.3.2).
const PRESCAN_BYTES: usize = 1024;

/// Decodes `body`. `content_type` is the value of the header, if there was one. Invalid sequences become U+FFFD; a byte
/// order mark is removed.
#[must_use]
pub fn decode_body<'a>(body: &'a [u8], content_type: Option<&str>) -> Cow<'a, str> {
    match detect_encoding(body, content_type) {
        Some(encoding) => encoding.decode(body).0,
        None => match std::str::from_utf8(body) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => WINDOWS_1252.decode_without_bom_handling(body).0,
        },
    }
}

/// Returns the declared encoding: by a byte order mark, else by the header, else by the document (the order of WHATWG
/// Encoding 6). Without a declaration a body is UTF-8 if it is valid, else windows-1252, as browsers assume.
#[must_use]
pub fn detect_encoding(body: &[u8], content_type: Option<&str>) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return Some(encoding);
    }
    content_type
        .and_then(encoding_from_content_type)
        .or_else(|| encoding_from_document(&body[..body.len().min(PRESCAN_BYTES)]))
}

/// Returns the charset parameter of a media type (RFC 9110 section 8.3.2).
fn encoding_from_content_type(value: &str) -> Option<&'static Encoding> {
    let label = value.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    Encoding::for_label(label.trim().trim_matches(['"', '\'']).as_bytes())
}

fn encoding_from_document(head: &[u8]) -> Option<&'static Encoding> {
    // Declarations are inside tags.
    if !head.contains(&b'<') {
        return None;
    }
    let head = head.to_ascii_lowercase();
    encoding_from_xml_declaration(&head).or_else(|| encoding_from_meta(&head)).map(|declared| {
        // A declaration that was read as ASCII cannot be in UTF-16 (WHATWG HTML 13.2.3.2, prescan).
        if declared == UTF_16LE || declared == UTF_16BE { UTF_8 } else { declared }
    })
}

fn encoding_from_xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..find_bytes(declaration, b"?>")?];
    let value = &declaration[find_bytes(declaration, b"encoding")? + b"encoding".len()..];
    Encoding::for_label(attribute_value(value)?)
}

/// Searches `<meta …>` tags outside of comments for `charset=`; covers both forms, since `http-equiv` has it in its
/// `content`.
fn encoding_from_meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut rest = head;
    loop {
        rest = &rest[rest.iter().position(|&byte| byte == b'<')?..];
        if rest.starts_with(b"<!--") {
            rest = &rest[4 + find_bytes(&rest[4..], b"-->")?..];
            continue;
        }
        let tag = &rest[..rest.iter().position(|&byte| byte == b'>').unwrap_or(rest.len())];
        if tag.starts_with(b"<meta")
            && let Some(found) = encoding_from_meta_tag(tag)
        {
            return Some(found);
        }
        rest = &rest[1..];
    }
}

fn encoding_from_meta_tag(tag: &[u8]) -> Option<&'static Encoding> {
    let mut rest = tag;
    while let Some(at) = find_bytes(rest, b"charset") {
        rest = &rest[at + b"charset".len()..];
        if let Some(found) = attribute_value(rest).and_then(Encoding::for_label) {
            return Some(found);
        }
    }
    None
}

/// Returns the value after `=`, with or without quotes.
fn attribute_value(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let text = text.strip_prefix(b"\"").or_else(|| text.strip_prefix(b"'")).unwrap_or(text);
    let end = text.iter().position(|byte| b"\"'; />?".contains(byte) || byte.is_ascii_whitespace());
    Some(&text[..end.unwrap_or(text.len())]).filter(|value| !value.is_empty())
}

fn find_bytes(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len()).position(|window| window == pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Body, header, and the expected text.
    const CASES: &[(&[u8], Option<&str>, &str)] = &[
        (b"", None, ""),
        (b"plain", None, "plain"),
        ("prêt".as_bytes(), None, "prêt"),
        (b"pr\xeat", None, "prêt"),
        (b"pr\xeat", Some("text/html; charset=ISO-8859-1"), "prêt"),
        (b"pr\xeat", Some("text/html;charset=\"latin1\""), "prêt"),
        (b"pr\xeat", Some("text/html; CharSet='windows-1252'; x=y"), "prêt"),
        (b"pr\xeat", Some("text/html; charset=utf-8"), "pr\u{fffd}t"),
        (b"pr\xeat", Some("text/html; charset=no-such-thing"), "prêt"),
        ("prêt".as_bytes(), Some("text/html; charset=no-such-thing"), "prêt"),
        (b"\xef\xbb\xbfpr\xc3\xaat", Some("text/html; charset=iso-8859-1"), "prêt"),
        (b"\xff\xfeo\x00k\x00", None, "ok"),
        (b"\xfe\xff\x00o\x00k", Some("text/html; charset=utf-8"), "ok"),
        (b"o\x00k\x00", Some("text/html; charset=utf-16"), "ok"),
        (b"\x00o\x00k", Some("text/html; charset=utf-16be"), "ok"),
        (b"<meta charset=koi8-r>\xc4\xc1", None, "<meta charset=koi8-r>да"),
        (b"<META CHARSET='koi8-r'>\xc4\xc1", None, "<META CHARSET='koi8-r'>да"),
        (b"<meta charset=koi8-r>\xd0\xb4", Some("text/html; charset=utf-8"), "<meta charset=koi8-r>д"),
        (
            b"<meta http-equiv=Content-Type content=\"text/html; charset=shift_jis\">\x82\xa0",
            None,
            "<meta http-equiv=Content-Type content=\"text/html; charset=shift_jis\">あ",
        ),
        (b"<!-- <meta charset=koi8-r> -->\xd0\xb4", None, "<!-- <meta charset=koi8-r> -->д"),
        (b"<meta charset=utf-16>\xd0\xb4", None, "<meta charset=utf-16>д"),
        (
            b"<meta name=charset content=x><meta charset=koi8-r>\xc4",
            None,
            "<meta name=charset content=x><meta charset=koi8-r>д",
        ),
        (
            b"<?xml version='1.0' encoding='EUC-JP'?>\xa4\xa2",
            None,
            "<?xml version='1.0' encoding='EUC-JP'?>あ",
        ),
        (b"<?xml version='1.0'?>\xc3\xa9", None, "<?xml version='1.0'?>é"),
        (b"\xb4\xeb", Some("text/plain; charset=gbk"), "措"),
        (b"<meta charset=", None, "<meta charset="),
        (b"<!-- ", None, "<!-- "),
    ];

    #[test]
    fn the_charset_comes_from_bom_header_or_document() {
        for (body, header, text) in CASES {
            assert_eq!(decode_body(body, *header), *text, "{body:?} {header:?}");
        }
    }

    #[test]
    fn a_declaration_beyond_the_prescan_is_ignored() {
        let mut body = vec![b' '; PRESCAN_BYTES];
        body.extend_from_slice(b"<meta charset=koi8-r>\xd0\xb4");
        assert!(decode_body(&body, None).ends_with('д'));
    }

    #[test]
    fn utf_8_is_not_copied() {
        assert!(matches!(decode_body("é".as_bytes(), Some("text/html; charset=utf-8")), Cow::Borrowed("é")));
    }
}
