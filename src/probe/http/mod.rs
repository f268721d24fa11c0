//! `website` and `website-ssl`: one request, its redirects, and the rules on the answer (behaviour.md 4).

mod attempt;
mod full_page;
mod options;
mod probe;
mod request_headers;

pub use probe::build;
