//! What is kept of a step when it ends, and of the page that an act failed on.

use tokio::time::Instant;

use super::budget::Budget;
use super::inspect::{GLANCE, Seen, judged, look_at_top};
use super::load_error::shown;
use super::options::Experience;
use super::recorder::Recorder;
use super::stopped::{Stopped, stopped};
use super::waterfall::gather;
use super::window::WindowContext;
use crate::browser::Trouble;
use crate::domain::{Failure, FailureKind, PageTiming};
use crate::redaction::telling::Redactor;

/// What a monitor wants to know of the pages of its steps.
#[derive(Clone, Copy)]
pub(super) struct PageRules {
    pub(super) experience: Experience,
    /// Whether documents of other sites that could not be loaded count.
    pub(super) third_party_documents: bool,
}

/// What is kept of a step at its end; the page must be good then too. A dialog that is open hides it: that is no
/// failure where the next act `answers` it.
pub(super) async fn end_of_step(
    recorder: &mut Recorder<'_>,
    window: &mut WindowContext<'_>,
    budget: &Budget,
    masks: &Redactor,
    rules: PageRules,
    answers: bool,
) -> Result<(), Failure> {
    let experience = rules.experience;
    let time = budget.time(None, None);
    let latest = time.latest.max(Instant::now() + GLANCE);
    let seen = match look_at_top(window, experience, latest).await {
        Ok(seen) => seen,
        Err(Trouble::Dialog(_)) if answers => return Ok(()),
        Err(Trouble::Dialog(text)) => return Err(window.dismiss_dialog("the end of the step", &text).await),
        Err(trouble) => {
            return match stopped(window, budget, trouble, time.ending) {
                Stopped::Failed(failure) => Err(failure),
                Stopped::Dialog(_) => Ok(()),
            };
        }
    };
    let (new, timing) = (seen.origin != window.document, seen.timing(experience != Experience::Unwanted));
    window.document.clone_from(&seen.origin);
    window.viewport.get_or_insert(seen.viewport);
    if new {
        recorder.step().phases = timing.phases;
    }
    note(recorder, masks, &seen, new, timing);
    let good = judged(window, &seen).await;
    let documents = gather(recorder, window, budget, masks, rules.third_party_documents).await;
    good.and(documents)
}

/// What is learned of the page that an act failed on, as far as the browser still answers.
pub(super) async fn evidence(
    recorder: &mut Recorder<'_>,
    window: &mut WindowContext<'_>,
    budget: &Budget,
    masks: &Redactor,
    rules: PageRules,
    failure: &Failure,
) {
    let is_lost = matches!(failure.kind, FailureKind::BrowserFailed | FailureKind::BrowserTimedOut);
    if is_lost || window.session.is_stuck() {
        return;
    }
    if let Ok(seen) = look_at_top(window, Experience::Unwanted, Instant::now() + GLANCE).await {
        note(recorder, masks, &seen, seen.origin != window.document, seen.timing(false));
    }
    // The act decides.
    let _ = gather(recorder, window, budget, masks, rules.third_party_documents).await;
}

/// Keeps in the step what was seen of the page, with its `timing` when it is `new` to the step.
fn note(recorder: &mut Recorder<'_>, masks: &Redactor, seen: &Seen, new: bool, timing: PageTiming) {
    let played = recorder.played();
    played.url = masks.redact(&shown(&seen.url)).into_owned();
    played.title = masks.redact(&seen.title).into_owned();
    if new {
        played.http_status = seen.status;
        played.timing = Some(timing);
    }
}
