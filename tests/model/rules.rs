//! Rules over several fields: a valid and an invalid case each, with the message of the invalid one.

use serde_json::{Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::reader::InputFormat;
use vigie::schema::validation_context::{BillingPlan, ValidationContext};

use crate::model::support::{document, minimal, validate_create, validate_patch, with};

pub fn test_context() -> ValidationContext<'static> {
    ValidationContext {
        location_ids: Some(&[1, 2, 3]),
        default_location_ids: &[1, 2, 3],
        client_certificate_ids: Some(&[7]),
        certificate_authority_ids: Some(&[8]),
        proxy_ids: Some(&[9]),
        device_profile_ids: Some(&[1, 3]),
        dns_name_count: Some(2),
        ..ValidationContext::default()
    }
}

/// Returns the errors of the minimal `kind` body with `more`, each as `path: message | hint`.
fn errors_of(kind: T, form: InputFormat, more: Value, context: &ValidationContext<'_>) -> Vec<String> {
    match validate_create(kind, form, with(minimal(kind), more), context) {
        Ok(_) => Vec::new(),
        Err(errors) => errors
            .iter()
            .map(|error| {
                let hint = error.hint.as_ref().map(|hint| format!(" | {hint}")).unwrap_or_default();
                format!("{}: {}{hint}", error.path, error.message)
            })
            .collect(),
    }
}

/// Asserts that `valid` is accepted, and `invalid` is refused with exactly `message`.
fn assert_rule(kind: T, valid: Value, invalid: Value, message: &str) {
    assert_eq!(errors_of(kind, InputFormat::V3, valid, &test_context()), Vec::<String>::new(), "{kind}");
    assert_eq!(errors_of(kind, InputFormat::V3, invalid, &test_context()), [message], "{kind}");
}

#[test]
fn ids_of_content_views_are_unique() {
    let views = |second: i64| {
        let view = |id: i64| json!({"id": id, "notify_on_error": true, "inherit_global_errors": false});
        json!({"content_views": [view(1), view(second)]})
    };
    assert_rule(
        T::BrowserScript,
        views(2),
        views(1),
        "content_views[1].id: `content_views[1].id`: there is a content view `1` already",
    );
}

#[test]
fn a_subtype_needs_a_profile() {
    assert_rule(
        T::BrowserScript,
        json!({"subtype": 3}),
        json!({"subtype": 2}),
        "subtype: `subtype`: the settings have no profile `2` | add it to `mobile.profiles`, or set 0",
    );
    let unknown = ValidationContext::default();
    assert!(errors_of(T::BrowserScript, InputFormat::V3, json!({"subtype": 2}), &unknown).is_empty());
}

#[test]
fn the_scheme_must_match_the_type() {
    assert_rule(
        T::Website,
        json!({"url": "http://a/"}),
        json!({"url": "https://a/"}),
        "url: `url` of a `website` monitor must start with `http://`, not `https://` | type `website-ssl` is for such URLs",
    );
    assert_rule(
        T::WebsiteSsl,
        json!({"url": "https://a/"}),
        json!({"url": "http://a/"}),
        "url: `url` of a `website-ssl` monitor must start with `https://`, not `http://` | type `website` is for such URLs",
    );
    let mixed = json!([{"url": "http://a/", "step_name": "1"}, {"url": "https://a/", "step_name": "2"}]);
    assert!(
        errors_of(T::WebsiteApi, InputFormat::V3, json!({"api_steps": mixed}), &test_context()).is_empty()
    );
}

#[test]
fn a_name_that_is_not_resolved_needs_an_address() {
    for kind in [T::Tcp, T::Ping, T::NameServer, T::EmailImap, T::EmailPop, T::EmailSmtp, T::Ftp, T::FtpSsl] {
        assert_rule(
            kind,
            json!({"resolve_dns": false, "ipv4": "192.0.2.1"}),
            json!({"resolve_dns": false}),
            "ipv4: `ipv4` is required when `resolve_dns` is false and the host is a name",
        );
        assert!(
            errors_of(
                kind,
                InputFormat::V3,
                json!({"resolve_dns": false, "hostname": "192.0.2.1"}),
                &test_context()
            )
            .is_empty()
        );
    }
    assert_rule(
        T::Website,
        json!({"resolve_dns": false, "ip_address": "2001:db8::1"}),
        json!({"resolve_dns": false}),
        "ip_address: `ip_address` is required when `resolve_dns` is false and the host is a name",
    );
    assert!(
        errors_of(
            T::Website,
            InputFormat::V3,
            json!({"resolve_dns": false, "url": "http://[::1]/"}),
            &test_context()
        )
        .is_empty()
    );
    let invalid = json!({"resolve_dns": false, "hostname": "smtps://a.example:465"});
    assert_eq!(errors_of(T::EmailSmtp, InputFormat::V3, invalid, &test_context()).len(), 1);
}

#[test]
fn certificates_and_proxies_must_exist() {
    for kind in [T::WebsiteSsl, T::WebsiteSslApi, T::FtpSsl, T::BrowserScript] {
        assert_rule(
            kind,
            json!({"use_client_ssl_cert": true, "ssl_cert_id": 7}),
            json!({"use_client_ssl_cert": true}),
            "ssl_cert_id: `ssl_cert_id` is required when `use_client_ssl_cert` is true",
        );
        assert_rule(
            kind,
            json!({"ssl_cert_id": 7}),
            json!({"ssl_cert_id": 6}),
            "ssl_cert_id: `ssl_cert_id`: there is no client certificate `6`",
        );
        assert_rule(
            kind,
            json!({"ca_cert_id": 8}),
            json!({"ca_cert_id": 6}),
            "ca_cert_id: `ca_cert_id`: there is no certificate authority `6`",
        );
    }
    assert_rule(
        T::Website,
        json!({"proxy_id": 9}),
        json!({"proxy_id": 6}),
        "proxy_id: `proxy_id`: there is no proxy `6`",
    );
    assert_rule(
        T::WebsiteSsl,
        json!({"proxy_id": 9, "http_version": "2"}),
        json!({"proxy_id": 9, "http_version": "3"}),
        "http_version: `http_version` 3 cannot be used with `proxy_id`: no proxy carries its UDP | use 2 or 1.1 through a proxy",
    );
}

#[test]
fn locations_must_suit_home_location_and_mode() {
    assert_rule(
        T::Ping,
        json!({"home_location": 3}),
        json!({"home_location": 4}),
        "home_location: `home_location` must be one of the monitor's locations, not `4` | they are 1, 2, 3",
    );
    assert_rule(
        T::Ping,
        json!({"home_location": 2, "locations": [{"id": 2}]}),
        json!({"home_location": 1, "locations": [{"id": 2}]}),
        "home_location: `home_location` must be one of the monitor's locations, not `1` | they are 2",
    );
    assert_rule(
        T::Ping,
        json!({"locations": [{"id": 1}, {"id": 3, "name": "Paris", "region": 2}]}),
        json!({"locations": [{"id": 1}, {"id": 4}]}),
        "locations[1].id: `locations[1].id`: location `4` does not exist",
    );
    assert_rule(
        T::Ping,
        json!({"locations": []}),
        json!({"locations": [{"id": 1}, {"id": 1}]}),
        "locations[1].id: `locations[1].id`: location `1` is in the list already",
    );
    for mode in ["Round Robin", "SLA (MultiPOP)"] {
        assert_rule(
            T::Ping,
            json!({"mode": mode, "locations": [{"id": 1}, {"id": 2}]}),
            json!({"mode": mode, "locations": [{"id": 1}]}),
            &format!("mode: `mode` `{mode}` needs at least 2 locations, and there is 1"),
        );
    }
    assert_rule(
        T::Ping,
        json!({"mode": "Global Notify", "rotate_locations": true}),
        json!({"mode": "Primary", "rotate_locations": true}),
        "rotate_locations: `rotate_locations`: mode `Primary` has no rotation",
    );
}

// row: 2.1 monitor_location_count
#[test]
fn the_location_count_is_0_in_version_3_and_limited_elsewhere() {
    let count =
        |form, count| errors_of(T::Ping, form, json!({"monitor_location_count": count}), &test_context());
    assert!(count(InputFormat::V3, 0).is_empty());
    assert_eq!(
        count(InputFormat::V3, 2),
        ["monitor_location_count: `monitor_location_count` must be `0`, not `2`"]
    );
    for form in [InputFormat::File, InputFormat::Legacy] {
        assert!(count(form, 3).is_empty());
        let expected = "monitor_location_count: `monitor_location_count` must be at most 3, the number of locations, not `4`";
        assert_eq!(count(form, 4), [expected]);
    }
    let body = with(minimal(T::Ping), json!({"monitor_location_count": 2}));
    let old = validate_create(T::Ping, InputFormat::File, body, &test_context()).unwrap().document;
    assert!(
        validate_patch(&old, InputFormat::V3, json!({"monitor_location_count": 2})).is_ok(),
        "what is stored may be sent back"
    );
    assert!(validate_patch(&old, InputFormat::V3, json!({"monitor_location_count": 1})).is_err());
}

#[test]
fn steps_and_a_single_request_exclude_each_other() {
    let bare = json!({"name": "n", "billing_plancode": "p"});
    let one = with(bare.clone(), json!({"url": "https://a/", "http_method": "HEAD", "assertions": []}));
    assert!(validate_create(T::WebsiteApi, InputFormat::V3, one, &test_context()).is_ok());
    let errors_of_bare = validate_create(T::WebsiteApi, InputFormat::V3, bare, &test_context()).unwrap_err();
    assert_eq!(errors_of_bare.len(), 1);
    assert_eq!(errors_of_bare[0].message, "`api_steps` is required");
    for (field, value) in [("url", json!("http://a/")), ("http_method", json!("GET"))] {
        let found = errors_of(T::WebsiteApi, InputFormat::V3, json!({field: value}), &test_context());
        assert_eq!(found, [format!("{field}: `{field}` and `api_steps` do not go together")]);
    }
}

/// Asserts a rule of one step of an API monitor.
fn assert_step_rule(valid: Value, invalid: Value, message: &str) {
    let steps =
        |more: Value| json!({"api_steps": [with(json!({"url": "http://a/", "step_name": "s"}), more)]});
    assert_rule(T::WebsiteApi, steps(valid), steps(invalid), message);
}

#[test]
fn a_step_must_be_complete() {
    assert_step_rule(
        json!({"http_method": "CUSTOM", "custom_method": "PURGE"}),
        json!({"http_method": "CUSTOM"}),
        "api_steps[0].custom_method: `api_steps[0].custom_method` is required with `http_method` CUSTOM",
    );
    assert_step_rule(
        json!({"http_method": "POST"}),
        json!({"http_method": "POST", "custom_method": "PURGE"}),
        "api_steps[0].custom_method: `api_steps[0].custom_method` needs `http_method` CUSTOM",
    );
    assert_step_rule(
        json!({"head": {"headers": [{"name": "X-A", "value": "1"}]}, "post": null}),
        json!({"head": {"headers": [{"name": "Transfer-Encoding", "value": "chunked"}]}}),
        "api_steps[0].head.headers[0].name: `api_steps[0].head.headers[0].name` must be the name of a header that a check does not set itself, not `Transfer-Encoding`",
    );
    let twice = json!([{"url": "http://a/", "step_name": "s", "step_number": 1}, {"url": "http://a/", "step_name": "t", "step_number": 1}]);
    assert_eq!(
        errors_of(T::WebsiteApi, InputFormat::V3, json!({"api_steps": twice}), &test_context()),
        ["api_steps[1].step_number: `api_steps[1].step_number`: there is a step `1` already"]
    );
}

#[test]
fn names_of_variables_are_unique_in_the_monitor() {
    let step = |names: &[&str]| {
        let variables: Vec<_> = names.iter().map(|name| json!({"name": name, "property": "$.a"})).collect();
        json!({"url": "http://a/", "step_name": "s", "variables": variables})
    };
    assert_rule(
        T::WebsiteApi,
        json!({"api_steps": [step(&["a", "b"]), step(&["c"])]}),
        json!({"api_steps": [step(&["a", "b"]), step(&["b"])]}),
        "api_steps[1].variables[0].name: `api_steps[1].variables[0].name`: a variable `b` is in this monitor already",
    );
}

// row: 2.3 Assertion.source; 2.3 Assertion.comparison
#[test]
fn comparisons_must_suit_the_source_of_an_assertion() {
    let all = [
        "equals",
        "does not equal",
        "less than or equal",
        "contains",
        "does not contain",
        "count",
        "exists",
        "does not exist",
        "regular expression includes",
        "regular expression excludes",
        "less than",
        "greater than",
        "greater than or equal",
        "matches schema",
    ];
    let allowed: [(&str, &[usize]); 6] = [
        ("Response", &[0, 1, 3, 4, 8, 9]),
        ("JSON Response", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
        ("XML Response", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("Timeout", &[2]),
        ("Status Code", &[0, 1]),
        ("Header", &[0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]),
    ];
    for (source, indexes) in allowed {
        for (index, comparison) in all.iter().enumerate() {
            let value = if source == "Status Code" { "200" } else { "1" };
            let mut assertion =
                json!({"source": source, "comparison": comparison, "property": "p", "value": value});
            if *comparison == "matches schema" {
                assertion["schema"] = json!("true");
            }
            let steps =
                json!({"api_steps": [{"url": "http://a/", "step_name": "s", "assertions": [assertion]}]});
            let found = errors_of(T::WebsiteApi, InputFormat::V3, steps, &test_context());
            assert_eq!(found.is_empty(), indexes.contains(&index), "{source} {comparison}: {found:?}");
            if let [error] = found.as_slice() {
                let message = format!("`{comparison}` does not go with source `{source}`");
                assert!(error.contains(&message), "{error}");
            }
        }
    }
}

#[test]
fn values_must_suit_the_comparison_of_an_assertion() {
    let assertion = |source: &str, comparison: &str, property: &str, value: &str| json!({"assertions": [{"source": source, "comparison": comparison, "property": property, "value": value}]});
    let at = "api_steps[0].assertions[0]";
    let cases = [
        ("Timeout", "less than or equal", "", "2.125", "2.1250", "value", "must be seconds, not `2.1250`"),
        ("Timeout", "less than or equal", "", "2", "-2", "value", "must be seconds, not `-2`"),
        (
            "Status Code",
            "equals",
            "",
            "200, 301-308,4xx",
            "2x",
            "value",
            "must be status codes such as `200`, `200-299` or `2xx`, with commas between them, not `2x`",
        ),
        ("JSON Response", "count", "$.a", "3", "-3", "value", "must be a number of nodes, not `-3`"),
        ("JSON Response", "less than or equal", "$.a", "-3.5", "x", "value", "must be a number, not `x`"),
        (
            "Response",
            "regular expression includes",
            "",
            "a|b",
            "a(",
            "value",
            "is not a regular expression: unclosed group",
        ),
    ];
    for (source, comparison, property, valid, invalid, part, message) in cases {
        assert_step_rule(
            assertion(source, comparison, property, valid),
            assertion(source, comparison, property, invalid),
            &format!("{at}.{part}: `{at}.{part}` {message}"),
        );
    }
    let by_schema = |comparison: &str, schema: Value| json!({"assertions": [{"source": "JSON Response", "comparison": comparison, "property": "$", "schema": schema}]});
    let valid = by_schema("matches schema", json!(r#"{"type": "object"}"#));
    for (invalid, message) in [
        (by_schema("matches schema", Value::Null), "is required with comparison `matches schema`"),
        (by_schema("exists", json!({})), "needs comparison `matches schema`"),
        (
            by_schema("matches schema", json!({"items": {"$ref": "https://a.example/b"}})),
            "cannot be used: at `/items/$ref`: `https://a.example/b` is outside of the schema, and nothing is fetched; put it into `$defs`",
        ),
        (
            by_schema("matches schema", json!("[]")),
            "cannot be used: a schema is an object, `true` or `false`",
        ),
        (
            by_schema("matches schema", json!({"$schema": "http://json-schema.org/draft-07/schema#"})),
            "cannot be used: at `/$schema`: the draft \"http://json-schema.org/draft-07/schema#\" is not supported, only `https://json-schema.org/draft/2020-12/schema`",
        ),
    ] {
        assert_step_rule(valid.clone(), invalid, &format!("{at}.schema: `{at}.schema` {message}"));
    }
    assert_step_rule(
        assertion("Header", "exists", "ETag", "1"),
        assertion("Header", "exists", "", "1"),
        &format!("{at}.property: `{at}.property` is required with source `Header`"),
    );
}

#[test]
fn bodies_keywords_scripts_and_dialogues_are_validated() {
    assert_rule(
        T::Website,
        json!({"http_method": "POST", "post_body": "a"}),
        json!({"post_body": "a"}),
        "post_body: `post_body` needs `http_method` POST, PUT, PATCH or DELETE, which is GET",
    );
    assert_rule(
        T::Website,
        json!({"http_headers": [{"name": "Accept", "value": "*/*"}]}),
        json!({"http_headers": [{"name": "Host", "value": "b"}]}),
        "http_headers[0].name: `http_headers[0].name` must be the name of a header that a check does not set itself, not `Host`",
    );
    for kind in [T::Website, T::WebsiteSsl, T::BrowserScript] {
        assert_rule(
            kind,
            json!({"keyword_string": "a(b", "keyword_match_type": "Plain Text"}),
            json!({"keyword_string": "a(b", "keyword_match_type": "Regular Expression"}),
            "keyword_string: `keyword_string` is not a regular expression: unclosed group",
        );
    }
    assert_rule(
        T::BrowserScript,
        json!({"url": null, "script": "<script/>"}),
        json!({"url": null}),
        "script: `script` or `url` is required",
    );
    assert_rule(
        T::SecurityScan,
        json!({"url": null, "hostname": "h"}),
        json!({"url": null}),
        "hostname: `hostname` or `url` is required",
    );
    assert_rule(
        T::Tcp,
        json!({"dialogue": [{"send": "a"}, {"expect": "b.*"}]}),
        json!({"dialogue": [{"send": "a"}, {}]}),
        "dialogue[1]: `dialogue[1]` needs `send`, `expect` or both",
    );
    assert_rule(
        T::Tcp,
        json!({"dialogue": [{"expect": "^220 "}]}),
        json!({"dialogue": [{"expect": "("}]}),
        "dialogue[0].expect: `dialogue[0].expect` is not a regular expression: unclosed group",
    );
    assert_rule(
        T::HostAgent,
        json!({"thresholds": [{"metric": "load", "error": 4.5}]}),
        json!({"thresholds": [{"metric": "load"}]}),
        "thresholds[0]: `thresholds[0]` needs `warning`, `error` or both",
    );
    assert_rule(
        T::NameServer,
        json!({"name_to_resolve_id": 1}),
        json!({"name_to_resolve_id": 2}),
        "name_to_resolve_id: `name_to_resolve_id`: the settings have no name `2` | add it to `dns.names`, or set `name_to_resolve`",
    );
    let named = json!({"name_to_resolve_id": 2, "name_to_resolve": "a.example"});
    assert!(errors_of(T::NameServer, InputFormat::V3, named, &test_context()).is_empty());
}

#[test]
fn a_plan_enforces_its_limits() {
    let plan = BillingPlan {
        code: "small".to_owned(),
        monitor_types: vec![T::Ping],
        min_interval_minutes: 10,
        max_monitors: Some(5),
        monitor_count: 4,
        max_locations: Some(1),
    };
    let full =
        BillingPlan { code: "full".to_owned(), monitor_count: 5, monitor_types: Vec::new(), ..plan.clone() };
    let plans = [plan, full];
    let context = ValidationContext { billing_plans: Some(&plans), ..ValidationContext::default() };
    let small = |more: Value| with(json!({"billing_plancode": "small", "interval": 10}), more);
    assert!(errors_of(T::Ping, InputFormat::V3, small(json!({})), &context).is_empty());
    let cases = [
        (
            T::Ping,
            small(json!({"billing_plancode": "big"})),
            "billing_plancode: `billing_plancode`: there is no plan `big` | the plans are `small`, `full`",
        ),
        (
            T::Ftp,
            small(json!({})),
            "billing_plancode: `billing_plancode`: plan `small` is not for type `ftp`",
        ),
        (
            T::Ping,
            small(json!({"interval": 6})),
            "interval: `interval` must be at least 10 under plan `small`, not `6`",
        ),
        (
            T::Ping,
            small(json!({"locations": [{"id": 1}, {"id": 2}]})),
            "locations: `locations` must be at most 1 under plan `small`, not 2",
        ),
        (
            T::Ping,
            small(json!({"billing_plancode": "full"})),
            "billing_plancode: `billing_plancode`: plan `full` is full with 5 monitors",
        ),
    ];
    for (kind, body, message) in cases {
        assert_eq!(errors_of(kind, InputFormat::V3, body, &context), [message]);
    }
}

#[test]
fn only_admins_change_the_number_of_allowed_steps() {
    let context = ValidationContext { author_is_not_admin: true, ..ValidationContext::default() };
    let found = |more| errors_of(T::BrowserScript, InputFormat::V3, more, &context);
    assert!(found(json!({"transaction_steps_allowed": 50})).is_empty());
    assert_eq!(
        found(json!({"transaction_steps_allowed": 60})),
        ["transaction_steps_allowed: `transaction_steps_allowed` is for admins to change; it is `50`"]
    );
}

#[test]
fn a_type_cannot_be_changed() {
    assert!(errors_of(T::Ping, InputFormat::V3, json!({"type": "ping"}), &test_context()).is_empty());
    let expected = "type: `type` must be `ping`, not `tcp`";
    assert_eq!(errors_of(T::Ping, InputFormat::V3, json!({"type": "tcp"}), &test_context()), [expected]);
    assert!(validate_patch(&document(T::Ping, json!({})), InputFormat::V3, json!({"type": "tcp"})).is_err());
}

#[test]
fn rules_are_skipped_when_their_fields_are_invalid() {
    let body = json!({"url": 5, "interval": 7, "keyword_match_type": "Regex", "keyword_string": "("});
    let found = errors_of(T::BrowserScript, InputFormat::V3, body, &test_context());
    assert_eq!(found.len(), 3, "{found:#?}");
}

#[test]
fn an_interval_in_seconds_makes_the_interval_one_minute_and_another_interval_clears_it() {
    let refused = |seconds: i64| {
        format!("interval: `interval` must be 1 or left out with `interval_seconds` {seconds}, not 5")
    };
    assert_rule(
        T::Tcp,
        json!({"interval_seconds": 10, "interval": 1, "timeout": 5}),
        json!({"interval_seconds": 10, "interval": 5}),
        &refused(10),
    );
    let browser =
        errors_of(T::BrowserScript, InputFormat::V3, json!({"interval_seconds": 10}), &test_context());
    assert!(browser[0].contains("unknown field") || browser[0].contains("interval_seconds"), "{browser:?}");
    let intervals = |document: &vigie::schema::MonitorDocument| {
        (
            document.value("interval").cloned(),
            document.value("interval_seconds").cloned(),
            document.settings().interval().as_secs(),
        )
    };
    let slow = document(T::Tcp, json!({"interval": 5}));
    assert_eq!(intervals(&slow), (Some(json!(5)), None, 300));
    let fast = validate_patch(&slow, InputFormat::V3, json!({"interval_seconds": 20})).unwrap();
    assert_eq!(intervals(&fast.document), (Some(json!(1)), Some(json!(20)), 20));
    assert_eq!(
        fast.warnings,
        ["2 attempts may take 60 s, longer than the interval of 20 s: runs are skipped then"]
    );
    let same = validate_patch(&fast.document, InputFormat::V3, json!({"interval": 1, "note": "x"})).unwrap();
    assert_eq!(intervals(&same.document).2, 20);
    let slow_again = validate_patch(&fast.document, InputFormat::Legacy, json!({"interval": "10"})).unwrap();
    assert_eq!(intervals(&slow_again.document), (Some(json!(10)), None, 600));
    let minute = validate_patch(&fast.document, InputFormat::V3, json!({"interval_seconds": null})).unwrap();
    assert_eq!(intervals(&minute.document), (Some(json!(1)), None, 60));
    let both = validate_patch(&fast.document, InputFormat::V3, json!({"interval_seconds": 5, "interval": 5}));
    assert_eq!(both.unwrap_err()[0].message, refused(5).trim_start_matches("interval: "));
}

/// `browser` chooses, `browser_type` shows what is used and is another name of `browser` in files and legacy records.
#[test]
fn browser_type_sets_browser_where_it_may_be_set() {
    let both = json!({"browser": "Firefox", "browser_type": "Google Chrome"});
    let body = |more: &Value| with(minimal(T::BrowserScript), more.clone());
    let saved = |format, more: &Value| {
        validate_create(T::BrowserScript, format, body(more), &ValidationContext::default())
            .map(|saved| saved.document.to_json(vigie::schema::SecretMode::Masked))
    };
    let shown = |format, more: Value| {
        let object = saved(format, &more).unwrap();
        (object.get("browser").cloned().unwrap_or_default(), object["browser_type"].clone())
    };
    let (chrome, firefox) = (json!("Google Chrome"), json!("Firefox"));
    assert_eq!(shown(InputFormat::V3, json!({})), (Value::Null, firefox.clone()));
    assert_eq!(shown(InputFormat::V3, json!({"browser": "Google Chrome"})), (chrome.clone(), chrome.clone()));
    assert_eq!(shown(InputFormat::V3, both.clone()), (firefox.clone(), firefox.clone()), "read-only");
    assert_eq!(shown(InputFormat::File, json!({"browser_type": "Firefox"})), (firefox.clone(), firefox));
    assert_eq!(shown(InputFormat::Legacy, json!({"browser_type": "CH"})), (chrome.clone(), chrome));
    let errors = saved(InputFormat::File, &both).unwrap_err();
    assert_eq!(errors[0].message, "`browser_type` is `Google Chrome`, but `browser` is `Firefox`");
    let without_choice = document(T::BrowserScript, json!({}));
    let returned = json!({"browser_type": "FF", "site_type": "browserscript"});
    let unchanged = validate_patch(&without_choice, InputFormat::Legacy, returned);
    assert_eq!(unchanged.unwrap().document, without_choice, "a record that is sent back chooses nothing");
}

// row: 2.2 ftp.enable_ftp_upload
#[test]
fn version_3_requires_enable_ftp_upload_and_the_others_have_a_default() {
    for kind in [T::Ftp, T::FtpSsl] {
        let bare = json!({"name": "n", "billing_plancode": "p", "hostname": "ftp.example.com"});
        let accepted = |format, body: Value| {
            validate_create(kind, format, body, &ValidationContext::default())
                .map(|saved| saved.document.value("enable_ftp_upload").cloned())
                .map_err(|errors| errors.into_iter().map(|error| error.message).collect::<Vec<_>>())
        };
        let missing = vec!["`enable_ftp_upload` is required".to_owned()];
        assert_eq!(accepted(InputFormat::V3, bare.clone()), Err(missing.clone()));
        let null = with(bare.clone(), json!({"enable_ftp_upload": null}));
        assert_eq!(accepted(InputFormat::V3, null), Err(missing));
        let given = with(bare.clone(), json!({"enable_ftp_upload": true}));
        assert_eq!(accepted(InputFormat::V3, given), Ok(Some(json!(true))));
        for format in [InputFormat::File, InputFormat::Legacy] {
            let body = with(bare.clone(), json!({"site_type": kind.name()}));
            let body = if format == InputFormat::File { bare.clone() } else { body };
            assert_eq!(accepted(format, body), Ok(Some(json!(false))), "{format:?}");
        }
    }
}

#[test]
fn a_mobile_monitor_needs_a_provider_unless_the_settings_name_one() {
    let without = json!({"hostname": null});
    let needed = ValidationContext { requires_provider_host: true, ..ValidationContext::default() };
    for kind in [T::MobileCloud, T::MobileLab] {
        assert_eq!(
            errors_of(kind, InputFormat::V3, without.clone(), &needed),
            [
                "hostname: `hostname` is required: the settings name no provider | give the host of the provider, or \
                 set `mobile.provider_host`"
            ]
        );
        assert!(errors_of(kind, InputFormat::V3, json!({}), &needed).is_empty());
        assert!(errors_of(kind, InputFormat::V3, without.clone(), &ValidationContext::default()).is_empty());
    }
}
