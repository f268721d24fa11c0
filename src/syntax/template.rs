//! Texts with placeholders `{{name}}`, taken apart (behaviour.md 4, website-api).
//!
//! A placeholder is a variable's name, or `$` and the name of a built-in one, between double braces; blanks
//! beside the name do not matter. Whatever else has double braces is text and stays as it is: templates of
//! other tools are good bodies.

use super::text_format::TextFormat;

/// Names of the built-in variables; `judge` knows their values.
pub const BUILT_IN_VARIABLES: [&str; 5] =
    ["$timestamp", "$timestamp_ms", "$isoTimestamp", "$uuid", "$randomInt"];

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplatePart<'a> {
    /// Text that stays.
    Text(&'a str),
    /// The name of a variable; of a built-in one with its `$`.
    Placeholder(&'a str),
}

/// The pieces of `text`, in order; no piece of text is empty.
#[must_use]
pub fn parse(text: &str) -> Vec<TemplatePart<'_>> {
    let (mut found, mut kept, mut from) = (Vec::new(), 0, 0);
    while let Some(open) = text[from..].find("{{").map(|at| from + at) {
        let Some((name, length)) = parse_placeholder(&text[open + 2..]) else {
            // `{{{name}}` is a brace before a placeholder.
            from = open + 1;
            continue;
        };
        if kept < open {
            found.push(TemplatePart::Text(&text[kept..open]));
        }
        found.push(TemplatePart::Placeholder(name));
        kept = open + 2 + length;
        from = kept;
    }
    if kept < text.len() {
        found.push(TemplatePart::Text(&text[kept..]));
    }
    found
}

/// Whether `text` has a placeholder.
#[must_use]
pub fn has_placeholders(text: &str) -> bool {
    text.contains("{{") && parse(text).iter().any(|part| matches!(part, TemplatePart::Placeholder(_)))
}

/// The name that `text` begins with, blanks and the closing braces behind it, and how long all of that is. Looks no
/// further than such a name goes: a text of nothing but braces is gone through once.
fn parse_placeholder(text: &str) -> Option<(&str, usize)> {
    let inside = text.trim_start_matches(' ');
    let sign = usize::from(inside.starts_with('$'));
    let letters =
        inside[sign..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, behind) = inside.split_at(sign + letters);
    let rest = behind.trim_start_matches(' ').strip_prefix("}}")?;
    TextFormat::Identifier.matches(&name[sign..]).then(|| (name, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_other_braces() {
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
            assert_eq!(parse(text), expected, "{text}");
            assert_eq!(has_placeholders(text), expected.iter().any(|part| matches!(part, Placeholder(_))));
        }
    }
}
