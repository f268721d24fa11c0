//! Takes results, works out the states that follow, and keeps both in one commit, however long the store
//! is in trouble.

use crate::sync::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::alerts::{AlarmSettings, Healths, Lookout, LookoutParts, Word};
use super::state::next_state;
use crate::alerting::MonitorHealth;
use crate::domain::{Capture, CheckResult, EpisodeId, LocationId, MonitorId, Outcome, Status};
use crate::pipeline::alerts::{After, Step};
use crate::schema::Monitor;
use crate::store::{Commit, Ingest, MonitorState, StoreError, VerifiedCheck};
use crate::telemetry::Condition;
use crate::telemetry::Metrics;

/// How much is held and how trouble is met.
#[derive(Clone, Copy, Debug)]
pub struct IngestSettings {
    /// Results that wait in memory; then [`Ingestor::take`] waits.
    pub queue: usize,
    /// Results in one commit at most.
    pub batch: usize,
    /// Time from the begin of one commit to that of the next, unless a whole batch waits. A commit rewrites
    /// the same few pages and waits for the disk, whether it brings one result or a hundred; at 1,700 results
    /// a second that is most of the work.
    pub company: Duration,
    /// First pause after a commit failed; it doubles from try to try.
    pub pause: Duration,
    /// Longest such pause.
    pub longest_pause: Duration,
    /// How long trouble that may pass by itself (disk full, database locked) lasts before
    /// [`Ingestor::condition`] reports it.
    pub patience: Duration,
    /// Bytes of captures that wait in memory; results beyond that are kept without theirs.
    pub capture_bytes: usize,
}

impl Default for IngestSettings {
    fn default() -> Self {
        Self {
            queue: 20_000,
            batch: 5_000,
            company: Duration::from_millis(20),
            pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
            patience: Duration::from_secs(30),
            capture_bytes: 64 * 1024 * 1024,
        }
    }
}

/// Words that wait for the loop; more wait outside.
const WORDS: usize = 1024;

/// The way of results into the store, and the one loop that decides what follows from them. Results that wait
/// while a commit is under way, or within [`IngestSettings::company`] of it, make up the next one; a result
/// that comes alone is kept at once.
pub struct Ingestor {
    queue: Mutex<Option<mpsc::Sender<CheckResult>>>,
    words: Mutex<Option<mpsc::Sender<Word>>>,
    healths: Healths,
    desk: Arc<Desk>,
    task: Mutex<Option<JoinHandle<()>>>,
}

struct Desk {
    store: Arc<dyn Ingest>,
    metrics: Arc<Metrics>,
    settings: IngestSettings,
    states: Mutex<HashMap<(MonitorId, LocationId), MonitorState>>,
    trouble: Mutex<Option<Trouble>>,
    /// Results that were taken, or wait for a place in the queue, and are not kept yet.
    held: AtomicUsize,
    /// Bytes of their captures.
    captured: AtomicUsize,
    /// What watches results from the next turn on.
    begun: Mutex<Option<Box<Lookout>>>,
    /// Whether the process ends: then time closes no runs, and agents that end with it are not away.
    ending: AtomicBool,
}

/// What a turn of the loop came to.
struct Turn {
    commit: Commit,
    rest: Rest,
}

/// What is done once a turn is kept.
struct Rest {
    after: After,
    /// Results that were taken off the queue.
    count: usize,
    /// Bytes of their captures.
    captured: usize,
}

/// A turn that is being kept.
struct UnderWay {
    /// Answers whether the store took it.
    kept: JoinHandle<bool>,
    rest: Rest,
}

/// Why commits fail at present.
struct Trouble {
    error: StoreError,
    since: Instant,
}

impl Ingestor {
    /// Starts taking results. `states` are those that the store had at the start.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(
        store: Arc<dyn Ingest>,
        metrics: Arc<Metrics>,
        states: Vec<MonitorState>,
        settings: IngestSettings,
    ) -> Self {
        let (sender, results) = mpsc::channel(settings.queue.max(1));
        let states = states.into_iter().map(|state| ((state.monitor_id, state.location_id), state)).collect();
        let desk = Arc::new(Desk {
            store,
            metrics,
            settings,
            states: Mutex::new(states),
            trouble: Mutex::new(None),
            held: AtomicUsize::new(0),
            captured: AtomicUsize::new(0),
            begun: Mutex::new(None),
            ending: AtomicBool::new(false),
        });
        let (speaker, words) = mpsc::channel(WORDS);
        let task = tokio::spawn(Arc::clone(&desk).work(results, words));
        Self {
            queue: Mutex::new(Some(sender)),
            words: Mutex::new(Some(speaker)),
            healths: Healths::default(),
            desk,
            task: Mutex::new(Some(task)),
        }
    }

    /// From now on, alerts follow from results. Comes before the first [`Ingestor::changed`], which has to have all
    /// monitors.
    ///
    /// # Errors
    /// As the store's, when what was kept cannot be read.
    pub async fn watch(&self, parts: LookoutParts, settings: AlarmSettings) -> Result<(), StoreError> {
        let words = self.words.lock().as_ref().map(mpsc::Sender::downgrade).ok_or(StoreError::Closed)?;
        let lookout = Lookout::load(parts, settings, words, Arc::clone(&self.healths)).await?;
        *self.desk.begun.lock() = Some(Box::new(lookout));
        Ok(())
    }

    /// Takes new versions of monitors, planned or not, and those that were removed; to be called before they are
    /// planned.
    pub async fn changed(&self, puts: Vec<Monitor>, removed: Vec<MonitorId>) {
        self.say(Word::Changed { puts, removed }).await;
    }

    /// Stops the messages about an outage that somebody acknowledged; that was kept before.
    pub async fn acknowledged(&self, monitor: MonitorId, episode: EpisodeId) {
        self.say(Word::Acknowledged { monitor, episode }).await;
    }

    /// How `monitor` is; unknown for one that is not planned.
    #[must_use]
    pub fn health(&self, monitor: MonitorId) -> MonitorHealth {
        let healths = self.healths.read();
        healths.get(&monitor).copied().unwrap_or_default()
    }

    /// The process ends: what is open is settled by the next one.
    pub fn ending(&self) {
        self.desk.ending.store(true, Ordering::Release);
    }

    /// Whether alerts follow from the results of `monitor`: it is known and planned.
    #[must_use]
    pub fn is_watched(&self, monitor: MonitorId) -> bool {
        self.healths.read().contains_key(&monitor)
    }

    async fn say(&self, word: Word) {
        let words = self.words.lock().clone();
        if let Some(words) = words {
            // Fails only when the loop ended, because the store was closed.
            let _ = words.send(word).await;
        }
    }

    /// Takes one result; waits while the queue is full. From then on it is this side's to keep.
    pub async fn take(&self, mut result: CheckResult) {
        let Some(queue) = self.queue.lock().clone() else {
            tracing::error!(check_id = %result.check_id, "a result came after the end and is lost");
            return;
        };
        let held = self.desk.held.fetch_add(1, Ordering::AcqRel) + 1;
        let captured = self.desk.admit(&mut result);
        let given_up = GivenUp(&self.desk, captured);
        self.desk.metrics.set_ingest_queue_depth(held);
        // Fails only when the task ended, because the store was closed or took nothing for too long at the
        // end: what is still held then is told as lost by `drain`.
        let _ = queue.send(result).await;
        std::mem::forget(given_up);
    }

    /// Forgets the states of removed monitors, so that one that comes back starts anew.
    pub fn forget(&self, removed: &[MonitorId]) {
        if removed.is_empty() {
            return;
        }
        let removed: HashSet<_> = removed.iter().collect();
        self.desk.states.lock().retain(|(monitor, _), _| !removed.contains(monitor));
    }

    /// Where `monitor` stands at `location`; `None` before its first run there.
    #[must_use]
    pub fn state(&self, monitor: MonitorId, location: LocationId) -> Option<MonitorState> {
        self.desk.states.lock().get(&(monitor, location)).cloned()
    }

    /// Whether results can be kept; for `/readyz`.
    #[must_use]
    pub fn condition(&self) -> Condition {
        match &*self.desk.trouble.lock() {
            Some(Trouble { error, since })
                if !error.is_transient() || since.elapsed() >= self.desk.settings.patience =>
            {
                Condition::unmet("ingest", error.to_string())
            }
            _ => Condition::met("ingest"),
        }
    }

    /// Takes no more and keeps what it has, and what waits for a place in its queue; answers how many
    /// results could not be kept `within` that time. No result may come after this call.
    pub async fn drain(&self, within: Duration) -> usize {
        drop(self.queue.lock().take());
        drop(self.words.lock().take());
        let Some(mut task) = self.task.lock().take() else { return 0 };
        if tokio::time::timeout(within, &mut task).await.is_err() {
            task.abort();
        }
        let lost = self.desk.held.load(Ordering::Acquire);
        if lost > 0 {
            tracing::error!(results = lost, "the store did not take all results; they are lost");
        }
        lost
    }
}

/// Takes a result off the count when its giver waits no longer for a place.
struct GivenUp<'a>(&'a Desk, usize);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::AcqRel);
        self.0.captured.fetch_sub(self.1, Ordering::AcqRel);
    }
}

impl Desk {
    async fn work(
        self: Arc<Self>,
        mut results: mpsc::Receiver<CheckResult>,
        mut words: mpsc::Receiver<Word>,
    ) {
        let batch = self.settings.batch.max(1);
        let mut taken = Vec::with_capacity(batch);
        let mut lookout: Option<Box<Lookout>> = None;
        let mut under_way: Option<UnderWay> = None;
        let mut not_before = tokio::time::Instant::now();
        loop {
            if results.len() < batch && !self.ending.load(Ordering::Acquire) {
                tokio::time::sleep_until(not_before).await;
            }
            let mut said = Vec::new();
            tokio::select! {
                biased;
                count = results.recv_many(&mut taken, batch) => if count == 0 {
                    break;
                },
                Some(word) = words.recv() => said.push(word),
                () = passing(lookout.as_deref()) => {}
            }
            not_before = tokio::time::Instant::now() + self.settings.company;
            while said.len() < WORDS
                && let Ok(word) = words.try_recv()
            {
                said.push(word);
            }
            let caught_up = results.is_empty() && !self.ending.load(Ordering::Acquire);
            let turn = self.turn(std::mem::take(&mut taken), said, &mut lookout, caught_up).await;
            if !self.settle(under_way.take(), lookout.as_deref()).await {
                return;
            }
            if results.len() < batch {
                // What comes meanwhile makes up the next one.
                let kept = self.keep_all(turn.commit).await;
                if !kept {
                    return;
                }
                self.finish(turn.rest, lookout.as_deref());
            } else {
                // With a whole batch waiting, that is worked out while this one is written.
                under_way = Some(self.begin(turn));
            }
        }
        self.settle(under_way, lookout.as_deref()).await;
    }

    /// Works out what follows from `results` and `said`.
    async fn turn(
        &self,
        mut results: Vec<CheckResult>,
        said: Vec<Word>,
        lookout: &mut Option<Box<Lookout>>,
        caught_up: bool,
    ) -> Turn {
        let count = results.len();
        self.metrics.set_ingest_queue_depth(self.held.load(Ordering::Relaxed));
        let captured: usize = results.iter().map(captured).sum();
        // It was put there before the first word for it was sent.
        if let Some(begun) = self.begun.lock().take() {
            *lookout = Some(begun);
        }
        let Step { alarm, missed, after } = match lookout {
            Some(lookout) => lookout.turn(&mut results, said, caught_up).await,
            None => Step::default(),
        };
        let commit = Commit { alerts: alarm, ..self.commit_of(results, missed) };
        self.soften(&commit.alerts.verifications);
        Turn { commit, rest: Rest { after, count, captured } }
    }

    /// Begins to keep what a turn came to.
    fn begin(self: &Arc<Self>, turn: Turn) -> UnderWay {
        let desk = Arc::clone(self);
        UnderWay { kept: tokio::spawn(async move { desk.keep_all(turn.commit).await }), rest: turn.rest }
    }

    /// Waits until it is kept, and begins what follows; `false` when the store was closed.
    async fn settle(&self, under_way: Option<UnderWay>, lookout: Option<&Lookout>) -> bool {
        let Some(UnderWay { kept, rest }) = under_way else { return true };
        let kept = kept.await.unwrap_or(false);
        if kept {
            self.finish(rest, lookout);
        }
        kept
    }

    /// Keeps `commit`, when there is something in it; `false` when the store was closed.
    async fn keep_all(&self, commit: Commit) -> bool {
        commit.results.is_empty() && commit.alerts.is_empty() || self.keep(commit).await
    }

    /// Begins what follows from what was kept, and gives its room back.
    fn finish(&self, rest: Rest, lookout: Option<&Lookout>) {
        let Rest { after, count, captured } = rest;
        if let Some(lookout) = lookout {
            lookout.carry_out(after);
        }
        self.captured.fetch_sub(captured, Ordering::AcqRel);
        let left = self.held.fetch_sub(count, Ordering::AcqRel).saturating_sub(count);
        self.metrics.set_ingest_queue_depth(left);
    }

    /// What the store does with states whose error nobody else saw.
    fn soften(&self, verified: &[VerifiedCheck]) {
        let softened = verified.iter().filter(|check| check.answer.status == Status::VERIFIED_NO_ERROR);
        let mut states = self.states.lock();
        for VerifiedCheck { result, .. } in softened {
            let state = states.get_mut(&(result.monitor_id, result.location_id));
            let same = |state: &&mut MonitorState| {
                state.check_id == result.check_id && state.outcome == Outcome::Error
            };
            if let Some(state) = state.filter(same) {
                (state.outcome, state.status) = (Outcome::Warning, Status::OK);
                (state.since, state.streak) = (result.planned_at, 1);
            }
        }
    }

    /// Leaves the captures of `result` out when too many wait already; answers how many bytes it brings.
    fn admit(&self, result: &mut CheckResult) -> usize {
        let bytes = captured(result);
        if bytes == 0 {
            return 0;
        }
        let before = self.captured.fetch_add(bytes, Ordering::AcqRel);
        if before + bytes <= self.settings.capture_bytes {
            return bytes;
        }
        self.captured.fetch_sub(bytes, Ordering::AcqRel);
        result.captures.clear();
        tracing::debug!(check_id = %result.check_id, "too many captures wait for the store; left out");
        0
    }

    /// The results, and those that are found to be missed, with the states that follow from them, each place's
    /// last one.
    fn commit_of(&self, mut results: Vec<CheckResult>, missed: Vec<CheckResult>) -> Commit {
        results.extend(missed);
        let mut states = self.states.lock();
        let mut changed = HashMap::new();
        for result in &results {
            let place = (result.monitor_id, result.location_id);
            if let Some(state) = next_state(states.get(&place), result) {
                states.insert(place, state.clone());
                changed.insert(place, state);
            }
        }
        Commit { results, states: changed.into_values().collect(), ..Commit::default() }
    }

    /// Commits until it succeeds; `false` when the store was closed.
    async fn keep(&self, commit: Commit) -> bool {
        let mut pause = self.settings.pause;
        loop {
            let began = Instant::now();
            match self.store.commit(commit.clone()).await {
                Ok(()) => {
                    self.metrics.record_commit(commit.results.len(), began.elapsed());
                    self.recover();
                    return true;
                }
                Err(StoreError::Closed) => {
                    tracing::error!(
                        results = commit.results.len(),
                        "the store was closed before its results came"
                    );
                    return false;
                }
                Err(error) => self.worry(error, commit.results.len()),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(self.settings.longest_pause);
        }
    }

    /// Says so once per change, not per try.
    fn worry(&self, error: StoreError, results: usize) {
        self.metrics.record_commit_error(error.kind());
        let mut trouble = self.trouble.lock();
        if trouble.as_ref().is_some_and(|before| before.error.kind() == error.kind()) {
            return;
        }
        tracing::error!(error_kind = error.kind(), results, "results cannot be kept, trying again: {error}");
        let since = trouble.take().map_or_else(Instant::now, |before| before.since);
        *trouble = Some(Trouble { error, since });
    }

    fn recover(&self) {
        if let Some(trouble) = self.trouble.lock().take() {
            let seconds = trouble.since.elapsed().as_secs_f64();
            tracing::info!(duration_s = seconds, "results are kept again, none was lost");
        }
    }
}

/// Waits until time alone has something to do.
async fn passing(lookout: Option<&Lookout>) {
    match lookout {
        Some(lookout) => lookout.wait().await,
        None => std::future::pending().await,
    }
}

/// Bytes of the captures of `result`.
fn captured(result: &CheckResult) -> usize {
    result.captures.iter().map(Capture::content_len).sum()
}
