//! Accounts, their users and tokens.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::failed_logins::FailedLoginAuditLimiter;
use super::issued_token::TokenHash;
use super::login_throttle::LoginThrottle;
use super::sign_in_links::SignInLinks;
use crate::clock::Clock;
use crate::domain::{CustomerId, Role, UserId};
use crate::service::caller::{Caller, EntryPoint};
use crate::store::{ConfigStore, ThrottleStore, TokenStore, TokenUse};
use crate::sync::{Mutex, RwLock};
use crate::vault::Keyring;

/// Accounts, their users, logins and tokens.
pub struct AccountService {
    pub(super) config_store: Arc<dyn ConfigStore>,
    pub(super) token_store: Arc<dyn TokenStore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) login_throttle: LoginThrottle,
    pub(super) keyring: Arc<Keyring>,
    /// Limits how many failed logins are recorded in the audit trail.
    pub(super) failed_login_audit: Mutex<FailedLoginAuditLimiter>,
    /// Hash of the host token.
    pub(super) host_token_hash: RwLock<Option<TokenHash>>,
    /// Links of the host that sign in to the pages once.
    pub(super) sign_in_links: SignInLinks,
    /// Last uses of tokens that are not written to the store yet.
    pub(super) unwritten_uses: Mutex<HashMap<TokenHash, TokenUse>>,
}

impl AccountService {
    /// Creates the service. The servers of a store share its login throttle if their keyrings have the same keys.
    #[must_use]
    pub fn new(
        config_store: Arc<dyn ConfigStore>,
        token_store: Arc<dyn TokenStore>,
        throttle_store: Arc<dyn ThrottleStore>,
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            config_store,
            token_store,
            clock,
            login_throttle: LoginThrottle::new(throttle_store, Arc::clone(&keyring), "logins"),
            keyring,
            failed_login_audit: Mutex::default(),
            host_token_hash: RwLock::default(),
            sign_in_links: SignInLinks::default(),
            unwritten_uses: Mutex::default(),
        }
    }

    /// Returns the host itself, as an admin of `customer`: the command line and the server.
    #[must_use]
    pub fn host_admin_caller(customer: CustomerId, entry_point: EntryPoint) -> Caller {
        Caller {
            customer,
            user_id: UserId::HOST,
            login: Arc::from("host"),
            role: Role::Admin,
            token_scopes: None,
            client_address: None,
            entry_point,
        }
    }
}

/// Sets the address of `caller`.
pub(super) fn with_client_address(address: IpAddr, caller: Caller) -> Caller {
    Caller { client_address: Some(address), ..caller }
}
