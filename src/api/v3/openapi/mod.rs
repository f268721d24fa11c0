//! GET `/openapi.json`, and the same document as an HTML page. Both are generated once, from the routed operations
//! and the field tables.

mod document;
mod endpoint;
mod html;
mod page;
mod parameters;
mod responses;
mod search;

pub use document::build_document;
pub(super) use endpoint::openapi_router;
