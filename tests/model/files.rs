//! Monitor files: what they may say, and every way in which they can be wrong.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::fields::Fields;
use vigie::domain::{CustomerId, MonitorType};
use vigie::schema::SecretMode;
use vigie::schema::monitor_file::{KeyPolicy, LoadedMonitorFiles, load, to_file_entry, validate_files};
use vigie::schema::reader::{SecretSource, reject_secret_sources};
use vigie::schema::validation_context::ValidationContext;

fn read(text: &str) -> LoadedMonitorFiles {
    load(
        &[("a.yaml".to_owned(), text.to_owned())],
        KeyPolicy::Required,
        &ValidationContext::default(),
        &reject_secret_sources,
    )
}

/// The faults of one file, as `vigie config check` prints them.
fn faults(text: &str) -> Vec<String> {
    read(text).errors.iter().map(ToString::to_string).collect()
}

/// The fault of a `tcp` monitor in which one more line is wrong.
fn tcp_fault(line: &str) -> String {
    let text = format!("- key: k\n  type: tcp\n  name: n\n  billing_plancode: p\n  hostname: h\n  {line}\n");
    let found: Vec<_> =
        faults(&text).into_iter().filter(|error| !error.contains("`port` is required")).collect();
    found.join("\n")
}

#[test]
fn every_type_has_an_example_that_loads_without_fault_or_warning_and_is_not_enabled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/monitors");
    let names = MonitorType::ALL.iter().map(|kind| format!("{kind}.yaml"));
    let files: Vec<_> = names
        .map(|name| {
            let text = std::fs::read_to_string(folder.join(&name)).unwrap();
            assert!(text.starts_with("# "), "{name} starts with a comment");
            (name, text)
        })
        .collect();
    let loaded = load(&files, KeyPolicy::Required, &ValidationContext::default(), &reject_secret_sources);
    assert!(loaded.errors.is_empty(), "{:#?}", loaded.errors);
    assert_eq!(loaded.monitors.len(), MonitorType::ALL.len());
    for (monitor, kind) in loaded.monitors.iter().zip(MonitorType::ALL) {
        assert_eq!(monitor.document.monitor_type(), *kind);
        assert!(!monitor.document.flag("enabled"), "{kind}");
        assert!(monitor.warnings.is_empty(), "{kind}: {:?}", monitor.warnings);
    }
}

#[test]
fn all_faults_of_a_file_come_at_once_each_with_its_place() {
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
    insta::assert_snapshot!(faults(text).join("\n"), @r#"
a.yaml:1:3: `billing_plancode` is required
a.yaml:3:9: `name` must not be empty
a.yaml:4:3: `intervall` is no field of `tcp`
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
fn each_badness_has_its_message() {
    let long = format!(
        "- key: k\n  type: website\n  name: n\n  billing_plancode: p\n  url: http://a/{}\n",
        "x".repeat(70_000)
    );
    let cases = [
        ("unparsable", faults("- key: [\n")),
        ("no monitor", faults("just words\n")),
        ("no fields", faults("- key: k\n  type: website\n")),
        (
            "no key",
            faults(
                "- type: api\n  script: <a/>\n  test_suite: s\n  test_case: c\n  name: n\n  billing_plancode: p\n",
            ),
        ),
        ("number for text", vec![tcp_fault("note: 5")]),
        ("text for number", vec![tcp_fault("interval: '5'")]),
        ("list for text", vec![tcp_fault("note: [a]")]),
        ("text for list", vec![tcp_fault("locations: home")]),
        ("map for flag", vec![tcp_fault("enabled: {}")]),
        ("unknown field", vec![tcp_fault("hostnam: h")]),
        ("far unknown field", vec![tcp_fault("colour: red")]),
        ("duplicate key", vec![tcp_fault("name: again")]),
        ("interval not in the list", vec![tcp_fault("interval: 7")]),
        ("port 0", vec![tcp_fault("port: 0")]),
        ("port too large", vec![tcp_fault("port: 65536")]),
        ("read-only", vec![tcp_fault("id: 5")]),
        (
            "masked",
            faults(
                "- key: k\n  type: email-pop\n  name: n\n  billing_plancode: p\n  hostname: h\n  pop_password: '********'\n",
            ),
        ),
        ("long URL", faults(&long)),
        (
            "regex",
            faults(
                "- key: k\n  type: website\n  name: n\n  billing_plancode: p\n  url: http://a/\n  keyword_match_type: Regular Expression\n  keyword_string: a(b\n",
            ),
        ),
        ("customer", vec![tcp_fault("customer: me")]),
    ];
    let shown: Vec<_> =
        cases.iter().map(|(what, errors)| format!("{what}:\n{}", errors.join("\n"))).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
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
a.yaml:6:3: `hostnam` is no field of `tcp`
  hint: did you mean `hostname`?
far unknown field:
a.yaml:6:3: `colour` is no field of `tcp`
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
a.yaml:7:19: `keyword_string` is no regular expression: unclosed group
customer:
a.yaml:6:13: `customer` must be the id of an account, not `me`
"#);
}

#[test]
fn a_key_is_unique_over_all_files() {
    let text = "- {key: k, type: ping, name: n, billing_plancode: p, hostname: h}\n";
    let files = [("a.yaml".to_owned(), text.to_owned()), ("b.yaml".to_owned(), text.to_owned())];
    let errors = validate_files(&files, &ValidationContext::default(), &reject_secret_sources);
    let shown: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["b.yaml:1:9: `key` `k` is already in use by a.yaml:1:9\n  hint: keys are unique over all files"]
    );
}

#[test]
fn a_secret_comes_from_where_the_file_says() {
    let text = "- key: k\n  type: email-pop\n  name: n\n  billing_plancode: p\n  hostname: h\n  pop_password_SOURCE: where\n";
    let reader = |at: SecretSource<'_>| match at {
        SecretSource::File("where") => Ok("of-a-file".to_owned()),
        SecretSource::Env("where") => Ok("of-a-variable".to_owned()),
        _ => Err("it does not exist".to_owned()),
    };
    for (source, wanted) in [("file", "of-a-file"), ("env", "of-a-variable")] {
        let files = [("a.yaml".to_owned(), text.replace("SOURCE", source))];
        let loaded = load(&files, KeyPolicy::Required, &ValidationContext::default(), &reader);
        assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
        let document = &loaded.monitors[0].document;
        assert_eq!(document.text("pop_password"), Some(wanted));
        assert!(!format!("{document:?}").contains(wanted), "a secret in Debug");
        assert!(!document.to_stored(SecretMode::Omitted).contains_key("pop_password"));
        let shown = to_file_entry("k", CustomerId(1), document);
        assert_eq!(shown.get("pop_password").and_then(|value| value.as_str()), Some("********"));
    }
}

#[test]
fn a_secret_that_cannot_be_read_or_is_given_twice_is_a_fault() {
    let head = "- key: k\n  type: email-pop\n  name: n\n  billing_plancode: p\n  hostname: h\n";
    let missing = |_: SecretSource<'_>| Err("no such file".to_owned());
    let files = [("a.yaml".to_owned(), format!("{head}  pop_password_file: /gone\n"))];
    let errors = validate_files(&files, &ValidationContext::default(), &missing);
    assert_eq!(errors[0].to_string(), "a.yaml:6:22: `pop_password_file`: cannot read `/gone`: no such file");
    assert_eq!(errors.len(), 1);
    let found = |_: SecretSource<'_>| Ok("secret".to_owned());
    let files = [("a.yaml".to_owned(), format!("{head}  pop_password_file: /a\n  pop_password: b\n"))];
    let errors = validate_files(&files, &ValidationContext::default(), &found);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "a.yaml:7:3: `pop_password` is given a second time");
}

#[test]
fn what_is_written_out_reads_back() {
    let text = "- {key: k, customer: 3, type: ping, name: n, billing_plancode: p, hostname: h, interval: 1, ping_count: 3}\n";
    let first = read(text).monitors.remove(0);
    assert_eq!((first.key.as_str(), first.customer), ("k", CustomerId(3)));
    let again = serde_json::to_string(&[to_file_entry("k", CustomerId(3), &first.document)]).unwrap();
    assert_eq!(read(&again).monitors[0].document, first.document);
}

#[test]
fn keys_may_be_left_out_where_nothing_is_kept() {
    let text = "{type: ping, name: n, billing_plancode: p, hostname: h}";
    let files = [("a.yaml".to_owned(), text.to_owned())];
    let loaded = load(&files, KeyPolicy::Optional, &ValidationContext::default(), &reject_secret_sources);
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
    assert_eq!(loaded.monitors.len(), 1);
}

#[test]
fn a_file_of_many_monitors_is_read_whole() {
    let mut text = String::new();
    for number in 0..2_000 {
        writeln!(
            text,
            "- key: tcp-{number}\n  type: tcp\n  name: Host {number}\n  billing_plancode: p\n  hostname: h{number}\n  port: 80\n  interval: 1\n  timeout: 10\n  mode: Primary"
        )
        .unwrap();
    }
    let loaded = read(&text);
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors.first());
    assert_eq!(loaded.monitors.len(), 2_000);
    assert_eq!(loaded.monitors[1_999].position.line, 9 * 1_999 + 1);
}

#[test]
fn a_key_that_is_no_text_is_read_as_one() {
    assert_eq!(tcp_fault("5: x"), "a.yaml:6:3: `5` is no field of `tcp`\n  hint: remove it");
    assert_eq!(tcp_fault("true: x"), "a.yaml:6:3: `true` is no field of `tcp`\n  hint: remove it");
    for key in ["~", "[a]", "{a: b}"] {
        assert_eq!(tcp_fault(&format!("{key}: x")), "a.yaml:6:3: a key must be a text", "{key}");
    }
}
