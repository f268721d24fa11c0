//! Monitors and the ids that belong to the keys of their files.

use std::sync::Arc;

use rusqlite::{Connection, Row, params};
use serde_json::Value;

use crate::clock::{Clock, SystemClock};
use crate::model::{
    CustomerId, Document, Monitor, MonitorId, MonitorType, Origin, Revision, Secrets, Timestamp,
};

/// A monitor, ready to be written.
pub(super) struct Put {
    id: i64,
    customer: i64,
    key: Option<Arc<str>>,
    kind: &'static str,
    revision: i64,
    modified_at: i64,
    document: String,
}

impl Put {
    pub(super) fn of(monitor: &Monitor) -> Self {
        Self {
            id: monitor.id.0,
            customer: monitor.customer.0,
            key: match &monitor.origin {
                Origin::File { key } => Some(Arc::clone(key)),
                Origin::Applied { .. } | Origin::Api => None,
            },
            kind: monitor.kind().name(),
            revision: monitor.revision.0,
            modified_at: monitor.modified_at.as_micros(),
            document: serde_json::Value::Object(monitor.document.stored(Secrets::Omitted)).to_string(),
        }
    }
}

/// All that were not removed, in the order of their ids. A document that this build can't read is left
/// out; the number of those comes second.
pub(super) fn all(conn: &Connection) -> rusqlite::Result<(Vec<Monitor>, u64)> {
    let mut statement = conn.prepare_cached(
        "SELECT id, customer, key, type, revision, modified_at, document FROM monitors
         WHERE document IS NOT NULL AND removed_at IS NULL ORDER BY id",
    )?;
    let (mut monitors, mut unread) = (Vec::new(), 0);
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        match monitor(row)? {
            Some(monitor) => monitors.push(monitor),
            None => unread += 1,
        }
    }
    Ok((monitors, unread))
}

fn monitor(row: &Row<'_>) -> rusqlite::Result<Option<Monitor>> {
    let kind = row.get_ref(3)?.as_str().ok().and_then(MonitorType::from_name);
    let document = row.get_ref(6)?.as_str().ok().and_then(|text| serde_json::from_str(text).ok());
    let (Some(kind), Some(Value::Object(values))) = (kind, document) else { return Ok(None) };
    Ok(Some(Monitor {
        id: MonitorId(row.get(0)?),
        customer: CustomerId(row.get(1)?),
        origin: row.get::<_, Option<Arc<str>>>(2)?.map_or(Origin::Api, |key| Origin::File { key }),
        revision: Revision(row.get(4)?),
        modified_at: Timestamp::from_micros(row.get(5)?),
        document: Arc::new(Document::trusted(kind, values)),
        trail: Arc::default(),
    }))
}

/// The ids of `keys`, in their order; new keys get new ones.
pub(super) fn ids(conn: &Connection, customer: i64, keys: &[String]) -> rusqlite::Result<Vec<MonitorId>> {
    let mut find = conn.prepare_cached("SELECT id FROM monitors WHERE customer = ?1 AND key = ?2")?;
    let mut give = conn.prepare_cached("INSERT INTO monitors (customer, key) VALUES (?1, ?2)")?;
    let mut ids = Vec::with_capacity(keys.len());
    for key in keys {
        let known = find.query_map(params![customer, key], |row| row.get(0))?.next().transpose()?;
        let id = match known {
            Some(id) => id,
            None => give.insert(params![customer, key])?,
        };
        ids.push(MonitorId(id));
    }
    Ok(ids)
}

/// The newest revision of each, 0 where there is none.
pub(super) fn last_revisions(conn: &Connection, ids: &[MonitorId]) -> rusqlite::Result<Vec<Revision>> {
    let mut find = conn.prepare_cached("SELECT ifnull(revision, 0) FROM monitors WHERE id = ?1")?;
    ids.iter()
        .map(|id| find.query_map([id.0], |row| row.get(0))?.next().transpose())
        .map(|found| found.map(|revision| Revision(revision.unwrap_or(0))))
        .collect()
}

/// Stores new versions and removes monitors. The states of removed ones go, their results stay.
pub(super) fn change(conn: &Connection, puts: &[Put], removed: &[MonitorId]) -> rusqlite::Result<()> {
    let mut put = conn.prepare_cached(
        "INSERT INTO monitors (id, customer, key, type, revision, modified_at, document)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET customer = ?2, key = ?3, type = ?4, revision = ?5, modified_at = ?6,
             removed_at = NULL, document = ?7",
    )?;
    for monitor in puts {
        put.execute(params![
            monitor.id,
            monitor.customer,
            monitor.key,
            monitor.kind,
            monitor.revision,
            monitor.modified_at,
            monitor.document
        ])?;
    }
    let now = SystemClock.now().as_micros();
    let mut remove =
        conn.prepare_cached("UPDATE monitors SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL")?;
    let mut leave = conn.prepare_cached("DELETE FROM states WHERE monitor_id = ?1")?;
    for id in removed {
        remove.execute([id.0, now])?;
        leave.execute([id.0])?;
    }
    Ok(())
}
