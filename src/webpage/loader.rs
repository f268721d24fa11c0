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

/// A page while it is loaded.
pub(super) struct PageLoader<'a> {
    /// By which terms.
    pub(super) options: &'a LoadOptions<'a>,
    /// Cookies.
    pub(super) jar: &'a mut CookieJar,
    /// The login.
    pub(super) auth_state: Option<&'a mut AuthState>,
    /// What was found.
    pub(super) queue: PageObjectQueue,
    /// In the order in which they were found.
    pub(super) objects: Vec<LoadingObject>,
    /// The servers that they are asked of.
    pub(super) origins: Vec<OriginServer>,
    /// What is under way.
    pub(super) tasks: FuturesUnordered<LoadTask<'a>>,
    /// Objects that something is under way for.
    pub(super) in_flight: usize,
    /// Shared connections so far.
    pub(super) shared: usize,
    /// Header fields of the monitor, as objects of the page's own server are asked with.
    pub(super) own_headers: HeaderMap,
    /// Header fields that were put together for other objects.
    pub(super) header_cache: Vec<CachedHeaders>,
}
