//! The locations whose names pages show, and those of them that an account may choose.

use std::sync::Arc;

use crate::domain::{CustomerId, Location};
use crate::sync::RwLock;

/// The locations of this process, and those with agents on other hosts.
#[derive(Debug)]
pub struct KnownLocations {
    local: RwLock<Arc<[Location]>>,
    remote: RwLock<Arc<[RemoteLocationName]>>,
}

/// A location with agents on other hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteLocationName {
    /// The location.
    pub location: Location,
    /// The account that alone may use it; `None` for one that all may use.
    pub owner: Option<CustomerId>,
}

/// Who chooses among the locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationAudience {
    /// The host's, which sees all accounts.
    Host,
    /// An account's.
    Account(CustomerId),
    /// That of somebody who is not signed in.
    Public,
}

impl KnownLocations {
    /// Creates them with the locations of this process.
    pub(super) fn new(local: Vec<Location>) -> Self {
        Self { local: RwLock::new(local.into()), remote: RwLock::default() }
    }

    /// Sets the locations of this process.
    pub(super) fn set_local(&self, locations: Vec<Location>) {
        *self.local.write() = locations.into();
    }

    /// Sets the locations with agents on other hosts.
    pub(super) fn set_remote(&self, locations: Vec<RemoteLocationName>) {
        let is_known = **self.remote.read() == *locations;
        if !is_known {
            *self.remote.write() = locations.into();
        }
    }

    /// Returns those that `is_shown` keeps. The settings of this process win over a record with the same id.
    fn filtered(&self, is_shown: impl Fn(&RemoteLocationName) -> bool) -> Arc<[Location]> {
        let local = Arc::clone(&self.local.read());
        let remote = Arc::clone(&self.remote.read());
        if remote.is_empty() {
            return local;
        }
        let is_local = |remote: &RemoteLocationName| local.iter().any(|known| known.id == remote.location.id);
        let others = remote.iter().filter(|remote| is_shown(remote) && !is_local(remote));
        local.iter().cloned().chain(others.map(|remote| remote.location.clone())).collect()
    }

    /// Returns all of them.
    pub(super) fn all(&self) -> Arc<[Location]> {
        self.filtered(|_| true)
    }

    /// Returns those that `audience` may choose.
    pub(super) fn for_audience(&self, audience: LocationAudience) -> Arc<[Location]> {
        self.filtered(|remote| match audience {
            LocationAudience::Host => true,
            LocationAudience::Account(account) => remote.owner.is_none_or(|owner| owner == account),
            LocationAudience::Public => remote.owner.is_none(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LocationId;

    fn location(id: i64, name: &str) -> Location {
        Location { id: LocationId(id), name: name.to_owned(), region_code: 1 }
    }

    #[test]
    fn an_account_chooses_among_its_own_and_those_of_all() {
        let known = KnownLocations::new(vec![location(1, "local")]);
        let remote = |id, name: &str, owner: Option<i64>| RemoteLocationName {
            location: location(id, name),
            owner: owner.map(CustomerId),
        };
        known.set_remote(vec![
            remote(1, "as local", None),
            remote(2, "Paris", None),
            remote(3, "of two", Some(2)),
            remote(4, "of three", Some(3)),
        ]);
        let names = |locations: Arc<[Location]>| {
            locations.iter().map(|location| location.name.clone()).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(names(known.all()), "local, Paris, of two, of three");
        assert_eq!(names(known.for_audience(LocationAudience::Host)), "local, Paris, of two, of three");
        let account = LocationAudience::Account(CustomerId(2));
        assert_eq!(names(known.for_audience(account)), "local, Paris, of two");
        assert_eq!(names(known.for_audience(LocationAudience::Public)), "local, Paris");
        known.set_local(Vec::new());
        assert_eq!(names(known.for_audience(LocationAudience::Public)), "as local, Paris");
    }
}
