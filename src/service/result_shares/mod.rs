//! Shares of results: links that open the page of one result without a login, for some days.

mod result_share;
mod share_service;

pub use result_share::ResultShare;
pub use share_service::{NewResultShare, ResultShareDependencies, ResultShares, shared_result_path};
