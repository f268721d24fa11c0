//! Regular expressions (ECMA 262, as JSON Schema requires) and format names of text formats.

use crate::syntax::text_format::{RESERVED_HEADERS, TextFormat};

/// One part of an IPv4 address, without leading zeros.
const OCTET: &str = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";

/// A host name in ASCII or another script, or an address.
const HOST: &str = r"([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*|[^\s/]*[^\x00-\x7F\s][^\s/]*)";

/// The scheme and host of an http or https URL.
const HTTP_URL: &str = r"[hH][tT][tT][pP][sS]?:[\\/]*[^\\/?#]+";

/// A status code, range or class.
const STATUS_CODES: &str = "([1-9][0-9]{2}(-[1-9][0-9]{2})?|[1-9][xX]{2})";

/// Returns a regular expression that every text of `format` matches. It is wider than the format where an expression
/// cannot describe it exactly.
pub(super) fn pattern(format: TextFormat) -> Option<String> {
    Some(match format {
        TextFormat::Any
        | TextFormat::Json
        | TextFormat::VariablesJson
        | TextFormat::JsonSchema
        | TextFormat::Ip => return None,
        TextFormat::Name => {
            r"^[^\x00-\x1F\x7F-\x9F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]*$".to_owned()
        }
        TextFormat::Ipv4 => format!(r"^({OCTET}\.){{3}}{OCTET}$"),
        TextFormat::HttpUrl => format!(r"^\s*{HTTP_URL}"),
        TextFormat::HttpUrlTemplate => format!(r"^\s*{HTTP_URL}|\{{\{{"),
        TextFormat::Host => format!("^{HOST}$"),
        TextFormat::ServiceAddress(schemes) => {
            let schemes: Vec<_> = schemes.iter().map(|scheme| case_insensitive(scheme)).collect();
            format!(r"^({HOST}|(({})://)?({HOST}|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?/?)$", schemes.join("|"))
        }
        TextFormat::Email => r"^[^\s<>,]+@[^\s/@]+$".to_owned(),
        TextFormat::Identifier => "^[A-Za-z_][A-Za-z0-9_]*$".to_owned(),
        TextFormat::Token => r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$".to_owned(),
        TextFormat::HeaderName => {
            let reserved_names: Vec<_> = RESERVED_HEADERS.iter().map(|name| case_insensitive(name)).collect();
            format!(r"^(?!({})$)[A-Za-z0-9!#$%&'*+.^_`|~-]+$", reserved_names.join("|"))
        }
        TextFormat::HeaderValue => r"^[^\x00-\x08\x0A-\x1F\x7F-\x9F]*$".to_owned(),
        TextFormat::HttpStatusCodes => format!(r"^\s*{STATUS_CODES}\s*(,\s*{STATUS_CODES}\s*)*$"),
        TextFormat::Xml | TextFormat::Script => r"^[\uFEFF\s]*<[\s\S]*>\s*$".to_owned(),
        TextFormat::Base64 => r"^[A-Za-z0-9+/ \t\r\n\f]*(=[ \t\r\n\f]*){0,2}$".to_owned(),
        TextFormat::TimeOfDay => "^([01][0-9]|2[0-3]):[0-5][0-9]$".to_owned(),
        TextFormat::LocalDateTime => {
            "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"
                .to_owned()
        }
    })
}

/// Returns the value of the `format` keyword for `format`: that of JSON Schema if it has one, else a name that
/// validators ignore and test generators may know.
pub(super) const fn format_name(format: TextFormat) -> Option<&'static str> {
    match format {
        TextFormat::Any
        | TextFormat::Name
        | TextFormat::Identifier
        | TextFormat::Token
        | TextFormat::TimeOfDay => None,
        TextFormat::Ipv4 => Some("ipv4"),
        TextFormat::Ip => Some("ip"),
        TextFormat::HttpUrl => Some("http-url"),
        TextFormat::HttpUrlTemplate => Some("http-url-template"),
        TextFormat::Host => Some("host"),
        TextFormat::ServiceAddress(_) => Some("service"),
        TextFormat::Email => Some("mail-address"),
        TextFormat::HeaderName => Some("header-name"),
        TextFormat::HeaderValue => Some("header-value"),
        TextFormat::HttpStatusCodes => Some("status-codes"),
        TextFormat::Json | TextFormat::VariablesJson => Some("json"),
        TextFormat::JsonSchema => Some("json-schema"),
        TextFormat::Xml | TextFormat::Script => Some("xml"),
        TextFormat::Base64 => Some("base64"),
        TextFormat::LocalDateTime => Some("local-time"),
    }
}

/// Returns an expression that matches `text` in any case.
fn case_insensitive(text: &str) -> String {
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
    fn every_text_of_a_format_fits_its_pattern() {
        let cases: &[(TextFormat, &[&str], &[&str])] = &[
            (
                TextFormat::Ipv4,
                &["127.0.0.1", "255.249.199.9"],
                &["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4\n"],
            ),
            (TextFormat::HttpUrl, &["http://a/", "HTTPS://[::1]:8080"], &["ftp://a/", "a.example", ""]),
            (TextFormat::HttpUrlTemplate, &["{{base}}/x", "http://a/{{id}}"], &["/x"]),
            (
                TextFormat::Host,
                &["a", "a.b.", "_x.a-b.c", "::1", "münchen.example"],
                &["", "a b", "-a", "a/b"],
            ),
            (
                TextFormat::ServiceAddress(&["smtp", "smtps"]),
                &["a", "a:25", "smtps://a:465", "SMTP://a/", "[::1]:25", "::1", "smtp://[::1]"],
                &["imap://a/b", "a:x", ""],
            ),
            (TextFormat::Email, &["a@b.example", "a+b@[127.0.0.1]"], &["a", "@b", "a b@c", "a@"]),
            (TextFormat::Identifier, &["a", "_a1"], &["", "1a", "a-b", "ä"]),
            (TextFormat::Token, &["PURGE", "x-y"], &["", "a b", "ä"]),
            (TextFormat::HeaderValue, &["", "a\tb", "ä"], &["a\nb", "a\rb", "\0", "\u{85}"]),
            (TextFormat::Xml, &["<a/>", " <?xml version=\"1.0\"?><a></a>\n"], &["", "a", "<a"]),
            (TextFormat::Base64, &["", "aGk=", "aG\nk="], &["*", "a==="]),
            (TextFormat::HttpStatusCodes, &["200", "200-299, 404", "2xx"], &["", "20", "200,", "0xx"]),
            (TextFormat::TimeOfDay, &["00:00", "23:59"], &["24:00", "1:00", "12:60"]),
            (
                TextFormat::LocalDateTime,
                &["2026-02-28 23:59:59"],
                &["2026-02-32 00:00:00", "2026-02-28T00:00:00Z"],
            ),
        ];
        for (format, valid, invalid) in cases {
            let pattern = regex::Regex::new(&pattern(*format).unwrap()).unwrap();
            for text in *valid {
                assert!(format.matches(text) && pattern.is_match(text), "{format:?} refuses {text:?}");
            }
            for text in *invalid {
                assert!(!format.matches(text) && !pattern.is_match(text), "{format:?} takes {text:?}");
            }
        }
    }

    #[test]
    fn reserved_header_names_are_refused_in_any_case() {
        // The `regex` crate has no look-ahead, so the two halves are tested separately.
        let pattern = pattern(TextFormat::HeaderName).unwrap();
        let (reserved_pattern, token_pattern) = pattern.trim_start_matches("^(?!").split_once("$)").unwrap();
        let reserved_pattern = regex::Regex::new(&format!("^{reserved_pattern}$")).unwrap();
        assert!(
            reserved_pattern.is_match("HOST")
                && reserved_pattern.is_match("Te")
                && !reserved_pattern.is_match("X-Host")
        );
        assert!(regex::Regex::new(&format!("^{token_pattern}")).unwrap().is_match("X-Host"));
    }
}
