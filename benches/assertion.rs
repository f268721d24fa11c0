//! Assertions over a response of 100 KiB, parsing included: the time that one check spends on each kind.
#![allow(clippy::expect_used, missing_docs)]

#[path = "support/allocator.rs"]
mod allocator;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use vigie::evaluate::assertion::{Assertion, ParsedResponse, evaluate_all};

const BYTES: usize = 100 * 1024;

fn json_text() -> String {
    let item = r#"{"id":42,"name":"Café crème","price":3.5,"tags":["hot","small"]}"#;
    let items = vec![item; BYTES / item.len()];
    format!(r#"{{"state":"fine","items":[{}],"last":"end"}}"#, items.join(","))
}

fn xml_text() -> String {
    let item = r#"<item id="42"><name>Café crème</name><price>3.5</price><tag>hot</tag></item>"#;
    format!("<shop xmlns:p=\"urn:p\">{}<p:last>end</p:last></shop>", item.repeat(BYTES / item.len()))
}

fn assertions(c: &mut Criterion) {
    let (json, xml) = (json_text(), xml_text());
    let cases = [
        ("JSONPath", &json, "JSON Response", "$.last", "equals", "end"),
        ("JSONPath of all", &json, "JSON Response", "$..price", "does not equal", "4"),
        ("XPath", &xml, "XML Response", "/shop/p:last", "equals", "end"),
        ("XPath of all", &xml, "XML Response", "//price", "does not equal", "4"),
        ("text contains", &json, "Response", "", "contains", "\"end\""),
        ("regular expression", &json, "Response", "", "regular expression includes", r#""last":"(end|fin)""#),
    ];
    let mut group = c.benchmark_group("assertion in 100 KiB");
    group.throughput(Throughput::Bytes(BYTES as u64)).sample_size(10);
    for (name, text, source, property, comparison, value) in cases {
        let document =
            json!({"source": source, "property": property, "comparison": comparison, "value": value});
        let one =
            [Assertion::new(&serde_json::from_value(document.clone()).expect("the fields of an assertion"))
                .expect("the assertion is good")];
        group.bench_function(name, |b| {
            b.iter(|| {
                evaluate_all(&one, &ParsedResponse::new(200, Duration::from_millis(80), &[], black_box(text)))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, assertions);
criterion_main!(benches);
