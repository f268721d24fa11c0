//! How a person wants the pages to look. Kept in a cookie, so that it counts before signing in, and per browser.

use axum::http::header;
use axum::http::request::Parts;

use super::cookies::{Cookie, CookieScope};
use crate::domain::{CustomerId, LocationId};
use crate::texts::{Language, Locale, Zone, accepted_language, key};

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
            Self::System => key("system"),
            Self::Light => key("light"),
            Self::Dark => key("dark"),
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
    /// The language that the person chose; `None` for what the browser says.
    pub(super) language: Option<Language>,
    /// The time zone that the person chose; `None` for that of the account.
    pub(super) zone: Option<Zone>,
    /// The account that the host looks at; `None` for all of them. Of no effect for others, who belong to one.
    pub(super) account: Option<CustomerId>,
    /// The location that the person looks at; `None` for all of them.
    pub(super) location: Option<LocationId>,
    /// What the browser says.
    accepted_language: Language,
    /// The time zone of the account.
    account_zone: Zone,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            has_single_keys: true,
            language: None,
            zone: None,
            account: None,
            location: None,
            accepted_language: Language::default(),
            account_zone: Zone::default(),
        }
    }
}

impl Preferences {
    /// Reads the cookie of a request; what is missing or not valid has its default.
    pub(super) fn from_head(head: &Parts) -> Self {
        let text = CookieScope::of(head).read(Cookie::Preferences, &head.headers).unwrap_or_default();
        let accepted = head.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let accepted_language = accepted.and_then(accepted_language).unwrap_or_default();
        let mut preferences = Self { accepted_language, ..Self::default() };
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            preferences.set(&name, &value);
        }
        preferences
    }

    /// Returns the preferences of somebody whose account has this time zone.
    pub(super) fn with_account_zone(self, zone: Zone) -> Self {
        Self { account_zone: zone, ..self }
    }

    /// Whether the pages are in English.
    pub(super) fn is_english(&self) -> bool {
        self.locale().language == Language::English
    }

    /// Returns the language and the time zone of pages.
    pub(super) fn locale(&self) -> Locale {
        Locale {
            language: self.language.unwrap_or(self.accepted_language),
            zone: self.zone.unwrap_or(self.account_zone),
        }
    }

    /// Returns the time zone of the account.
    pub(super) fn account_zone(&self) -> Zone {
        self.account_zone
    }

    /// Whether the person chose the time zone `name`.
    pub(super) fn has_zone(&self, name: &str) -> bool {
        self.zone.is_some_and(|zone| zone.name() == name)
    }

    /// Whether the host looks at the account `customer`.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    pub(super) fn has_account(&self, customer: &CustomerId) -> bool {
        self.account == Some(*customer)
    }

    /// Sets the one that a form or the cookie calls `name`, if `value` is valid.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        match (name, value) {
            ("theme", value) => self.theme = Theme::from_name(value).unwrap_or(self.theme),
            ("keys", "on") => self.has_single_keys = true,
            ("keys", "off") => self.has_single_keys = false,
            ("language", "") => self.language = None,
            ("language", code) => self.language = Language::from_code(code).or(self.language),
            ("account", "") => self.account = None,
            ("account", id) => self.account = id.parse().ok().map(CustomerId).or(self.account),
            ("location", "") => self.location = None,
            ("location", id) => self.location = id.parse().ok().map(LocationId).or(self.location),
            ("zone", "") => self.zone = None,
            ("zone", zone) => self.zone = Zone::from_name(zone).or(self.zone),
            _ => {}
        }
    }

    /// Returns the value of the cookie.
    pub(super) fn to_cookie_value(self) -> String {
        let mut value = url::form_urlencoded::Serializer::new(String::new());
        value.append_pair("theme", self.theme.name());
        value.append_pair("keys", if self.has_single_keys { "on" } else { "off" });
        if let Some(language) = self.language {
            value.append_pair("language", language.code());
        }
        if let Some(zone) = self.zone {
            value.append_pair("zone", zone.name());
        }
        if let Some(account) = self.account {
            value.append_pair("account", &account.to_string());
        }
        if let Some(location) = self.location {
            value.append_pair("location", &location.to_string());
        }
        value.finish()
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
                .into_iter()
                .chain([("language", "de"), ("language", "xx"), ("zone", "Etc/GMT+5"), ("zone", "Mars/Base")])
                .chain([("account", "12"), ("account", "x"), ("location", "3"), ("location", "y")])
        {
            preferences.set(name, value);
        }
        let expected = Preferences {
            theme: Theme::Dark,
            has_single_keys: false,
            language: Some(Language::German),
            zone: Zone::from_name("Etc/GMT+5"),
            account: Some(CustomerId(12)),
            location: Some(LocationId(3)),
            ..Preferences::default()
        };
        assert_eq!(preferences, expected);
        let mut read = Preferences::default();
        for (name, value) in url::form_urlencoded::parse(preferences.to_cookie_value().as_bytes()) {
            read.set(&name, &value);
        }
        assert_eq!(read, preferences);
        read.set("zone", "");
        read.set("language", "");
        assert_eq!(read.language, None);
        read.set("language", "de");
        let account_zone = Zone::from_name("Europe/Paris").unwrap();
        let locale = read.with_account_zone(account_zone).locale();
        assert_eq!((locale.language, locale.zone), (Language::German, account_zone));
    }
}
