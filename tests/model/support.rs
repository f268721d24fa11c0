//! Minimal bodies, and helpers that create and patch documents.

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::MonitorDocument;
use vigie::schema::field::{Field, FieldType};
use vigie::schema::reader::InputFormat;
use vigie::schema::validate::{ValidatedDocument, merge_and_validate, validate_new};
use vigie::schema::validation_context::ValidationContext;
use vigie::syntax::ValidationError;
use vigie::syntax::node::Node;
use vigie::syntax::text_format::TextFormat;

/// A project with the case `c` of the suite `s`.
const PROJECT: &str = "<soapui-project xmlns='http://eviware.com/soapui/config'><testSuite name='s'>\
                       <testCase name='c'/></testSuite></soapui-project>";

/// Returns the minimal body of a monitor of `kind`.
pub fn minimal(kind: MonitorType) -> Value {
    let own = match kind {
        MonitorType::Website => json!({"url": "http://a.example/"}),
        MonitorType::WebsiteSsl | MonitorType::BrowserScript | MonitorType::SecurityScan => {
            json!({"url": "https://a.example/"})
        }
        MonitorType::WebsiteApi | MonitorType::WebsiteSslApi => {
            json!({"api_steps": [{"url": "http://a.example/", "step_name": "s"}]})
        }
        MonitorType::Tcp => json!({"hostname": "a.example", "port": 80}),
        MonitorType::EmailRoundTrip => {
            json!({"smtp_hostname": "a.example", "pop3_hostname": "a.example", "email": "a@a.example"})
        }
        MonitorType::ApiProject => json!({"script": PROJECT, "test_suite": "s", "test_case": "c"}),
        MonitorType::CollectionApi => json!({"script": "{}"}),
        MonitorType::Selenium => json!({"script": "UEsDBA=="}),
        MonitorType::HostAgent => json!({"host_id": "h"}),
        MonitorType::MobileCloud | MonitorType::MobileLab => {
            json!({"hostname": "a.example", "api_key": "k", "run_configuration": "{}"})
        }
        MonitorType::Ftp | MonitorType::FtpSsl => {
            json!({"hostname": "a.example", "enable_ftp_upload": false})
        }
        _ => json!({"hostname": "a.example"}),
    };
    with(json!({"name": "n", "billing_plancode": "p"}), own)
}

/// Returns `body` with the fields of `more`.
pub fn with(mut body: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("{more}") };
    body.as_object_mut().unwrap().extend(more);
    body
}

pub fn validate_create(
    kind: MonitorType,
    form: InputFormat,
    body: Value,
    context: &ValidationContext<'_>,
) -> Result<ValidatedDocument, Vec<ValidationError>> {
    validate_new(kind, form, &Node::from(body), context)
}

/// Returns a document that must be accepted.
pub fn document(kind: MonitorType, more: Value) -> MonitorDocument {
    let body = with(minimal(kind), more);
    validate_create(kind, InputFormat::V3, body.clone(), &ValidationContext::default())
        .unwrap_or_else(|errors| panic!("{kind} {body}: {errors:#?}"))
        .document
}

pub fn validate_patch(
    old: &MonitorDocument,
    form: InputFormat,
    body: Value,
) -> Result<ValidatedDocument, Vec<ValidationError>> {
    merge_and_validate(old, form, &Node::from(body), &ValidationContext::default())
}

/// Returns a text in `format`, and one that is not.
pub fn texts(format: TextFormat) -> (&'static str, Option<&'static str>) {
    match format {
        TextFormat::Any => ("x", None),
        TextFormat::Name => ("x", Some("x\u{202e}y")),
        TextFormat::Ipv4 => ("192.0.2.1", Some("192.0.2.256")),
        TextFormat::Ip => ("2001:db8::1", Some("2001:db8:::1")),
        TextFormat::HttpUrl | TextFormat::HttpUrlTemplate => {
            ("http://a.example/", Some("gopher://a.example/"))
        }
        TextFormat::Host => ("a.example", Some("a b")),
        TextFormat::ServiceAddress(_) => ("a.example:2525", Some("gopher://a.example")),
        TextFormat::Email => ("a@a.example", Some("a.example")),
        TextFormat::Identifier => ("a_1", Some("1_a")),
        TextFormat::Token => ("PURGE", Some("PU RGE")),
        TextFormat::HeaderName => ("X-A", Some("Content-Length")),
        TextFormat::HeaderValue => ("x", Some("x\r\ny")),
        TextFormat::HttpStatusCodes => ("200-299,404", Some("20x")),
        TextFormat::Json | TextFormat::VariablesJson => ("{}", Some("{")),
        TextFormat::JsonSchema => ("true", Some("{")),
        TextFormat::Xml | TextFormat::Script => ("<a/>", Some("{}")),
        TextFormat::Base64 => ("UEsDBA==", Some("!")),
        TextFormat::TimeOfDay => ("23:59", Some("24:00")),
        TextFormat::LocalDateTime => ("2026-01-31 00:00:00", Some("2026-01-32 00:00:00")),
    }
}

/// Returns a valid value of `kind`.
pub fn sample(kind: &FieldType) -> Value {
    match kind {
        FieldType::Bool => json!(true),
        FieldType::Int { min, .. } => json!(min),
        FieldType::IntEnum(choices) => json!(choices[0]),
        FieldType::Float { .. } => json!(0.5),
        FieldType::Text { format, .. } => json!(texts(*format).0),
        FieldType::TextEnum(choices) => json!(choices[0]),
        FieldType::Any => json!({}),
        FieldType::List { item_type, .. } => json!([sample(item_type)]),
        FieldType::Object(table) => {
            let required = |field: &&&'static Field| field.required;
            table
                .fields()
                .iter()
                .filter(required)
                .map(|field| (field.name.to_owned(), sample(&field.field_type)))
                .collect()
        }
    }
}
