//! Shared results: sharing one, the list of them, and the page that a link opens without a login.

mod list_page;
mod new_share_page;
mod shared_page;
mod state;

pub(super) use list_page::{get_list, post_revoke};
pub(super) use new_share_page::post_share;
pub(super) use shared_page::{get_shared_capture, get_shared_page};
pub use state::SharesState;
