//! Regular expressions (ECMA 262, as JSON Schema wants them) and names of the forms of texts.

use crate::syntax::format::{Format, OWN_HEADERS};

/// Digits of one part of an IPv4 address; a leading zero is none.
const OCTET: &str = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";

/// A host name in ASCII or another script, or an address.
const HOST: &str = r"([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*|[^\s/]*[^\x00-\x7F\s][^\s/]*)";

/// Text before the scheme's end of an http or https URL, and a host.
const HTTP_URL: &str = r"[hH][tT][tT][pP][sS]?:[\\/]*[^\\/?#]+";

/// A regular expression that every text of `format` fits. Where the form cannot be told by one, it is wider
/// than the form.
pub(super) fn pattern(format: Format) -> Option<String> {
    Some(match format {
        Format::Any | Format::Json | Format::Ip => return None,
        Format::Ipv4 => format!(r"^({OCTET}\.){{3}}{OCTET}$"),
        Format::HttpUrl => format!(r"^\s*{HTTP_URL}"),
        Format::HttpUrlTemplate => format!(r"^\s*{HTTP_URL}|\{{\{{"),
        Format::Host => format!("^{HOST}$"),
        Format::Service(schemes) => {
            let schemes: Vec<_> = schemes.iter().map(|scheme| in_any_case(scheme)).collect();
            format!(r"^({HOST}|(({})://)?({HOST}|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?/?)$", schemes.join("|"))
        }
        Format::Email => r"^[^\s<>,]+@[^\s/@]+$".to_owned(),
        Format::Identifier => "^[A-Za-z_][A-Za-z0-9_]*$".to_owned(),
        Format::Token => r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$".to_owned(),
        Format::HeaderName => {
            let own: Vec<_> = OWN_HEADERS.iter().map(|name| in_any_case(name)).collect();
            format!(r"^(?!({})$)[A-Za-z0-9!#$%&'*+.^_`|~-]+$", own.join("|"))
        }
        Format::HeaderValue => r"^[^\x00-\x08\x0A-\x1F\x7F-\x9F]*$".to_owned(),
        Format::Xml | Format::Script => r"^[\uFEFF\s]*<[\s\S]*>\s*$".to_owned(),
        Format::Base64 => r"^[A-Za-z0-9+/ \t\r\n\f]*(=[ \t\r\n\f]*){0,2}$".to_owned(),
        Format::ClockTime => "^([01][0-9]|2[0-3]):[0-5][0-9]$".to_owned(),
        Format::LocalTime => {
            "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"
                .to_owned()
        }
    })
}

/// The name of `format` for `format`: those of JSON Schema where there is one, else a word that validators
/// ignore and generators of tests may know.
pub(super) const fn format_name(format: Format) -> Option<&'static str> {
    match format {
        Format::Any | Format::Identifier | Format::Token | Format::ClockTime => None,
        Format::Ipv4 => Some("ipv4"),
        Format::Ip => Some("ip"),
        Format::HttpUrl => Some("http-url"),
        Format::HttpUrlTemplate => Some("http-url-template"),
        Format::Host => Some("host"),
        Format::Service(_) => Some("service"),
        Format::Email => Some("mail-address"),
        Format::HeaderName => Some("header-name"),
        Format::HeaderValue => Some("header-value"),
        Format::Json => Some("json"),
        Format::Xml | Format::Script => Some("xml"),
        Format::Base64 => Some("base64"),
        Format::LocalTime => Some("local-time"),
    }
}

/// `text` as an expression that also fits it in capitals.
fn in_any_case(text: &str) -> String {
    let letter = |c: char| match c.to_ascii_uppercase() {
        capital if capital == c => c.to_string(),
        capital => format!("[{c}{capital}]"),
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_a_form_fits_its_pattern() {
        let cases: &[(Format, &[&str], &[&str])] = &[
            (Format::Ipv4, &["127.0.0.1", "255.249.199.9"], &["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4\n"]),
            (Format::HttpUrl, &["http://a/", "HTTPS://[::1]:8080"], &["ftp://a/", "a.example", ""]),
            (Format::HttpUrlTemplate, &["{{base}}/x", "http://a/{{id}}"], &["/x"]),
            (Format::Host, &["a", "a.b.", "_x.a-b.c", "::1", "münchen.example"], &["", "a b", "-a", "a/b"]),
            (
                Format::Service(&["smtp", "smtps"]),
                &["a", "a:25", "smtps://a:465", "SMTP://a/", "[::1]:25", "::1", "smtp://[::1]"],
                &["imap://a/b", "a:x", ""],
            ),
            (Format::Email, &["a@b.example", "a+b@[127.0.0.1]"], &["a", "@b", "a b@c", "a@"]),
            (Format::Identifier, &["a", "_a1"], &["", "1a", "a-b", "ä"]),
            (Format::Token, &["PURGE", "x-y"], &["", "a b", "ä"]),
            (Format::HeaderValue, &["", "a\tb", "ä"], &["a\nb", "a\rb", "\0", "\u{85}"]),
            (Format::Xml, &["<a/>", " <?xml version=\"1.0\"?><a></a>\n"], &["", "a", "<a"]),
            (Format::Base64, &["", "aGk=", "aG\nk="], &["*", "a==="]),
            (Format::ClockTime, &["00:00", "23:59"], &["24:00", "1:00", "12:60"]),
            (Format::LocalTime, &["2026-02-28 23:59:59"], &["2026-02-32 00:00:00", "2026-02-28T00:00:00Z"]),
        ];
        for (format, good, bad) in cases {
            let pattern = regex::Regex::new(&pattern(*format).unwrap()).unwrap();
            for text in *good {
                assert!(format.fits(text) && pattern.is_match(text), "{format:?} refuses {text:?}");
            }
            for text in *bad {
                assert!(!format.fits(text) && !pattern.is_match(text), "{format:?} takes {text:?}");
            }
        }
    }

    #[test]
    fn names_of_own_headers_are_refused_in_any_case() {
        // The `regex` crate knows no look-ahead, so that the two halves are tried one by one.
        let pattern = pattern(Format::HeaderName).unwrap();
        let (own, token) = pattern.trim_start_matches("^(?!").split_once("$)").unwrap();
        let own = regex::Regex::new(&format!("^{own}$")).unwrap();
        assert!(own.is_match("HOST") && own.is_match("Te") && !own.is_match("X-Host"));
        assert!(regex::Regex::new(&format!("^{token}")).unwrap().is_match("X-Host"));
    }
}
