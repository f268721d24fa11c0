//! `website` and `website-ssl`: one request, its redirects, and the rules for the response (behaviour.md 4).

mod attempt;
mod options;
mod page_analysis;
mod probe;
mod request_headers;

pub use probe::build;
