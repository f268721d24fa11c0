//! Pages that stay up to date: what of a page changes, and the stream of updates that a browser reads (server-sent
//! events, WHATWG HTML 9.2). Only what changed is sent, at most once a second, and nothing that a person types into.

mod open_streams;
mod page;
mod shown_page;
mod state;
mod stream;

pub(super) use page::{LiveBlock, LivePage, LiveRow};
pub use state::LiveState;
pub(super) use stream::get_updates;
