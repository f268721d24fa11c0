//! Content views: groups of the objects and steps of a run with a status of their own (fields.md 3).

use crate::domain::{ContentViewResult, Failure, Status, StepResult, Warning};
use crate::schema::typed::browser::ContentViewSettings;

/// A content view of a monitor.
#[derive(Clone, Debug)]
pub(super) struct ContentView {
    id: i64,
    name: String,
    /// Whether its failures fail the check.
    fails_check: bool,
    /// Whether the failure of the script counts as a failure of the view.
    includes_script_failure: bool,
    url_patterns: Vec<String>,
    step_numbers: Vec<u64>,
}

impl ContentView {
    pub(super) fn new(settings: &ContentViewSettings<'_>) -> Self {
        Self {
            id: settings.id,
            name: settings.name.unwrap_or_default().to_owned(),
            fails_check: settings.notify_on_error,
            includes_script_failure: settings.inherit_global_errors,
            url_patterns: settings.url_patterns.iter().map(|&pattern| pattern.to_owned()).collect(),
            step_numbers: settings.steps.clone(),
        }
    }

    /// Returns the result of the view. Steps in the view count with all their objects and failures; other steps count
    /// only with the objects whose URL matches a pattern.
    fn evaluate(&self, steps: &[StepResult], script_failure: Option<&Failure>) -> ContentViewResult {
        let (mut started_us, mut ended_us, mut objects, mut bytes) = (u64::MAX, 0, 0, 0);
        let mut failures: Vec<Failure> = Vec::new();
        for step in steps {
            let is_step_in_view = self.step_numbers.contains(&u64::from(step.number));
            if is_step_in_view {
                started_us = started_us.min(step.start_offset_us);
                ended_us = ended_us.max(step.start_offset_us + step.duration_us);
                failures.extend(step.failures.iter().cloned());
            }
            let objects_of_step = step.browser_step.iter().flat_map(|browser_step| &browser_step.objects);
            for object in objects_of_step.filter(|object| {
                is_step_in_view
                    || self.url_patterns.iter().any(|pattern| matches_pattern(pattern, &object.url))
            }) {
                let started = step.start_offset_us + object.start_offset_us;
                started_us = started_us.min(started);
                ended_us = ended_us.max(started + object.duration_us);
                objects += 1;
                bytes += object.body_bytes;
                failures.extend(
                    object
                        .failure
                        .iter()
                        .map(|failure| failure.clone().into_page_object_failure(&object.url)),
                );
            }
        }
        if self.includes_script_failure
            && let Some(script_failure) = script_failure
            && !failures.contains(script_failure)
        {
            failures.insert(0, script_failure.clone());
        }
        ContentViewResult {
            id: self.id,
            name: self.name.clone(),
            status: failures.first().map_or(Status::OK, Failure::status),
            notify_on_error: self.fails_check,
            duration_us: ended_us.saturating_sub(started_us.min(ended_us)),
            object_count: objects,
            decoded_bytes: bytes,
            failures,
        }
    }
}

/// Returns the results of `views`, and their effect on the check: the first failure of a view that notifies on errors,
/// and a warning for each other failed view.
pub(super) fn evaluate_views(
    views: &[ContentView],
    steps: &[StepResult],
    script_failure: Option<&Failure>,
) -> (Vec<ContentViewResult>, Option<Failure>, Vec<Warning>) {
    let results: Vec<ContentViewResult> =
        views.iter().map(|view| view.evaluate(steps, script_failure)).collect();
    let (mut failure, mut warnings) = (None, Vec::new());
    for (view, result) in views.iter().zip(&results) {
        let Some(first) = result.failures.iter().find(|failure| Some(*failure) != script_failure) else {
            continue;
        };
        let mut reported = first.clone();
        reported.detail = format!("content view `{}`: {}", view.name, reported.detail);
        if !view.fails_check {
            warnings.push(Warning::from_page_object_failure(&reported));
        } else if failure.is_none() {
            failure = Some(reported);
        }
    }
    (results, failure, warnings)
}

/// Whether `url` matches `pattern`. `*` stands for any text; a pattern without it matches any part of the URL.
fn matches_pattern(pattern: &str, url: &str) -> bool {
    let mut literals = pattern.split('*');
    let first = literals.next().unwrap_or_default();
    if !pattern.contains('*') {
        return url.contains(first);
    }
    let Some(mut rest) = url.strip_prefix(first) else { return false };
    let literals: Vec<&str> = literals.collect();
    let (last, middle) = literals.split_last().map_or(("", &[][..]), |(last, middle)| (*last, middle));
    for literal in middle {
        let Some(position) = rest.find(literal) else { return false };
        rest = &rest[position + literal.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn patterns_match_urls() {
        for (pattern, url, expected) in [
            ("/img/", "http://a/img/x.png", true),
            ("/img/", "http://a/css/x.png", false),
            ("*.png", "http://a/img/x.png", true),
            ("*.png", "http://a/img/x.png?1", false),
            ("http://a/*.png*", "http://a/img/x.png?1", true),
            ("http://b/*", "http://a/img/x.png", false),
            ("*/img/*x*", "http://a/img/x.png", true),
            ("*x*x*", "http://a/img/x.png", false),
            ("*", "http://a/", true),
        ] {
            assert_eq!(matches_pattern(pattern, url), expected, "{pattern} {url}");
        }
    }
}
