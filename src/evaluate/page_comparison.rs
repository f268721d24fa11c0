//! The objects of a page against those of the run before (behaviour.md 4, full page; 7121 to 7123).
//!
//! - Objects are told apart by their whole URL. One whose URL is another at each load (a number that defeats
//!   caches) is missing and new each time: watch sizes alone on such pages, or none.
//! - A run that was not loaded whole (too many objects, a style sheet or frame that failed, the timeout) says
//!   nothing of missing and new ones, and is not compared with later. An object that failed is there all the same;
//!   its size stays as it was.
//! - What was found is what the next run is compared with, whatever was told of it: so a change is told once, and a
//!   page that was changed on purpose is good again at the next full page.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Failure, FailureKind, FullPage, PageObjectChange, PageObjectKind, Phase, Status};

/// Changes that a result lists.
const MAX_CHANGES: usize = 100;
/// Objects of each sort that a message names.
const MAX_NAMED_OBJECTS: usize = 3;
/// Characters of a URL in a message.
const MAX_URL_CHARS: usize = 120;

/// What a monitor wants compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageComparisonRule {
    /// Missing and new objects.
    pub objects: bool,
    /// Sizes.
    pub sizes: bool,
    /// Percent of the size before within which an object may grow and shrink.
    pub tolerance_percent: u32,
    /// Whether a change is an error; else it is a warning.
    pub is_error: bool,
}

/// The objects of an earlier run: decoded bytes by URL, none of one that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageBaseline(BTreeMap<Box<str>, Option<u64>>);

impl PageBaseline {
    /// Those of `page`, after `before`; `None` when it was not loaded whole.
    #[must_use]
    pub fn from_page(page: &FullPage, before: Option<&Self>) -> Option<Self> {
        is_complete(page).then(|| {
            let known = |url: &str| before.and_then(|before| before.0.get(url).copied().flatten());
            let objects = page.objects.iter().map(|object| {
                let bytes =
                    if object.failure.is_none() { Some(object.body_bytes) } else { known(&object.url) };
                (object.url.as_str().into(), bytes)
            });
            Self(objects.collect())
        })
    }

    /// Bytes of all of them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.values().flatten().sum()
    }
}

fn is_complete(page: &FullPage) -> bool {
    let names_more = |kind| matches!(kind, PageObjectKind::Style | PageObjectKind::Frame);
    let fails = |kind: FailureKind| kind == FailureKind::TimedOut;
    let cut = page.objects.iter().any(|object| {
        object.failure.as_ref().is_some_and(|failure| names_more(object.kind) || fails(failure.kind))
    });
    page.unlisted == 0 && !cut
}

/// How `page` differs from `before`, as far as `rule` asks: missing objects first, then new ones, then sizes.
#[must_use]
pub fn compare(before: &PageBaseline, page: &FullPage, rule: &PageComparisonRule) -> Vec<PageObjectChange> {
    let mut changes = Vec::new();
    if rule.objects && is_complete(page) {
        let now: BTreeSet<&str> = page.objects.iter().map(|object| object.url.as_str()).collect();
        let missing = before.0.iter().filter(|(url, _)| !now.contains(&***url));
        changes.extend(missing.map(|(url, bytes)| PageObjectChange {
            status: Status::OBJECT_MISSING,
            url: url.to_string(),
            before: *bytes,
            now: None,
        }));
        let new = page.objects.iter().filter(|object| !before.0.contains_key(object.url.as_str()));
        changes.extend(new.map(|object| PageObjectChange {
            status: Status::OBJECT_NEW,
            url: object.url.clone(),
            before: None,
            now: Some(object.body_bytes),
        }));
    }
    if rule.sizes {
        let loaded = page.objects.iter().filter(|object| object.failure.is_none());
        changes.extend(loaded.filter_map(|object| {
            let then = before.0.get(object.url.as_str()).copied().flatten()?;
            let now = object.body_bytes;
            let differs =
                u128::from(now.abs_diff(then)) * 100 > u128::from(then) * u128::from(rule.tolerance_percent);
            differs.then(|| PageObjectChange {
                status: Status::OBJECT_SIZE_CHANGED,
                url: object.url.clone(),
                before: Some(then),
                now: Some(now),
            })
        }));
    }
    changes
}

/// What `changes` come to, by the first of them; `None` of no change.
#[must_use]
pub fn changes_failure(changes: &[PageObjectChange]) -> Option<Failure> {
    let kind = match changes.first()?.status {
        Status::OBJECT_MISSING => FailureKind::PageObjectMissing,
        Status::OBJECT_NEW => FailureKind::PageObjectNew,
        _ => FailureKind::PageObjectResized,
    };
    let sorts = [
        (Status::OBJECT_MISSING, "missing"),
        (Status::OBJECT_NEW, "new"),
        (Status::OBJECT_SIZE_CHANGED, "of another size"),
    ];
    let told: Vec<String> =
        sorts.iter().filter_map(|(status, text)| describe_changes(changes, *status, text)).collect();
    Some(Failure::new(Phase::Validate, kind, told.join("; ")))
}

fn describe_changes(changes: &[PageObjectChange], status: Status, text: &str) -> Option<String> {
    let of: Vec<&PageObjectChange> = changes.iter().filter(|change| change.status == status).collect();
    let names: Vec<String> =
        of.iter().take(MAX_NAMED_OBJECTS).map(|change| describe_change(change)).collect();
    let more = if of.len() > MAX_NAMED_OBJECTS { ", …" } else { "" };
    (!of.is_empty()).then(|| format!("{} {text}: {}{more}", of.len(), names.join(", ")))
}

fn describe_change(change: &PageObjectChange) -> String {
    let url = match change.url.char_indices().nth(MAX_URL_CHARS) {
        Some((end, _)) => format!("{}…", &change.url[..end]),
        None => change.url.clone(),
    };
    match (change.before, change.now) {
        (Some(before), Some(now)) => format!("`{url}` ({before} to {now} bytes)"),
        _ => format!("`{url}`"),
    }
}

/// As many of `changes` as a result lists.
#[must_use]
pub fn truncate_changes(mut changes: Vec<PageObjectChange>) -> Vec<PageObjectChange> {
    changes.truncate(MAX_CHANGES);
    changes
}

#[cfg(test)]
#[path = "page_comparison_tests.rs"]
mod tests;
