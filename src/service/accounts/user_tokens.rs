//! The tokens of a user: lists them, ends them, and makes some for programs.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::account_service::AccountService;
use super::issued_token::{IssuedToken, TokenHash};
use crate::domain::{ConfigRecordKind, Timestamp, TokenScope, TokenScopes, UserId};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{AuditObject, StoredToken, TokenKind, TokenUse};

/// A token as its owner sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenInfo {
    /// Its id, which reveals nothing of the token.
    pub id: i64,
    /// Its kind.
    pub kind: TokenKind,
    /// Its name; empty for a login.
    pub name: String,
    /// What it may do; `None` for all that its user may.
    pub scopes: Option<TokenScopes>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was used last.
    pub last_used_at: Timestamp,
    /// From where it was used last.
    pub address: String,
}

impl TokenInfo {
    /// Returns the name of its kind in the API.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            TokenKind::Access => "access",
            TokenKind::LegacySession => "legacy-session",
            TokenKind::PageSession => "page-session",
        }
    }
}

impl AccountService {
    /// Returns the valid tokens and sessions of the caller, newest first.
    pub async fn tokens(&self, caller: &Caller) -> Result<Vec<TokenInfo>, ServiceError> {
        let (now, unwritten_uses) = (self.clock.now(), self.unwritten_uses.lock().clone());
        let mut tokens: Vec<TokenInfo> = self
            .token_store
            .tokens_for_user(caller.user_id)
            .await?
            .into_iter()
            .map(|token| token_info(token, &unwritten_uses))
            .filter(|token| token.expires_at > now)
            .collect();
        tokens.sort_by_key(|token| (std::cmp::Reverse(token.created_at), token.id));
        Ok(tokens)
    }

    /// Ends a token or session of the caller.
    pub async fn revoke_token(&self, caller: &Caller, id: i64) -> Result<(), ServiceError> {
        refuse_program_tokens(caller)?;
        let tokens = self.token_store.tokens_for_user(caller.user_id).await?;
        let token = tokens.into_iter().find(|token| token_id(&token.hash) == id);
        let token = token.ok_or(ServiceError::NotFound)?;
        self.token_store.revoke(token.hash).await?;
        self.audit_token(caller, "delete", &token.name, Map::new()).await
    }

    /// Makes a token for a program, which expires after `lifetime_seconds`. It may no more than its user. Programs
    /// cannot make tokens, so that a stolen token ends with its lifetime.
    pub async fn create_program_token(
        &self,
        caller: &Caller,
        name: &str,
        scopes: TokenScopes,
        lifetime_seconds: u64,
    ) -> Result<IssuedToken, ServiceError> {
        refuse_program_tokens(caller)?;
        if caller.user_id == UserId::HOST {
            return Err(ServiceError::Forbidden(
                "The host token makes no tokens; log in as a user".to_owned(),
            ));
        }
        for scope in scopes.iter() {
            if !caller.allows(scope.required_permission()) {
                let (role, scope) = (caller.role, scope.name());
                return Err(ServiceError::Forbidden(format!(
                    "The role {role} does not permit the scope `{scope}`"
                )));
            }
        }
        let user = self.config_store.record(ConfigRecordKind::User, caller.user_id.0).await?;
        let user = user.ok_or(ServiceError::NotFound)?;
        let token_draft = StoredToken {
            name: name.to_owned(),
            scopes: Some(scopes),
            address: caller.client_address.map(|address| address.to_string()).unwrap_or_default(),
            ..StoredToken::new(TokenHash::default(), TokenKind::Access, caller.user_id, Timestamp::default())
        };
        let token = self.issue_stored_token(token_draft, &user, lifetime_seconds).await?;
        let names: Vec<_> = scopes.iter().map(TokenScope::name).collect();
        let after = Map::from_iter([
            ("scopes".to_owned(), json!(names)),
            ("expires_in".to_owned(), Value::from(lifetime_seconds)),
        ]);
        self.audit_token(caller, "create", name, after).await?;
        Ok(IssuedToken { token, expires_in: lifetime_seconds })
    }

    async fn audit_token(
        &self,
        caller: &Caller,
        action: &'static str,
        name: &str,
        after: Map<String, Value>,
    ) -> Result<(), ServiceError> {
        let mut entry = caller.audit_entry(self.clock.now(), action, "token", AuditObject::None, name);
        entry.after = after;
        self.config_store.write_changes(Vec::new(), vec![entry]).await?;
        Ok(())
    }
}

/// Fails if the caller uses the token of a program.
fn refuse_program_tokens(caller: &Caller) -> Result<(), ServiceError> {
    if caller.token_scopes.is_none() {
        return Ok(());
    }
    Err(ServiceError::Forbidden("The token of a program cannot make or end tokens; log in".to_owned()))
}

fn token_info(token: StoredToken, unwritten_uses: &HashMap<TokenHash, TokenUse>) -> TokenInfo {
    let last_use = unwritten_uses.get(&token.hash).filter(|last_use| last_use.used_at >= token.last_used_at);
    let (last_used_at, address, expires_at) = match last_use {
        Some(last_use) => (last_use.used_at, last_use.address.to_string(), last_use.expires_at),
        None => (token.last_used_at, token.address, token.expires_at),
    };
    TokenInfo {
        id: token_id(&token.hash),
        kind: token.kind,
        name: token.name,
        scopes: token.scopes,
        created_at: token.issued_at,
        expires_at,
        last_used_at,
        address,
    }
}

/// Returns the id of a token: the first 52 bits of its hash, which JSON numbers hold exactly.
fn token_id(hash: &TokenHash) -> i64 {
    let first = hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    i64::try_from(first >> 12).unwrap_or(0)
}
