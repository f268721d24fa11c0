//! What is made of a good page: the fingerprint of its text, and its objects (behaviour.md 4, full page).

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Version};
use tokio::time::Instant;
use url::Url;

use super::Context;
use super::options::Options;
use crate::judge::charset;
use crate::model::{
    Document, Failure, FailureKind, Fault, FullPage, Observation, PageObject, Phase, Timestamp, Warning,
};
use crate::page::{self, Finds, Loaded, Terms};
use crate::wire::http::client::{Jar, Pass, version_name};

/// Bytes of a page that are read in passing.
const LONG: usize = 64 * 1024;
/// How much earlier than its interval a full page is due again: runs begin a little early or late.
const SLACK: Duration = Duration::from_secs(30);

/// What a monitor wants of the objects of its page.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullPageRule {
    /// Between two full pages.
    interval: Duration,
    /// How long one object may take.
    object_timeout: Duration,
    /// Whether a page without objects is wrong.
    wants_objects: bool,
    /// Whether what is wrong with objects is an error.
    is_error: bool,
}

impl FullPageRule {
    /// `None` when the monitor wants no full pages.
    pub(super) fn of(document: &Document) -> Option<Self> {
        let minutes = u64::try_from(document.value("interval_fullpage")?.as_i64()?).ok()?;
        let seconds = u64::try_from(document.number("fullpage_object_timeout")).unwrap_or_default();
        Some(Self {
            interval: Duration::from_secs(minutes * 60),
            object_timeout: Duration::from_secs(if seconds > 0 { seconds } else { 10 }),
            wants_objects: document.flag("check_fullpage_missing_objects"),
            is_error: document.flag("notify_on_fullpage_errors"),
        })
    }

    /// Whether it is due now; `last` is when the last one began here (fields.md 3).
    pub(super) fn is_due(&self, last: Option<Timestamp>, now: Timestamp) -> bool {
        last.is_none_or(|last| now.since(last) + SLACK >= self.interval)
    }
}

/// A page that was answered and found good.
pub(super) struct Page {
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) content_type: Option<String>,
    pub(super) url: Url,
    pub(super) pass: Option<Pass>,
}

impl Page {
    fn is_html(&self) -> bool {
        let kind = self.content_type.as_deref().unwrap_or_default().to_ascii_lowercase();
        kind.is_empty() || kind.contains("html") || kind.contains("xml")
    }
}

/// Reads `page` and loads what it consists of, as `options` ask. `headers` are those of the monitor, `started` is
/// when the page was asked for.
pub(super) async fn look(
    options: &Options,
    cx: Context<'_>,
    mut page: Page,
    headers: &HeaderMap,
    jar: &mut Jar,
    started: Instant,
    observation: &mut Observation,
) {
    let rule = options.full_page.filter(|rule| rule.is_due(cx.full_page_at, cx.clock.now()));
    let finds = rule.map(|_| Finds::new(&page.url));
    let (finds, fingerprint) = read(&page, finds, options.tells_change).await;
    if let Some(facts) = &mut observation.facts.http {
        facts.text_sha256 = fingerprint;
    }
    let Some((rule, finds)) = rule.zip(finds) else { return };
    let terms = Terms {
        net: cx.net,
        way: &options.way,
        page: &page.url,
        version: observed(observation, options.version),
        headers,
        body_bytes: options.body_bytes,
        object_timeout: rule.object_timeout,
        deadline: cx.deadline,
        started,
    };
    let Loaded { page: mut loaded, timed_out } = page::load(&terms, jar, page.pass.as_mut(), finds).await;
    loaded.bytes += page.bytes.len() as u64;
    let wrong = judge(&rule, &loaded, timed_out, cx);
    observation.course.page = Some(Box::new(loaded));
    match wrong {
        Some(failure) if rule.is_error => observation.fail(failure),
        Some(failure) => observation.warnings.push(Warning::of_page(&failure)),
        None => {}
    }
}

/// HTTP/2 and HTTP/3 count where the page itself came by them.
fn observed(observation: &Observation, wanted: Version) -> Version {
    let facts = observation.facts.http.as_ref();
    match wanted {
        Version::HTTP_2 | Version::HTTP_3
            if facts.is_some_and(|facts| facts.http_version != version_name(wanted)) =>
        {
            Version::HTTP_11
        }
        wanted => wanted,
    }
}

/// What the page names, and the fingerprint of its text where it is wanted.
async fn read(page: &Page, finds: Option<Finds>, fingerprints: bool) -> (Option<Finds>, Option<String>) {
    if finds.is_none() && !fingerprints {
        return (None, None);
    }
    let (bytes, kind, url) = (Arc::clone(&page.bytes), page.content_type.clone(), page.url.clone());
    let is_html = page.is_html();
    let reading = move || {
        let text = charset::decode(&bytes, kind.as_deref());
        let fingerprint = fingerprints.then(|| page::fingerprint(&text));
        let finds = finds.map(|mut finds| {
            if is_html {
                page::scan_html(&text, &url, 0, &mut finds);
            }
            finds
        });
        (finds, fingerprint)
    };
    if page.bytes.len() <= LONG {
        return reading();
    }
    // It does not panic; if it did, nothing was found.
    tokio::task::spawn_blocking(reading).await.unwrap_or_default()
}

/// What is wrong with the objects, in one failure: the deadline before all else, then the first object that is
/// the target's fault.
fn judge(rule: &FullPageRule, page: &FullPage, timed_out: bool, cx: Context<'_>) -> Option<Failure> {
    let failed: Vec<(&PageObject, &Failure)> =
        page.objects.iter().filter_map(|object| Some((object, object.failure.as_ref()?))).collect();
    if timed_out {
        let detail = format!(
            "{} of {} objects were not there after {} s",
            failed.len(),
            page.objects.len(),
            cx.deadline.timeout.as_secs_f64()
        );
        return Some(Failure::new(Phase::Transfer, FailureKind::FullPageTimedOut, detail));
    }
    if page.objects.is_empty() && page.unlisted == 0 && rule.wants_objects {
        return Some(Failure::new(Phase::Validate, FailureKind::PageObjectNone, ""));
    }
    let theirs = failed.iter().find(|(_, failure)| failure.fault != Fault::Ours);
    let (object, failure) = theirs.or(failed.first())?;
    let mut failure = (*failure).clone().of_object(&object.url);
    if object.third_party {
        failure.detail.push_str(" (of another site)");
    }
    if failed.len() > 1 {
        let foreign = failed.iter().filter(|(object, _)| object.third_party).count();
        let more = format!("; {} objects failed, {foreign} of them of other sites", failed.len());
        failure.detail.push_str(&more);
    }
    Some(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_is_due_at_the_first_run_after_its_interval() {
        let rule = |minutes: u64| FullPageRule {
            interval: Duration::from_secs(minutes * 60),
            object_timeout: Duration::from_secs(10),
            wants_objects: false,
            is_error: false,
        };
        let now = Timestamp::from_seconds(1_700_000_000);
        let ago = |seconds: u64| Some(now - Duration::from_secs(seconds));
        for (minutes, last, due) in [
            (60, None, true),
            (60, ago(3600), true),
            (60, ago(3599), true),
            (60, ago(3300), false),
            (1, ago(60), true),
            (2, ago(60), false),
            (5, ago(300), true),
        ] {
            assert_eq!(rule(minutes).is_due(last, now), due, "{minutes} min, {last:?}");
        }
    }
}
