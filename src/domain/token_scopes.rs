//! What the token of a program may do.

use super::role::{Permission, Role};

/// What the token of a program may do: some of the four scopes. It never may more than its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenScopes(u8);

/// One scope. Each of the first three includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenScope {
    /// View everything.
    Read,
    /// Change monitors, blackouts, recipients.
    Operate,
    /// Change users, locations, the account.
    Admin,
    /// Read the metrics of the monitors of its account; in account 1, those of the server too.
    Metrics,
}

impl TokenScope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::Read, Self::Operate, Self::Admin, Self::Metrics];

    /// Their names, in the order of [`TokenScope::ALL`].
    pub const NAMES: [&str; 4] = ["read", "operate", "admin", "metrics"];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Returns the permission that its user must have.
    #[must_use]
    pub const fn required_permission(self) -> Permission {
        match self {
            Self::Read => Permission::ViewReports,
            Self::Operate => Permission::Edit,
            Self::Admin => Permission::Administer,
            Self::Metrics => Permission::View,
        }
    }
}

impl TokenScopes {
    /// Returns the scopes with these names; `None` if one is unknown.
    #[must_use]
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        names.into_iter().try_fold(Self(0), |scopes, name| {
            let scope = TokenScope::ALL.into_iter().find(|scope| scope.name() == name)?;
            Some(Self(scopes.0 | scope.bit()))
        })
    }

    /// Returns the scopes stored as `bits`; `None` if one is unknown.
    #[must_use]
    pub fn from_bits(bits: i64) -> Option<Self> {
        u8::try_from(bits).ok().filter(|bits| *bits < 1 << TokenScope::ALL.len()).map(Self)
    }

    /// Returns the bits to store.
    #[must_use]
    pub fn to_bits(self) -> i64 {
        i64::from(self.0)
    }

    /// Whether `scope` is one of them.
    #[must_use]
    pub const fn contains(self, scope: TokenScope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Returns them one by one.
    pub fn iter(self) -> impl Iterator<Item = TokenScope> {
        TokenScope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }

    /// Whether they include `permission`.
    #[must_use]
    pub fn allows(self, permission: Permission) -> bool {
        self.iter().any(|scope| match scope {
            TokenScope::Read => matches!(permission, Permission::ViewReports | Permission::View),
            TokenScope::Operate => {
                matches!(permission, Permission::ViewReports | Permission::View | Permission::Edit)
            }
            TokenScope::Admin => true,
            TokenScope::Metrics => false,
        })
    }

    /// Returns the role that a user of `role` has with such a token: never a more powerful one.
    #[must_use]
    pub fn limit_role(self, role: Role) -> Role {
        let strongest = if self.contains(TokenScope::Admin) {
            Role::Admin
        } else if self.contains(TokenScope::Operate) {
            Role::PowerUser
        } else {
            Role::ReadOnly
        };
        if (role as u8) < (strongest as u8) { strongest } else { role }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(names: &[&str]) -> TokenScopes {
        TokenScopes::from_names(names.iter().copied()).unwrap()
    }

    #[test]
    fn scopes_survive_their_names_and_bits() {
        for names in [&["read"][..], &["read", "operate", "admin", "metrics"], &["metrics"], &[]] {
            let found = scopes(names);
            assert_eq!(found.iter().map(TokenScope::name).collect::<Vec<_>>(), names);
            assert_eq!(TokenScopes::from_bits(found.to_bits()), Some(found));
        }
        assert_eq!(TokenScopes::from_names(["read", "write"]), None);
        for unknown in [-1, 16, 256, i64::MAX] {
            assert_eq!(TokenScopes::from_bits(unknown), None);
        }
    }

    #[test]
    fn each_scope_allows_what_its_name_says_and_raises_no_role() {
        let permissions =
            [Permission::ViewReports, Permission::View, Permission::Edit, Permission::Administer];
        let allowed = |names: &[&str]| {
            permissions.iter().filter(|permission| scopes(names).allows(**permission)).count()
        };
        assert_eq!([allowed(&["metrics"]), allowed(&["read"]), allowed(&["operate"])], [0, 2, 3]);
        assert_eq!([allowed(&["admin"]), allowed(&["read", "metrics"])], [4, 2]);
        assert_eq!(scopes(&["read"]).limit_role(Role::Admin), Role::ReadOnly);
        assert_eq!(scopes(&["operate", "read"]).limit_role(Role::CoAdmin), Role::PowerUser);
        for role in Role::ALL {
            assert_eq!(scopes(&["admin"]).limit_role(role), role);
        }
        assert_eq!(scopes(&["operate"]).limit_role(Role::ReportOnly), Role::ReportOnly);
    }
}
