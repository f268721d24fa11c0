//! Memory and load time of documents.

use std::time::Instant;

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::{MonitorDocument, SecretMode};

use crate::model::support::document;

/// Returns the heap size of a value in bytes, with the rounding and header of common allocators.
fn heap_size(value: &Value) -> usize {
    let block = |bytes: usize| if bytes == 0 { 0 } else { bytes.div_ceil(16) * 16 + 16 };
    match value {
        Value::String(text) => block(text.capacity()),
        Value::Array(items) => {
            block(items.capacity() * size_of::<Value>()) + items.iter().map(heap_size).sum::<usize>()
        }
        Value::Object(entries) => entries
            .iter()
            .map(|(name, value)| block(name.capacity()) + size_of::<Value>() + 32 + 16 + heap_size(value))
            .sum(),
        _ => 0,
    }
}

/// Returns the size of a document in bytes: itself, its entries, and the values that it does not share.
fn memory_size(document: &MonitorDocument) -> usize {
    let stored = document.to_non_default_fields(SecretMode::Revealed);
    let own = |value: &Value| !value.is_boolean() && !is_shared(document, value);
    let entries = stored.len() * 16 + 16;
    let values: usize = stored
        .values()
        .filter(|value| own(value))
        .map(|value| size_of::<Value>() + 16 + heap_size(value))
        .sum();
    size_of::<MonitorDocument>() + entries + values
}

/// Whether the value is shared: documents do not copy the values of choices.
fn is_shared(document: &MonitorDocument, value: &Value) -> bool {
    let other =
        MonitorDocument::new(document.monitor_type(), document.to_non_default_fields(SecretMode::Revealed))
            .unwrap();
    document
        .to_non_default_fields(SecretMode::Revealed)
        .iter()
        .filter(|(_, stored)| *stored == value)
        .any(|(name, _)| std::ptr::eq(document.value(name).unwrap(), other.value(name).unwrap()))
}

#[test]
fn an_idle_monitor_stays_far_below_2_kilobytes() {
    let website = document(
        MonitorType::Website,
        json!({
            "name": "The start page of the shop in the second data centre",
            "url": "http://shop.dc2.example.com/start/index.html?probe=vigie",
            "billing_plancode": "standard",
            "interval": 1, "timeout": 10, "mode": "Primary", "enabled": false, "http_version": "2",
            "keyword_string": "Welcome to our shop", "home_location": 1, "note": "see the runbook, page 12",
        }),
    );
    let tcp = document(MonitorType::Tcp, json!({"interval": 1}));
    assert!(memory_size(&website) < 1300, "{}", memory_size(&website));
    assert!(memory_size(&tcp) < 700, "{}", memory_size(&tcp));
}

#[test]
fn values_of_few_choices_are_shared_by_all_documents() {
    let one = document(MonitorType::Tcp, json!({"interval": 1, "enabled": false, "mode": "Primary"}));
    let two = document(MonitorType::Tcp, json!({"interval": 1, "enabled": false, "mode": "Primary"}));
    for field in ["interval", "enabled", "mode"] {
        assert!(std::ptr::eq(one.value(field).unwrap(), two.value(field).unwrap()), "{field}");
    }
}

#[test]
fn a_hundred_thousand_stored_documents_load_quickly() {
    let text = serde_json::to_string(
        &document(MonitorType::Tcp, json!({"interval": 1})).to_non_default_fields(SecretMode::Omitted),
    );
    let text = text.unwrap();
    let started = Instant::now();
    let all: Vec<_> = (0..100_000)
        .map(|_| MonitorDocument::new(MonitorType::Tcp, serde_json::from_str(&text).unwrap()).unwrap())
        .collect();
    let elapsed = started.elapsed();
    assert_eq!(all.last().unwrap().settings().schedule.interval_minutes, 1);
    println!("{elapsed:?}");
    let limit_s = if cfg!(debug_assertions) { 60 } else { 1 };
    assert!(elapsed.as_secs() < limit_s, "{elapsed:?}");
}
