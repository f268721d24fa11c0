//! On whose behalf a connection is made.

use super::id::CustomerId;

/// On whose behalf a connection is made, which decides what it may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EgressPrincipal {
    /// Vigie itself, for the services that it uses, such as a remote WebDriver.
    Vigie,
    /// The operator of this host: settings, account 1, and monitor files of any account.
    Operator,
    /// A user of this account.
    Account(CustomerId),
}

impl EgressPrincipal {
    /// Returns the principal for connections that a user of `account` configured.
    #[must_use]
    pub fn for_account(account: CustomerId) -> Self {
        if account == CustomerId::OPERATOR { Self::Operator } else { Self::Account(account) }
    }
}
