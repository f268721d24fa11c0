//! Keeps the status of every monitor: what changed is read again, the rest stays.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::status_board::StatusBoard;
use super::status_row::{MonitorStatus, StatusRow};
use crate::catalog::MonitorCache;
use crate::domain::{MonitorId, Timestamp};
use crate::schema::Monitor;
use crate::store::{MonitorLocationState, ResultStore, StoreError};
use crate::sync::RwLock;

/// How long a board is shown before new results are read; changes of monitors are read at once.
const BOARD_TTL: Duration = Duration::from_secs(1);
/// How long it is shown while they are read. Nobody waits for the next one as long as somebody looks.
const MAX_BOARD_AGE: Duration = Duration::from_secs(2);
/// When at least so many monitors and a quarter of all have changed, everything is read: that costs less then.
const MIN_CHANGES_TO_READ_ALL: usize = 1_000;

/// The last board. Requests that come while the next one is made get this one.
#[derive(Clone)]
pub(super) struct BoardCache(Arc<BoardCacheInner>);

struct BoardCacheInner {
    result_store: Arc<dyn ResultStore>,
    monitor_cache: Arc<MonitorCache>,
    current: RwLock<Option<CachedBoard>>,
    /// Held while the next one is made.
    refresh_lock: tokio::sync::Mutex<()>,
}

/// A board, and what it includes.
#[derive(Clone)]
struct CachedBoard {
    board: Arc<StatusBoard>,
    read_at: Instant,
    /// The changes of states and of monitors that it includes.
    state_position: u64,
    monitor_position: u64,
}

impl BoardCache {
    /// Creates the cache of the monitors in `monitor_cache`, with their states in `result_store`.
    pub(super) fn new(result_store: Arc<dyn ResultStore>, monitor_cache: Arc<MonitorCache>) -> Self {
        let (current, refresh_lock) = Default::default();
        Self(Arc::new(BoardCacheInner { result_store, monitor_cache, current, refresh_lock }))
    }

    /// Returns the status of every monitor at `now`.
    pub(super) async fn get(&self, now: Timestamp) -> Result<Arc<StatusBoard>, StoreError> {
        let cached = self.current().filter(|cached| self.has_all_monitors(cached));
        match cached {
            Some(cached) if cached.read_at.elapsed() < BOARD_TTL => Ok(cached.board),
            Some(cached) if cached.read_at.elapsed() < MAX_BOARD_AGE => {
                let cache = self.clone();
                // A failure is told to the one who waits for the next board.
                tokio::spawn(async move { cache.refresh(now).await.map(drop) });
                Ok(cached.board)
            }
            _ => self.refresh(now).await,
        }
    }

    /// Reads what has changed, unless another request does.
    async fn refresh(&self, now: Timestamp) -> Result<Arc<StatusBoard>, StoreError> {
        let _lock = match self.0.refresh_lock.try_lock() {
            Ok(lock) => lock,
            Err(_) => match self.current() {
                // Who has just changed a monitor wants to see it.
                Some(cached) if self.has_all_monitors(&cached) => return Ok(cached.board),
                _ => self.0.refresh_lock.lock().await,
            },
        };
        // Another request may have made it meanwhile.
        let cached = self.current();
        let is_current =
            |cached: &&CachedBoard| cached.read_at.elapsed() < BOARD_TTL && self.has_all_monitors(cached);
        if let Some(cached) = cached.as_ref().filter(is_current) {
            return Ok(Arc::clone(&cached.board));
        }
        let next = next_board(cached, &self.0.result_store, &self.0.monitor_cache, now).await?;
        let board = Arc::clone(&next.board);
        *self.0.current.write() = Some(next);
        Ok(board)
    }

    fn current(&self) -> Option<CachedBoard> {
        self.0.current.read().clone()
    }

    /// Whether no monitor was changed since `cached` was made.
    fn has_all_monitors(&self, cached: &CachedBoard) -> bool {
        self.0.monitor_cache.changes(Some(cached.monitor_position)).position == cached.monitor_position
    }
}

/// Makes the board after `cached`.
async fn next_board(
    cached: Option<CachedBoard>,
    result_store: &Arc<dyn ResultStore>,
    monitor_cache: &Arc<MonitorCache>,
    now: Timestamp,
) -> Result<CachedBoard, StoreError> {
    // Before what they are about is read: what changes meanwhile is read again.
    let state_changes = result_store.state_changes(cached.as_ref().map(|cached| cached.state_position));
    let monitor_changes = monitor_cache.changes(cached.as_ref().map(|cached| cached.monitor_position));
    let read_at = Instant::now();
    let changed = match (&cached, state_changes.monitors, monitor_changes.monitors) {
        (Some(CachedBoard { board, .. }), Some(states), Some(monitors)) => {
            let paused = board.rows_with(MonitorStatus::Paused).iter();
            let ended_pauses = paused.filter(|row| row.monitor.paused_until(now).is_none());
            let ended_pauses = ended_pauses.map(|row| row.monitor.id);
            let changed: HashSet<MonitorId> =
                states.into_iter().chain(monitors).chain(ended_pauses).collect();
            let reads_all = changed.len() >= MIN_CHANGES_TO_READ_ALL.max(board.len() / 4);
            (!reads_all).then(|| (Arc::clone(board), changed))
        }
        _ => None,
    };
    let monitor_cache = Arc::clone(monitor_cache);
    let board = match changed {
        Some((board, changed)) if changed.is_empty() => board,
        Some((board, changed)) => {
            let states = result_store.location_states_for(changed.iter().copied().collect()).await?;
            run_blocking(move || {
                let monitors = changed.iter().filter_map(|id| monitor_cache.get(*id));
                board.with_changes(&changed, status_rows(monitors, states, now))
            })
            .await?
        }
        None => {
            let states = result_store.location_states().await?;
            run_blocking(move || StatusBoard::new(status_rows(monitor_cache.all().into_iter(), states, now)))
                .await?
        }
    };
    Ok(CachedBoard {
        board,
        read_at,
        state_position: state_changes.position,
        monitor_position: monitor_changes.position,
    })
}

/// Makes a board elsewhere: with 100,000 monitors it takes long enough to delay the checks that share this thread.
async fn run_blocking(
    make: impl FnOnce() -> StatusBoard + Send + 'static,
) -> Result<Arc<StatusBoard>, StoreError> {
    // Fails only when the runtime shuts down.
    tokio::task::spawn_blocking(move || Arc::new(make())).await.map_err(|_| StoreError::Closed)
}

/// Returns the rows of `monitors` with their `states`.
fn status_rows(
    monitors: impl Iterator<Item = Monitor>,
    mut states: Vec<MonitorLocationState>,
    now: Timestamp,
) -> Vec<Arc<StatusRow>> {
    states.sort_unstable_by_key(|state| (state.monitor_id, state.location_id));
    let to_row = |monitor: Monitor| {
        let start = states.partition_point(|state| state.monitor_id < monitor.id);
        let end = states.partition_point(|state| state.monitor_id <= monitor.id);
        let states = states.get(start..end).unwrap_or_default();
        Arc::new(StatusRow::new(monitor, states, now))
    };
    monitors.map(to_row).collect()
}
