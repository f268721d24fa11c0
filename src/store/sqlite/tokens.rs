//! Stored tokens and sessions.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{Timestamp, UserId};
use crate::store::contract::{StoredToken, TokenKind};

use super::decode::RowLocator;

pub(super) fn insert(conn: &Connection, token: &StoredToken) -> rusqlite::Result<()> {
    let kind = match token.kind {
        TokenKind::Access => 0,
        TokenKind::Session => 1,
        TokenKind::Page => 2,
    };
    conn.prepare_cached("INSERT OR REPLACE INTO tokens VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
        token.hash,
        kind,
        token.user.0,
        token.issued_at.as_micros(),
        token.expires_at.as_micros()
    ])?;
    Ok(())
}

pub(super) fn by_hash(conn: &Connection, hash: [u8; 32]) -> rusqlite::Result<Option<StoredToken>> {
    conn.prepare_cached("SELECT kind, user, issued_at, expires_at FROM tokens WHERE hash = ?1")?
        .query_row([hash], |row| {
            let (kind, user): (i64, i64) = (row.get(0)?, row.get(1)?);
            let decoded_kind = match kind {
                0 => Some(TokenKind::Access),
                1 => Some(TokenKind::Session),
                2 => Some(TokenKind::Page),
                _ => None,
            };
            Ok(StoredToken {
                hash,
                kind: RowLocator { table: "tokens", key: &[("user", user)] }.require_decoded(
                    "kind",
                    kind,
                    decoded_kind,
                )?,
                user: UserId(user),
                issued_at: Timestamp::from_micros(row.get(2)?),
                expires_at: Timestamp::from_micros(row.get(3)?),
            })
        })
        .optional()
}

pub(super) fn extend(conn: &Connection, hash: [u8; 32], expires_at: Timestamp) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE tokens SET expires_at = ?2 WHERE hash = ?1")?
        .execute(params![hash, expires_at.as_micros()])?;
    Ok(())
}

pub(super) fn delete(conn: &Connection, hash: [u8; 32]) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM tokens WHERE hash = ?1")?.execute([hash])?;
    Ok(())
}

/// Removes all tokens of a user.
pub(super) fn delete_for_user(conn: &Connection, user: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM tokens WHERE user = ?1")?.execute([user])?;
    Ok(())
}

/// Removes tokens that expired at or before `now`; returns how many.
pub(super) fn delete_expired(conn: &Connection, now: Timestamp) -> rusqlite::Result<u64> {
    let removed =
        conn.prepare_cached("DELETE FROM tokens WHERE expires_at <= ?1")?.execute([now.as_micros()])?;
    Ok(removed as u64)
}
