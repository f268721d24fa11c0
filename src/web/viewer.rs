//! Who looks at a page, and what they may see.

use std::sync::Arc;

use super::csrf::FORM_TOKEN_FIELD;
use super::location_switch::LocationSwitch;
use super::preferences::Preferences;
use crate::domain::{CustomerId, Permission, UserId, escape_html};
use crate::service::{Caller, LocationAudience};
use crate::texts::Locale;

/// What the caller may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Viewer {
    /// Account whose monitors are shown; `None` for all accounts.
    pub(super) visible_account: Option<CustomerId>,
    /// Who is signed in; `None` for somebody else on public pages.
    pub(super) caller: Option<Caller>,
    /// Whose captures are shown.
    pub(super) captures: CaptureAccess,
    /// Whether the values of queries in URLs are shown.
    pub(super) can_see_query_values: bool,
    /// What the header of the page offers.
    pub(super) session_control: SessionControl,
    /// How the person wants the pages to look.
    pub(super) preferences: Preferences,
    /// The location that the person looks at.
    pub(super) location_switch: LocationSwitch,
}

/// The viewer is not signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotSignedIn;

impl Viewer {
    /// Returns the language and the time zone of the viewer.
    pub(super) fn locale(&self) -> Locale {
        self.preferences.locale()
    }

    /// Returns the caller that acts for the viewer in the account `customer`; `None` when the viewer may not act there.
    /// The host acts in every account.
    pub(super) fn caller_for(&self, customer: CustomerId) -> Option<Caller> {
        let caller = self.caller.clone()?;
        match caller.user_id {
            UserId::HOST => Some(Caller { customer, ..caller }),
            _ => Some(caller).filter(|caller| caller.customer == customer),
        }
    }

    /// Returns whose locations the viewer may choose.
    pub(super) fn location_audience(&self) -> LocationAudience {
        match &self.caller {
            Some(caller) if caller.user_id == UserId::HOST && self.preferences.account.is_none() => {
                LocationAudience::Host
            }
            Some(caller) => LocationAudience::Account(caller.customer),
            None => LocationAudience::Public,
        }
    }

    /// Whether the recipients and custom properties of the account `customer` are the viewer's business.
    pub(super) fn knows_account(&self, customer: CustomerId) -> bool {
        self.caller_for(customer).is_some()
    }

    /// Whether the viewer may create and change monitors on the pages.
    pub(super) fn may_edit(&self) -> bool {
        let may_edit = self.caller.as_ref().is_some_and(|caller| caller.allows(Permission::Edit));
        may_edit && self.form_token().is_some()
    }

    /// Returns the account whose agents and shares the viewer may see, `None` for all accounts; an error for nobody's.
    pub(super) fn account_of_caller(&self) -> Result<Option<CustomerId>, NotSignedIn> {
        match &self.caller {
            Some(caller) if caller.user_id == UserId::HOST => Ok(self.visible_account),
            Some(caller) => Ok(Some(caller.customer)),
            None => Err(NotSignedIn),
        }
    }

    /// Returns the token of the viewer's forms; `None` without a session.
    pub(super) fn form_token(&self) -> Option<&str> {
        match &self.session_control {
            SessionControl::SignOut { form_token, .. } => Some(form_token),
            SessionControl::Nothing | SessionControl::SignIn => None,
        }
    }
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub(super) fn render(&self, t: Locale) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::SignIn => format!(r#"<a class="session" href="/sign-in">{}</a>"#, t.text("Sign in")),
            Self::SignOut { login, form_token } => format!(
                r#"<form class="session" action="/sign-out" method="post"><input type="hidden" name="{FORM_TOKEN_FIELD}" value="{form_token}">{} <button>{}</button></form>"#,
                escape_html(login),
                t.text("Sign out")
            ),
        }
    }
}

/// Returns a viewer of all accounts, for tests.
#[cfg(test)]
pub(super) fn test_viewer() -> Viewer {
    Viewer {
        visible_account: None,
        caller: None,
        captures: CaptureAccess::Nobody,
        can_see_query_values: true,
        session_control: SessionControl::Nothing,
        preferences: Preferences::default(),
        location_switch: LocationSwitch::default(),
    }
}
