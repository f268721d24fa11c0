//! Reads strict JSON (RFC 8259) into a `Node`: bounded in depth and in the number of values.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::node::{Key, MAX_NESTING_DEPTH, Node, NodeValue, Position, SyntaxError};

/// Maximum number of values of one text: enough for 100,000 monitors; limits the memory for a body of many
/// small values.
const MAX_VALUES: usize = 2_000_000;

impl Node {
    /// Reads strict JSON (RFC 8259), at most [`MAX_NESTING_DEPTH`] deep. Positions are unknown, except that of a
    /// syntax error. A duplicate key is kept twice.
    pub fn from_json(bytes: &[u8]) -> Result<Self, SyntaxError> {
        parse_json(bytes)
    }
}

/// Reads one JSON text. A duplicate key of an object is kept twice.
fn parse_json(bytes: &[u8]) -> Result<Node, SyntaxError> {
    let remaining_values = Cell::new(MAX_VALUES);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let read = NodeSeed { depth: 0, remaining_values: &remaining_values }.deserialize(&mut deserializer);
    let read = read.and_then(|node| deserializer.end().map(|()| node));
    read.map_err(|error| syntax_error(bytes, &error))
}

fn syntax_error(bytes: &[u8], error: &serde_json::Error) -> SyntaxError {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    SyntaxError {
        position: character_position(bytes, error.line(), error.column()),
        message: message.to_owned(),
    }
}

/// Converts a position. Columns count characters from 1; the parser counts bytes, from 0 at the start of a line.
fn character_position(bytes: &[u8], line: usize, column: usize) -> Position {
    let text = bytes.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let before = text.get(..column).unwrap_or(text);
    let characters = before.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
    let bounded = |number: usize| u32::try_from(number.max(1)).unwrap_or(u32::MAX);
    Position { line: bounded(line), column: bounded(characters) }
}

/// Reads one value, nested in `depth` lists and objects.
#[derive(Clone, Copy)]
struct NodeSeed<'a> {
    depth: usize,
    remaining_values: &'a Cell<usize>,
}

impl NodeSeed<'_> {
    /// Returns the seed for the entries of a list or object; fails when it would be nested too deep.
    fn nested<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_NESTING_DEPTH {
            return Err(E::custom(format_args!(
                "lists and objects are nested more than {MAX_NESTING_DEPTH} deep"
            )));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        let Some(remaining) = self.remaining_values.get().checked_sub(1) else {
            return Err(D::Error::custom(format_args!("there are more than {MAX_VALUES} values")));
        };
        self.remaining_values.set(remaining);
        let value = deserializer.deserialize_any(self)?;
        Ok(Node { value, position: Position::default() })
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = NodeValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<NodeValue, E> {
        Ok(NodeValue::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<NodeValue, E> {
        Ok(NodeValue::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<NodeValue, E> {
        Ok(i64::try_from(number).map_or(NodeValue::Float(number as f64), NodeValue::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<NodeValue, E> {
        // `-0` is the integer 0.
        let negative_zero = number == 0.0 && number.is_sign_negative();
        Ok(if negative_zero { NodeValue::Int(0) } else { NodeValue::Float(number) })
    }

    fn visit_str<E>(self, text: &str) -> Result<NodeValue, E> {
        Ok(NodeValue::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<NodeValue, E> {
        Ok(NodeValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<NodeValue, A::Error> {
        let inside = self.nested()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(NodeValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<NodeValue, A::Error> {
        let inside = self.nested()?;
        let mut entries = Vec::new();
        while let Some(name) = access.next_key::<String>()? {
            entries.push((Key { name, position: Position::default() }, access.next_value_seed(inside)?));
        }
        Ok(NodeValue::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_text(text: impl AsRef<[u8]>) -> String {
        let error = parse_json(text.as_ref()).unwrap_err();
        format!("{}:{}: {}", error.position.line, error.position.column, error.message)
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let text = r#" {"a":[null,true,1,-9223372036854775808,9223372036854775808,1.0,1e2,-0,"\u00fc\ud83d\ude00"]} "#;
        let node = parse_json(text.as_bytes()).unwrap();
        let values: Vec<_> = node.get("a").unwrap().items().iter().map(|item| item.value.clone()).collect();
        let expected = [
            NodeValue::Null,
            NodeValue::Bool(true),
            NodeValue::Int(1),
            NodeValue::Int(i64::MIN),
            NodeValue::Float(9_223_372_036_854_775_808.0),
            NodeValue::Float(1.0),
            NodeValue::Float(100.0),
            NodeValue::Int(0),
            NodeValue::Text("ü😀".to_owned()),
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn a_duplicate_key_is_kept_twice() {
        let node = parse_json(br#"{"port":1,"port":2}"#).unwrap();
        assert_eq!(node.entries().len(), 2);
        assert_eq!(node.get("port").unwrap().value, NodeValue::Int(2));
    }

    #[test]
    fn invalid_json_is_rejected_with_its_position() {
        for (text, expected) in [
            ("", "1:1: EOF while parsing a value"),
            ("{\n  \"ü\": trex\n}", "2:10: expected ident"),
            ("{'a':1}", "1:2: key must be a string"),
            ("[1,]", "1:4: trailing comma"),
            ("{} {}", "1:4: trailing characters"),
            ("[1] // x", "1:5: trailing characters"),
            ("\u{feff}{}", "1:1: expected value"),
            ("01", "1:2: invalid number"),
            ("NaN", "1:1: expected value"),
            ("1e999", "1:5: number out of range"),
            ("\"\\ud800\"", "1:8: unexpected end of hex escape"),
            ("\"\\udc00\"", "1:7: lone leading surrogate in hex escape"),
            ("\"\t\"", "1:2: control character (\\u0000-\\u001F) found while parsing a string"),
        ] {
            assert_eq!(error_text(text), expected, "{text:?}");
        }
        assert_eq!(error_text(b"\"\xff\""), "1:2: invalid unicode code point");
    }

    #[test]
    fn depth_and_number_of_values_are_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse_json(nested(MAX_NESTING_DEPTH).as_bytes()).is_ok());
        let too_deep = "lists and objects are nested more than 24 deep";
        assert!(error_text(nested(MAX_NESTING_DEPTH + 1)).ends_with(too_deep));
        assert!(error_text("[".repeat(5_000_000)).ends_with(too_deep));
        assert!(error_text(r#"{"a":"#.repeat(30)).ends_with(too_deep));
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert!(error_text(many).ends_with("there are more than 2000000 values"));
    }

    proptest::proptest! {
        #[test]
        fn reading_never_panics(bytes: Vec<u8>) {
            let _ = parse_json(&bytes);
        }
    }
}
