//! Every label and every help of the forms and lists is in the table of texts, and the table has no others.

use std::collections::BTreeSet;

use super::form_fields::{settable_fields, shown_fields};
use super::labels::{label, singular};
use super::records::{PAGES, PERFORMANCE_ALERTS};
use crate::domain::MonitorType;
use crate::schema::field::{Field, FieldType};
use crate::schema::table;
use crate::texts::{field_texts, is_known_text};

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
