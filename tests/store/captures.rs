//! Captured files of results.

use std::time::Duration;

use vigie::domain::{CapturedFile, CheckResult};
use vigie::store::Retention;

use crate::store::samples::{all, at, commit_results, error, ok};
use crate::store::suite::Store;

/// Returns incompressible bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn with_captures(mut result: CheckResult, files: &[(&str, &[u8])]) -> CheckResult {
    result.captures =
        files.iter().map(|(name, content)| CapturedFile::new(name, "text/plain", content)).collect();
    result
}

/// Removes the contents of the captures, as results are read without them.
fn without_contents(mut result: CheckResult) -> CheckResult {
    for capture in &mut result.captures {
        capture.content = None;
    }
    result
}

pub async fn files_are_returned_by_name_and_removed_with_the_details(store: &impl Store) {
    let large = noise(1_300_000);
    let failed =
        with_captures(error(1, at(0)), &[("head.txt", b"HTTP/1.1 503"), ("large", &large), ("empty", b"")]);
    let passed = with_captures(ok(2, at(0), 5), &[("shot", b"fine")]);
    commit_results(store, vec![failed.clone(), passed.clone()]).await;
    for result in [&failed, &passed] {
        assert_eq!(store.result(result.check_id).await.unwrap(), Some(without_contents(result.clone())));
        for capture in &result.captures {
            let found = store.capture(result.check_id, capture.name.clone()).await.unwrap();
            assert_eq!(found.as_ref(), Some(capture));
            assert_eq!(found.unwrap().content, capture.content);
        }
        assert_eq!(store.capture(result.check_id, "other".to_owned()).await.unwrap(), None);
    }
    assert_eq!(store.capture(error(3, at(0)).check_id, "large".to_owned()).await.unwrap(), None);

    let days = |n: u64| Duration::from_hours(24 * n);
    let retention = Retention {
        results: days(90),
        details_ok: days(1),
        details_failed: days(10),
        hourly_rollups: days(90),
        daily_rollups: Some(days(90)),
        audit_entries: days(90),
    };
    let left = async |result: &CheckResult| {
        let name = result.captures[0].name.clone();
        store.capture(result.check_id, name).await.unwrap().is_some()
    };
    store.apply_retention(retention.clone(), at(0) + days(2)).await.unwrap();
    assert!(left(&failed).await && !left(&passed).await);
    let removed = store.apply_retention(retention.clone(), at(0) + days(11)).await.unwrap();
    assert!(removed >= 5, "the details and four pieces or more: {removed}");
    assert!(!left(&failed).await);
    assert_eq!(all(store).await.len(), 2, "the results themselves stay");
    assert!(all(store).await.iter().all(|result| result.captures.is_empty()));
}

pub async fn too_large_files_and_those_of_repeated_results_are_dropped(store: &impl Store) {
    let huge = vec![0; 8 * 1024 * 1024 + 1];
    let first = with_captures(error(1, at(0)), &[("huge", &huge), ("small", b"first")]);
    let repeat = with_captures(error(1, at(0)), &[("small", b"second"), ("other", b"x")]);
    commit_results(store, vec![first.clone()]).await;
    commit_results(store, vec![repeat]).await;
    let stored = store.result(first.check_id).await.unwrap().unwrap();
    let names: Vec<_> = stored.captures.iter().map(|capture| capture.name.as_str()).collect();
    assert_eq!(names, ["small"]);
    let small = store.capture(first.check_id, "small".to_owned()).await.unwrap().unwrap();
    assert_eq!(small.content.as_deref(), Some(b"first".as_slice()));
    assert_eq!(store.capture(first.check_id, "other".to_owned()).await.unwrap(), None);
}
