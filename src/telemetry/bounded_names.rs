//! Names that users choose, as labels of metrics: only the first ones have a series of their own.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::domain::CustomerId;
use crate::sync::RwLock;

/// The label of all names beyond the first ones.
const OTHER: &str = "other";
/// Longest label, in characters.
const MAX_LABEL_CHARS: usize = 100;
/// Most names over all accounts.
const MAX_NAMES: usize = 100;
/// Most names that one account other than the operator's can add, so that none takes all.
const MAX_NAMES_PER_ACCOUNT: usize = 20;

/// The names that have a series of their own.
#[derive(Debug, Default)]
pub(super) struct BoundedNames(RwLock<AdmittedNames>);

#[derive(Debug, Default)]
struct AdmittedNames {
    /// Names that are their own label.
    names: HashSet<Arc<str>>,
    /// How many of these each account added.
    count_by_account: HashMap<CustomerId, usize>,
}

impl BoundedNames {
    /// Returns the label of `name`, which `account` uses: from then on itself, or `other` at a limit.
    pub(super) fn claim_label(&self, account: CustomerId, name: &str) -> Arc<str> {
        let end = name.char_indices().nth(MAX_LABEL_CHARS).map_or(name.len(), |(at, _)| at);
        let name = &name[..end];
        if let Some(label) = self.0.read().names.get(name) {
            return Arc::clone(label);
        }
        let mut admitted_names = self.0.write();
        let admitted_names = &mut *admitted_names;
        if admitted_names.names.len() >= MAX_NAMES {
            return OTHER.into();
        }
        let account_name_count = admitted_names.count_by_account.entry(account).or_default();
        if account != CustomerId::OPERATOR && *account_name_count >= MAX_NAMES_PER_ACCOUNT {
            return OTHER.into();
        }
        let name: Arc<str> = name.into();
        if admitted_names.names.insert(Arc::clone(&name)) {
            *account_name_count += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_names_are_counted_as_other_and_no_account_takes_all() {
        let names = BoundedNames::default();
        let is_own = |account: i64, number: usize| {
            let name = format!("{account} {number}");
            *names.claim_label(CustomerId(account), &name) == *name
        };
        let own_names = |account: i64| (0..150).filter(|number| is_own(account, *number)).count();
        assert_eq!([2, 3, 1, 4].map(own_names), [20, 20, 60, 0]);
        // Known names stay.
        assert_eq!([2, 3, 1, 4].map(own_names), [20, 20, 60, 0]);
        assert_eq!(&*names.claim_label(CustomerId(4), "1 0"), "1 0");
        let long = "é".repeat(1000);
        let label = BoundedNames::default().claim_label(CustomerId(1), &long);
        assert_eq!(label.chars().count(), MAX_LABEL_CHARS);
    }
}
