//! Keyword evaluation: the time that one check spends on the rule, by size of the page and kind of pattern.
#![allow(clippy::expect_used, missing_docs)]

#[path = "support/allocator.rs"]
mod allocator;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vigie::evaluate::keyword::{KeywordRule, KeywordSyntax};

fn rule(pattern: &str, matching: KeywordSyntax, match_case: bool) -> KeywordRule {
    KeywordRule {
        pattern: pattern.to_owned(),
        match_type: matching,
        invert: false,
        match_case,
        whole_word: true,
        line_wrap: true,
        normalize_spaces: true,
    }
}

/// Returns HTML-like text of `bytes` bytes that contains near misses of the patterns.
fn page(bytes: usize) -> String {
    let line = "  <li class=\"item\"><a href=\"/shop/42\">Café crème,\n      in stocks since 2019</a></li>\n";
    line.repeat(bytes / line.len() + 1)
}

fn keyword(c: &mut Criterion) {
    let rules = [
        ("word", rule("stock", KeywordSyntax::PlainText, true)),
        ("words", rule("in stock", KeywordSyntax::PlainText, true)),
        ("words, any case", rule("in stock", KeywordSyntax::PlainText, false)),
        ("expression", rule(r"in stock since \d{4}", KeywordSyntax::RegularExpression, true)),
    ];
    for bytes in [16 * 1024, 1024 * 1024, 10 * 1024 * 1024] {
        let text = page(bytes);
        let mut group = c.benchmark_group(format!("keyword in {} KiB", bytes / 1024));
        group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(10);
        for (name, rule) in &rules {
            let keyword = rule.clone().compile().expect("the pattern is good");
            group.bench_function(*name, |b| b.iter(|| keyword.matches(black_box(&text))));
        }
        group.finish();
    }
}

criterion_group!(benches, keyword);
criterion_main!(benches);
