//! Every label and every help of the forms and lists is in the table of texts, and the table has no others.

use std::collections::BTreeSet;

use super::form_fields::{settable_fields, shown_fields};
use super::labels::{FIELDS_OF_NAMES, label, singular};
use super::records::{PAGES, PERFORMANCE_ALERTS};
use crate::domain::{MonitorType, NotificationKind};
use crate::schema::field::{Field, FieldType};
use crate::schema::table;
use crate::schema::table::shared::LOCATION_MODES;
use crate::texts::{Language, choice_texts, field_texts, is_known_text};

/// Collects what a form says of `field` and of the fields within it.
fn collect(field: &Field, texts: &mut BTreeSet<String>) {
    texts.insert(label(field.name));
    texts.insert(field.description.to_owned());
    let table = match &field.field_type {
        FieldType::List { item_type: FieldType::Object(table), .. } => {
            texts.insert(singular(field.name));
            table
        }
        FieldType::Object(table) => table,
        _ => return,
    };
    for inner in shown_fields(table) {
        collect(inner, texts);
    }
}

#[test]
fn every_label_and_help_speaks_every_language() {
    let mut texts = BTreeSet::new();
    for monitor_type in MonitorType::ALL.iter().copied() {
        texts.insert(table::for_type(monitor_type).description.to_owned());
        for field in settable_fields(monitor_type) {
            collect(field, &mut texts);
        }
    }
    for pages in PAGES.iter().chain([&PERFORMANCE_ALERTS]) {
        texts.insert(pages.table.description.to_owned());
        texts.extend(pages.columns().iter().map(|column| label(column)));
        for field in shown_fields(pages.table) {
            collect(field, &mut texts);
        }
    }
    texts.remove("");
    let missing: Vec<_> = texts.iter().filter(|text| !is_known_text(text)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let unused: Vec<_> = field_texts().filter(|text| !texts.contains(*text)).collect();
    assert!(unused.is_empty(), "{unused:#?}");
}

/// Collects the values of `field`, and of the fields within it, that people read as words.
fn collect_choices(field: &Field, choices: &mut BTreeSet<&'static str>) {
    match &field.field_type {
        FieldType::TextEnum(values) if !FIELDS_OF_NAMES.contains(&field.name) => {
            // Modes are names, too, and have a page of the manual.
            let is_name = |value: &str| {
                value.chars().all(|char| char.is_ascii_digit())
                    || value.starts_with("starttls-")
                    || LOCATION_MODES.contains(&value)
                    || NotificationKind::from_name(value).is_some()
                    || Language::from_code(value).is_some()
            };
            choices.extend(values.iter().filter(|value| !is_name(value)));
        }
        FieldType::List { item_type: FieldType::Object(table), .. } | FieldType::Object(table) => {
            for inner in shown_fields(table) {
                collect_choices(inner, choices);
            }
        }
        _ => {}
    }
}

#[test]
fn every_choice_speaks_every_language() {
    let mut choices = BTreeSet::new();
    for monitor_type in MonitorType::ALL.iter().copied() {
        for field in settable_fields(monitor_type) {
            collect_choices(field, &mut choices);
        }
    }
    for pages in PAGES.iter().chain([&PERFORMANCE_ALERTS]) {
        for field in shown_fields(pages.table) {
            collect_choices(field, &mut choices);
        }
    }
    let missing: Vec<_> = choices.iter().filter(|choice| !is_known_text(choice)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let unused: Vec<_> = choice_texts().filter(|text| !choices.contains(text)).collect();
    assert!(unused.is_empty(), "{unused:#?}");
}
