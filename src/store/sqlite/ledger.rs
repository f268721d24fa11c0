//! SQLite behind the traits of what people change.

use rusqlite::{Connection, params};

use crate::domain::{CustomerId, MonitorId, Record, RecordKind, Timestamp};
use crate::store::contract::{
    Answer, AuditEntry, AuditFilter, AuditRow, KeptMonitor, Ledger, Listed, Page, RecordFilter, Reseal,
    StoreError, Token, Tokens, Write, seal_context,
};

use super::change::Changes;
use super::store::SqliteStore;
use super::{audit, monitors, records, shared, tokens};

/// Rows that one transaction seals anew.
const CHUNK: i64 = 500;

impl Ledger for SqliteStore {
    fn kept_monitors(&self) -> Answer<'_, Vec<KeptMonitor>> {
        Box::pin(self.readers.call(monitors::kept))
    }

    fn write(&self, changes: Vec<Write>, audit: Vec<AuditEntry>) -> Answer<'_, Vec<i64>> {
        Box::pin(async move {
            let changes = Changes::of(changes, audit);
            self.writer.call(move |writing| changes.write(writing.conn)).await?
        })
    }

    fn record(&self, kind: RecordKind, id: i64) -> Answer<'_, Option<Record>> {
        Box::pin(self.readers.call(move |conn| records::one(conn, kind, id)))
    }

    fn record_by(&self, kind: RecordKind, unique: String) -> Answer<'_, Option<Record>> {
        Box::pin(self.readers.call(move |conn| records::by_text(conn, kind, &unique)))
    }

    fn records(&self, filter: RecordFilter, page: Page) -> Answer<'_, Listed<Record>> {
        Box::pin(self.readers.call(move |conn| records::page(conn, &filter, page)))
    }

    fn audit(&self, filter: AuditFilter, page: Page) -> Answer<'_, Listed<AuditRow>> {
        Box::pin(self.readers.call(move |conn| audit::page(conn, &filter, page)))
    }

    fn owner_of(&self, monitor: MonitorId) -> Answer<'_, Option<CustomerId>> {
        Box::pin(self.readers.call(move |conn| shared::owner(conn, monitor)))
    }

    fn reseal(&self, reseal: Reseal) -> Answer<'_, u64> {
        Box::pin(async move {
            let monitors = Sealed {
                kind: "monitor",
                read: "SELECT id, customer, sealed FROM monitors
                       WHERE id > ?1 AND sealed IS NOT NULL ORDER BY id LIMIT ?2",
                write: "UPDATE monitors SET sealed = ?2 WHERE id = ?1",
            };
            let certificates = Sealed {
                kind: "certificate",
                read: "SELECT id, customer, private FROM records
                       WHERE id > ?1 AND kind = 'certificate' AND private IS NOT NULL ORDER BY id LIMIT ?2",
                write: "UPDATE records SET private = ?2 WHERE id = ?1",
            };
            let recipients = Sealed {
                kind: "recipient",
                read: "SELECT id, customer, private FROM records
                       WHERE id > ?1 AND kind = 'recipient' AND private IS NOT NULL ORDER BY id LIMIT ?2",
                ..certificates
            };
            let mut renewed = 0;
            for sealed in [monitors, certificates, recipients] {
                renewed += sealed.renew(self, &reseal).await?;
            }
            Ok(renewed)
        })
    }
}

/// Where sealed bytes are kept.
#[derive(Clone, Copy)]
struct Sealed {
    kind: &'static str,
    read: &'static str,
    write: &'static str,
}

impl Sealed {
    /// In steps that let others write; answers how many changed. When it ends early, some have the new form
    /// and others the old one: doing it again does the rest.
    async fn renew(self, store: &SqliteStore, reseal: &Reseal) -> Result<u64, StoreError> {
        let (mut after, mut changed) = (i64::MIN, 0);
        loop {
            let reseal = std::sync::Arc::clone(reseal);
            let step =
                move |writing: &mut super::writer::Writing<'_>| self.step(writing.conn, after, &reseal);
            let (last, count) = store.writer.call(step).await?;
            changed += count;
            match last {
                Some(last) => after = last,
                None => return Ok(changed),
            }
        }
    }

    /// Answers the last id that it saw, none at the end, and how many changed.
    fn step(self, conn: &Connection, after: i64, reseal: &Reseal) -> rusqlite::Result<(Option<i64>, u64)> {
        let rows: Vec<(i64, Option<i64>, Vec<u8>)> = conn
            .prepare_cached(self.read)?
            .query_map([after, CHUNK], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        let mut write = conn.prepare_cached(self.write)?;
        let mut changed = 0;
        for (id, customer, sealed) in &rows {
            let context = seal_context(self.kind, CustomerId(customer.unwrap_or(*id)));
            if let Some(new) = reseal(&context, sealed) {
                write.execute(params![id, new])?;
                changed += 1;
            }
        }
        Ok((rows.last().map(|(id, ..)| *id), changed))
    }
}

impl Tokens for SqliteStore {
    fn issue(&self, token: Token) -> Answer<'_, ()> {
        Box::pin(self.writer.call(move |writing| tokens::issue(writing.conn, &token)))
    }

    fn token(&self, hash: [u8; 32]) -> Answer<'_, Option<Token>> {
        Box::pin(self.readers.call(move |conn| tokens::one(conn, hash)))
    }

    fn extend(&self, hash: [u8; 32], expires_at: Timestamp) -> Answer<'_, ()> {
        Box::pin(self.writer.call(move |writing| tokens::extend(writing.conn, hash, expires_at)))
    }

    fn end(&self, hash: [u8; 32]) -> Answer<'_, ()> {
        Box::pin(self.writer.call(move |writing| tokens::end(writing.conn, hash)))
    }

    fn purge(&self, now: Timestamp) -> Answer<'_, u64> {
        Box::pin(self.writer.call(move |writing| tokens::purge(writing.conn, now)))
    }
}
