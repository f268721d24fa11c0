//! How a person wants the pages to look. Kept in a cookie, so that it counts before signing in, and per browser.

use axum::http::request::Parts;

use super::cookies::{Cookie, CookieScope};

/// The colours of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Theme {
    /// Those of the operating system.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// Every theme.
    pub(super) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Returns its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }
}

/// How a person wants the pages to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Preferences {
    /// The colours.
    pub(super) theme: Theme,
}

impl Preferences {
    /// Reads the cookie of a request; what is missing or not valid has its default.
    pub(super) fn from_head(head: &Parts) -> Self {
        let text = CookieScope::of(head).read(Cookie::Preferences, &head.headers).unwrap_or_default();
        let mut preferences = Self::default();
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            preferences.set(&name, &value);
        }
        preferences
    }

    /// Sets the one that a form or the cookie calls `name`, if `value` is valid.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        if name == "theme"
            && let Some(theme) = Theme::from_name(value)
        {
            self.theme = theme;
        }
    }

    /// Returns the value of the cookie.
    pub(super) fn to_cookie_value(self) -> String {
        format!("theme={}", self.theme.name())
    }
}
