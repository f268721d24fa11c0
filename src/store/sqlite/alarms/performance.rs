//! Performance alerts that are raised.

use rusqlite::{Connection, params};

use crate::domain::{LocationId, NewNotification};
use crate::store::contract::{Answer, KeptRaised, PerformanceStates};

use super::outbox;
use crate::store::sqlite::store::SqliteStore;

impl PerformanceStates for SqliteStore {
    fn raised(&self) -> Answer<'_, Vec<KeptRaised>> {
        Box::pin(self.readers.call(raised))
    }

    fn keep_raised(
        &self,
        raised: Vec<KeptRaised>,
        over: Vec<(i64, LocationId)>,
        notifications: Vec<NewNotification>,
    ) -> Answer<'_, ()> {
        let notifications: Vec<_> = notifications.into_iter().map(outbox::Row::of).collect();
        Box::pin(self.writer.call(move |writing| {
            for KeptRaised { alert, location, body } in &raised {
                writing
                    .conn
                    .prepare_cached("INSERT OR REPLACE INTO raised VALUES (?1, ?2, ?3)")?
                    .execute(params![alert, location.0, body])?;
            }
            for (alert, location) in &over {
                writing
                    .conn
                    .prepare_cached("DELETE FROM raised WHERE alert = ?1 AND location_id = ?2")?
                    .execute([*alert, location.0])?;
            }
            for notification in &notifications {
                notification.keep(writing.conn)?;
            }
            Ok(())
        }))
    }
}

fn raised(conn: &Connection) -> rusqlite::Result<Vec<KeptRaised>> {
    conn.prepare_cached("SELECT alert, location_id, body FROM raised ORDER BY alert, location_id")?
        .query_map([], |row| {
            Ok(KeptRaised { alert: row.get(0)?, location: LocationId(row.get(1)?), body: row.get(2)? })
        })?
        .collect()
}
