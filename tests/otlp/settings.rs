//! The settings of the export: what they become, and what is refused.

use std::fs;
use std::time::Duration;

use vigie::domain::CustomerId;
use vigie::export::otlp::{OtlpSignal, OtlpSignals};
use vigie::settings::{SettingSources, Settings};

/// Loads a settings file with the section `otlp`, beside a file `token` with a secret.
fn load(otlp: &str) -> Result<Settings, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let (file, token) = (folder.path().join("vigie.yaml"), folder.path().join("token"));
    fs::write(&token, "Bearer s3cret-token\n").unwrap();
    let otlp = otlp.replace("TOKEN", token.to_str().unwrap());
    fs::write(&file, format!("otlp:\n{otlp}")).unwrap();
    let sources = SettingSources { file: Some(file), ..SettingSources::default() };
    Settings::load(&sources).map_err(|errors| errors.iter().map(|error| error.message.clone()).collect())
}

#[test]
fn nothing_is_exported_without_an_endpoint() {
    assert!(Settings::load(&SettingSources::default()).unwrap().otlp.is_none());
    assert!(load("  signals: [logs]\n").unwrap().otlp.is_none());
}

#[test]
fn every_setting_reaches_the_exporter() {
    let settings = load(
        "  endpoint: https://otlp.example/base/\n  headers:\n  - {name: Authorization, value_file: TOKEN}\n  - {name: X-Scope, value: a b}\n  \
         signals: [metrics, traces]\n  accounts: [1, 7]\n  resource: [{name: service.name, value: probes}]\n  compression: none\n  \
         queue: 50\n  batch_results: 20\n  batch_seconds: 3\n  try_seconds: 4\n  give_up_seconds: 60\n",
    )
    .unwrap();
    let otlp = settings.otlp.unwrap();
    let urls = OtlpSignal::ALL.map(|signal| otlp.url(signal).to_string());
    let expected =
        ["metrics", "logs", "traces"].map(|signal| format!("https://otlp.example/base/v1/{signal}"));
    assert_eq!(urls, expected);
    assert_eq!(otlp.headers["authorization"], "Bearer s3cret-token");
    assert_eq!(otlp.headers["x-scope"], "a b");
    assert!(otlp.headers["authorization"].is_sensitive() && !format!("{otlp:?}").contains("s3cret"));
    assert_eq!(otlp.redactor.redact("for s3cret-token"), "for ********");
    assert_eq!(otlp.signals, OtlpSignals { metrics: true, logs: false, traces: true });
    assert!(otlp.exports_account(CustomerId(7)) && !otlp.exports_account(CustomerId(2)));
    assert_eq!(otlp.resource_attributes, [("service.name".to_owned(), "probes".to_owned())]);
    assert!(!otlp.compresses);
    assert_eq!((otlp.queue_capacity, otlp.max_batch_results), (50, 20));
    assert_eq!(
        (otlp.flush_interval, otlp.request_timeout, otlp.give_up_after),
        (Duration::from_secs(3), Duration::from_secs(4), Duration::from_mins(1))
    );
}

#[test]
fn what_cannot_work_is_refused_with_the_reason() {
    for (otlp, reason) in [
        ("  endpoint: otlp.example:4318\n", "must be an http or https URL"),
        (
            "  endpoint: http://me:pw@otlp.example/\n",
            "must not hold a login: send it as a header field (`otlp.headers`)",
        ),
        ("  endpoint: http://otlp.example/?token=a\n", "a query or fragment cannot be sent"),
        ("  endpoint: http://otlp.example/v1/metrics\n", "must be the URL before `/v1/metrics`"),
        ("  signals: [spans]\n", "must be one of `metrics`, `logs`, `traces`"),
        (
            "  headers: [{name: Host, value: a}]\n",
            "must be the name of a header that a check does not set itself",
        ),
        (
            "  headers: [{name: Content-Type, value: a}]\n",
            "must be a header field that Vigie does not set itself",
        ),
        ("  headers: [{name: A}]\n", "`otlp.headers[0]` needs `value` or `value_file`"),
        (
            "  headers: [{name: A, value: a, value_file: TOKEN}]\n",
            "`otlp.headers[0].value_file` and `value` exclude each other",
        ),
        ("  headers: [{name: A, value_file: /nonexistent}]\n", "`/nonexistent` cannot be read"),
        ("  headers: [{name: A, value: a}, {name: a, value: b}]\n", "the header field `a` is set twice"),
        ("  resource: [{name: a, value: b}, {name: a, value: c}]\n", "the attribute `a` is set twice"),
        ("  queue: 0\n", "must be a whole number from 1 to 1000000"),
        ("  compression: zip\n", "must be one of `gzip`, `none`"),
        ("  endpont: http://a/\n", "`otlp.endpont` is not a setting"),
    ] {
        let errors = load(otlp).map(|_| ()).unwrap_err();
        assert!(errors.iter().any(|error| error.contains(reason)), "{otlp}: {errors:?}");
        assert!(!format!("{errors:?}").contains("pw"), "{errors:?}");
    }
}
