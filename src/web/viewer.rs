//! Who looks at a page, and what they may see.

use std::sync::Arc;

use super::csrf::FORM_TOKEN_FIELD;
use crate::domain::{CustomerId, escape_html};

/// What the caller may see.
#[derive(Clone, Debug)]
pub(super) struct Viewer {
    /// Account whose monitors are shown; `None` for all accounts.
    pub(super) visible_account: Option<CustomerId>,
    /// Whose captures are shown.
    pub(super) captures: CaptureAccess,
    /// Whether the values of queries in URLs are shown.
    pub(super) can_see_query_values: bool,
    /// What the header of the page offers.
    pub(super) session_control: SessionControl,
}

/// Whose captures a viewer may see. They may contain what only a logged-in user may see, so they are never public, even
/// where the pages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureAccess {
    /// None.
    Nobody,
    /// Those of one account.
    Account(CustomerId),
    /// Those of all accounts.
    Everybody,
}

/// What the header of a page offers.
#[derive(Clone, Debug)]
pub(super) enum SessionControl {
    /// Nothing, for a caller with a token.
    Nothing,
    /// A link to sign in.
    SignIn,
    /// A button to sign out.
    SignOut {
        /// The login of the session.
        login: Arc<str>,
        /// Token of the form.
        form_token: String,
    },
}

impl SessionControl {
    /// Renders it as HTML.
    pub(super) fn render(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::SignIn => r#"<a class="session" href="/sign-in">Sign in</a>"#.to_owned(),
            Self::SignOut { login, form_token } => format!(
                r#"<form class="session" action="/sign-out" method="post"><input type="hidden" name="{FORM_TOKEN_FIELD}" value="{form_token}">{} <button>Sign out</button></form>"#,
                escape_html(login)
            ),
        }
    }
}
