//! The field table against interface.md and fields.md, as snapshots checked by hand: names, limits, defaults.

use std::fmt::Write as _;

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::field::{Field, FieldType};
use vigie::schema::table;
use vigie::schema::table::FieldTable;

/// Returns type and limits in short form.
fn limits(kind: &FieldType) -> String {
    match kind {
        FieldType::Bool => "flag".to_owned(),
        FieldType::Int { min, max } => format!("{min}..{max}").replace(&i64::MAX.to_string(), ""),
        FieldType::IntEnum(choices) => format!("{choices:?}").replace(' ', ""),
        FieldType::Float { .. } => "number".to_owned(),
        FieldType::Text { max, .. } => format!("text {max}"),
        FieldType::TextEnum(choices) => choices.join("|"),
        FieldType::List { item_type, .. } => format!("list of {}", limits(item_type)),
        FieldType::Object(table) => table.name.to_owned(),
        FieldType::Any => "any".to_owned(),
    }
}

/// Returns `name: limits [= default] [!] [ro] [secret] [x]` of every field that is not shared by all types.
fn lines(table: &'static FieldTable) -> Vec<String> {
    let shared: Vec<_> =
        [table::shared::IDENTITY_FIELDS, table::shared::SCHEDULE_FIELDS, table::shared::READ_ONLY_FIELDS]
            .into_iter()
            .flatten()
            .map(|field| field.name)
            .collect();
    let own = |field: &&&'static Field| !shared.contains(&field.name);
    table.fields().iter().filter(own).map(|field| line(field)).collect()
}

fn line(field: &Field) -> String {
    let mut line = format!("{}: {}", field.name, limits(&field.field_type));
    if let Some(default) = field.default_value().filter(|default| !default.is_object()) {
        let _ = write!(line, " = {default}");
    }
    for (set, mark) in [
        (field.required, " !"),
        (!field.is_settable(), " ro"),
        (field.secret, " secret"),
        (field.extension, " x"),
    ] {
        if set {
            line.push_str(mark);
        }
    }
    line
}

#[test]
fn the_shared_fields_are_those_of_interface_2_1() {
    let lines: Vec<_> =
        [table::shared::IDENTITY_FIELDS, table::shared::SCHEDULE_FIELDS, table::shared::READ_ONLY_FIELDS]
            .into_iter()
            .flatten()
            .map(line)
            .collect();
    insta::assert_snapshot!("shared_fields", lines.join("\n"));
}

#[test]
fn the_fields_of_each_type_are_those_of_interface_2_2_and_fields_2() {
    let types: Vec<_> = MonitorType::ALL
        .iter()
        .map(|kind| format!("[{kind}]\n{}", lines(table::for_type(*kind)).join("\n")))
        .collect();
    insta::assert_snapshot!("fields_of_each_type", types.join("\n"));
}

#[test]
fn the_sub_objects_are_those_of_interface_2_3_and_fields_2() {
    use vigie::schema::table::{api_steps, sub_objects};
    let tables = [
        &sub_objects::LOCATION,
        &sub_objects::CUSTOM_PROPERTY,
        &sub_objects::CAPTURE,
        &sub_objects::CONTENT_VIEW,
        &sub_objects::ASSERTION,
        &sub_objects::HEADER,
        &sub_objects::DIALOGUE_LINE,
        &sub_objects::THRESHOLD,
        &api_steps::API_STEP,
        &api_steps::STEP_HEAD,
        &api_steps::STEP_BODY,
        &api_steps::VARIABLE,
    ];
    let all: Vec<_> = tables
        .iter()
        .map(|table| {
            let lines: Vec<_> = table.fields().iter().map(|field| line(field)).collect();
            format!("[{}]\n{}", table.name, lines.join("\n"))
        })
        .collect();
    insta::assert_snapshot!("sub_objects", all.join("\n"));
}

#[test]
fn the_inputs_are_those_of_interface_2_4_to_2_7() {
    let all: Vec<_> = table::requests::NON_MONITOR_TABLES
        .iter()
        .map(|table| {
            let lines: Vec<_> = table.fields().iter().map(|field| line(field)).collect();
            format!("[{}]\n{}", table.name, lines.join("\n"))
        })
        .collect();
    insta::assert_snapshot!("inputs", all.join("\n"));
}

#[test]
fn every_type_has_the_shared_fields() {
    for kind in MonitorType::ALL {
        for field in
            [table::shared::IDENTITY_FIELDS, table::shared::SCHEDULE_FIELDS, table::shared::READ_ONLY_FIELDS]
                .into_iter()
                .flatten()
        {
            assert!(table::for_type(*kind).field(field.name).is_some(), "{kind} has no {}", field.name);
        }
    }
}

#[test]
fn the_limits_are_those_of_interface_8() {
    let limit = |kind: MonitorType, name: &str| match table::for_type(kind).field(name).unwrap().field_type {
        FieldType::Text { max, .. } => json!(max),
        FieldType::Int { min, max } => json!([min, max]),
        other => panic!("{name}: {other:?}"),
    };
    let website = |name| limit(MonitorType::Website, name);
    assert_eq!(website("name"), 255);
    assert_eq!((website("note"), website("alert_note")), (json!(1000), json!(1000)));
    assert_eq!(website("url"), 65535);
    assert_eq!(website("port"), json!([1, 65535]));
    for (kind, name) in [
        (MonitorType::EmailImap, "imap_password"),
        (MonitorType::EmailPop, "pop_username"),
        (MonitorType::EmailSmtp, "smtp_password"),
        (MonitorType::EmailRoundTrip, "email_username"),
    ] {
        assert_eq!(limit(kind, name), 255);
    }
    assert_eq!(limit(MonitorType::BrowserScript, "step_timeout"), json!([0, 300]));
    assert_eq!(limit(MonitorType::MobileCloud, "monitor_offset"), json!([1, 120]));
}

#[test]
fn mobile_monitors_change_the_shared_fields() {
    for kind in [MonitorType::MobileCloud, MonitorType::MobileLab] {
        let default = |name: &str| table::for_type(kind).field(name).unwrap().default_value();
        assert_eq!(default("interval"), Some(json!(30)));
        assert_eq!(default("mode"), Some(Value::from("One Handset (Rotated)")));
        assert!(!table::for_type(kind).field("locations").unwrap().is_settable());
    }
}
