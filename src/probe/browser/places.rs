//! Which window and which frame in it is looked at.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::acts::PATIENCE;
use super::ask;
use super::budget::Time;
use super::deed::Deed;
use super::play::{Player, Stopped};
use crate::browser::Trouble;
use crate::domain::{Failure, FailureKind, Phase};
use crate::script::dialect::{Act, FrameChoice, Match, WindowChoice};

impl Player<'_> {
    pub(super) async fn switch_frame(&mut self, frame: &FrameChoice, act: &Act) -> Result<(), Stopped> {
        let mut time = self.budget.time(act.timeout, Some(PATIENCE));
        let id = match frame {
            FrameChoice::Parent => {
                let left = self.session.leave_frame(time.latest).await;
                left.map_err(|trouble| self.stopped(trouble, time.ending))?;
                self.frames.pop();
                return Ok(());
            }
            FrameChoice::Top => {
                let entered = self.session.enter_frame(Value::Null, time.latest).await;
                entered.map_err(|trouble| self.stopped(trouble, time.ending))?;
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
            let asked = Instant::now();
            let entered = self.session.enter_frame(id.clone(), time.latest).await;
            time.forgive(asked);
            match entered {
                Ok(()) => break,
                Err(Trouble::NotThere(_)) if Instant::now() < time.until => ask::pause().await,
                Err(trouble) => return Err(self.stopped(trouble, time.ending)),
            }
        }
        self.frames.push(id);
        Ok(())
    }

    pub(super) async fn close_window(&mut self) -> Result<(), Stopped> {
        self.catch_up().await;
        self.recover().await;
        let time = self.budget.time(None, None);
        let closed = async {
            self.session.close_window(time.latest).await?;
            let left = self.session.windows(time.latest).await?;
            let main = self.windows.iter().find(|window| left.contains(window)).or(left.first());
            match main {
                Some(window) => self.session.enter_window(window, time.latest).await,
                None => Err(Trouble::Gone("the last window was closed".to_owned())),
            }
        };
        closed.await.map_err(|trouble| self.stopped(trouble, time.ending))?;
        self.frames.clear();
        Ok(())
    }

    pub(super) async fn switch_window(&mut self, choice: &WindowChoice, act: &Act) -> Result<(), Stopped> {
        self.catch_up().await;
        self.recover().await;
        let mut time = self.budget.time(act.timeout, Some(PATIENCE));
        loop {
            let asked = Instant::now();
            let entered = self.enter(choice, time).await?;
            time.forgive(asked);
            if entered {
                self.frames.clear();
                return Ok(());
            }
            if Instant::now() >= time.until {
                let why = format!("no window fits, of {}", self.windows.len());
                return Err(self.stopped(Trouble::NotThere(why), time.bound));
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
        time: Time,
    ) -> Result<Option<String>, Stopped> {
        let must = self.prepared(must)?;
        for window in &self.windows {
            if self.session.enter_window(window, time.latest).await.is_err() {
                continue;
            }
            if self.told(of, time.at_once(), &must).await?.is_ok() {
                return Ok(Some(window.clone()));
            }
        }
        Ok(None)
    }

    /// Enters the window of `choice`; `false` when there is none yet.
    async fn enter(&mut self, choice: &WindowChoice, time: Time) -> Result<bool, Stopped> {
        let here = self.session.windows(time.latest).await;
        let here = here.map_err(|trouble| self.stopped(trouble, time.ending))?;
        self.windows.retain(|window| here.contains(window));
        let main = self.windows.first().cloned();
        let fresh: Vec<String> =
            here.iter().filter(|window| !self.windows.contains(window)).cloned().collect();
        self.windows.extend(fresh);
        let of = match choice {
            WindowChoice::Main => main,
            WindowChoice::Newest => self.windows.last().filter(|_| self.windows.len() > 1).cloned(),
            WindowChoice::Index(at) => self.windows.get(*at as usize).cloned(),
            WindowChoice::Title(must) => self.window_with(&ask::Of::Title, must, time).await?,
            WindowChoice::Url(must) => self.window_with(&ask::Of::Url, must, time).await?,
        };
        let Some(window) = of else { return Ok(false) };
        let entered = self.session.enter_window(&window, time.latest).await;
        entered.map_err(|trouble| self.stopped(trouble, time.ending))?;
        if !self.dressed.contains(&window) {
            self.dressed.push(window);
            self.is_new_window = true;
            // Header fields of the guise hold for one window; one without them is still a window.
            let _ = self.house.dress(self.session.client(), &self.options.wish).await;
        }
        Ok(true)
    }
}
