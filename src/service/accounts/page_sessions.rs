//! Sessions of the pages: sign-in with a password or with a one-time link of the host, use, and sign-out.

use std::net::IpAddr;
use std::time::Duration;

use super::account_service::{AccountService, with_client_address};
use super::issued_token::IssuedToken;
use super::sign_in_links::LINK_SECONDS;
use super::tokens::{generate_token, hash_token, invalid_login_error};
use super::users::{caller_from_user, can_log_in};
use crate::domain::{ConfigRecordKind, CustomerId, UserId};
use crate::service::caller::{Caller, EntryPoint, ServiceError};
use crate::store::{StoredToken, TokenKind};

/// Lifetime of a page session after its last use.
pub(super) const IDLE_SECONDS: u64 = 12 * 3_600;
/// Longest lifetime of a page session, however often it is used.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);

impl AccountService {
    /// Signs in to the pages with a password and returns the session. Attempts are throttled like those of the APIs.
    pub async fn sign_in(
        &self,
        login: &str,
        password: &str,
        address: IpAddr,
    ) -> Result<String, ServiceError> {
        let user = self.authenticate(login, password, address, EntryPoint::Pages).await?;
        let session = self.issue_token(TokenKind::PageSession, &user, address, IDLE_SECONDS).await?;
        let caller = with_client_address(address, caller_from_user(&user, EntryPoint::Pages)?);
        self.audit_session_event(&caller, "login").await?;
        Ok(session)
    }

    /// Creates the token of a link that signs in to the pages as the host, once, within ten minutes. For the host
    /// alone.
    pub fn create_sign_in_link(&self, caller: &Caller) -> Result<IssuedToken, ServiceError> {
        if caller.user_id != UserId::HOST {
            return Err(ServiceError::Forbidden(
                "Sign-in links are made on the server's host, with `vigie open`".to_owned(),
            ));
        }
        let token = generate_token();
        self.sign_in_links.add(hash_token(&token), self.clock.now())?;
        Ok(IssuedToken { token: token.to_string(), expires_in: LINK_SECONDS })
    }

    /// Signs in to the pages with the token of a sign-in link and returns the session. The token is consumed.
    pub async fn use_sign_in_link(&self, token: &str, address: IpAddr) -> Result<String, ServiceError> {
        let now = self.clock.now();
        if !self.sign_in_links.take(&hash_token(token), now) {
            return Err(ServiceError::Unauthenticated(
                "The link was used already or is older than ten minutes; make another with `vigie open`"
                    .to_owned(),
            ));
        }
        let session = generate_token();
        let token = StoredToken::new(hash_token(&session), TokenKind::PageSession, UserId::HOST, now)
            .expiring_at(now + Duration::from_secs(IDLE_SECONDS));
        let token = StoredToken { address: address.to_string(), ..token };
        self.token_store.insert(token).await?;
        let caller =
            with_client_address(address, Self::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Pages));
        self.audit_session_event(&caller, "login").await?;
        Ok(session.to_string())
    }

    /// Returns the caller of a page session; extends the session.
    pub async fn authenticate_page_session(
        &self,
        session: &str,
        address: IpAddr,
    ) -> Result<Caller, ServiceError> {
        let token =
            self.find_stored_token(TokenKind::PageSession, session).await?.ok_or_else(invalid_login_error)?;
        let (now, last_end) = (self.clock.now(), token.issued_at + MAX_AGE);
        if now >= self.session_end(&token).min(last_end) {
            return Err(invalid_login_error());
        }
        let caller = if token.user == UserId::HOST {
            Self::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Pages)
        } else {
            let user = self.config_store.record(ConfigRecordKind::User, token.user.0).await?;
            let user = user.filter(can_log_in).ok_or_else(invalid_login_error)?;
            caller_from_user(&user, EntryPoint::Pages)?
        };
        let end = (now + Duration::from_secs(IDLE_SECONDS)).min(last_end);
        self.record_use(&token, address, end).await?;
        Ok(with_client_address(address, caller))
    }

    /// Ends a page session. An unknown one is ignored.
    pub async fn sign_out(&self, session: &str, address: IpAddr) -> Result<(), ServiceError> {
        let Ok(caller) = self.authenticate_page_session(session, address).await else { return Ok(()) };
        self.token_store.revoke(hash_token(session)).await?;
        self.audit_session_event(&caller, "logout").await
    }
}
