//! What is accepted and said to be doubtful.

use serde_json::{Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::reader::InputFormat;
use vigie::schema::validation_context::ValidationContext;

use crate::model::rules::around;
use crate::model::support::{made, minimal, with};

#[test]
fn warnings_come_with_what_is_accepted() {
    let warned = |kind: T, more: Value, context: &ValidationContext<'_>| {
        made(kind, InputFormat::V3, with(minimal(kind), more), context).unwrap().warnings
    };
    let plain = around();
    assert!(warned(T::Ping, json!({}), &plain).is_empty());
    assert_eq!(
        warned(T::Ping, json!({"ipv4": "192.0.2.1"}), &plain),
        ["`ipv4` is not used: `resolve_dns` is true, so the name is resolved"]
    );
    assert!(warned(T::Ping, json!({"ipv4": "192.0.2.1", "resolve_dns": false}), &plain).is_empty());
    assert!(warned(T::Ping, json!({"interval": 1, "timeout": 30}), &plain).is_empty());
    assert_eq!(
        warned(T::Ping, json!({"interval": 1, "timeout": 45}), &plain),
        ["2 attempts may take 90 s, longer than the interval of 60 s: runs are skipped then"]
    );
    assert!(
        warned(T::Ping, json!({"interval": 1, "timeout": 45, "retry_on_failure": false}), &plain).is_empty()
    );
    let steps = |count: usize, own: &str| {
        let step = format!(r#"<step name="s"{own}><open url="/"/></step>"#);
        json!({"interval": 1, "retry_on_failure": false, "script": format!("<script>{}</script>", step.repeat(count))})
    };
    let script = |more: Value, limits: Value| {
        warned(T::BrowserScript, with(more, limits), &plain).into_iter().next().unwrap_or_default()
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
    let spoken = ValidationContext {
        supported_tls_versions: Some(&["", "12"]),
        supported_types: Some(&[T::FtpSsl]),
        ..around()
    };
    assert!(warned(T::FtpSsl, json!({"use_ssl_version": 12}), &spoken).is_empty());
    assert_eq!(
        warned(T::FtpSsl, json!({"use_ssl_version": "10"}), &spoken),
        [
            "`use_ssl_version` `10` is not supported by this build: checks end as unknown, status 95; one that is \
          built with `--features legacy-tls` can"
        ]
    );
    assert_eq!(
        warned(T::FtpSsl, json!({"use_ssl_version": "2"}), &plain),
        ["`use_ssl_version` `2` is not supported by any build: checks end as unknown, status 95"]
    );
    assert_eq!(
        warned(T::Ping, json!({}), &spoken),
        ["this build has no probe for type `ping`: checks end as unknown, status 95"]
    );
    let old = json!({"http_version": "3", "use_ssl_version": "12"});
    assert_eq!(
        warned(T::WebsiteSsl, old.clone(), &plain),
        [
            "`http_version` 3 needs TLS 1.3, and `use_ssl_version` `12` rules it out: checks end as unknown, status 95"
        ]
    );
    assert!(warned(T::WebsiteSsl, with(old, json!({"use_ssl_version": ""})), &plain).is_empty());
    // Without TLS there is no HTTP/3, and one warning says so.
    assert_eq!(
        warned(T::Website, json!({"http_version": "3", "use_ssl_version": "12"}), &plain),
        ["`http_version` 3 is for `https` alone: HTTP/1.1 is spoken instead"]
    );
}
