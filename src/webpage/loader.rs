//! The state of a page while it is loaded.

use futures::stream::FuturesUnordered;
use http::HeaderMap;

use super::finds::Finds;
use super::flight::Flight;
use super::object::Object;
use super::origin::Origin;
use super::prepared::Prepared;
use super::terms::Terms;
use crate::protocol::http::client::{AuthState, CookieJar};

/// A page while it is loaded.
pub(super) struct Loader<'a> {
    /// By which terms.
    pub(super) terms: &'a Terms<'a>,
    /// Cookies.
    pub(super) jar: &'a mut CookieJar,
    /// The login.
    pub(super) pass: Option<&'a mut AuthState>,
    /// What was found.
    pub(super) finds: Finds,
    /// In the order in which they were found.
    pub(super) objects: Vec<Object>,
    /// The servers that they are asked of.
    pub(super) origins: Vec<Origin>,
    /// What is under way.
    pub(super) flights: FuturesUnordered<Flight<'a>>,
    /// Objects that something is under way for.
    pub(super) under_way: usize,
    /// Shared connections so far.
    pub(super) shared: usize,
    /// Header fields of the monitor, as objects of the page's own server are asked with.
    pub(super) own: HeaderMap,
    /// Header fields that were put together for other objects.
    pub(super) prepared: Vec<Prepared>,
}
