//! What each act does.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::ask::{self, Found, Located, Unanswered};
use super::budget::{Bound, SLACK, Time};
use super::deed::Deed;
use super::naming;
use super::play::{Player, Stopped};
use crate::browser::Trouble;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{Place, Template};
use crate::script::dialect::{Act, Action, Chord, DialogAnswer, Pick, Target};
use crate::syntax::template::{Piece, pieces};

/// How long an element is looked for, where the act does not say.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

impl Player<'_> {
    pub(super) async fn perform(&mut self, act: &Act) -> Result<(), Stopped> {
        match &act.action {
            Action::Open { url } => self.open(url, act).await,
            Action::Click { on, twice: false } => self.with(on, Deed::Click, act).await,
            Action::Click { on, twice: true } => self.with(on, Deed::Point(2), act).await,
            Action::Hover { over } => self.with(over, Deed::Point(0), act).await,
            Action::Type { into, text } => {
                let text = self.filled(text, Place::Value)?;
                self.with(into, Deed::Type(text), act).await
            }
            Action::Clear { field } => self.with(field, Deed::Clear, act).await,
            Action::Select { field, pick } => {
                let (by, value) = self.picked(pick)?;
                self.with(field, Deed::Pick(by, value), act).await
            }
            Action::Check { field, on } => self.with(field, Deed::Check(*on), act).await,
            Action::Press { key, on } => self.press(key, on.as_ref(), act).await,
            Action::Scroll { to, x, y } => self.scroll(to.as_ref(), (*x, *y), act).await,
            Action::SwitchFrame(frame) => self.switch_frame(frame, act).await,
            Action::SwitchWindow(window) => self.switch_window(window, act).await,
            Action::CloseWindow => self.close_window().await,
            Action::Dialog(answer) => self.answer(answer, act).await,
            Action::WaitFor(wanted) => self.wait_for(wanted, act).await,
            Action::Extract { into, from, pattern } => self.extract(into, from, pattern.as_ref(), act).await,
            Action::RunJs { code, into } => self.run_js(code, into.as_deref(), act).await,
            Action::Screenshot { name } => self.screenshot(name).await,
            Action::Assert { what, must } => self.assert(what, must, act).await,
            Action::AssertElement { element, state } => self.assert_element(element, *state, act).await,
            Action::Keyword { text, regex, invert, wait } => {
                self.keyword(text, *regex, *invert, *wait, act).await
            }
        }
    }

    /// A driver that was left with a command does nothing else until that is over, and a step has time for it.
    pub(super) async fn recover(&self) {
        while self.session.is_stuck() && self.budget.spent().is_none() {
            // That it answers is enough.
            let _ = self.session.window(ask::soon()).await;
        }
    }

    /// Tells the driver how long pages and scripts of this act may take; of none, those of the rest of the step.
    pub(super) async fn keep_time(&mut self, act: Option<&Act>) -> Result<(), Stopped> {
        // Drivers take milliseconds; a little more than is left, so that they are not early.
        let rounded = |time: Duration| {
            Duration::from_millis(50 * (u64::try_from(time.as_millis()).unwrap_or(u64::MAX) / 50 + 1))
        };
        let (page, bound) = self.budget.page(act.and_then(own_load));
        self.page_bound = bound;
        let page = if matches!(bound, Bound::Page | Bound::Open(_)) { page } else { rounded(page) };
        let (until, _) = self.budget.until(act.and_then(|act| act.timeout));
        // The page itself ends what it waits for; code of the script is ended by the driver.
        let is_code = act.is_some_and(|act| matches!(act.action, Action::RunJs { .. }));
        let own = if is_code { Duration::ZERO } else { 2 * SLACK };
        let script = rounded(until.saturating_duration_since(Instant::now()) + own);
        match self.session.limit(page, script, ask::soon()).await {
            // Told after it is answered.
            Ok(()) | Err(Trouble::Dialog(_)) => Ok(()),
            Err(trouble) => Err(self.stopped(trouble, Bound::Step)),
        }
    }

    async fn open(&mut self, url: &str, act: &Act) -> Result<(), Stopped> {
        let url = self.options.address(&self.filled(url, Place::Url)?, &self.variables)?;
        self.frames.clear();
        self.went_to.clone_from(&url);
        if let Some(site) = self.options.site(&url, &self.variables) {
            self.forward.trace(&site);
        }
        let (within, _) = self.budget.page(own_load(act));
        let latest = Instant::now() + within + SLACK;
        match self.session.open(&url, latest).await {
            Ok(()) => self.is_good_page(latest).await,
            Err(Trouble::Late) => Err(Failure::new(
                Phase::Play,
                FailureKind::BrowserTimedOut,
                "the driver did not say that the page load took too long",
            )
            .into()),
            Err(trouble) => {
                // Firefox waits for the page that a download never is.
                if trouble == Trouble::PageLate {
                    self.is_there(true).await?;
                }
                Err(self.stopped(trouble, Bound::Page))
            }
        }
    }

    async fn with(&self, target: &Target, deed: Deed, act: &Act) -> Result<(), Stopped> {
        self.on(target, &deed, act).await.map(drop)
    }

    /// The locators of `target`, filled in.
    pub(super) fn located(&self, target: &Target) -> Result<Located, Failure> {
        let one = |locator| {
            let (by, text) = naming::parts(locator);
            Ok(json!({ "by": by, "value": self.filled(text, Place::Value)? }))
        };
        target.locators.iter().map(one).collect()
    }

    pub(super) fn filled(&self, text: &str, place: Place) -> Result<String, Failure> {
        Template::new(text, place).filled(&self.variables)
    }

    pub(super) fn unanswered(&self, why: Unanswered, time: Time) -> Stopped {
        match why {
            Unanswered::Trouble(trouble) => self.stopped(trouble, time.ending),
            Unanswered::Locator(why) => {
                Failure::new(Phase::Play, FailureKind::ScriptInvalid, format!("the browser refuses {why}"))
                    .into()
            }
        }
    }

    /// How an option is picked, and by what.
    fn picked(&self, pick: &Pick) -> Result<(&'static str, Value), Failure> {
        Ok(match pick {
            Pick::Value(text) => ("value", Value::String(self.filled(text, Place::Value)?)),
            Pick::Label(text) => ("label", Value::String(self.filled(text, Place::Value)?)),
            Pick::Index(index) => ("index", json!(index)),
        })
    }

    async fn press(&self, key: &str, on: Option<&Target>, act: &Act) -> Result<(), Stopped> {
        let Some(Chord { held, key }) = Chord::of(key) else {
            return Err(
                Failure::new(Phase::Play, FailureKind::ScriptInvalid, format!("`{key}` is no key")).into()
            );
        };
        if let Some(target) = on {
            self.on(target, &Deed::Focus, act).await?;
        }
        let (until, bound) = self.budget.until(act.timeout);
        let keys: Vec<char> = held.into_iter().chain([key]).collect();
        let down = keys.iter().map(|key| json!({"type": "keyDown", "value": key}));
        let up = keys.iter().rev().map(|key| json!({"type": "keyUp", "value": key}));
        let actions: Vec<Value> = down.chain(up).collect();
        let sources = json!([{"type": "key", "id": "keyboard", "actions": actions}]);
        self.session.act(sources, until + SLACK).await.map_err(|trouble| self.stopped(trouble, bound))
    }

    async fn scroll(&self, to: Option<&Target>, by: (i64, i64), act: &Act) -> Result<(), Stopped> {
        if let Some(target) = to {
            self.on(target, &Deed::ScrollTo, act).await?;
        }
        if by == (0, 0) {
            return Ok(());
        }
        let (until, bound) = self.budget.until(act.timeout);
        let scrolled = self.session.run(
            "window.scrollBy(arguments[0], arguments[1]);",
            vec![json!(by.0), json!(by.1)],
            until + SLACK,
        );
        scrolled.await.map(drop).map_err(|trouble| self.stopped(trouble, bound))
    }

    async fn answer(&self, answer: &DialogAnswer, act: &Act) -> Result<(), Stopped> {
        let time = self.budget.time(act.timeout, Some(PATIENCE));
        let text = match answer {
            DialogAnswer::Answer(text) => Some(self.filled(text, Place::Value)?),
            DialogAnswer::Accept | DialogAnswer::Dismiss => None,
        };
        let ok = *answer != DialogAnswer::Dismiss;
        loop {
            match self.session.answer_dialog(ok, text.as_deref(), time.latest).await {
                Ok(()) => return Ok(()),
                Err(Trouble::NoDialog) if Instant::now() < time.until => ask::pause().await,
                Err(trouble) => return Err(self.stopped(trouble, time.ending)),
            }
        }
    }

    async fn run_js(&mut self, code: &str, into: Option<&str>, act: &Act) -> Result<(), Stopped> {
        let (until, bound) = self.budget.until(act.timeout);
        let script = self.code(code)?;
        let answer = self.session.run(&script, Vec::new(), until + SLACK).await;
        let answer = answer.map_err(|trouble| self.stopped(trouble, bound))?;
        if let Some(name) = into {
            let text = match answer {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            };
            self.take(name, text);
        }
        Ok(())
    }

    /// `code` with a text of JavaScript for each placeholder: no value becomes code.
    fn code(&self, code: &str) -> Result<String, Failure> {
        let mut script = String::with_capacity(code.len());
        for piece in pieces(code) {
            match piece {
                Piece::Text(text) => script.push_str(text),
                Piece::Name(name) => {
                    let unknown = || {
                        let detail = format!("`{{{{{name}}}}}` was set by no act before");
                        Failure::new(Phase::Play, FailureKind::VariableUnknown, detail)
                    };
                    script.push_str(&json!(self.variables.value(name).ok_or_else(unknown)?).to_string());
                }
            }
        }
        Ok(script)
    }

    /// Sets a variable, and notes in the result that it was set.
    pub(super) fn take(&mut self, name: &str, value: String) {
        self.variables.set(name, value);
        self.result().variables.push(name.to_owned());
    }
}

/// What the page load of `act` may take by itself.
fn own_load(act: &Act) -> Option<Duration> {
    act.timeout.filter(|_| matches!(act.action, Action::Open { .. }))
}

/// The failure of an element that was looked for in vain.
pub(super) fn not_found(found: &Found, target: &Target) -> Failure {
    let of =
        |kind, why: String| Failure::new(Phase::Play, kind, format!("{}: {why}", naming::target(target)));
    match found {
        Found::Weak(count) => {
            of(FailureKind::ElementWeak, format!("the best of them matches {count} elements"))
        }
        Found::OtherState | Found::Yes(_) => {
            of(FailureKind::BrowserEventTimedOut, "it is there, and cannot be seen or used".to_owned())
        }
        Found::No => of(FailureKind::ElementMissing, "nothing on the page matches".to_owned()),
    }
}
