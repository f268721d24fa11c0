//! Which window and which frame in it is looked at.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::acts::{PATIENCE, SLACK};
use super::ask;
use super::budget::Bound;
use super::deed::Deed;
use super::play::{Player, Stopped};
use crate::browser::Trouble;
use crate::model::script::dialect::{Act, FrameChoice, Match, WindowChoice};
use crate::model::{Failure, FailureKind, Phase};

impl Player<'_> {
    pub(super) async fn switch_frame(&mut self, frame: &FrameChoice, act: &Act) -> Result<(), Stopped> {
        let (until, bound) = self.budget.until(Some(act.timeout.unwrap_or(PATIENCE)));
        let id = match frame {
            FrameChoice::Parent => {
                self.session.leave_frame(until).await.map_err(|trouble| self.stopped(trouble, bound))?;
                self.frames.pop();
                return Ok(());
            }
            FrameChoice::Top => {
                self.session
                    .enter_frame(Value::Null, until)
                    .await
                    .map_err(|trouble| self.stopped(trouble, bound))?;
                self.frames.clear();
                return Ok(());
            }
            FrameChoice::Index(index) => json!(index),
            FrameChoice::Element(target) => {
                let id = self.on(target, &Deed::EnterFrame, act).await?.argument();
                self.frames.push(id);
                return Ok(());
            }
        };
        loop {
            match self.session.enter_frame(id.clone(), until + SLACK).await {
                Ok(()) => break,
                Err(Trouble::NotThere(_)) if Instant::now() < until => ask::pause().await,
                Err(trouble) => return Err(self.stopped(trouble, bound)),
            }
        }
        self.frames.push(id);
        Ok(())
    }

    pub(super) async fn close_window(&mut self) -> Result<(), Stopped> {
        self.catch_up().await;
        let (until, bound) = self.budget.until(None);
        let closed = async {
            self.session.close_window(until).await?;
            let left = self.session.windows(until).await?;
            let main = self.windows.iter().find(|window| left.contains(window)).or(left.first());
            match main {
                Some(window) => self.session.enter_window(window, until).await,
                None => Err(Trouble::Gone("the last window was closed".to_owned())),
            }
        };
        closed.await.map_err(|trouble| self.stopped(trouble, bound))?;
        self.frames.clear();
        Ok(())
    }

    pub(super) async fn switch_window(&mut self, choice: &WindowChoice, act: &Act) -> Result<(), Stopped> {
        self.catch_up().await;
        let (until, bound) = self.budget.until(Some(act.timeout.unwrap_or(PATIENCE)));
        loop {
            let entered = self.enter(choice, until).await?;
            if entered {
                self.frames.clear();
                return Ok(());
            }
            if Instant::now() >= until {
                let why = format!("no window fits, of {}", self.windows.len());
                return Err(self.stopped(Trouble::NotThere(why), bound));
            }
            ask::pause().await;
        }
    }

    /// The window that the browser began with.
    pub(super) async fn first_window(&self) -> Result<String, Failure> {
        match self.session.window(ask::soon()).await {
            Ok(window) => Ok(window),
            Err(trouble) => Err(Failure::new(
                Phase::Launch,
                FailureKind::BrowserFailed,
                format!("it has no window: {trouble}"),
            )),
        }
    }

    /// The title or address of each window is looked at in turn, for the first that fits.
    async fn window_with(
        &self,
        of: &ask::Of<'_>,
        must: &Match,
        until: Instant,
    ) -> Result<Option<String>, Stopped> {
        let must = self.prepared(must)?;
        for window in &self.windows {
            if self.session.enter_window(window, until).await.is_err() {
                continue;
            }
            if self.told(of, (Instant::now(), Bound::Act), &must).await?.is_ok() {
                return Ok(Some(window.clone()));
            }
        }
        Ok(None)
    }

    /// Enters the window of `choice`; `false` when there is none yet.
    async fn enter(&mut self, choice: &WindowChoice, until: Instant) -> Result<bool, Stopped> {
        let until = until + SLACK;
        let here = self.session.windows(until).await.map_err(|trouble| self.stopped(trouble, Bound::Act))?;
        self.windows.retain(|window| here.contains(window));
        let main = self.windows.first().cloned();
        let fresh: Vec<String> =
            here.iter().filter(|window| !self.windows.contains(window)).cloned().collect();
        self.windows.extend(fresh);
        let of = match choice {
            WindowChoice::Main => main,
            WindowChoice::Newest => self.windows.last().filter(|_| self.windows.len() > 1).cloned(),
            WindowChoice::Index(at) => self.windows.get(*at as usize).cloned(),
            WindowChoice::Title(must) => self.window_with(&ask::Of::Title, must, until).await?,
            WindowChoice::Url(must) => self.window_with(&ask::Of::Url, must, until).await?,
        };
        let Some(window) = of else { return Ok(false) };
        self.session
            .enter_window(&window, until)
            .await
            .map_err(|trouble| self.stopped(trouble, Bound::Act))?;
        if !self.dressed.contains(&window) {
            self.dressed.push(window);
            self.is_new_window = true;
            // Header fields of the guise hold for one window; one without them is still a window.
            let _ = self.house.dress(self.session.client(), &self.options.wish).await;
        }
        Ok(true)
    }
}
