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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Preferences {
    /// The colours.
    pub(super) theme: Theme,
    /// Whether single letters are keys for what is done often (WCAG 2.2, 2.1.4 asks that they can be switched off).
    pub(super) has_single_keys: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { theme: Theme::default(), has_single_keys: true }
    }
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
        match (name, value) {
            ("theme", value) => self.theme = Theme::from_name(value).unwrap_or(self.theme),
            ("keys", "on") => self.has_single_keys = true,
            ("keys", "off") => self.has_single_keys = false,
            _ => {}
        }
    }

    /// Returns the value of the cookie.
    pub(super) fn to_cookie_value(self) -> String {
        format!("theme={}&keys={}", self.theme.name(), if self.has_single_keys { "on" } else { "off" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_survives_the_cookie_and_nonsense_changes_nothing() {
        let mut preferences = Preferences::default();
        for (name, value) in
            [("theme", "dark"), ("keys", "off"), ("theme", "pink"), ("keys", "x"), ("z", "y")]
        {
            preferences.set(name, value);
        }
        assert_eq!(preferences, Preferences { theme: Theme::Dark, has_single_keys: false });
        let mut read = Preferences::default();
        for (name, value) in url::form_urlencoded::parse(preferences.to_cookie_value().as_bytes()) {
            read.set(&name, &value);
        }
        assert_eq!(read, preferences);
    }
}
