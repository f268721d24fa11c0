//! Texts and pairs of monitor and location that many results share, stored once; the cache of the writing thread.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{CustomerId, MonitorId};
use crate::store::rows::shared_text::SharedText;
use crate::store::rows::usage_changes::MonitorAttributes;

/// Most texts whose ids are cached; beyond, the cache is cleared.
const MAX_CACHED_TEXTS: usize = 200_000;
/// How far `last_used` may lag behind, in microseconds.
const LAST_USED_SLACK_US: i64 = 86_400_000_000;

/// Most pairs that are cached; beyond, the cache is cleared.
const MAX_CACHED_MONITOR_LOCATIONS: usize = 4_000_000;

/// Cache of the writing thread: ids of texts, stored pairs of monitor and location, attributes of monitors.
#[derive(Default)]
pub(super) struct WriteCache {
    /// Id and last written `last_used` of a text, by its hash.
    text_ids: HashMap<[u8; 16], (i64, i64)>,
    /// Pairs of monitor and location that are stored.
    monitor_locations: HashSet<(i64, i64)>,
    attributes_by_monitor: HashMap<i64, MonitorAttributes>,
    /// Plans and types, each once.
    interned_names: HashSet<Arc<str>>,
}

impl WriteCache {
    /// Stores `text`, used by a result planned at `planned_at`, unless it is stored already; returns its id.
    pub(super) fn ensure_text(
        &mut self,
        conn: &Connection,
        text: &SharedText,
        planned_at: i64,
    ) -> rusqlite::Result<i64> {
        if let Some(&(id, last_used)) = self.text_ids.get(&text.hash)
            && planned_at < last_used.saturating_add(LAST_USED_SLACK_US)
        {
            return Ok(id);
        }
        let id = upsert_text(conn, text, planned_at)?;
        if self.text_ids.len() >= MAX_CACHED_TEXTS {
            self.text_ids.clear();
        }
        self.text_ids.insert(text.hash, (id, planned_at));
        Ok(id)
    }

    /// Records that `monitor` has a result at `location`.
    pub(super) fn ensure_monitor_location(
        &mut self,
        conn: &Connection,
        monitor: i64,
        location: i64,
    ) -> rusqlite::Result<()> {
        if self.monitor_locations.contains(&(monitor, location)) {
            return Ok(());
        }
        insert_monitor_location(conn, monitor, location)?;
        if self.monitor_locations.len() >= MAX_CACHED_MONITOR_LOCATIONS {
            self.monitor_locations.clear();
        }
        self.monitor_locations.insert((monitor, location));
        Ok(())
    }

    /// Returns the account of `monitor`, read if it is not cached; 0 when it is unknown.
    pub(super) fn cached_customer(&mut self, conn: &Connection, monitor: i64) -> rusqlite::Result<i64> {
        Ok(self.cached_attributes(conn, monitor)?.customer)
    }

    /// Returns what counts need of `monitor`, read if it is not cached.
    pub(super) fn cached_attributes(
        &mut self,
        conn: &Connection,
        monitor: i64,
    ) -> rusqlite::Result<MonitorAttributes> {
        if let Some(attributes) = self.attributes_by_monitor.get(&monitor) {
            return Ok(attributes.clone());
        }
        let row: Option<(i64, Option<String>, Option<String>)> = conn
            .prepare_cached(
                "SELECT customer, json_extract(document, '$.billing_plancode'), type FROM monitors WHERE id = ?1",
            )?
            .query_row([monitor], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let is_stored = row.is_some();
        let (customer, plan, monitor_type) = row.unwrap_or_default();
        let (plan, monitor_type) = (plan.unwrap_or_default(), monitor_type.unwrap_or_default());
        let attributes = MonitorAttributes {
            customer,
            plan: self.intern(&plan),
            monitor_type: self.intern(&monitor_type),
        };
        if is_stored {
            if self.attributes_by_monitor.len() >= MAX_CACHED_MONITOR_LOCATIONS {
                self.attributes_by_monitor.clear();
                self.interned_names.clear();
            }
            self.attributes_by_monitor.insert(monitor, attributes.clone());
        }
        Ok(attributes)
    }

    /// Returns the one shared copy of `text`.
    fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(name) = self.interned_names.get(text) {
            return Arc::clone(name);
        }
        let name: Arc<str> = text.into();
        self.interned_names.insert(Arc::clone(&name));
        name
    }

    /// Forgets what is cached of `monitor`, which changes.
    pub(super) fn forget_monitor(&mut self, monitor: i64) {
        self.attributes_by_monitor.remove(&monitor);
    }

    /// Clears the cache, after a transaction was rolled back or rows were removed.
    pub(super) fn clear(&mut self) {
        self.text_ids.clear();
        self.monitor_locations.clear();
        self.attributes_by_monitor.clear();
        self.interned_names.clear();
    }
}

/// Records that `monitor` has a result at `location`.
pub(super) fn insert_monitor_location(
    conn: &Connection,
    monitor: i64,
    location: i64,
) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO marks VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute([location, MonitorId(monitor).hash().cast_signed()])?;
    Ok(())
}

/// Inserts `text`, or updates its `last_used`; returns its id.
fn upsert_text(conn: &Connection, text: &SharedText, planned_at: i64) -> rusqlite::Result<i64> {
    let existing_id: Option<i64> = conn
        .prepare_cached("UPDATE shared SET last_used = max(last_used, ?2) WHERE hash = ?1 RETURNING id")?
        .query_row(params![text.hash, planned_at], |row| row.get(0))
        .optional()?;
    if let Some(id) = existing_id {
        return Ok(id);
    }
    conn.prepare_cached("INSERT INTO shared (hash, last_used, text) VALUES (?1, ?2, ?3)")?
        .execute(params![text.hash, planned_at, text.text])?;
    Ok(conn.last_insert_rowid())
}

/// Returns the account of a monitor, removed or not.
pub(super) fn customer_for_monitor(conn: &Connection, id: MonitorId) -> rusqlite::Result<Option<CustomerId>> {
    conn.prepare_cached("SELECT customer FROM monitors WHERE id = ?1")?
        .query_map([id.0], |row| row.get(0).map(CustomerId))?
        .next()
        .transpose()
}
