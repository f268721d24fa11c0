//! Example bodies of inputs. They contain no secrets and no real addresses.

use serde_json::{Map, Value, json};

use crate::domain::MonitorType;
use crate::schema::field::{Access, Field, FieldTable, FieldType};
use crate::syntax::text_format::TextFormat;

/// Returns a body that creates an object: the required fields, and the fields that its rules demand in addition.
#[must_use]
pub fn create_example(table: &'static FieldTable) -> Value {
    let is_required =
        |field: &&&'static Field| field.is_required_in_v3() && field.access == Access::ReadWrite;
    let mut body: Map<String, Value> = table
        .fields()
        .iter()
        .filter(is_required)
        .map(|field| (field.name.to_owned(), field_example(table, field)))
        .collect();
    for name in extra_example_fields(table.name) {
        if let Some(field) = table.field(name) {
            body.insert(field.name.to_owned(), field_example(table, field));
        }
    }
    Value::Object(body)
}

/// Returns a body that changes an object.
#[must_use]
pub fn patch_example(table: &'static FieldTable) -> Value {
    if MonitorType::from_name(table.name).is_some() {
        return json!({"enabled": false, "note": "Paused while the shop moves"});
    }
    let settable_fields =
        table.fields().iter().filter(|field| field.access == Access::ReadWrite && !field.secret);
    let scalar_fields = settable_fields
        .filter(|field| !matches!(field.field_type, FieldType::List { .. } | FieldType::Object(_)));
    scalar_fields
        .take(1)
        .map(|field| (field.name.to_owned(), field_example(table, field)))
        .collect::<Map<_, _>>()
        .into()
}

/// Returns the fields that an example has besides the required ones.
fn extra_example_fields(table_name: &str) -> &'static [&'static str] {
    match table_name {
        "website-api" | "website-ssl-api" => &["api_steps"],
        "browserscript" | "security-scan" => &["url"],
        // A server whose settings name no provider refuses monitors without it.
        "mobilecloud" | "mobilelab" => &["hostname"],
        "hostagent" => &["host_id"],
        "Blackout" => &["from_date", "thru_date", "note"],
        "MonitorClone" => &["name"],
        "ApiStep" => &["assertions"],
        "Sla" => &["availability"],
        "Template" | "TemplatePreview" => &["kind", "method_id", "subject"],
        "Assertion" | "Header" => &["value"],
        "BlackoutBulkEdit" => &["update_one_time_action", "one_time_blackouts"],
        _ => &[],
    }
}

fn field_example(table: &FieldTable, field: &Field) -> Value {
    if field.secret {
        return Value::from("not-a-real-one");
    }
    match (table.name, field.name) {
        ("Assertion", "source") => Value::from("Status Code"),
        ("Assertion", "value") => Value::from("200"),
        ("BlackoutBulkEdit", "update_persistent") => Value::Bool(false),
        (_, "billing_plancode") => Value::from("basic"),
        ("Header", "name") => Value::from("Accept-Language"),
        (_, "name") => Value::from("Shop, start page"),
        (_, "step_name") => Value::from("Start page"),
        (_, "port") => Value::from(443),
        (_, "username" | "login") => Value::from("anna"),
        (_, "note") => Value::from("The shop moves"),
        (_, "recipient") => Value::from("anna@shop.example"),
        (_, "availability") => Value::from(99.9),
        (_, "event") => Value::from("deployment"),
        (_, "description") => Value::from("Version 2.4 of the shop went live"),
        (_, "home_location") => Value::from(1),
        (_, "from_date") => Value::from("2031-05-01 22:00:00"),
        (_, "thru_date") => Value::from("2031-05-01 23:30:00"),
        _ => match field.default_value() {
            Some(default) if !matches!(default, Value::Array(_)) => default,
            _ => type_example(table, &field.field_type),
        },
    }
}

fn type_example(table: &FieldTable, field_type: &FieldType) -> Value {
    match field_type {
        FieldType::Bool => Value::Bool(true),
        // Ids of objects that users create start at 100001.
        FieldType::Int { min: 1, max: i64::MAX } => Value::from(100_001),
        FieldType::Int { min, .. } => Value::from((*min).max(0)),
        FieldType::IntEnum(choices) => choices.first().copied().into(),
        FieldType::Float { min, .. } => Value::from(min.max(1.0)),
        FieldType::Text { format, max, .. } => text_example(table, *format, *max),
        FieldType::TextEnum(choices) => choices.first().copied().into(),
        FieldType::List { item_type: FieldType::Object(sub_table), .. } => {
            json!([nested_create_example(table, sub_table)])
        }
        FieldType::List { item_type: items, .. } => json!([type_example(table, items)]),
        FieldType::Object(sub_table) => create_example(sub_table),
        FieldType::Any => json!({}),
    }
}

/// Builds an example of a nested object. URLs of the steps of a monitor may have either scheme; those of the monitor
/// itself may not.
fn nested_create_example(table: &FieldTable, sub_table: &'static FieldTable) -> Value {
    let mut example = create_example(sub_table);
    if let Some(url) = example.get_mut("url") {
        *url = text_example(table, TextFormat::HttpUrl, usize::MAX);
    }
    example
}

fn text_example(table: &FieldTable, format: TextFormat, max: usize) -> Value {
    let is_https = table.name.contains("ssl") || !table.name.starts_with("website");
    Value::from(match format {
        TextFormat::Any | TextFormat::Name if max < 8 => "1",
        TextFormat::Any | TextFormat::Name => "some text",
        TextFormat::Ipv4 | TextFormat::Ip => "192.0.2.10",
        TextFormat::HttpUrl | TextFormat::HttpUrlTemplate if is_https => "https://shop.example/",
        TextFormat::HttpUrl | TextFormat::HttpUrlTemplate => "http://shop.example/",
        TextFormat::Host | TextFormat::ServiceAddress(_) => "shop.example",
        TextFormat::Email => "probe@shop.example",
        TextFormat::Identifier => "order",
        TextFormat::Token => "PURGE",
        TextFormat::HeaderName => "Accept",
        TextFormat::HeaderValue => "text/html",
        TextFormat::HttpStatusCodes => "200-299",
        TextFormat::Json | TextFormat::VariablesJson | TextFormat::JsonSchema => "{}",
        TextFormat::Xml => "<project/>",
        TextFormat::Script => "<script><step name=\"Front page\"><open url=\"/\"/></step></script>",
        TextFormat::Base64 => "UEsDBA==",
        TextFormat::TimeOfDay => "22:00",
        TextFormat::LocalDateTime => "2031-05-01 22:00:00",
    })
}
