//! GET `/openapi.json`, and the page that shows the same to people: both made once, from the operations that
//! are routed and the field table.

mod document;
mod endpoint;
mod html;
mod page;
mod parameters;
mod responses;

pub use document::document;
pub(super) use endpoint::routes;
