//! Which accounts may use an object of the settings.

use std::collections::BTreeSet;

use super::egress_principal::EgressPrincipal;
use super::id::CustomerId;

/// The accounts that may use an object of the settings, such as a proxy. The operator (account 1 and monitor files)
/// always may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedAccounts(BTreeSet<CustomerId>);

impl AllowedAccounts {
    /// Whether `account` may use it.
    #[must_use]
    pub fn allows(&self, account: CustomerId) -> bool {
        account == CustomerId::OPERATOR || self.0.contains(&account)
    }

    /// Whether a connection of `principal` may use it.
    #[must_use]
    pub fn allows_principal(&self, principal: EgressPrincipal) -> bool {
        match principal {
            EgressPrincipal::Vigie | EgressPrincipal::Operator => true,
            EgressPrincipal::Account(account) => self.allows(account),
        }
    }
}

impl FromIterator<CustomerId> for AllowedAccounts {
    fn from_iter<I: IntoIterator<Item = CustomerId>>(accounts: I) -> Self {
        Self(accounts.into_iter().collect())
    }
}
