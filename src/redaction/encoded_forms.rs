//! The forms in which a target may repeat a secret.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::syntax::escape::Escape;

/// Shortest secret that is masked by itself, in bytes; shorter ones occur by chance.
pub(super) const MIN_SECRET_BYTES: usize = 4;
/// Shortest piece of Base64 that is masked.
const MIN_BASE64_CHARS: usize = 6;

/// What browsers encode in a login of a URL (WHATWG URL, "userinfo percent-encode set").
const USERINFO: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'/')
    .add(b':')
    .add(b';')
    .add(b'=')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'|');
/// What browsers encode in a query.
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');

/// Adds the forms of `secret` to `forms`: plain, in URLs and HTML forms, in JSON, in XML and HTML, and in Base64 at any
/// position of a longer text. A secret of fewer than [`MIN_SECRET_BYTES`] bytes has none.
pub(super) fn add_secret(forms: &mut Vec<String>, secret: &str) {
    if secret.len() < MIN_SECRET_BYTES {
        return;
    }
    add_form(forms, secret.to_owned());
    add_base64(forms, secret.as_bytes());
    if secret.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return;
    }
    let escapes = [Escape::UrlComponent, Escape::FormValue, Escape::JsonString, Escape::Xml];
    let escaped = escapes.iter().filter_map(|escape| escape.apply(secret).ok().map(String::from));
    let browser_encoded = [USERINFO, QUERY].map(|set| utf8_percent_encode(secret, set).to_string());
    for form in escaped.chain(browser_encoded) {
        if form.contains('%') {
            add_form(forms, lower_case_percents(&form));
        }
        add_form(forms, form);
    }
    let json = json_ascii(secret);
    add_form(forms, json.replace('/', "\\/"));
    add_form(forms, json);
    let escaped = crate::domain::escape_html(secret);
    for [quote, apostrophe] in [["&#34;", "&#x27;"], ["&#x22;", "&apos;"], ["\"", "'"]] {
        add_form(forms, escaped.replace("&quot;", quote).replace("&#39;", apostrophe));
    }
    // Template engines that follow OWASP escape the slash, too, and Mustache two more characters.
    for [slash, quote, apostrophe] in [
        ["&#x2F;", "&quot;", "&#x27;"],
        ["&#x2f;", "&quot;", "&#x27;"],
        ["&#x2F;", "&quot;", "&#39;"],
        ["&#47;", "&#34;", "&#39;"],
    ] {
        let form = escaped.replace("&quot;", quote).replace("&#39;", apostrophe).replace('/', slash);
        add_form(forms, form.replace('=', "&#x3D;").replace('`', "&#x60;"));
        add_form(forms, form);
    }
}

/// Adds the forms of a login: `user:secret`, as Basic authentication joins them.
pub(super) fn add_login(forms: &mut Vec<String>, user: &str, secret: &str) {
    if secret.is_empty() {
        return;
    }
    let login = format!("{user}:{secret}");
    if login.len() >= MIN_SECRET_BYTES {
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            add_base64_form(forms, &engine.encode(&login));
        }
        add_form(forms, login);
    }
}

/// Adds `secret` in Base64, alone and at each of the three positions that it can have in a longer text. There, the
/// characters at its ends depend on its neighbours.
fn add_base64(forms: &mut Vec<String>, secret: &[u8]) {
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        add_base64_form(forms, &engine.encode(secret));
        for bytes_before in 0..3 {
            let mut padded = vec![0; bytes_before];
            padded.extend_from_slice(secret);
            let encoded = engine.encode(&padded);
            let start_char = [0, 2, 3][bytes_before];
            let end_char = padded.len() * 8 / 6;
            add_base64_form(forms, encoded.get(start_char..end_char).unwrap_or_default());
        }
    }
}

fn add_base64_form(forms: &mut Vec<String>, base64: &str) {
    if base64.len() >= MIN_BASE64_CHARS {
        add_form(forms, base64.to_owned());
    }
}

fn add_form(forms: &mut Vec<String>, form: String) {
    if !forms.contains(&form) {
        forms.push(form);
    }
}

/// Returns `text` with the digits of its percent-encoded bytes in lower case.
fn lower_case_percents(text: &str) -> String {
    let mut digits = 0;
    let lower = |c: char| {
        let c = if digits > 0 { c.to_ascii_lowercase() } else { c };
        digits = if c == '%' { 2 } else { std::cmp::max(digits, 1) - 1 };
        c
    };
    text.chars().map(lower).collect()
}

/// Escapes `text` for a JSON string of ASCII characters alone.
fn json_ascii(text: &str) -> String {
    let escaped = Escape::JsonString.apply(text).unwrap_or_default();
    let mut out = String::with_capacity(escaped.len());
    for c in escaped.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(out, "\\u{unit:04x}");
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(secret: &str) -> Vec<String> {
        let mut forms = Vec::new();
        add_secret(&mut forms, secret);
        forms
    }

    #[test]
    fn a_secret_is_known_in_every_encoding() {
        let forms = forms("p/ä <\"'&+");
        for form in [
            "p/ä <\"'&+",
            "p%2F%C3%A4%20%3C%22%27%26%2B",
            "p%2f%c3%a4%20%3c%22%27%26%2b",
            "p%2F%C3%A4+%3C%22%27%26%2B",
            "p/ä <\\\"'&+",
            "p\\/\\u00e4 <\\\"'&+",
            "p/ä &lt;&quot;&#39;&amp;+",
            "p/ä &lt;&#34;&#x27;&amp;+",
            "p&#x2F;ä &lt;&quot;&#39;&amp;+",
            "p&#x2F;ä &lt;&quot;&#x27;&amp;+",
            "p&#47;ä &lt;&#34;&#39;&amp;+",
            "p%2F%C3%A4%20%3C%22'&+",
            "p/%C3%A4%20%3C%22%27&+",
        ] {
            assert!(forms.iter().any(|encoded| encoded == form), "{form}: {forms:?}");
        }
    }

    #[test]
    fn a_secret_is_found_in_base64_whatever_stands_around_it() {
        let forms = forms("hunter2??>");
        for before in ["", "a", "ab", "abc", "user:"] {
            for after in ["", "z", "zz"] {
                for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                    let encoded = engine.encode(format!("{before}hunter2??>{after}"));
                    assert!(forms.iter().any(|form| encoded.contains(form)), "{before}, {after}");
                }
            }
        }
    }

    #[test]
    fn a_short_secret_is_known_with_its_user_only() {
        assert_eq!(forms("abc"), Vec::<String>::new());
        let mut forms = Vec::new();
        add_login(&mut forms, "me", "abc");
        assert_eq!(forms, ["bWU6YWJj", "me:abc"]);
    }
}
