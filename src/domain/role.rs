//! Roles and their permissions (behaviour.md 1 "Roles").

use std::fmt;

/// The role of a user in its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// May do everything.
    Admin,
    /// Everything but the admins' own accounts and the locking of users.
    CoAdmin,
    /// Monitors, blackouts, recipients, agreements, events.
    PowerUser,
    /// Sees everything but secrets.
    ReadOnly,
    /// Sees results and reports.
    ReportOnly,
}

/// The permission that a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// See results and reports.
    ViewReports,
    /// See everything but secrets.
    View,
    /// Change monitors, blackouts, recipients, agreements; report events; request tests.
    Edit,
    /// Change users, locations, properties, certificates and the account.
    Administer,
    /// Lock users and change admins.
    ManageAdmins,
}

impl Role {
    /// Every role, the most powerful first.
    pub const ALL: [Self; 5] =
        [Self::Admin, Self::CoAdmin, Self::PowerUser, Self::ReadOnly, Self::ReportOnly];

    /// Their names, in the order of [`Role::ALL`].
    pub const NAMES: [&str; 5] = ["ADMIN", "CO-ADMIN", "POWER-USER", "READONLY", "REPORTONLY"];

    /// Returns the name of behaviour.md 1.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the role with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether the role has `permission`.
    #[must_use]
    pub const fn allows(self, permission: Permission) -> bool {
        match self {
            Self::Admin => true,
            Self::CoAdmin => !matches!(permission, Permission::ManageAdmins),
            Self::PowerUser => {
                matches!(permission, Permission::ViewReports | Permission::View | Permission::Edit)
            }
            Self::ReadOnly => matches!(permission, Permission::ViewReports | Permission::View),
            Self::ReportOnly => matches!(permission, Permission::ViewReports),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_more_permissions_than_the_next() {
        let permissions = [
            Permission::ViewReports,
            Permission::View,
            Permission::Edit,
            Permission::Administer,
            Permission::ManageAdmins,
        ];
        let counts: Vec<usize> = Role::ALL
            .iter()
            .map(|role| permissions.iter().filter(|permission| role.allows(**permission)).count())
            .collect();
        assert_eq!(counts, [5, 4, 3, 2, 1]);
        for role in Role::ALL {
            assert_eq!(Role::from_name(role.name()), Some(role));
        }
    }
}
