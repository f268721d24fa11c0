//! The formats of version 3 and of the legacy API, and partial changes.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use vigie::domain::MonitorType;
use vigie::schema::field::{Access, Field, FieldType};
use vigie::schema::reader::InputFormat;
use vigie::schema::table::FieldTable;
use vigie::schema::validation_context::ValidationContext;
use vigie::schema::{MonitorDocument, SecretMode, legacy, table};
use vigie::syntax::ValidationError;
use vigie::syntax::node::Node;

use crate::model::support::{document, minimal, sample, texts, validate_create, validate_patch, with};
use crate::support::fields::Fields;

fn legacy_create(body: Value) -> Result<MonitorDocument, Vec<ValidationError>> {
    let node = Node::from(body.clone());
    let kind = legacy::type_to_create(&node).unwrap();
    validate_create(
        kind,
        InputFormat::Legacy,
        body,
        &ValidationContext { default_location_ids: &[1, 2, 3], ..ValidationContext::default() },
    )
    .map(|accepted| accepted.document)
}

/// Returns the statuses and messages of the legacy API for a refused body.
fn legacy_errors(body: Value) -> Vec<(u16, String)> {
    legacy_create(body).unwrap_err().iter().map(ValidationError::legacy_status).collect()
}

#[test]
fn the_minimal_legacy_bodies_are_accepted() {
    for body in [
        json!({"billing_plancode": "p", "site_type": "website", "name": "n", "url": "http://a/", "interval": 5, "enabled": "y"}),
        json!({"billing_plancode": "p", "site_type": "browserscript", "browser_type": "FF", "name": "n", "script": "<s/>", "interval": 5, "enabled": "n"}),
        json!({"billing_plancode": "p", "site_type": "apiproject", "name": "n", "script": "<s/>", "test_suite": "s", "test_case": "c", "interval": "5", "enabled": "y"}),
    ] {
        let accepted = legacy_create(body.clone()).unwrap_or_else(|errors| panic!("{body}: {errors:?}"));
        assert_eq!(accepted.flag("enabled"), body["enabled"] == "y");
        assert_eq!(accepted.number("interval"), 5);
    }
}

// row: 2.8 flags; 2.8 spellings of keyword_match_type; 2.8 numbers of a create
#[test]
fn legacy_codes_are_decoded() {
    let site = legacy_create(json!({
        "billing_plancode": 7, "site_type": "website", "name": "n", "url": "http://a/", "interval": "10",
        "mode": "S", "http_method": "p", "resolve_dns": "", "http_302_is_error": "y", "keyword_match_invert": "Enabled",
        "keyword_match_type": "RegularExpression", "keyword_string": "a.b", "check_ssl_expiration_dates": "Expiring",
        "locations": [{"id": "1"}, {"id": 2}], "home_location": "2", "monitor_location_count": "2", "port": "",
        "smtp_hostname": "does not apply", "nonsense": {"a": 1}, "id": "5", "rotate_locations": "y",
    }))
    .unwrap();
    assert_eq!(site.text("billing_plancode"), Some("7"));
    assert_eq!(site.text("mode"), Some("SLA (MultiPOP)"));
    assert_eq!(site.text("http_method"), Some("POST"));
    assert_eq!(site.text("keyword_match_type"), Some("Regular Expression"));
    assert_eq!(site.number("home_location"), 2);
    assert_eq!(site.list("locations"), [json!({"id": 1}), json!({"id": 2})]);
    assert!(site.flag("keyword_match_invert") && site.flag("http_302_is_error") && site.flag("resolve_dns"));
    assert!(!site.flag("rotate_locations"), "2 of 2 is no rotation");
    assert!(site.value("port").is_none());
}

// row: 2.8 codes of mode; 2.8 codes of http_method; 2.8 codes of browser_type
// row: 2.8 spellings of keyword_match_type
#[test]
fn every_legacy_code_is_decoded_and_encoded() {
    let cases = [
        (
            MonitorType::Ping,
            "mode",
            &["P", "G", "V", "R", "S"][..],
            &["Primary", "Global Notify", "Global Verify", "Round Robin", "SLA (MultiPOP)"][..],
        ),
        (
            MonitorType::Website,
            "http_method",
            &["g", "p", "h", "t", "a", "d", "o"],
            &["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"],
        ),
        (
            MonitorType::BrowserScript,
            "browser_type",
            &["FF", "CH", "IE"],
            &["Firefox", "Google Chrome", "Internet Explorer"],
        ),
        (MonitorType::Website, "http_caching", &["Disabled", "Enabled"], &["Disabled", "Enabled"]),
        (
            MonitorType::Website,
            "check_ssl_expiration_dates",
            &["Disabled", "Expired", "Expiring"],
            &["Disabled", "Expired", "Expiring"],
        ),
        (
            MonitorType::Website,
            "keyword_match_type",
            &["Plain Text", "Regular Expression"],
            &["Plain Text", "Regular Expression"],
        ),
    ];
    for (kind, field, codes, values) in cases {
        for (code, value) in codes.iter().zip(values) {
            let body = with(minimal(kind), json!({field: code, "site_type": kind.name()}));
            let document = legacy_create(body).unwrap();
            assert_eq!(document.to_json(SecretMode::Masked)[field], json!(value), "{field} {code}");
            assert_eq!(legacy::record_from_document(&document, SecretMode::Masked)[field], json!(code));
        }
    }
}

#[test]
fn the_methods_of_api_steps_are_coded_too() {
    let step = |method: &str| {
        let custom = (method == "CUSTOM").then_some("PURGE");
        json!([{"url": "http://a/", "step_name": "s", "http_method": method, "custom_method": custom}])
    };
    for (code, method) in [("g", "GET"), ("p", "POST"), ("h", "HEAD"), ("CUSTOM", "CUSTOM")] {
        for sent in [code, method] {
            let body = json!({"name": "n", "billing_plancode": "p", "site_type": "transaction", "api_steps": step(sent)});
            let body = with(body, json!({"interval": 5, "enabled": "y"}));
            let document = legacy_create(body).unwrap();
            assert_eq!(document.list("api_steps")[0]["http_method"], method, "{sent}");
            let record = legacy::record_from_document(&document, SecretMode::Masked);
            assert_eq!(record["api_steps"][0]["http_method"], code, "{sent}");
        }
    }
}

// row: 2.3 Capture levels of the legacy API; 2.8 codes of capture_level
#[test]
fn capture_level_is_the_index_of_the_level() {
    let levels = [
        "Disabled",
        "Error Only",
        "All Actions on Error",
        "All Actions",
        "All Events on Error",
        "All Events",
    ];
    for (index, level) in levels.iter().enumerate() {
        for code in [json!(index), json!(index.to_string())] {
            let body = with(
                minimal(MonitorType::BrowserScript),
                json!({"capture_level": code, "site_type": "browserscript"}),
            );
            let document = legacy_create(body).unwrap();
            let expected = json!({"level": level, "mimetype": "image/jpeg", "headers": true, "images": true, "sources": true});
            assert_eq!(document.value("capture"), Some(&expected));
            assert_eq!(
                legacy::record_from_document(&document, SecretMode::Masked)["capture_level"],
                json!(index.to_string())
            );
        }
    }
    let body =
        with(minimal(MonitorType::BrowserScript), json!({"capture_level": 6, "site_type": "browserscript"}));
    assert_eq!(legacy_errors(body), [(66, "Invalid capture_level".to_owned())]);
}

#[test]
fn a_count_below_the_pool_is_rotation_in_the_legacy_api() {
    let rotates = |count: i64, locations: Value| {
        let more = json!({"site_type": "ping", "monitor_location_count": count, "locations": locations});
        legacy_create(with(minimal(MonitorType::Ping), more)).unwrap().flag("rotate_locations")
    };
    let own = json!([{"id": 1}, {"id": 2}]);
    assert_eq!([0, 1, 2].map(|count| rotates(count, own.clone())), [false, true, false]);
    assert_eq!([0, 1, 2, 3].map(|count| rotates(count, json!([]))), [false, true, true, false]);
    let rotated = |mode: &str| {
        let document = document(MonitorType::Ping, json!({"mode": mode, "rotate_locations": true}));
        legacy::record_from_document(&document, SecretMode::Masked)["monitor_location_count"].clone()
    };
    assert_eq!(
        [rotated("Global Verify"), rotated("Round Robin"), rotated("SLA (MultiPOP)")],
        ["1", "2", "2"]
    );
}

#[test]
fn a_legacy_record_is_all_text_and_names_its_type() {
    for kind in MonitorType::ALL {
        let record = legacy::record_from_document(&document(*kind, json!({})), SecretMode::Masked);
        assert_eq!(record["site_type"], legacy::site_type(*kind));
        assert_all_text(&Value::Object(record.clone()));
        assert_eq!((&record["enabled"], &record["home_location"]), (&json!("y"), &json!("")), "{kind}");
        assert!(!record.contains_key("rotate_locations"));
    }
}

fn assert_all_text(value: &Value) {
    match value {
        Value::String(_) => {}
        Value::Array(items) => items.iter().for_each(assert_all_text),
        Value::Object(entries) => entries.values().for_each(assert_all_text),
        other => panic!("{other} is not a text"),
    }
}

#[test]
fn legacy_errors_have_status_and_message() {
    let refused = |body: Value| legacy::type_to_create(&Node::from(body)).unwrap_err();
    assert_eq!(refused(json!({})), (64, "Missing site_type".to_owned()));
    assert_eq!(refused(json!({"site_type": ""})), (64, "Missing site_type".to_owned()));
    assert_eq!(refused(json!({"site_type": "webseite"})), (66, "Invalid site_type".to_owned()));
    for kind in ["mobilelab", "selenium"] {
        assert_eq!(refused(json!({"site_type": kind})), (65, "Invalid device.".to_owned()));
    }
    let body = json!({"site_type": "tcp", "name": "n", "billing_plancode": "p", "port": "0"});
    assert_eq!(legacy_errors(body), [(64, "Missing hostname".to_owned()), (66, "Invalid port".to_owned())]);
    let body =
        with(minimal(MonitorType::Ping), json!({"site_type": "ping", "interval": "7", "enabled": "maybe"}));
    assert_eq!(
        legacy_errors(body),
        [(66, "Invalid interval".to_owned()), (66, "Invalid enabled".to_owned())]
    );
}

#[test]
fn alternative_names_of_types_are_accepted() {
    assert_eq!(legacy::parse_site_type("transaction"), Some(MonitorType::WebsiteApi));
    assert_eq!(legacy::parse_site_type("transaction-ssl"), Some(MonitorType::WebsiteSslApi));
    assert_eq!(legacy::parse_site_type("apiproject"), Some(MonitorType::ApiProject));
    assert_eq!(legacy::parse_site_type("collection-api"), None);
    for kind in MonitorType::ALL.iter().filter(|kind| legacy::can_create(**kind)) {
        assert_eq!(legacy::parse_site_type(legacy::site_type(*kind)), Some(*kind));
    }
}

#[test]
fn lenient_inputs_are_accepted() {
    let site = document(
        MonitorType::WebsiteSsl,
        json!({"use_ssl_version": 12, "port": "", "id": 9, "access_type": "Edit"}),
    );
    assert_eq!(site.text("use_ssl_version"), Some("12"));
    assert!(site.value("port").is_none() && site.value("id").is_none());
    for hostname in ["smtps://a.example:465", "a.example:25", "[2001:db8::1]:25"] {
        assert_eq!(
            document(MonitorType::EmailSmtp, json!({"hostname": hostname})).text("hostname"),
            Some(hostname)
        );
    }
    let yaml = Node::from_yaml(
        "url: http://a/\nname: n\nbilling_plancode: p\nhttp_version: 1.0\nuse_ssl_version: 12\n",
    )
    .unwrap();
    let context = ValidationContext::default();
    let site =
        vigie::schema::validate::validate_new(MonitorType::Website, InputFormat::File, &yaml, &context)
            .unwrap()
            .document;
    assert_eq!(site.text("http_version"), Some("1.0"));
}

#[test]
fn fields_not_set_have_their_default() {
    let ping = document(MonitorType::Ping, json!({}));
    assert_eq!((ping.number("interval"), ping.number("timeout"), ping.number("ping_count")), (5, 30, 5));
    assert!(ping.flag("enabled") && ping.flag("retry_on_failure") && !ping.flag("rotate_locations"));
    assert_eq!(ping.text("mode"), Some("Global Verify"));
    assert!(ping.value("home_location").is_none() && ping.list("locations").is_empty());
    assert_eq!((ping.number("no such field"), ping.text("no such field")), (0, None));
    let page = document(MonitorType::BrowserScript, json!({"capture": {"level": "All Events"}}));
    assert_eq!(page.value("capture").unwrap()["mimetype"], "image/jpeg");
}

#[test]
fn derived_fields_are_shown_in_version_3() {
    let v3_of = |more: Value| document(MonitorType::BrowserScript, more).to_json(SecretMode::Masked);
    let plain = v3_of(json!({}));
    let all = v3_of(json!({
        "locations": [{"id": 1}, {"id": 2}], "mode": "SLA (MultiPOP)", "user_experience_enabled": true,
        "capture": {"level": "Disabled"},
        "content_views": [{"id": 1, "notify_on_error": true, "inherit_global_errors": false}],
    }));
    for (field, without, with) in [
        ("monitor_uses_own_locations", false, true),
        ("has_multipop", false, true),
        ("has_user_experience", false, true),
        ("has_content_views", false, true),
        ("has_capture", true, false),
    ] {
        assert_eq!((&plain[field], &all[field]), (&json!(without), &json!(with)), "{field}");
    }
}

#[test]
fn a_patch_keeps_omitted_fields() {
    let old = document(
        MonitorType::BrowserScript,
        json!({"note": "x", "timeout": 60, "capture": {"headers": false}, "locations": [{"id": 1}, {"id": 2}]}),
    );
    let body = json!({"timeout": 45, "capture": {"level": "All Events"}, "locations": [{"id": 3}]});
    let new = validate_patch(&old, InputFormat::V3, body).unwrap().document;
    assert_eq!((new.text("note"), new.number("timeout")), (Some("x"), 45));
    assert_eq!(new.list("locations"), [json!({"id": 3})]);
    let capture = new.value("capture").unwrap();
    assert_eq!((&capture["level"], &capture["headers"]), (&json!("All Events"), &json!(false)));
    let new = validate_patch(&new, InputFormat::V3, json!({"note": null, "timeout": null})).unwrap().document;
    assert_eq!((new.text("note"), new.number("timeout")), (None, 30));
    assert!(validate_patch(&new, InputFormat::V3, json!({"name": null})).is_err());
    assert_eq!(validate_patch(&new, InputFormat::V3, json!({})).unwrap().document, new);
}

#[test]
fn a_mask_that_is_sent_back_keeps_the_secret() {
    let steps = json!([
        {"url": "http://a/", "step_name": "1", "step_number": 1, "head": {"http_basic_auth_password": "one"}},
        {"url": "http://a/", "step_name": "2", "step_number": 2, "head": {"http_basic_auth_password": "two"}},
    ]);
    let old = document(MonitorType::WebsiteApi, json!({"api_steps": steps}));
    let mut masked = old.to_json(SecretMode::Masked);
    assert!(!Value::Object(masked.clone()).to_string().contains("two"));
    assert_eq!(validate_patch(&old, InputFormat::V3, Value::Object(masked.clone())).unwrap().document, old);
    masked["api_steps"].as_array_mut().unwrap().remove(0);
    let new =
        validate_patch(&old, InputFormat::V3, json!({"api_steps": masked["api_steps"]})).unwrap().document;
    assert_eq!(new.list("api_steps")[0]["head"]["http_basic_auth_password"], "two");
    let errors = validate_patch(
        &old,
        InputFormat::V3,
        json!({"api_steps": [
            {"url": "http://a/", "step_name": "3", "step_number": 3, "head": {"bearer_token": "********"}}
        ]}),
    )
    .unwrap_err();
    assert_eq!(errors[0].message, "`api_steps[0].head.bearer_token` is masked, but no value is stored");
    let body = with(minimal(MonitorType::EmailPop), json!({"pop_password": "********"}));
    assert_eq!(
        validate_create(MonitorType::EmailPop, InputFormat::V3, body, &ValidationContext::default())
            .unwrap_err()
            .len(),
        1
    );
}

#[test]
fn an_object_of_version_3_can_be_sent_back() {
    for kind in MonitorType::ALL {
        let old = document(*kind, json!({"note": "x"}));
        let masked = Value::Object(old.to_json(SecretMode::Masked));
        assert_eq!(validate_patch(&old, InputFormat::V3, masked).unwrap().document, old, "{kind}");
    }
}

/// Generates values of `kind` in the format of version 3.
fn any_value(kind: FieldType) -> BoxedStrategy<Value> {
    match kind {
        FieldType::Bool => any::<bool>().prop_map(Value::from).boxed(),
        FieldType::Int { min, max } => (min..=max.min(min.max(0) + 1000)).prop_map(Value::from).boxed(),
        FieldType::IntEnum(choices) => proptest::sample::select(choices).prop_map(Value::from).boxed(),
        FieldType::TextEnum(choices) => proptest::sample::select(choices).prop_map(Value::from).boxed(),
        FieldType::Text { max, format, .. } if texts(format).1.is_none() => {
            proptest::collection::vec(any::<char>(), 1..=max.min(20))
                .prop_map(|chars| Value::from(chars.into_iter().collect::<String>()))
                .prop_filter("a mask is no value", |value| value != "********")
                .boxed()
        }
        FieldType::List { item_type, .. } => {
            let items = proptest::collection::vec(any_value(*item_type), 0..3);
            // Lists of ids name each once.
            items
                .prop_map(|mut items| {
                    items.dedup();
                    Value::from(items)
                })
                .boxed()
        }
        kind => Just(sample(&kind)).boxed(),
    }
}

/// Fields that depend on each other, so that random values would rarely be valid.
const DEPENDENT_FIELDS: &[&str] = &[
    "interval",
    "interval_seconds",
    "locations",
    "home_location",
    "monitor_location_count",
    "rotate_locations",
    "mode",
    "resolve_dns",
    "url",
    "http_method",
    "post_body",
    "api_steps",
    "assertions",
    "keyword_match_type",
    "use_client_ssl_cert",
    "proxy_id",
    "thresholds",
    "dialogue",
    "hostname",
    "script",
    "depends_on",
    "pop3_hostname",
    "smtp_hostname",
    "content_views",
];

fn any_fields(table: &'static FieldTable) -> impl Strategy<Value = Map<String, Value>> {
    let free: Vec<&'static Field> = table
        .fields()
        .iter()
        .copied()
        .filter(|field| field.access == Access::ReadWrite && !DEPENDENT_FIELDS.contains(&field.name))
        .collect();
    let count = free.len();
    proptest::sample::subsequence(free, 0..=count).prop_flat_map(|fields| {
        fields
            .into_iter()
            .map(|field| any_value(field.field_type).prop_map(move |value| (field.name.to_owned(), value)))
            .collect::<Vec<_>>()
            .prop_map(|entries| entries.into_iter().collect::<Map<_, _>>())
    })
}

fn any_document() -> impl Strategy<Value = MonitorDocument> {
    proptest::sample::select(MonitorType::ALL).prop_flat_map(|kind| {
        any_fields(table::for_type(kind)).prop_map(move |fields| document(kind, Value::Object(fields)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn version_3_to_legacy_and_back_is_the_same(document in any_document()) {
        let kind = document.monitor_type();
        let record = Value::Object(legacy::record_from_document(&document, SecretMode::Revealed));
        let back = validate_create(kind, InputFormat::Legacy, record.clone(), &ValidationContext::default());
        let mut expected = document.to_json(SecretMode::Revealed);
        if kind == MonitorType::BrowserScript {
            // The record names the browser that is used, and a new monitor chooses the one that is named.
            let used = expected["browser_type"].clone();
            let values = document.to_non_default_fields(SecretMode::Revealed).into_iter().chain([("browser".to_owned(), used)]);
            expected = MonitorDocument::new(kind, values.collect()).unwrap().to_json(SecretMode::Revealed);
        }
        if legacy::parse_site_type(legacy::site_type(kind)) == Some(kind) {
            let back = back.map_err(|errors| TestCaseError::fail(format!("{record}: {errors:?}")))?;
            prop_assert_eq!(back.document.to_json(SecretMode::Revealed), expected);
        }
    }

    #[test]
    fn a_stored_document_loads_unchanged(document in any_document()) {
        let text = serde_json::to_string(&document.to_non_default_fields(SecretMode::Revealed)).unwrap();
        let again = MonitorDocument::new(document.monitor_type(), serde_json::from_str(&text).unwrap()).unwrap();
        prop_assert_eq!(again, document);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = Node::from_yaml(&text);
        let files = [("a.yaml".to_owned(), format!("- key: k\n  type: website\n  {text}\n"))];
        let found = vigie::schema::monitor_file::find_file_errors(
            &files,
            &ValidationContext::default(),
            &vigie::schema::reader::reject_secret_sources,
        );
        prop_assert!(!found.is_empty());
    }

    #[test]
    fn no_tree_makes_the_reader_panic(kind in proptest::sample::select(MonitorType::ALL), body in any_tree()) {
        for form in [InputFormat::V3, InputFormat::Legacy, InputFormat::File] {
            let _ = validate_create(kind, form, body.clone(), &ValidationContext::default());
        }
    }
}

/// Generates trees whose keys are often names of fields.
fn any_tree() -> impl Strategy<Value = Value> {
    let names: Vec<&'static str> = MonitorType::ALL
        .iter()
        .flat_map(|kind| table::for_type(*kind).fields())
        .map(|field| field.name)
        .chain(["head", "headers", "level", "capture_level", "id", "name", "value", "source", "comparison"])
        .collect();
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("********")),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let entry = (proptest::sample::select(names.clone()), inner.clone());
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            proptest::collection::vec(entry, 0..6).prop_map(|entries| entries
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

#[test]
fn a_whole_number_is_the_same_value_however_it_is_written() {
    let host_agent = |error: Value| {
        json!({"billing_plancode": "p", "name": "n", "interval": 5, "host_id": "h", "enabled": false,
            "thresholds": [{"metric": "load", "error": error}]})
    };
    let read = |form: InputFormat, error: Value| {
        validate_create(MonitorType::HostAgent, form, host_agent(error), &ValidationContext::default())
            .unwrap()
            .document
    };
    let whole = read(InputFormat::V3, json!(8));
    assert_eq!(read(InputFormat::V3, json!(8.0)), whole);
    assert_eq!(read(InputFormat::Legacy, json!("8")), whole, "the legacy API shows numbers as texts");
    assert_eq!(read(InputFormat::Legacy, json!("8.0")), whole);
    assert_ne!(read(InputFormat::Legacy, json!("8.5")), whole);
}
