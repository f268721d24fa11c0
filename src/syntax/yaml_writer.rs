//! Writes monitors as YAML: [`super::node::Node::from_yaml`] reads back the same values. Texts are unquoted or
//! written line by line where that is safe, so that people can read them.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Plain words that some version of YAML does not read as text.
const RESERVED_WORDS: [&str; 12] =
    ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];

/// Returns the text of a monitor file with `entries`, each a map that begins with its key.
#[must_use]
pub fn format_monitors(entries: &[Map<String, Value>]) -> String {
    if entries.is_empty() {
        return "[]\n".to_owned();
    }
    let mut out = String::new();
    for entry in entries {
        write_item(&mut out, &Value::Object(entry.clone()), 0);
    }
    out
}

/// Returns the text of a file with `hosts`, each a map that begins with its name.
#[must_use]
pub fn format_hosts(hosts: &[Map<String, Value>]) -> String {
    let mut out = String::new();
    write_field(&mut out, "hosts", &hosts.iter().cloned().map(Value::Object).collect(), 0);
    out
}

/// Writes an entry of a list whose dash is at `indent`.
fn write_item(out: &mut String, value: &Value, indent: usize) {
    write_indent(out, indent);
    out.push('-');
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (at, (name, value)) in fields.iter().enumerate() {
                if at == 0 {
                    out.push(' ');
                } else {
                    write_indent(out, indent + 2);
                }
                write_field(out, name, value, indent + 2);
            }
        }
        value => write_value(out, value, indent),
    }
}

/// Writes `name: value` of a map whose names are at `indent`; the line is already indented.
fn write_field(out: &mut String, name: &str, value: &Value, indent: usize) {
    let is_plain_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte.is_ascii_digit());
    if is_plain_name && !RESERVED_WORDS.contains(&name) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        out.push_str(name);
    } else {
        write_quoted(out, name);
    }
    out.push(':');
    write_value(out, value, indent);
}

/// Writes the value after a colon or dash that belongs to `indent`.
fn write_value(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            for value in items {
                write_item(out, value, indent + 2);
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            out.push('\n');
            for (name, value) in fields {
                write_indent(out, indent + 2);
                write_field(out, name, value, indent + 2);
            }
        }
        Value::String(text) if is_block_text(text) => write_block(out, text, indent + 2),
        value => {
            out.push(' ');
            write_scalar(out, value);
            out.push('\n');
        }
    }
}

fn write_scalar(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
        Value::String(text) if is_plain_text(text) => out.push_str(text),
        Value::String(text) => write_quoted(out, text),
        // Writing into a string cannot fail.
        Value::Bool(_) | Value::Number(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

/// Whether a text needs no quotes. Stricter than YAML: a letter first, then only characters without a meaning anywhere.
fn is_plain_text(text: &str) -> bool {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b" _./@+-".contains(&byte);
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(safe)
        && !text.ends_with(' ')
        && !RESERVED_WORDS.contains(&text.to_ascii_lowercase().as_str())
}

/// Whether a text is written line by line: it has several lines, and the first does not start with white space.
fn is_block_text(text: &str) -> bool {
    text.contains('\n')
        && text.starts_with(|c: char| !c.is_whitespace())
        && text.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
        && text.lines().all(|line| line.is_empty() || !line.trim().is_empty())
}

fn write_block(out: &mut String, text: &str, indent: usize) {
    let chomping = match (text.ends_with('\n'), text.ends_with("\n\n")) {
        (_, true) => "+",
        (true, false) => "",
        (false, false) => "-",
    };
    let _ = writeln!(out, " |{chomping}");
    for line in text.split_terminator('\n') {
        if !line.is_empty() {
            write_indent(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Writes a text in double quotes; unprintable characters are escaped.
fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) > 0xffff => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        }
    }
    out.push('"');
}

/// Whether YAML allows `c` unescaped; excludes characters that end lines, are hidden or change the direction of a text.
fn is_printable(c: char) -> bool {
    let hidden = matches!(c,
        '\u{7f}'..='\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}');
    c >= ' ' && !hidden && u32::from(c) & 0xfffe != 0xfffe && u32::from(c) < 0xe_0000
}

fn write_indent(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::node::Node;
    use super::*;

    fn written_and_read_back(entries: &Value) -> Value {
        let maps: Vec<_> =
            entries.as_array().unwrap().iter().map(|map| map.as_object().unwrap().clone()).collect();
        let text = format_monitors(&maps);
        Node::from_yaml(&text)
            .unwrap_or_else(|error| panic!("{error} at {:?}\n{text}", error.position))
            .to_json()
    }

    #[test]
    fn the_output_is_readable() {
        let entry = json!({"key": "shop", "type": "website", "name": "Shop: start", "url": "http://a.test/", "interval": 5,
            "enabled": false, "http_version": "1.1", "note": "yes", "script": "<a>\n  <b/>\n</a>\n", "locations": [{"id": 1}, {"id": 2}],
            "capture": {"level": "Disabled"}, "custom_properties": []});
        let expected = "- key: shop\n  type: website\n  name: \"Shop: start\"\n  url: \"http://a.test/\"\n  interval: 5\n  \
            enabled: false\n  http_version: \"1.1\"\n  note: \"yes\"\n  script: |\n    <a>\n      <b/>\n    </a>\n  locations:\n    - id: 1\n    \
            - id: 2\n  capture:\n    level: Disabled\n  custom_properties: []\n";
        assert_eq!(format_monitors(&[entry.as_object().unwrap().clone()]), expected);
        assert_eq!(written_and_read_back(&json!([entry])), json!([entry]));
        assert_eq!(format_monitors(&[]), "[]\n");
    }

    #[test]
    fn texts_that_look_like_other_values_stay_texts() {
        for text in [
            "",
            " ",
            "a ",
            " a",
            "null",
            "~",
            "Yes",
            "NO",
            "1",
            "1.0",
            "1e3",
            "0x1f",
            "-",
            "- a",
            "a: b",
            "a #b",
            "#",
            "'",
            "\"",
            "\\",
            "{{x}}",
            "[a]",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%",
            "@",
            "`",
            "a\n",
            "a\n\n",
            "\na",
            " a\nb",
            "a\n b\n\n c",
            "a\r\nb",
            "a\n\tb",
            "a \nb ",
            "a\n   \nb",
            "---\n---",
            "...\n...",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{7f}",
            "\0",
            "\u{fffe}",
            "\u{1f600}\n\u{1fffe}",
            "\u{202e}x",
            "<?xml version=\"1.0\"?>\n<s a='&amp;'>\n\n\t<!-- # - : -->\n</s>",
            "a\n# b\n",
            "2026-11-20",
            "12:30:45",
            ".inf",
            "NaN",
            "=",
            "<<",
            "key: |\n x",
        ] {
            let entry = json!([{"key": text, "list": [text, {"in": text}], "map": {"deep": text}}]);
            assert_eq!(
                written_and_read_back(&entry),
                entry,
                "{text:?}\n{}",
                format_monitors(&[entry[0].as_object().unwrap().clone()])
            );
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[ \\t\\n\\r#:'\"|>&*!%@`{}\\[\\],a-c0-9.~-]{0,40}",
            "([ \\t]{0,3}[a-z:#\"'-]{0,5}[ \\t]{0,2}\n){0,6}",
        ]
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            any_text().prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn written_values_are_read_back(value in any_value(), text in any_text()) {
            let entries = json!([{"key": text, "value": value}]);
            prop_assert_eq!(written_and_read_back(&entries), entries);
        }
    }
}
