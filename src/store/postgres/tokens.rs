//! Stored tokens and sessions.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::{Timestamp, TokenScopes, UserId};
use crate::store::contract::{StoreFuture, StoredToken, TokenStore, TokenUse};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::token_codes::{kind_code, kind_from_code, scopes_from_bits};

use super::error::PgResult;
use super::store::PostgresStore;

async fn insert(conn: &mut PgConnection, token: StoredToken) -> PgResult<()> {
    sqlx::query(
        "INSERT INTO tokens (hash, kind, user_id, issued_at, expires_at, name, scopes, address, last_used_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (hash) DO UPDATE SET kind = excluded.kind, user_id = excluded.user_id,
             issued_at = excluded.issued_at, expires_at = excluded.expires_at, name = excluded.name,
             scopes = excluded.scopes, address = excluded.address, last_used_at = excluded.last_used_at",
    )
    .bind(token.hash.as_slice())
    .bind(kind_code(token.kind))
    .bind(token.user.0)
    .bind(token.issued_at.as_micros())
    .bind(token.expires_at.as_micros())
    .bind(token.name)
    .bind(token.scopes.map(TokenScopes::to_bits))
    .bind(token.address)
    .bind(token.last_used_at.as_micros())
    .execute(conn)
    .await?;
    Ok(())
}

/// Returns the tokens with this hash, or of this user.
async fn select(
    conn: &mut PgConnection,
    hash: Option<[u8; 32]>,
    user: Option<UserId>,
) -> PgResult<Vec<StoredToken>> {
    let rows = sqlx::query(
        "SELECT hash, kind::bigint, user_id, issued_at, expires_at, name, scopes, address, last_used_at FROM tokens
         WHERE hash = $1 OR user_id = $2 ORDER BY hash",
    )
    .bind(hash.as_ref().map(<[u8; 32]>::as_slice))
    .bind(user.map(|user| user.0))
    .fetch_all(conn)
    .await?;
    rows.iter().map(token_from_row).collect()
}

fn token_from_row(row: &PgRow) -> PgResult<StoredToken> {
    let user = row.try_get(2)?;
    let key = [("user", user)];
    let locator = RowLocator { table: "tokens", key: &key };
    let hash: &[u8] = row.try_get(0)?;
    Ok(StoredToken {
        hash: hash.try_into().map_err(|error| locator.decode_error("hash", error))?,
        kind: kind_from_code(locator, row.try_get(1)?)?,
        user: UserId(user),
        issued_at: Timestamp::from_micros(row.try_get(3)?),
        expires_at: Timestamp::from_micros(row.try_get(4)?),
        name: row.try_get(5)?,
        scopes: scopes_from_bits(locator, row.try_get(6)?)?,
        address: row.try_get(7)?,
        last_used_at: Timestamp::from_micros(row.try_get(8)?),
    })
}

async fn record_use(conn: &mut PgConnection, hash: [u8; 32], last_use: TokenUse) -> PgResult<()> {
    sqlx::query("UPDATE tokens SET expires_at = $2, last_used_at = $3, address = $4 WHERE hash = $1")
        .bind(hash.as_slice())
        .bind(last_use.expires_at.as_micros())
        .bind(last_use.used_at.as_micros())
        .bind(last_use.address.to_string())
        .execute(conn)
        .await?;
    Ok(())
}

/// Removes all tokens of a user.
pub(super) async fn delete_for_user(conn: &mut PgConnection, user: i64) -> PgResult<()> {
    sqlx::query("DELETE FROM tokens WHERE user_id = $1").bind(user).execute(conn).await?;
    Ok(())
}

impl TokenStore for PostgresStore {
    fn insert(&self, token: StoredToken) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| Box::pin(insert(conn, token))))
    }

    fn token(&self, hash: [u8; 32]) -> StoreFuture<'_, Option<StoredToken>> {
        Box::pin(async move {
            let tokens = self.read(move |conn| Box::pin(select(conn, Some(hash), None))).await?;
            Ok(tokens.into_iter().next())
        })
    }

    fn tokens_for_user(&self, user: UserId) -> StoreFuture<'_, Vec<StoredToken>> {
        Box::pin(self.read(move |conn| Box::pin(select(conn, None, Some(user)))))
    }

    fn record_use(&self, hash: [u8; 32], last_use: TokenUse) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| Box::pin(record_use(conn, hash, last_use))))
    }

    fn revoke(&self, hash: [u8; 32]) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                sqlx::query("DELETE FROM tokens WHERE hash = $1").bind(hash.as_slice()).execute(conn).await?;
                Ok(())
            })
        }))
    }

    fn remove_expired(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                let delete = sqlx::query("DELETE FROM tokens WHERE expires_at <= $1").bind(now.as_micros());
                Ok(delete.execute(conn).await?.rows_affected())
            })
        }))
    }
}
