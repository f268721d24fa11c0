//! Stored tokens and sessions.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::domain::{Timestamp, TokenScopes, UserId};
use crate::store::contract::{StoredToken, TokenUse};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::token_codes::{kind_code, kind_from_code, scopes_from_bits};

const COLUMNS: &str = "hash, kind, user, issued_at, expires_at, name, scopes, address, last_used_at";

pub(super) fn insert(conn: &Connection, token: &StoredToken) -> rusqlite::Result<()> {
    let sql =
        format!("INSERT OR REPLACE INTO tokens ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    conn.prepare_cached(&sql)?.execute(params![
        token.hash,
        kind_code(token.kind),
        token.user.0,
        token.issued_at.as_micros(),
        token.expires_at.as_micros(),
        token.name,
        token.scopes.map(TokenScopes::to_bits),
        token.address,
        token.last_used_at.as_micros(),
    ])?;
    Ok(())
}

pub(super) fn by_hash(conn: &Connection, hash: [u8; 32]) -> rusqlite::Result<Option<StoredToken>> {
    let sql = format!("SELECT {COLUMNS} FROM tokens WHERE hash = ?1");
    conn.prepare_cached(&sql)?.query_row([hash], token_from_row).optional()
}

pub(super) fn by_user(conn: &Connection, user: UserId) -> rusqlite::Result<Vec<StoredToken>> {
    let sql = format!("SELECT {COLUMNS} FROM tokens WHERE user = ?1");
    conn.prepare_cached(&sql)?.query_map([user.0], token_from_row)?.collect()
}

fn token_from_row(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    let (kind, user): (i64, i64) = (row.get("kind")?, row.get("user")?);
    let key = [("user", user)];
    let locator = RowLocator { table: "tokens", key: &key };
    Ok(StoredToken {
        hash: row.get("hash")?,
        kind: kind_from_code(locator, kind)?,
        user: UserId(user),
        issued_at: Timestamp::from_micros(row.get("issued_at")?),
        expires_at: Timestamp::from_micros(row.get("expires_at")?),
        name: row.get("name")?,
        scopes: scopes_from_bits(locator, row.get("scopes")?)?,
        address: row.get("address")?,
        last_used_at: Timestamp::from_micros(row.get("last_used_at")?),
    })
}

pub(super) fn record_use(conn: &Connection, hash: [u8; 32], last_use: &TokenUse) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE tokens SET expires_at = ?2, last_used_at = ?3, address = ?4 WHERE hash = ?1",
    )?
    .execute(params![
        hash,
        last_use.expires_at.as_micros(),
        last_use.used_at.as_micros(),
        last_use.address.to_string()
    ])?;
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
