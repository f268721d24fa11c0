//! Compares the objects of a page with those of the previous run (behaviour.md 4, full page; 7121 to 7123).
//!
//! - Objects are identified by their whole URL. An object whose URL changes with each load (a number that defeats
//!   caches) is missing and new each time: for such pages compare sizes only, or nothing.
//! - A run that was not loaded completely (too many objects, a style sheet or frame that failed, the timeout) yields
//!   no missing and new objects, and is no baseline for later runs. An object that failed counts as present; its
//!   size stays as it was.
//! - The next run is compared with what this run found, whatever was reported: so a change is reported once, and a
//!   page that was changed on purpose is good again at the next full page.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Failure, FailureKind, PageLoad, PageObjectChange, PageObjectKind, Phase, Status};

/// Maximum number of changes in a result.
const MAX_CHANGES: usize = 100;
/// Number of objects of each kind of change that a message names.
const MAX_NAMED_OBJECTS: usize = 3;
/// Maximum length of a URL in a message, in characters.
const MAX_URL_CHARS: usize = 120;

/// What a monitor compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageComparisonRule {
    /// Whether to report missing and new objects.
    pub reports_missing_and_new: bool,
    /// Whether to report changed sizes.
    pub reports_changed_sizes: bool,
    /// Percent of the previous size by which an object may grow or shrink.
    pub tolerance_percent: u32,
    /// Whether a change is reported as an error; otherwise as a warning.
    pub changes_are_errors: bool,
}

/// The objects of an earlier run: decoded bytes by URL, `None` for an object that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageBaseline(BTreeMap<Box<str>, Option<u64>>);

impl PageBaseline {
    /// Builds the baseline of `page`, which follows `previous`; `None` when the page was not loaded completely.
    #[must_use]
    pub fn from_page(page: &PageLoad, previous: Option<&Self>) -> Option<Self> {
        is_complete(page).then(|| {
            let previous_bytes =
                |url: &str| previous.and_then(|previous| previous.0.get(url).copied().flatten());
            let objects = page.objects.iter().map(|object| {
                let bytes = if object.failure.is_none() {
                    Some(object.body_bytes)
                } else {
                    previous_bytes(&object.url)
                };
                (object.url.as_str().into(), bytes)
            });
            Self(objects.collect())
        })
    }

    /// Returns the total bytes of the objects.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.0.values().flatten().sum()
    }
}

fn is_complete(page: &PageLoad) -> bool {
    let has_subresources = |kind| matches!(kind, PageObjectKind::StyleSheet | PageObjectKind::Frame);
    let is_timeout = |kind: FailureKind| kind == FailureKind::TimedOut;
    let is_cut_short = page.objects.iter().any(|object| {
        object
            .failure
            .as_ref()
            .is_some_and(|failure| has_subresources(object.kind) || is_timeout(failure.kind))
    });
    page.unlisted_objects == 0 && !is_cut_short
}

/// Returns how `page` differs from `baseline` by `rule`: missing objects first, then new ones, then changed sizes.
#[must_use]
pub fn compare_with_baseline(
    baseline: &PageBaseline,
    page: &PageLoad,
    rule: &PageComparisonRule,
) -> Vec<PageObjectChange> {
    let mut changes = Vec::new();
    if rule.reports_missing_and_new && is_complete(page) {
        let current: BTreeSet<&str> = page.objects.iter().map(|object| object.url.as_str()).collect();
        let missing = baseline.0.iter().filter(|(url, _)| !current.contains(&***url));
        changes.extend(missing.map(|(url, bytes)| PageObjectChange {
            status: Status::OBJECT_MISSING,
            url: url.to_string(),
            previous_bytes: *bytes,
            current_bytes: None,
        }));
        let new = page.objects.iter().filter(|object| !baseline.0.contains_key(object.url.as_str()));
        changes.extend(new.map(|object| PageObjectChange {
            status: Status::OBJECT_NEW,
            url: object.url.clone(),
            previous_bytes: None,
            current_bytes: Some(object.body_bytes),
        }));
    }
    if rule.reports_changed_sizes {
        let loaded = page.objects.iter().filter(|object| object.failure.is_none());
        changes.extend(loaded.filter_map(|object| {
            let previous_bytes = baseline.0.get(object.url.as_str()).copied().flatten()?;
            let current = object.body_bytes;
            let differs = u128::from(current.abs_diff(previous_bytes)) * 100
                > u128::from(previous_bytes) * u128::from(rule.tolerance_percent);
            differs.then(|| PageObjectChange {
                status: Status::OBJECT_SIZE_CHANGED,
                url: object.url.clone(),
                previous_bytes: Some(previous_bytes),
                current_bytes: Some(current),
            })
        }));
    }
    changes
}

/// Converts `changes` to a failure, with the kind of the first; `None` without changes.
#[must_use]
pub fn changes_failure(changes: &[PageObjectChange]) -> Option<Failure> {
    let kind = match changes.first()?.status {
        Status::OBJECT_MISSING => FailureKind::PageObjectMissing,
        Status::OBJECT_NEW => FailureKind::PageObjectNew,
        _ => FailureKind::PageObjectResized,
    };
    let categories = [
        (Status::OBJECT_MISSING, "missing"),
        (Status::OBJECT_NEW, "new"),
        (Status::OBJECT_SIZE_CHANGED, "of another size"),
    ];
    let descriptions: Vec<String> =
        categories.iter().filter_map(|(status, text)| describe_changes(changes, *status, text)).collect();
    Some(Failure::new(Phase::Validate, kind, descriptions.join("; ")))
}

fn describe_changes(changes: &[PageObjectChange], status: Status, label: &str) -> Option<String> {
    let matching: Vec<&PageObjectChange> = changes.iter().filter(|change| change.status == status).collect();
    let descriptions: Vec<String> =
        matching.iter().take(MAX_NAMED_OBJECTS).map(|change| describe_change(change)).collect();
    let ellipsis = if matching.len() > MAX_NAMED_OBJECTS { ", …" } else { "" };
    (!matching.is_empty())
        .then(|| format!("{} {label}: {}{ellipsis}", matching.len(), descriptions.join(", ")))
}

fn describe_change(change: &PageObjectChange) -> String {
    let url = match change.url.char_indices().nth(MAX_URL_CHARS) {
        Some((end, _)) => format!("{}…", &change.url[..end]),
        None => change.url.clone(),
    };
    match (change.previous_bytes, change.current_bytes) {
        (Some(previous), Some(current)) => format!("`{url}` ({previous} to {current} bytes)"),
        _ => format!("`{url}`"),
    }
}

/// Truncates `changes` to the number that a result lists.
#[must_use]
pub fn truncate_changes(mut changes: Vec<PageObjectChange>) -> Vec<PageObjectChange> {
    changes.truncate(MAX_CHANGES);
    changes
}

#[cfg(test)]
#[path = "page_comparison_tests.rs"]
mod tests;
