//! Texts that many results share, stored once under their hash.

use std::collections::HashMap;

use sqlx::PgConnection;

use crate::store::rows::shared_text::SharedText;
use crate::store::rows::usage_changes::DAY_US;
use crate::sync::Mutex;

use super::error::PgResult;

/// Most texts that are remembered; beyond, they are forgotten.
const MAX_KNOWN_TEXTS: usize = 200_000;

/// The hashes of the texts that are stored, and their `last_used`. Texts are removed at the earliest two days after
/// that, so that what is known here stays stored, whichever process removes them.
#[derive(Default)]
pub(super) struct KnownTexts(Mutex<HashMap<[u8; 16], i64>>);

impl KnownTexts {
    /// Returns those of `texts` that must be written, each with the newest of its times, ordered by hash so that
    /// concurrent writers lock rows in the same order.
    pub(super) fn unknown<'a>(&self, texts: impl Iterator<Item = (&'a SharedText, i64)>) -> NewTexts<'a> {
        let known = self.0.lock();
        let mut unknown: HashMap<[u8; 16], (&str, i64)> = HashMap::new();
        for (text, planned_at) in texts {
            if known.get(&text.hash).is_some_and(|last_used| planned_at < last_used.saturating_add(DAY_US)) {
                continue;
            }
            let entry = unknown.entry(text.hash).or_insert((&text.text, planned_at));
            entry.1 = entry.1.max(planned_at);
        }
        let mut rows: Vec<_> = unknown.into_iter().collect();
        rows.sort_unstable();
        NewTexts(rows)
    }

    /// Remembers texts whose transaction was committed.
    pub(super) fn remember(&self, hashes: Vec<([u8; 16], i64)>) {
        let mut known = self.0.lock();
        if known.len() + hashes.len() > MAX_KNOWN_TEXTS {
            known.clear();
        }
        known.extend(hashes);
    }
}

/// Texts to be written.
pub(super) struct NewTexts<'a>(Vec<([u8; 16], (&'a str, i64))>);

impl NewTexts<'_> {
    /// Writes the texts, or updates their `last_used`; returns their hashes and times.
    pub(super) async fn write(&self, conn: &mut PgConnection) -> PgResult<Vec<([u8; 16], i64)>> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let hashes: Vec<&[u8]> = self.0.iter().map(|(hash, _)| hash.as_slice()).collect();
        let times: Vec<i64> = self.0.iter().map(|(_, (_, time))| *time).collect();
        let texts: Vec<&str> = self.0.iter().map(|(_, (text, _))| *text).collect();
        sqlx::query(
            "INSERT INTO shared_texts (hash, last_used, text) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])
             ON CONFLICT (hash) DO UPDATE SET last_used = greatest(shared_texts.last_used, excluded.last_used)",
        )
        .bind(hashes)
        .bind(times)
        .bind(texts)
        .execute(conn)
        .await?;
        Ok(self.0.iter().map(|(hash, (_, time))| (*hash, *time)).collect())
    }
}
