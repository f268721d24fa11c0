//! Any text as a monitor file: each error has a position, and an accepted monitor is accepted again in its stored form,
//! gives the same document, and makes a probe.

use serde_json::Value;
use vigie::probe::{ProbeBuildContext, build_probe};
use vigie::schema::SecretMode;
use vigie::schema::monitor_file::{KeyPolicy, parse_monitor_files};
use vigie::schema::reader::{InputFormat, reject_secret_sources};
use vigie::schema::validate::validate_new;
use vigie::schema::validation_context::ValidationContext;
use vigie::syntax::node::Node;

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let context = ValidationContext::default();
    let found = parse_monitor_files(
        &[("a.yaml".to_owned(), text.to_owned())],
        KeyPolicy::Optional,
        &context,
        &reject_secret_sources,
    );
    for error in &found.errors {
        assert!(!error.to_string().is_empty());
        assert_eq!(error.file.as_deref(), Some("a.yaml"));
    }
    for monitor in found.monitors {
        let document = monitor.document;
        let stored = Node::from(Value::Object(document.to_non_default_fields(SecretMode::Revealed)));
        let again = validate_new(document.monitor_type(), InputFormat::File, &stored, &context);
        let again = again.unwrap_or_else(|errors| panic!("{document:?} is refused: {errors:?}"));
        assert_eq!(again.document, document);
        let _ = build_probe(&document, &ProbeBuildContext::default());
    }
}
