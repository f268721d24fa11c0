//! The parsed tree of a YAML or JSON text with its positions.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use vigie::syntax::node::{Node, NodeValue, Position};

fn at(line: u32, column: u32) -> Position {
    Position { line, column }
}

fn error_of(text: &str) -> String {
    let error = Node::from_yaml(text).unwrap_err();
    format!("{}:{}: {}", error.position.line, error.position.column, error.message)
}

#[test]
fn keys_and_values_have_positions() {
    let node = Node::from_yaml("# head\nname: Übung\nlist:\n  - a: 1\n    b: [x, 2.5, ~]\n").unwrap();
    let [(name, text), (list, entries)] = node.entries() else { panic!("{node:?}") };
    assert_eq!((name.position, text.position, list.position), (at(2, 1), at(2, 7), at(3, 1)));
    let [first] = entries.items() else { panic!("{entries:?}") };
    assert_eq!(first.position, at(4, 5));
    let values: Vec<_> = first.get("b").unwrap().items().iter().map(|item| item.value.clone()).collect();
    assert_eq!(values, [NodeValue::Text("x".to_owned()), NodeValue::Float(2.5), NodeValue::Null]);
    assert_eq!(first.get("b").unwrap().items()[1].position, at(5, 12));
}

#[test]
fn only_true_and_false_are_flags() {
    let node = Node::from_yaml("[true, false, yes, no, on, y, n]").unwrap();
    let flags = node.items().iter().filter(|item| matches!(item.value, NodeValue::Bool(_))).count();
    assert_eq!(flags, 2);
}

#[test]
fn a_duplicate_key_is_kept_twice() {
    let node = Node::from_yaml("port: 1\nport: 2\n").unwrap();
    assert_eq!(node.entries().len(), 2);
    assert_eq!(node.entries()[1].0.position, at(2, 1));
}

#[test]
fn json_is_parsed_too() {
    let node = Node::from_yaml("{\n\t\"name\": \"\\u00fc \\/ \\ud83d\\ude00\",\n\t\"port\": 80\n}").unwrap();
    assert_eq!(node.get("name").unwrap().as_text(), Some("ü / 😀"));
    assert_eq!(node.get("port").unwrap().position, at(3, 10));
}

#[test]
fn invalid_yaml_is_reported_with_its_position() {
    let cases = [
        ("a: [1, 2\nb: 3\n", "2:2: illegal placement of ':' indicator"),
        ("a: b: c\n", "1:5: mapping values are not allowed in this context"),
        ("a: \"x\n", "2:1: invalid indentation in multiline quoted scalar"),
        ("a: *nowhere\n", "1:4: alias references unknown anchor"),
        ("a: 1\n---\nb: 2\n", "3:1: a second document starts here; a file holds one"),
    ];
    for (text, expected) in cases {
        assert_eq!(error_of(text), expected, "{text:?}");
    }
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(text, "a{level}: &a{level} [{inner}]").unwrap();
    }
    let started = Instant::now();
    assert_eq!(error_of(&text), "6:10: anchors and aliases expand to more than is read");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn aliases_are_resolved() {
    let node =
        Node::from_yaml("base: &base {timeout: 10}\none:\n  <<: *base\n  name: x\ntwo: *base\n").unwrap();
    assert_eq!(node.get("one").unwrap().get("timeout").unwrap().value, NodeValue::Int(10));
    assert_eq!(node.get("two").unwrap().get("timeout").unwrap().value, NodeValue::Int(10));
}

#[test]
fn deep_nesting_is_refused() {
    let mut block = String::new();
    for level in 0..2_000 {
        writeln!(block, "{}a:", " ".repeat(level)).unwrap();
    }
    for text in ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000), block] {
        let message = error_of(&text);
        assert!(message.ends_with(": lists and maps are nested more than 24 deep"), "{message}");
    }
}

#[test]
fn a_list_of_300000_entries_is_within_the_limits() {
    let text = "- a\n".repeat(300_000);
    assert_eq!(Node::from_yaml(&text).unwrap().items().len(), 300_000);
}
