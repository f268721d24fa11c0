//! Tests with pages in a short form: `a10 b20!` is `a` of 10 bytes and `b`, which failed.

use super::*;
use crate::domain::{PageObject, Phases};

fn page(text: &str) -> PageLoad {
    let objects = text.split_ascii_whitespace().map(|entry| {
        let failed = entry.ends_with('!');
        let entry = entry.trim_end_matches('!');
        let (name, bytes) = entry.split_at(entry.find(|c: char| c.is_ascii_digit()).unwrap());
        PageObject {
            url: format!("http://x/{name}"),
            kind: if name.ends_with("css") { PageObjectKind::StyleSheet } else { PageObjectKind::Image },
            third_party: false,
            blocked: false,
            start_offset_us: 1,
            duration_us: 1,
            phases: Phases::default(),
            http_status: 200,
            http_version: String::new(),
            media_type: String::new(),
            body_wire_bytes: 0,
            body_bytes: bytes.parse().unwrap(),
            failure: failed.then(|| Failure::new(Phase::Validate, FailureKind::HttpErrorStatus, "")),
        }
    });
    PageLoad { objects: objects.collect(), ..PageLoad::default() }
}

const REPORT_ALL: PageComparisonRule = PageComparisonRule {
    reports_missing_and_new: true,
    reports_changed_sizes: true,
    tolerance_percent: 10,
    changes_are_errors: true,
};

fn changes(before: &str, now: &str, rule: PageComparisonRule) -> String {
    let baseline = PageBaseline::from_page(&page(before), None).unwrap();
    let changes = compare_with_baseline(&baseline, &page(now), &rule);
    let describe = |change: &PageObjectChange| {
        format!("{} {}", change.status, change.url.trim_start_matches("http://x/"))
    };
    changes.iter().map(describe).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_page_is_compared_as_far_as_the_monitor_asks() {
    let (only_missing_and_new, only_sizes) = (
        PageComparisonRule { reports_changed_sizes: false, ..REPORT_ALL },
        PageComparisonRule { reports_missing_and_new: false, ..REPORT_ALL },
    );
    for (before, now, rule, expected) in [
        ("a10 b20", "a10 b20", REPORT_ALL, ""),
        ("a10 b20", "b20 a10", REPORT_ALL, ""),
        ("a10 b20", "a10", REPORT_ALL, "7122 b"),
        ("a10", "a10 b20", REPORT_ALL, "7123 b"),
        ("a10", "", REPORT_ALL, "7122 a"),
        ("", "a10", REPORT_ALL, "7123 a"),
        ("a10 b20 c30", "d1 c90", REPORT_ALL, "7122 a, 7122 b, 7123 d, 7121 c"),
        ("a10 b20 c30", "d1 c90", only_missing_and_new, "7122 a, 7122 b, 7123 d"),
        ("a10 b20 c30", "d1 c90", only_sizes, "7121 c"),
        ("a100", "a110", REPORT_ALL, ""),
        ("a100", "a111", REPORT_ALL, "7121 a"),
        ("a100", "a90", REPORT_ALL, ""),
        ("a100", "a89", REPORT_ALL, "7121 a"),
        ("a100", "a101", PageComparisonRule { tolerance_percent: 0, ..REPORT_ALL }, "7121 a"),
        ("a0", "a1", REPORT_ALL, "7121 a"),
        ("a18446744073709551615", "a0", REPORT_ALL, "7121 a"),
        // An object that failed is present, and has no size.
        ("a10 b20", "a10 b0!", REPORT_ALL, ""),
        ("a10 b20!", "a10 b99", REPORT_ALL, ""),
        // A page that was not loaded completely has no missing objects.
        ("a10 b20 css5", "css0!", REPORT_ALL, ""),
        ("a10 css5", "a99 css0!", REPORT_ALL, "7121 a"),
    ] {
        assert_eq!(changes(before, now, rule), expected, "{before} -> {now}");
    }
}

#[test]
fn only_a_complete_page_is_a_baseline_and_sizes_outlive_a_failure() {
    let first = PageBaseline::from_page(&page("a10 b20"), None).unwrap();
    let second = PageBaseline::from_page(&page("a10 b0!"), Some(&first)).unwrap();
    assert_eq!(second, first);
    assert_eq!(PageBaseline::from_page(&page("a10 css0!"), Some(&first)), None);
    assert_eq!(PageBaseline::from_page(&PageLoad { unlisted_objects: 1, ..page("a10") }, None), None);
    let mut late = page("a0!");
    late.objects[0].failure = Some(Failure::new(Phase::Transfer, FailureKind::TimedOut, ""));
    assert_eq!(PageBaseline::from_page(&late, None), None);
}

#[test]
fn the_failure_names_the_changes_and_has_the_status_of_the_first() {
    let baseline = PageBaseline::from_page(&page("a10 b10 c10 d10 e10"), None).unwrap();
    let found = compare_with_baseline(&baseline, &page("e99 f1"), &REPORT_ALL);
    let failure = changes_failure(&found).unwrap();
    assert_eq!(failure.status(), Status::OBJECT_MISSING);
    assert_eq!(
        failure.detail,
        "4 missing: `http://x/a`, `http://x/b`, `http://x/c`, …; 1 new: `http://x/f`; \
         1 of another size: `http://x/e` (10 to 99 bytes)"
    );
    assert_eq!(changes_failure(&[]), None);
    let many = vec![found[0].clone(); 1000];
    assert_eq!(truncate_changes(many).len(), MAX_CHANGES);
}
