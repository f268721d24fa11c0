//! Parses texts with placeholders `{{name}}` (behaviour.md 4, website-api).
//!
//! A placeholder is the name of a variable, or `$` and the name of a built-in one, between double braces; spaces around
//! the name are ignored. Everything else with double braces is text and stays as it is, so that templates of other
//! tools are valid bodies.

use super::text_format::TextFormat;

/// Names of the built-in variables; `evaluate` provides their values.
pub const BUILT_IN_VARIABLES: [&str; 5] =
    ["$timestamp", "$timestamp_ms", "$isoTimestamp", "$uuid", "$randomInt"];

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplatePart<'a> {
    /// Literal text.
    Text(&'a str),
    /// The name of a variable; for a built-in one with its `$`.
    Placeholder(&'a str),
}

/// Splits `text` into its parts, in order; no text part is empty.
#[must_use]
pub fn parse_template(text: &str) -> Vec<TemplatePart<'_>> {
    let (mut parts, mut part_start, mut search_from) = (Vec::new(), 0, 0);
    while let Some(placeholder_start) = text[search_from..].find("{{").map(|at| search_from + at) {
        let Some((name, length)) = parse_placeholder(&text[placeholder_start + 2..]) else {
            // `{{{name}}` is a brace before a placeholder.
            search_from = placeholder_start + 1;
            continue;
        };
        if part_start < placeholder_start {
            parts.push(TemplatePart::Text(&text[part_start..placeholder_start]));
        }
        parts.push(TemplatePart::Placeholder(name));
        part_start = placeholder_start + 2 + length;
        search_from = part_start;
    }
    if part_start < text.len() {
        parts.push(TemplatePart::Text(&text[part_start..]));
    }
    parts
}

/// Whether `text` has a placeholder.
#[must_use]
pub fn has_placeholders(text: &str) -> bool {
    text.contains("{{")
        && parse_template(text).iter().any(|part| matches!(part, TemplatePart::Placeholder(_)))
}

/// Parses the name at the start of `text` with surrounding spaces and the closing braces; also returns their total
/// length. Reads no further than the name, so that a text of many braces is parsed in linear time.
fn parse_placeholder(text: &str) -> Option<(&str, usize)> {
    let inside = text.trim_start_matches(' ');
    let sign_length = usize::from(inside.starts_with('$'));
    let identifier_length = inside[sign_length..]
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count();
    let (name, after) = inside.split_at(sign_length + identifier_length);
    let rest = after.trim_start_matches(' ').strip_prefix("}}")?;
    TextFormat::Identifier.matches(&name[sign_length..]).then(|| (name, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_distinguished_from_other_braces() {
        use TemplatePart::{Placeholder, Text};
        for (text, expected) in [
            ("", &[][..]),
            ("plain", &[Text("plain")]),
            ("{{a}}", &[Placeholder("a")]),
            ("x{{ a_1 }}y{{$uuid}}", &[Text("x"), Placeholder("a_1"), Text("y"), Placeholder("$uuid")]),
            ("{\"a\":{{n}}}", &[Text("{\"a\":"), Placeholder("n"), Text("}")]),
            ("{{{n}}}", &[Text("{"), Placeholder("n"), Text("}")]),
            ("{{a}}{{b}}", &[Placeholder("a"), Placeholder("b")]),
            ("{{", &[Text("{{")]),
            ("a}}", &[Text("a}}")]),
            ("{{}}", &[Text("{{}}")]),
            ("{{1a}}", &[Text("{{1a}}")]),
            ("{{#if x}}{{x}}", &[Text("{{#if x}}"), Placeholder("x")]),
            ("{{ {{x}}", &[Text("{{ "), Placeholder("x")]),
            ("{{a\n}}", &[Text("{{a\n}}")]),
            ("{{é}}ü{{ü", &[Text("{{é}}ü{{ü")]),
            ("{{  a  }}}", &[Placeholder("a"), Text("}")]),
            ("{{$}}{{ $a}}", &[Text("{{$}}"), Placeholder("$a")]),
            ("{{a b}}{{a}b}}", &[Text("{{a b}}{{a}b}}")]),
            ("{{x{{y}}", &[Text("{{x"), Placeholder("y")]),
        ] {
            assert_eq!(parse_template(text), expected, "{text}");
            assert_eq!(has_placeholders(text), expected.iter().any(|part| matches!(part, Placeholder(_))));
        }
    }
}
