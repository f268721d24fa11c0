//! Plays a script: step by step, act by act, each within its limits.

use crate::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::budget::{Bound, Budget};
use super::capture::{Files, Moment};
use super::options::Options;
use super::{ask, naming};
use crate::browser::{Exchange, House, Journal, Session, Trouble};
use crate::clock::Clock;
use crate::domain::{
    ActResult, Failure, FailureKind, Phase, PlayedStep, Status, StepResult, Timestamp, micros,
};
use crate::evaluate::template::Variables;
use crate::forward_proxy::Forward;
use crate::redaction::telling::Masks;
use crate::script::dialect::{Act, Action, Script, Step};

/// One playback.
pub(super) struct Player<'a> {
    pub(super) options: &'a Options,
    pub(super) script: &'a Script,
    pub(super) session: Session,
    pub(super) variables: Variables,
    pub(super) budget: Budget,
    /// When the attempt began.
    pub(super) started: Instant,
    /// Windows in the order in which they were seen first; the first is the main one.
    pub(super) windows: Vec<String>,
    /// Where the browser is from.
    pub(super) house: &'a House,
    /// The forward proxy that the browser goes through.
    pub(super) forward: &'a Forward,
    /// Start of the document that was looked at last, by the browser's clock: tells documents apart.
    pub(super) document: String,
    /// How large the page of the browser is, once it was seen.
    pub(super) viewport: Option<(u32, u32)>,
    /// Windows that have what holds for one window alone.
    pub(super) dressed: Vec<String>,
    /// Whether it looks at a window for the first time, of which the browser may not have told all.
    pub(super) is_new_window: bool,
    /// Frames that were entered, from the page inwards.
    pub(super) frames: Vec<serde_json::Value>,
    /// What limits the page loads of this act.
    pub(super) page_bound: Bound,
    /// The address that was gone to last.
    pub(super) went_to: String,
    /// Optional acts that were left out.
    pub(super) skipped: u32,
    /// What the browser tells of its requests and console.
    pub(super) journal: &'a Mutex<Journal>,
    /// The last document of the page, as far as it was told of.
    pub(super) headers: Option<Exchange>,
    /// When the step that is under way began.
    pub(super) began: Option<Instant>,
    pub(super) clock: &'a dyn Clock,
    /// When this step began.
    pub(super) began_at: Timestamp,
    /// Time of this step that went into what is kept of it.
    pub(super) aside: Duration,
    /// Whether its requests are kept as HTTP exchanges too.
    pub(super) record: bool,
    /// What was captured.
    pub(super) files: Files,
    /// What the steps came to.
    pub(super) steps: Vec<StepResult>,
}

/// How an act ended that did not pass.
#[derive(Debug)]
pub(super) enum Stopped {
    /// It failed.
    Failed(Failure),
    /// A dialog is open, with this text.
    Dialog(String),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Player<'_> {
    /// Plays the steps in their order. Ends with the first that failed, but for those that may be late.
    pub(super) async fn all(&mut self) -> Result<(), Failure> {
        let script = self.script;
        let mut late = None;
        for (at, step) in script.steps.iter().enumerate() {
            if let Err(failure) = self.step(at, step).await {
                let goes_on = self.options.goes_on
                    && matches!(failure.kind, FailureKind::BrowserEventTimedOut | FailureKind::PageTooSlow);
                if !goes_on {
                    return Err(late.unwrap_or(failure));
                }
                late.get_or_insert(failure);
            }
        }
        late.map_or(Ok(()), Err)
    }

    async fn step(&mut self, at: usize, step: &Step) -> Result<(), Failure> {
        let began = Instant::now();
        self.budget.begin(step);
        self.began = Some(began);
        self.began_at = self.clock.now();
        self.aside = Duration::ZERO;
        self.steps.push(StepResult {
            number: u32::try_from(at + 1).unwrap_or(u32::MAX),
            name: step.name.clone(),
            status: Status::OK,
            started_us: micros(began - self.started),
            total_us: 0,
            phases: crate::domain::Phases::default(),
            failures: Vec::new(),
            exchanges: Vec::new(),
            variables: Vec::new(),
            played: Some(Box::default()),
        });
        let played = match self.acts(at, step).await {
            Ok(()) => self.ended(at).await,
            failed => failed,
        };
        // Texts of the page and of the script may hold values of protected variables.
        let masks = self.masks();
        let played = played
            .map_err(|failure| Failure { detail: masks.masked(&failure.detail).into_owned(), ..failure });
        self.finish(played.as_ref().err());
        played
    }

    /// Ends the step that is under way, where one is: it passed, or `failure` ended it.
    pub(super) fn finish(&mut self, failure: Option<&Failure>) {
        let Some(began) = self.began.take() else { return };
        let took = micros(began.elapsed().saturating_sub(self.aside));
        let result = self.result();
        result.total_us = took;
        if let Some(failure) = failure {
            result.status = failure.status();
            result.failures.insert(0, failure.clone());
        }
    }

    /// The end of a step whose acts passed.
    async fn ended(&mut self, at: usize) -> Result<(), Failure> {
        self.recover().await;
        let mut good = self.rest_of_time(at).await;
        if good.is_ok() {
            good = self.end_of_step(at).await;
        }
        if good.is_ok() && at + 1 == self.script.steps.len() {
            self.recover().await;
            good = self.monitors_keyword().await;
        }
        let when = if good.is_ok() { Moment::Action } else { Moment::Failure };
        self.capture(when, &moment(at, None)).await;
        good
    }

    /// What is looked at after an act with a time of its own has the rest of the step again.
    async fn rest_of_time(&mut self, at: usize) -> Result<(), Failure> {
        let last = self.script.steps[at].acts.last();
        if last.is_some_and(|act| act.timeout.is_some() || matches!(act.action, Action::RunJs { .. }))
            && let Err(Stopped::Failed(failure)) = self.keep_time(None).await
        {
            return Err(failure);
        }
        Ok(())
    }

    async fn acts(&mut self, at: usize, step: &Step) -> Result<(), Failure> {
        for (number, act) in step.acts.iter().enumerate() {
            let began = Instant::now();
            let next = step.acts.get(number + 1).or_else(|| self.script.steps.get(at + 1)?.acts.first());
            let mut done = self.act(act, next).await;
            let mut skipped = false;
            if let Err(failure) = &done
                && act.optional
                && is_skippable(failure)
                && self.budget.spent().is_none()
            {
                done = self.skip(failure);
                skipped = done.is_ok();
            }
            let status = done.as_ref().err().map_or(Status::OK, Failure::status);
            self.played().acts.push(ActResult {
                number: u32::try_from(number + 1).unwrap_or(u32::MAX),
                action: act.action.name().to_owned(),
                status,
                total_us: micros(began.elapsed()),
                skipped,
            });
            match done {
                Err(failure) => {
                    self.evidence(&failure).await;
                    self.capture(Moment::Failure, &moment(at, Some(number))).await;
                    return Err(failure);
                }
                // A dialog hides the page until it is answered.
                Ok(()) if skipped || next.is_some_and(is_answer) => {}
                Ok(()) => self.capture(Moment::Event, &moment(at, Some(number))).await,
            }
        }
        Ok(())
    }

    /// One act, with what has to follow from it.
    async fn act(&mut self, act: &Act, next: Option<&Act>) -> Result<(), Failure> {
        let what = naming::act(act);
        if let Some(bound) = self.budget.spent() {
            return Err(self.budget.passed(bound, &what));
        }
        match self.performed(act).await {
            Ok(()) => match self.budget.spent() {
                Some(bound) => Err(self.budget.passed(bound, &what)),
                None => Ok(()),
            },
            // The next act answers it.
            Err(Stopped::Dialog(_)) if next.is_some_and(is_answer) && !is_answer(act) => Ok(()),
            Err(Stopped::Dialog(text)) => Err(self.refused_dialog(&what, &text).await),
            Err(Stopped::Failed(mut failure)) => {
                if !failure.detail.contains(&what) {
                    failure.detail = format!("{what}: {}", failure.detail);
                }
                Err(self.explained(failure).await)
            }
        }
    }

    async fn performed(&mut self, act: &Act) -> Result<(), Stopped> {
        self.recover().await;
        self.keep_time(Some(act)).await?;
        let awaited = match &act.expected {
            Some(expected) => Some(self.before(expected, act).await?),
            None => None,
        };
        // Of an act that opens a dialog, what has to follow may be told once that is answered.
        self.perform(act).await?;
        match awaited {
            Some(awaited) => self.followed(&awaited, act).await,
            None => Ok(()),
        }
    }

    /// The failure of a dialog that nobody asked for. It is dismissed, so that the page can be looked at.
    pub(super) async fn refused_dialog(&self, what: &str, text: &str) -> Failure {
        let until = ask::soon();
        // Firefox may tell of a dialog before it knows its text.
        let told = if text.is_empty() { self.session.dialog(until).await.ok().flatten() } else { None };
        // More of them are those of a page that never ends to ask.
        for _ in 0..3 {
            if self.session.answer_dialog(false, None, until).await.is_err() {
                break;
            }
        }
        let text: String = told.as_deref().unwrap_or(text).chars().take(200).collect();
        Failure::new(Phase::Play, FailureKind::DialogUnexpected, format!("{what}: it says `{text}`"))
    }

    /// Leaves out an optional act that failed, unless too many were.
    fn skip(&mut self, failure: &Failure) -> Result<(), Failure> {
        self.skipped += 1;
        if self.skipped <= self.script.most_skipped {
            return Ok(());
        }
        let detail = format!("more than {} were; the last one: {}", self.script.most_skipped, failure.detail);
        Err(Failure::new(Phase::Play, FailureKind::EventsSkipped, detail))
    }

    /// The failure that `trouble` means for an act that had to end at `bound`.
    pub(super) fn stopped(&self, trouble: Trouble, bound: Bound) -> Stopped {
        let of = |kind, detail: String| Failure::new(Phase::Play, kind, detail);
        Stopped::Failed(match trouble {
            Trouble::Dialog(text) => return Stopped::Dialog(text),
            Trouble::Late | Trouble::ScriptLate => self.budget.passed(bound, "it"),
            Trouble::PageLate => self.budget.passed(self.page_bound, "the page load"),
            Trouble::ErrorPage(word) => self.error_page(&word),
            Trouble::NoDialog => of(FailureKind::BrowserEventMissing, "no dialog is open".to_owned()),
            Trouble::NotThere(why) => of(FailureKind::ElementMissing, why),
            Trouble::Stale | Trouble::Unloaded => {
                of(FailureKind::ElementMissing, "the page changed under it".to_owned())
            }
            Trouble::NotUsable(why) => of(FailureKind::BrowserEventTimedOut, why),
            Trouble::Selector(why) => of(FailureKind::ScriptInvalid, why),
            Trouble::Script(why) => of(FailureKind::ScriptFailed, why),
            Trouble::Gone(why) | Trouble::Refused(why) => of(FailureKind::BrowserFailed, why),
        })
    }

    /// What hides the values of protected variables.
    pub(super) fn masks(&self) -> Masks {
        Masks::of(self.variables.secrets())
    }

    pub(super) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock()
    }

    pub(super) fn result(&mut self) -> &mut StepResult {
        let at = self.steps.len().saturating_sub(1);
        &mut self.steps[at]
    }

    pub(super) fn played(&mut self) -> &mut PlayedStep {
        self.result().played.get_or_insert_default()
    }
}

/// Whether `act` answers a dialog.
pub(super) const fn is_answer(act: &Act) -> bool {
    matches!(act.action, Action::Dialog(_))
}

/// Whether an optional act that failed so may be left out: what it needs is not there.
fn is_skippable(failure: &Failure) -> bool {
    matches!(
        failure.kind,
        FailureKind::ElementMissing
            | FailureKind::ElementWeak
            | FailureKind::BrowserEventMissing
            | FailureKind::LocationChangeMissing
            | FailureKind::PageUpdateMissing
            | FailureKind::NetworkNotQuiet
            | FailureKind::BrowserEventTimedOut
    )
}

/// What the files of a moment are called: `step-02-act-03`, at the end of a step `step-02`.
fn moment(step: usize, act: Option<usize>) -> String {
    match act {
        Some(act) => format!("step-{:02}-act-{:02}", step + 1, act + 1),
        None => format!("step-{:02}", step + 1),
    }
}
