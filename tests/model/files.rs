//! Monitor files: what they may contain, and every error in them.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::fields::Fields;
use vigie::domain::{CustomerId, MonitorType};
use vigie::schema::SecretMode;
use vigie::schema::monitor_file::{
    KeyPolicy, ParsedMonitorFiles, find_file_errors, parse_monitor_files, to_file_entry,
};
use vigie::schema::reader::{SecretSource, reject_secret_sources};
use vigie::schema::validation_context::ValidationContext;

fn load_text(text: &str) -> ParsedMonitorFiles {
    parse_monitor_files(
        &[("a.yaml".to_owned(), text.to_owned())],
        KeyPolicy::Required,
        &ValidationContext::default(),
        &reject_secret_sources,
    )
}

/// Returns the errors of one file, as `vigie config check` prints them.
fn errors_of(text: &str) -> Vec<String> {
    load_text(text).errors.iter().map(ToString::to_string).collect()
}

/// Returns the errors of a `tcp` monitor with an additional line.
fn errors_of_tcp_line(line: &str) -> String {
    let text = format!("- key: k\n  type: tcp\n  name: n\n  billing_plancode: p\n  hostname: h\n  {line}\n");
    let found: Vec<_> =
        errors_of(&text).into_iter().filter(|error| !error.contains("`port` is required")).collect();
    found.join("\n")
}

#[test]
fn every_type_has_a_disabled_example_without_errors_and_warnings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/monitors");
    let names = MonitorType::ALL.iter().map(|kind| format!("{kind}.yaml"));
    let files: Vec<_> = names
        .map(|name| {
            let text = std::fs::read_to_string(folder.join(&name)).unwrap();
            assert!(text.starts_with("# "), "{name} starts with a comment");
            (name, text)
        })
        .collect();
    let loaded = parse_monitor_files(
        &files,
        KeyPolicy::Required,
        &ValidationContext::default(),
        &reject_secret_sources,
    );
    assert!(loaded.errors.is_empty(), "{:#?}", loaded.errors);
    assert_eq!(loaded.monitors.len(), MonitorType::ALL.len());
    for (monitor, kind) in loaded.monitors.iter().zip(MonitorType::ALL) {
        assert_eq!(monitor.document.monitor_type(), *kind);
        assert!(!monitor.document.flag("enabled"), "{kind}");
        assert!(monitor.warnings.is_empty(), "{kind}: {:?}", monitor.warnings);
    }
}

#[test]
fn all_errors_of_a_file_are_reported_with_their_position() {
    let text = "\
- key: one
  type: tcp
  name: ''
  intervall: 5
  interval: 7
  hostname: a b
  port: 0
  enabled: yes
- key: one
  type: pingg
- 5
";
    insta::assert_snapshot!(errors_of(text).join("\n"), @r#"
a.yaml:1:3: `billing_plancode` is required
a.yaml:3:9: `name` must not be empty
a.yaml:4:3: `intervall` is not a field of `tcp`
  hint: did you mean `interval`?
a.yaml:5:13: `interval` must be one of 1, 2, 3, 4, 5, 6, 10, 15, 20, 30, 60, 120, not `7`
a.yaml:6:13: `hostname` must be a host name or an address, not `a b`
a.yaml:7:9: `port` must be a whole number from 1 to 65535, not `0`
a.yaml:8:12: `enabled` must be `true` or `false`, not `yes`
a.yaml:9:8: `key` `one` is already in use by a.yaml:1:8
  hint: keys are unique over all files
a.yaml:10:9: `type` must be a monitor type, not `pingg`
  hint: did you mean `ping`?
a.yaml:11:3: a monitor must be a map of fields, not `5`
"#);
}

#[test]
fn each_error_has_its_message() {
    let long = format!(
        "- key: k\n  type: website\n  name: n\n  billing_plancode: p\n  url: http://a/{}\n",
        "x".repeat(70_000)
    );
    let cases = [
        ("unparsable", errors_of("- key: [\n")),
        ("no monitor", errors_of("just words\n")),
        ("no fields", errors_of("- key: k\n  type: website\n")),
        (
            "no key",
            errors_of(
                "- type: api\n  script: <a/>\n  test_suite: s\n  test_case: c\n  name: n\n  billing_plancode: p\n",
            ),
        ),
        ("number for text", vec![errors_of_tcp_line("note: 5")]),
        ("text for number", vec![errors_of_tcp_line("interval: '5'")]),
        ("list for text", vec![errors_of_tcp_line("note: [a]")]),
        ("text for list", vec![errors_of_tcp_line("locations: home")]),
        ("map for flag", vec![errors_of_tcp_line("enabled: {}")]),
        ("unknown field", vec![errors_of_tcp_line("hostnam: h")]),
        ("far unknown field", vec![errors_of_tcp_line("colour: red")]),
        ("duplicate key", vec![errors_of_tcp_line("name: again")]),
        ("interval not in the list", vec![errors_of_tcp_line("interval: 7")]),
        ("port 0", vec![errors_of_tcp_line("port: 0")]),
        ("port too large", vec![errors_of_tcp_line("port: 65536")]),
        ("read-only", vec![errors_of_tcp_line("id: 5")]),
        (
            "masked",
            errors_of(
                "- key: k\n  type: email-pop\n  name: n\n  billing_plancode: p\n  hostname: h\n  pop_password: '********'\n",
            ),
        ),
        ("long URL", errors_of(&long)),
        (
            "regex",
            errors_of(
                "- key: k\n  type: website\n  name: n\n  billing_plancode: p\n  url: http://a/\n  keyword_match_type: Regular Expression\n  keyword_string: a(b\n",
            ),
        ),
        ("customer", vec![errors_of_tcp_line("customer: me")]),
    ];
    let rendered: Vec<_> =
        cases.iter().map(|(case, errors)| format!("{case}:\n{}", errors.join("\n"))).collect();
    insta::assert_snapshot!(rendered.join("\n"), @r#"
unparsable:
a.yaml:1:8: unclosed bracket '['
no monitor:
a.yaml:1:1: a monitor file holds a list of monitors, not `just words`
  hint: start each one with `- key: …`
no fields:
a.yaml:1:3: `billing_plancode` is required
a.yaml:1:3: `name` is required
a.yaml:1:3: `url` is required
no key:
a.yaml:1:3: `key` is required
  hint: give each monitor a key of its own, and keep it when you rename the monitor
number for text:
a.yaml:6:9: `note` must be a text, not `5`
  hint: put it in quotes
text for number:
a.yaml:6:13: `interval` must be one of 1, 2, 3, 4, 5, 6, 10, 15, 20, 30, 60, 120, not the text `5`
  hint: remove the quotes
list for text:
a.yaml:6:9: `note` must be a text, not a list
text for list:
a.yaml:6:14: `locations` must be a list, not `home`
map for flag:
a.yaml:6:12: `enabled` must be `true` or `false`, not a map
unknown field:
a.yaml:6:3: `hostnam` is not a field of `tcp`
  hint: did you mean `hostname`?
far unknown field:
a.yaml:6:3: `colour` is not a field of `tcp`
  hint: remove it
duplicate key:
a.yaml:6:3: `name` is given twice
interval not in the list:
a.yaml:6:13: `interval` must be one of 1, 2, 3, 4, 5, 6, 10, 15, 20, 30, 60, 120, not `7`
port 0:
a.yaml:6:9: `port` must be a whole number from 1 to 65535, not `0`
port too large:
a.yaml:6:9: `port` must be a whole number from 1 to 65535, not `65536`
read-only:
a.yaml:6:3: `id` is set by Vigie
  hint: remove it
masked:
a.yaml:6:17: `pop_password` is masked: `********` is not its value
  hint: give the value itself, or name its file as `pop_password_file` or its variable as `pop_password_env`
long URL:
a.yaml:5:8: `url` must have at most 65535 characters, not 70009
regex:
a.yaml:7:19: `keyword_string` is not a regular expression: unclosed group
customer:
a.yaml:6:13: `customer` must be the id of an account, not `me`
"#);
}

#[test]
fn a_key_is_unique_over_all_files() {
    let text = "- {key: k, type: ping, name: n, billing_plancode: p, hostname: h}\n";
    let files = [("a.yaml".to_owned(), text.to_owned()), ("b.yaml".to_owned(), text.to_owned())];
    let errors = find_file_errors(&files, &ValidationContext::default(), &reject_secret_sources);
    let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["b.yaml:1:9: `key` `k` is already in use by a.yaml:1:9\n  hint: keys are unique over all files"]
    );
}

#[test]
fn a_secret_is_read_from_its_source() {
    let text = "- key: k\n  type: email-pop\n  name: n\n  billing_plancode: p\n  hostname: h\n  pop_password_SOURCE: where\n";
    let reader = |at: SecretSource<'_>| match at {
        SecretSource::File("where") => Ok("of-a-file".to_owned()),
        SecretSource::Env("where") => Ok("of-a-variable".to_owned()),
        _ => Err("it does not exist".to_owned()),
    };
    for (source, expected) in [("file", "of-a-file"), ("env", "of-a-variable")] {
        let files = [("a.yaml".to_owned(), text.replace("SOURCE", source))];
        let loaded = parse_monitor_files(&files, KeyPolicy::Required, &ValidationContext::default(), &reader);
        assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
        let document = &loaded.monitors[0].document;
        assert_eq!(document.text("pop_password"), Some(expected));
        assert!(!format!("{document:?}").contains(expected), "a secret in Debug");
        assert!(!document.to_non_default_fields(SecretMode::Omitted).contains_key("pop_password"));
        let entry = to_file_entry("k", CustomerId(1), document);
        assert_eq!(entry.get("pop_password").and_then(|value| value.as_str()), Some("********"));
    }
}

#[test]
fn an_unreadable_or_duplicate_secret_is_an_error() {
    let head = "- key: k\n  type: email-pop\n  name: n\n  billing_plancode: p\n  hostname: h\n";
    let missing = |_: SecretSource<'_>| Err("no such file".to_owned());
    let files = [("a.yaml".to_owned(), format!("{head}  pop_password_file: /gone\n"))];
    let errors = find_file_errors(&files, &ValidationContext::default(), &missing);
    assert_eq!(errors[0].to_string(), "a.yaml:6:22: `pop_password_file`: cannot read `/gone`: no such file");
    assert_eq!(errors.len(), 1);
    let found = |_: SecretSource<'_>| Ok("secret".to_owned());
    let files = [("a.yaml".to_owned(), format!("{head}  pop_password_file: /a\n  pop_password: b\n"))];
    let errors = find_file_errors(&files, &ValidationContext::default(), &found);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "a.yaml:7:3: `pop_password` is given a second time");
}

#[test]
fn an_exported_entry_loads_to_the_same_document() {
    let text = "- {key: k, customer: 3, type: ping, name: n, billing_plancode: p, hostname: h, interval: 1, ping_count: 3}\n";
    let first = load_text(text).monitors.remove(0);
    assert_eq!((first.key.as_str(), first.customer), ("k", CustomerId(3)));
    let again = serde_json::to_string(&[to_file_entry("k", CustomerId(3), &first.document)]).unwrap();
    assert_eq!(load_text(&again).monitors[0].document, first.document);
}

#[test]
fn keys_are_optional_where_nothing_is_stored() {
    let text = "{type: ping, name: n, billing_plancode: p, hostname: h}";
    let files = [("a.yaml".to_owned(), text.to_owned())];
    let loaded = parse_monitor_files(
        &files,
        KeyPolicy::Optional,
        &ValidationContext::default(),
        &reject_secret_sources,
    );
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
    assert_eq!(loaded.monitors.len(), 1);
}

#[test]
fn a_file_of_many_monitors_is_loaded_completely() {
    let mut text = String::new();
    for number in 0..2_000 {
        writeln!(
            text,
            "- key: tcp-{number}\n  type: tcp\n  name: Host {number}\n  billing_plancode: p\n  hostname: h{number}\n  port: 80\n  interval: 1\n  timeout: 10\n  mode: Primary"
        )
        .unwrap();
    }
    let loaded = load_text(&text);
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors.first());
    assert_eq!(loaded.monitors.len(), 2_000);
    assert_eq!(loaded.monitors[1_999].position.line, 9 * 1_999 + 1);
}

#[test]
fn scalar_keys_are_read_as_texts() {
    assert_eq!(errors_of_tcp_line("5: x"), "a.yaml:6:3: `5` is not a field of `tcp`\n  hint: remove it");
    assert_eq!(
        errors_of_tcp_line("true: x"),
        "a.yaml:6:3: `true` is not a field of `tcp`\n  hint: remove it"
    );
    for key in ["~", "[a]", "{a: b}"] {
        assert_eq!(errors_of_tcp_line(&format!("{key}: x")), "a.yaml:6:3: a key must be a text", "{key}");
    }
}

/// Returns the errors of the dependencies of a file.
fn dependency_errors(text: &str) -> Vec<String> {
    let parsed = load_text(text);
    assert_eq!(parsed.errors, []);
    let errors = vigie::schema::file_dependencies::dependency_errors(&parsed.monitors);
    errors.iter().map(ToString::to_string).collect()
}

fn ping(key: &str, more: &str) -> String {
    format!("- {{key: {key}, type: ping, name: {key}, billing_plancode: x, hostname: a.test, {more}}}\n")
}

#[test]
fn dependencies_in_files_are_keys_of_the_same_account() {
    let fine = ping("a", "depends_on: [b, c]") + &ping("b", "depends_on: [c]") + &ping("c", "depends_on: []");
    assert_eq!(dependency_errors(&fine), Vec::<String>::new());
    for (text, expected) in [
        (
            ping("shop", "depends_on: [shpo]") + &ping("shop2", ""),
            "no monitor of the files has the key `shpo`",
        ),
        (ping("a", "depends_on: [a]"), "a monitor cannot depend on itself"),
        (ping("a", "depends_on: [b, b]") + &ping("b", ""), "`b` is in the list already"),
        (ping("a", "depends_on: [b]") + &ping("b", "customer: 2"), "no monitor of the files has the key `b`"),
        (ping("a", "depends_on: [7]"), "names monitors of the files by their keys, not `7`"),
        (
            ping("a", "depends_on: [b]") + &ping("b", "depends_on: [c]") + &ping("c", "depends_on: [a]"),
            "closes a circle: `a` depends on `b`, which depends on `c`, which depends on `a`",
        ),
    ] {
        let errors = dependency_errors(&text);
        assert!(errors.len() == 1 && errors[0].contains(expected), "{text}\n{errors:?}");
        assert!(errors[0].starts_with("a.yaml:"), "it says where: {errors:?}");
    }
}
