//! The whole store of an installation, and one that is opened for reading only.

use std::pin::Pin;

use crate::domain::{
    ConfigRecord, ConfigRecordKind, Paginated, PaginatedResults, Pagination, ResultFilter, Rollup,
    RollupQuery,
};
use crate::schema::Monitor;

use super::alerts::{AlertStore, Outbox};
use super::config_store::ConfigStore;
use super::future::StoreFuture;
use super::hosts::HostStore;
use super::housekeeping::Housekeeping;
use super::ingest::Ingest;
use super::missed_runs::MissedRunStore;
use super::monitors::MonitorStore;
use super::performance_alerts::PerformanceAlertStore;
use super::pushes::PushStore;
use super::results::ResultStore;
use super::throttles::ThrottleStore;
use super::tokens::TokenStore;

/// The store of an installation, whatever its engine is.
pub trait Store:
    Ingest
    + MonitorStore
    + MissedRunStore
    + ResultStore
    + Housekeeping
    + ConfigStore
    + TokenStore
    + ThrottleStore
    + AlertStore
    + Outbox
    + PerformanceAlertStore
    + HostStore
    + PushStore
{
    /// Returns where it is, for messages: the path of the file, or the URL without its password.
    fn describe(&self) -> &str;

    /// Returns a text that is another one when the database is opened again and has lost commits: it was restored, or
    /// failed over to a server that lagged behind. `None` for an engine that cannot tell.
    fn timeline(&self) -> Option<&str>;

    /// Whether commits since this store was opened may be lost: a server that lagged behind has taken the place of the
    /// database. Nothing can be written then, since what this process knows to be stored may not be.
    fn has_lost_commits(&self) -> StoreFuture<'_, bool>;

    /// Stops accepting calls, finishes the accepted ones and releases the database. Later calls fail with
    /// [`StoreError::Closed`](super::StoreError::Closed).
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A store that is opened for reading, whether or not a server uses it.
pub trait ReadOnlyStore: Send + Sync + 'static {
    /// Returns all monitors that were not removed.
    fn monitors(&self) -> StoreFuture<'_, Vec<Monitor>>;

    /// Returns all records of `kind` of all accounts.
    fn records(&self, kind: ConfigRecordKind) -> StoreFuture<'_, Vec<ConfigRecord>>;

    /// Returns results, newest first.
    fn results(&self, filter: ResultFilter, page: Pagination) -> StoreFuture<'_, PaginatedResults>;

    /// Returns statistics by minute, hour or day, oldest first, then by location; `None` for an unknown monitor.
    fn rollup_points(
        &self,
        query: RollupQuery,
        page: Pagination,
    ) -> StoreFuture<'_, Option<Paginated<Rollup>>>;
}
