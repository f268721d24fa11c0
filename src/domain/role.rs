//! Roles and what each may do (behaviour.md 1 "Roles").

use std::fmt;

/// What a user is to its account.
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

/// What a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// See results and reports.
    ViewReports,
    /// See everything but secrets.
    View,
    /// Change monitors, blackouts, recipients, agreements; report events; order tests.
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

    /// Their words, in the order of [`Role::ALL`].
    pub const NAMES: [&str; 5] = ["ADMIN", "CO-ADMIN", "POWER-USER", "READONLY", "REPORTONLY"];

    /// The word of behaviour.md 1.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The role with this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether the role has `right`.
    #[must_use]
    pub const fn allows(self, right: Permission) -> bool {
        match self {
            Self::Admin => true,
            Self::CoAdmin => !matches!(right, Permission::ManageAdmins),
            Self::PowerUser => matches!(right, Permission::ViewReports | Permission::View | Permission::Edit),
            Self::ReadOnly => matches!(right, Permission::ViewReports | Permission::View),
            Self::ReportOnly => matches!(right, Permission::ViewReports),
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
    fn each_role_may_what_the_next_one_may_and_more() {
        let rights = [
            Permission::ViewReports,
            Permission::View,
            Permission::Edit,
            Permission::Administer,
            Permission::ManageAdmins,
        ];
        let held: Vec<usize> =
            Role::ALL.iter().map(|role| rights.iter().filter(|right| role.allows(**right)).count()).collect();
        assert_eq!(held, [5, 4, 3, 2, 1]);
        for role in Role::ALL {
            assert_eq!(Role::from_name(role.name()), Some(role));
        }
    }
}
