//! The state of a page while it is loaded.

use futures::stream::FuturesUnordered;
use http::HeaderMap;

use super::header_cache::CachedHeaders;
use super::load_options::LoadOptions;
use super::load_task::LoadTask;
use super::object::LoadingObject;
use super::object_queue::PageObjectQueue;
use super::origin::OriginServer;
use crate::protocol::http::client::{AuthState, CookieJar};

/// Loads the objects of one page.
pub(super) struct PageLoader<'a> {
    /// The options.
    pub(super) options: &'a LoadOptions<'a>,
    /// The cookies.
    pub(super) cookie_jar: &'a mut CookieJar,
    /// The login.
    pub(super) auth_state: Option<&'a mut AuthState>,
    /// The found objects that are not loading yet.
    pub(super) queue: PageObjectQueue,
    /// All objects in the order in which they were found.
    pub(super) objects: Vec<LoadingObject>,
    /// The servers of the objects.
    pub(super) origins: Vec<OriginServer>,
    /// The tasks in progress.
    pub(super) tasks: FuturesUnordered<LoadTask<'a>>,
    /// Number of objects with a task in progress.
    pub(super) objects_in_flight: usize,
    /// Number of shared connections so far.
    pub(super) multiplexed_connection_count: usize,
    /// Header fields of the monitor for objects of the page's own server.
    pub(super) inherited_headers: HeaderMap,
    /// Header fields prepared for other objects.
    pub(super) header_cache: Vec<CachedHeaders>,
}
