//! What the outages of the site became: each is one episode of every monitor of its pages, told once and cleared once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;
use sqlx::Row;
use vigie::domain::Timestamp;

use super::world::World;

/// What was told.
#[derive(Default)]
pub struct Books {
    pub episodes: usize,
    pub notifications: usize,
    /// Messages that came more than once, with their idempotency key.
    pub repeated: usize,
    pub wrong: Vec<String>,
}

const STATES: [&str; 5] = ["pending", "held", "sent", "digested", "dead"];

/// Compares what was told with the outages. `replaced` says whether a replica took over that may have lost what it
/// told last.
pub fn examine(world: &World, outages: &[Range<Timestamp>], replaced: bool) -> Books {
    let mut books = Books::default();
    let told = told(world, &mut books);
    let mut episodes: BTreeMap<i64, Vec<(i64, i64, Option<i64>)>> = BTreeMap::new();
    for row in world.rows("SELECT monitor_id, id, started_at, ended_at FROM episodes ORDER BY started_at") {
        episodes.entry(row.get(0)).or_default().push((row.get(1), row.get(2), row.get(3)));
        books.episodes += 1;
    }
    for monitor in &world.monitors {
        let own = episodes.remove(&monitor.id).unwrap_or_default();
        let outages = if monitor.is_page { outages } else { &[] };
        if own.len() != outages.len() {
            books.wrong.push(format!("`{}` has {} episodes: {own:?}", monitor.name, own.len()));
        }
        for ((id, started_at, ended_at), outage) in own.into_iter().zip(outages) {
            let (name, started_at) = (&monitor.name, Timestamp::from_micros(started_at));
            // A run is planned before its check.
            if !(outage.start - super::world::INTERVAL..outage.end).contains(&started_at) {
                books.wrong.push(format!("`{name}`: an episode began at {started_at}, not in {outage:?}"));
            }
            if ended_at.is_none() {
                books.wrong.push(format!("`{name}`: the episode of {started_at} goes on"));
            }
            for kind in ["site_error", "site_clear"] {
                let count = told.get(&(id, kind.to_owned())).copied().unwrap_or_default();
                if count != 1 {
                    books.wrong.push(format!("`{name}`: {kind} of {started_at} was told {count} times"));
                }
            }
        }
    }
    if !replaced {
        let known: BTreeSet<String> =
            world.rows("SELECT idempotency_key FROM notifications").iter().map(|row| row.get(0)).collect();
        let unknown = world.received.lock().unwrap().keys().filter(|key| !known.contains(*key)).count();
        if unknown > 0 {
            books.wrong.push(format!("{unknown} messages came that are not stored"));
        }
    }
    books
}

/// Returns how often each kind of notification was stored for each episode.
fn told(world: &World, books: &mut Books) -> BTreeMap<(i64, String), usize> {
    let received = world.received.lock().unwrap().clone();
    books.repeated = received.values().map(|count| count - 1).sum();
    let mut told = BTreeMap::new();
    let rows =
        world.rows("SELECT idempotency_key, state, coalesce(episode_id, 0), content FROM notifications");
    for row in rows {
        let (key, state, episode, content): (String, i16, i64, String) =
            (row.get(0), row.get(1), row.get(2), row.get(3));
        let content: Value = serde_json::from_str(&content).unwrap();
        let kind = content["kind"].as_str().unwrap_or_default().to_owned();
        let state = STATES[usize::try_from(state).unwrap()];
        if state != "sent" || !received.contains_key(&key) {
            books.wrong.push(format!(
                "{kind} of episode {episode} is {state}, and came {:?} times",
                received.get(&key)
            ));
        }
        *told.entry((episode, kind)).or_default() += 1;
        books.notifications += 1;
    }
    told
}
