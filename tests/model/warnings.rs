//! Warnings about accepted documents.

use serde_json::{Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::reader::InputFormat;
use vigie::schema::validation_context::{SecurityTargetLookup, ValidationContext};

use crate::model::rules::test_context;
use crate::model::support::{minimal, validate_create, with};

#[test]
fn warnings_accompany_accepted_documents() {
    let warnings = |kind: T, more: Value, context: &ValidationContext<'_>| {
        validate_create(kind, InputFormat::V3, with(minimal(kind), more), context).unwrap().warnings
    };
    let plain = test_context();
    assert!(warnings(T::Ping, json!({}), &plain).is_empty());
    assert_eq!(
        warnings(T::Ping, json!({"ipv4": "192.0.2.1"}), &plain),
        ["`ipv4` is not used: `resolve_dns` is true, so the name is resolved"]
    );
    assert!(warnings(T::Ping, json!({"ipv4": "192.0.2.1", "resolve_dns": false}), &plain).is_empty());
    assert!(warnings(T::Ping, json!({"interval": 1, "timeout": 30}), &plain).is_empty());
    assert_eq!(
        warnings(T::Ping, json!({"interval": 1, "timeout": 45}), &plain),
        ["2 attempts may take 90 s, longer than the interval of 60 s: runs are skipped then"]
    );
    assert!(
        warnings(T::Ping, json!({"interval": 1, "timeout": 45, "retry_on_failure": false}), &plain)
            .is_empty()
    );
    let steps = |count: usize, own: &str| {
        let step = format!(r#"<step name="s"{own}><open url="/"/></step>"#);
        json!({"interval": 1, "retry_on_failure": false, "script": format!("<script>{}</script>", step.repeat(count))})
    };
    let script = |more: Value, limits: Value| {
        warnings(T::BrowserScript, with(more, limits), &plain).into_iter().next().unwrap_or_default()
    };
    assert_eq!(script(steps(2, ""), json!({"timeout": 30})), "");
    assert_eq!(
        script(steps(3, ""), json!({"timeout": 30})),
        "1 attempts may take 90 s, longer than the interval of 60 s: runs are skipped then"
    );
    assert_eq!(script(steps(3, ""), json!({"timeout": 30, "step_timeout": 20})), "");
    assert!(
        script(steps(3, r#" timeout="40""#), json!({"timeout": 30, "step_timeout": 20})).contains("120 s")
    );
    let old_tls_context = ValidationContext {
        supported_tls_versions: Some(&["", "12"]),
        supported_types: Some(&[T::FtpSsl]),
        ..test_context()
    };
    assert!(warnings(T::FtpSsl, json!({"use_ssl_version": 12}), &old_tls_context).is_empty());
    assert_eq!(
        warnings(T::FtpSsl, json!({"use_ssl_version": "10"}), &old_tls_context),
        [
            "`use_ssl_version` `10` is not supported by this build: checks end as unknown, status 95; one that is \
          built with `--features legacy-tls` can"
        ]
    );
    assert_eq!(
        warnings(T::FtpSsl, json!({"use_ssl_version": "2"}), &plain),
        ["`use_ssl_version` `2` is not supported by any build: checks end as unknown, status 95"]
    );
    assert_eq!(
        warnings(T::Ping, json!({}), &old_tls_context),
        ["this build has no probe for type `ping`: checks end as unknown, status 95"]
    );
    let old = json!({"http_version": "3", "use_ssl_version": "12"});
    assert_eq!(
        warnings(T::WebsiteSsl, old.clone(), &plain),
        [
            "`http_version` 3 needs TLS 1.3, and `use_ssl_version` `12` rules it out: checks end as unknown, status 95"
        ]
    );
    for version in ["", "13"] {
        let fields = with(old.clone(), json!({"use_ssl_version": version}));
        assert!(warnings(T::WebsiteSsl, fields, &plain).is_empty());
    }
    // Without TLS there is no HTTP/3, so a single warning covers both.
    assert_eq!(
        warnings(T::Website, json!({"http_version": "3", "use_ssl_version": "12"}), &plain),
        ["`http_version` 3 is for `https` alone: HTTP/1.1 is spoken instead"]
    );
}

/// Allows one host.
#[derive(Debug)]
struct OnlyHost(&'static str);

impl SecurityTargetLookup for OnlyHost {
    fn refusal_reason(&self, host: &str) -> Option<String> {
        (host != self.0).then(|| format!("`{host}` is not allowed"))
    }
}

#[test]
fn a_scan_that_is_not_allowed_or_too_frequent_warns() {
    let context = ValidationContext { security_targets: Some(&OnlyHost("a.test")), ..test_context() };
    let warnings = |fields: Value, context: &ValidationContext<'_>| {
        let body = with(minimal(T::SecurityScan), with(json!({"interval": 60}), fields));
        validate_create(T::SecurityScan, InputFormat::V3, body, context).unwrap().warnings
    };
    let site = |url: &str| json!({"url": url});
    assert!(warnings(site("https://a.test/"), &context).is_empty());
    assert!(warnings(json!({"url": null, "hostname": "a.test"}), &context).is_empty());
    assert_eq!(
        warnings(site("https://b.test:8443/"), &context),
        ["`b.test` is not allowed: scans from this server end as unknown, status 95"]
    );
    assert!(warnings(site("https://b.test/"), &test_context()).is_empty(), "nobody knows what is allowed");
    let frequent = warnings(json!({"url": "https://a.test/", "interval": 30}), &context);
    assert_eq!(
        frequent,
        [
            "a scan opens hundreds of connections: an interval of 1800 s is short, 60 minutes or more are enough"
        ]
    );
    assert_eq!(
        warnings(json!({"url": "https://a.test/", "hostname": "b.test"}), &context),
        ["`hostname` is not used: the host of `url`, `a.test`, is scanned"]
    );
}
