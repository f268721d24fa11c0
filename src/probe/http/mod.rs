//! `website` and `website-ssl`: one request, its redirects, and the rules on the answer (behaviour.md 4).

mod full_page;
mod header;
mod options;
mod probe;
mod visit;

pub use probe::build;
