//! Access tokens, sessions and the host token: opaque and random, stored as hashes.

use std::net::IpAddr;
use std::time::Duration;

use aws_lc_rs::{constant_time, digest, rand};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use super::account_service::{AccountService, with_client_address};
use super::issued_token::TokenHash;
use super::users::{caller_from_user, can_log_in, normalize_login};
use crate::catalog::record_settings::settings_from_record;
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, Timestamp, UserId};
use crate::pipeline::ExpiredLoginPurger;
use crate::schema::typed::record::UserSettings;
use crate::service::caller::{Caller, EntryPoint, ServiceError};
use crate::store::{StoreError, StoreFuture, StoredToken, TokenKind, TokenUse};

/// Lifetime of an access token (behaviour.md 1 "Token").
pub(super) const ACCESS_TOKEN_SECONDS: u64 = 3_600;
/// Lifetime of a session of the legacy API after its last use (behaviour.md 2).
pub(super) const SESSION_SECONDS: u64 = 900;
/// Uses of a token are stored at most this often.
const USE_WRITE_INTERVAL: Duration = Duration::from_mins(1);
/// Most uses kept in memory; further ones are stored at once.
const MAX_UNWRITTEN_USES: usize = 10_000;
/// Longest token in bytes that is looked up; longer ones were never issued.
const MAX_TOKEN_BYTES: usize = 128;
/// Separates the host token from the id of the account to act for.
const ACCOUNT_SEPARATOR: char = '~';

impl ExpiredLoginPurger for AccountService {
    fn purge_expired_logins(&self) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let token_count = self.remove_expired_tokens().await?;
            Ok(token_count + self.login_throttle.remove_expired(self.clock.now()).await?)
        })
    }
}

impl AccountService {
    /// Returns the caller of this access token.
    ///
    /// The host token authenticates for account 1, or with `~` and an id appended, for the account of that id.
    pub async fn authenticate_bearer(&self, token: &str, address: IpAddr) -> Result<Caller, ServiceError> {
        if let Some(caller) = self.authenticate_host_token(token).await? {
            return Ok(with_client_address(address, caller));
        }
        let found = self
            .find_token(TokenKind::Access, token)
            .await?
            .filter(|(token, user)| self.clock.now() < token.expires_at && can_log_in(user));
        let (token, user) = found.ok_or_else(invalid_login_error)?;
        if let Err(error) = self.record_use(&token, address, token.expires_at).await {
            // The call itself needs no write: a full disk must not stop callers from reading.
            tracing::warn!(error = ?error, "failed to record the use of a token");
        }
        let mut caller = with_client_address(address, caller_from_user(&user, EntryPoint::ApiV3)?);
        if let Some(scopes) = token.scopes {
            caller.role = scopes.limit_role(caller.role);
            caller.token_scopes = Some(scopes);
        }
        Ok(caller)
    }

    /// Returns the caller of `session` of `login`; extends the session.
    pub async fn authenticate_session(
        &self,
        login: &str,
        session: &str,
        address: IpAddr,
    ) -> Result<Caller, ServiceError> {
        let (token, user) =
            self.find_token(TokenKind::LegacySession, session).await?.ok_or_else(invalid_login_error)?;
        let now = self.clock.now();
        if now >= self.session_end(&token)
            || normalize_login(login)
                != normalize_login(settings_from_record::<UserSettings<'_>>(&user)?.login)
        {
            return Err(invalid_login_error());
        }
        if !can_log_in(&user) {
            return Err(ServiceError::UserLocked);
        }
        self.record_use(&token, address, now + Duration::from_secs(SESSION_SECONDS)).await?;
        Ok(with_client_address(address, caller_from_user(&user, EntryPoint::LegacyApi)?))
    }

    /// Revokes the access token that `caller` sent; the host token stays valid.
    pub async fn log_out(&self, caller: &Caller, token: &str) -> Result<(), ServiceError> {
        if caller.user_id == UserId::HOST {
            return Ok(());
        }
        self.token_store.revoke(hash_token(token)).await?;
        self.audit_session_event(caller, "logout").await
    }

    /// Creates the host token, which gives full access for as long as this process runs, and returns it. The server
    /// writes it to a file that only its user can read. The previous one becomes invalid.
    #[must_use]
    pub fn renew_host_token(&self) -> String {
        let token = Self::new_host_token();
        self.set_host_token(&token);
        token
    }

    /// Returns a new host token, for [`Self::set_host_token`].
    #[must_use]
    pub fn new_host_token() -> String {
        generate_token().to_string()
    }

    /// Makes `token` the host token. The previous one becomes invalid.
    pub fn set_host_token(&self, token: &str) {
        *self.host_token_hash.write() = Some(hash_token(token));
    }

    /// Returns the account for which `token` is the host token `host_token`, with or without an id appended.
    #[must_use]
    pub fn host_token_account(token: &str, host_token: &str) -> Option<CustomerId> {
        let (secret, customer) = split_host_token(token);
        let is_it =
            constant_time::verify_slices_are_equal(&hash_token(secret), &hash_token(host_token)).is_ok();
        customer.filter(|_| is_it && token.len() <= MAX_TOKEN_BYTES)
    }

    /// Returns `host_token` for another account than 1.
    #[must_use]
    pub fn host_token_for(host_token: &str, account: CustomerId) -> String {
        format!("{host_token}{ACCOUNT_SEPARATOR}{}", account.0)
    }

    /// Writes the uses of tokens that are only in memory, then removes expired tokens and sessions; returns how many.
    pub async fn remove_expired_tokens(&self) -> Result<u64, StoreError> {
        let unwritten_uses = std::mem::take(&mut *self.unwritten_uses.lock());
        let now = self.clock.now();
        for (hash, last_use) in unwritten_uses.into_iter().filter(|(_, last_use)| last_use.expires_at > now) {
            self.token_store.record_use(hash, last_use).await?;
        }
        self.token_store.remove_expired(now).await
    }

    /// Issues a token for `user`, whose password was verified, that lives for `lifetime_seconds`.
    pub(super) async fn issue_token(
        &self,
        kind: TokenKind,
        user: &ConfigRecord,
        address: IpAddr,
        lifetime_seconds: u64,
    ) -> Result<String, ServiceError> {
        let token_draft = StoredToken::new(TokenHash::default(), kind, UserId(user.id), Timestamp::default());
        let token_draft = StoredToken { address: address.to_string(), ..token_draft };
        self.issue_stored_token(token_draft, user, lifetime_seconds).await
    }

    /// Like [`AccountService::issue_token`], with the rest of `token_draft`, which has no hash and no times yet.
    pub(super) async fn issue_stored_token(
        &self,
        token_draft: StoredToken,
        user: &ConfigRecord,
        lifetime_seconds: u64,
    ) -> Result<String, ServiceError> {
        let (token, issued_at) = (generate_token(), self.clock.now());
        let hash = hash_token(&token);
        let expires_at = issued_at + Duration::from_secs(lifetime_seconds);
        let stored = StoredToken { hash, issued_at, expires_at, last_used_at: issued_at, ..token_draft };
        self.token_store.insert(stored).await?;
        // A new password revokes all tokens, including one issued for the old password in the meantime.
        let current = self.config_store.record(ConfigRecordKind::User, user.id).await?;
        if current.is_none_or(|current| current.private_data != user.private_data) {
            self.token_store.revoke(hash).await?;
            return Err(ServiceError::InvalidCredentials);
        }
        Ok(token.to_string())
    }

    /// Returns the token and its user, even if the token has expired or the user may not log in.
    async fn find_token(
        &self,
        kind: TokenKind,
        token: &str,
    ) -> Result<Option<(StoredToken, ConfigRecord)>, ServiceError> {
        let Some(token) = self.find_stored_token(kind, token).await? else { return Ok(None) };
        let user = self.config_store.record(ConfigRecordKind::User, token.user.0).await?;
        Ok(user.map(|user| (token, user)))
    }

    /// Returns the token as stored, even if it has expired.
    pub(super) async fn find_stored_token(
        &self,
        kind: TokenKind,
        token: &str,
    ) -> Result<Option<StoredToken>, StoreError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Ok(None);
        }
        Ok(self.token_store.token(hash_token(token)).await?.filter(|token| token.kind == kind))
    }

    /// Returns when a session ends, with an extension that is not stored yet.
    pub(super) fn session_end(&self, token: &StoredToken) -> Timestamp {
        let unwritten_use = self.unwritten_uses.lock().get(&token.hash).copied();
        unwritten_use.map_or(token.expires_at, |last_use| last_use.expires_at.max(token.expires_at))
    }

    async fn authenticate_host_token(&self, token: &str) -> Result<Option<Caller>, ServiceError> {
        let (secret, customer) = split_host_token(token);
        let host_token_hash = *self.host_token_hash.read();
        let matches = |host_token_hash: TokenHash| {
            constant_time::verify_slices_are_equal(&host_token_hash, &hash_token(secret)).is_ok()
        };
        let Some(customer) =
            customer.filter(|_| token.len() <= MAX_TOKEN_BYTES && host_token_hash.is_some_and(matches))
        else {
            return Ok(None);
        };
        if self.config_store.record(ConfigRecordKind::Customer, customer.0).await?.is_none() {
            return Err(ServiceError::NotFound);
        }
        Ok(Some(Self::host_admin_caller(customer, EntryPoint::Cli)))
    }

    /// Records a use of `token`, which expires at `expires_at` then; in the store at most once a minute, otherwise in
    /// memory.
    pub(super) async fn record_use(
        &self,
        token: &StoredToken,
        address: IpAddr,
        expires_at: Timestamp,
    ) -> Result<(), ServiceError> {
        let last_use = TokenUse { used_at: self.clock.now(), address, expires_at };
        {
            let mut unwritten_uses = self.unwritten_uses.lock();
            let has_space =
                unwritten_uses.len() < MAX_UNWRITTEN_USES || unwritten_uses.contains_key(&token.hash);
            if last_use.used_at.since(token.last_used_at) < USE_WRITE_INTERVAL && has_space {
                unwritten_uses.insert(token.hash, last_use);
                return Ok(());
            }
            unwritten_uses.remove(&token.hash);
        }
        Ok(self.token_store.record_use(token.hash, last_use).await?)
    }
}

/// Returns the secret of a host token, and the account that it is for, if that is an id.
fn split_host_token(token: &str) -> (&str, Option<CustomerId>) {
    match token.split_once(ACCOUNT_SEPARATOR) {
        Some((secret, id)) => (secret, id.parse().ok().map(CustomerId)),
        None => (token, Some(CustomerId::OPERATOR)),
    }
}

/// Generates 256 random bits as text.
pub(in crate::service) fn generate_token() -> Zeroizing<String> {
    let mut bytes = Zeroizing::new([0; 32]);
    // When the system has no random bytes, aws-lc aborts the process.
    while rand::fill(bytes.as_mut_slice()).is_err() {}
    Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()))
}

/// Returns the SHA-256 of a token, which is all that is stored of it.
pub(in crate::service) fn hash_token(token: &str) -> TokenHash {
    let mut hash = TokenHash::default();
    hash.copy_from_slice(digest::digest(&digest::SHA256, token.as_bytes()).as_ref());
    hash
}

pub(super) fn invalid_login_error() -> ServiceError {
    ServiceError::Unauthenticated("The login is invalid or expired; log in again".to_owned())
}
