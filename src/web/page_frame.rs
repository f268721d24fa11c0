//! What surrounds the content of every page: head, navigation, breadcrumbs, footer.

use askama::Template;
use axum::response::Html;

use super::assets::asset_url;
use super::location_switch::LocationSwitch;
use super::preferences::{Preferences, Theme};
use super::viewer::{SessionControl, Viewer};
use crate::domain::Timestamp;
use crate::texts::{Language, Locale, key};

/// The parts that the navigation leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The list of monitors, and the pages of one monitor and its results.
    Monitors,
    /// Locations and agents.
    Locations,
    /// What an account has beside its monitors.
    Account,
    /// The manual.
    Manual,
    /// The reference of the API.
    Api,
}

impl Section {
    /// Every section, in the order of the navigation.
    pub(super) const ALL: [Self; 5] =
        [Self::Monitors, Self::Locations, Self::Account, Self::Manual, Self::Api];

    /// Returns its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Monitors => key("Monitors"),
            Self::Locations => key("Locations"),
            Self::Account => key("Account"),
            Self::Manual => key("Manual"),
            Self::Api => key("API"),
        }
    }

    /// Returns the path of its first page.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Monitors => "/",
            Self::Locations => "/locations",
            Self::Account => "/account",
            Self::Manual => "/manual/",
            Self::Api => "/api/v3/docs",
        }
    }
}

/// What browsers tell other pages about the address of this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Referrer {
    /// The address, to this server. Without it, browsers send no `Origin` with forms.
    #[default]
    SameOrigin,
    /// Nothing: the address holds a secret.
    Never,
}

impl Referrer {
    const fn name(self) -> &'static str {
        match self {
            Self::SameOrigin => "same-origin",
            Self::Never => "no-referrer",
        }
    }
}

/// A page above this one.
#[derive(Clone, Debug)]
pub(super) struct Breadcrumb {
    /// Its name.
    pub(super) name: String,
    /// Its path.
    pub(super) path: String,
}

impl Breadcrumb {
    /// Returns the breadcrumb of the list of monitors.
    pub(super) fn monitors(t: Locale) -> Self {
        Self { name: t.text(Section::Monitors.name()).to_owned(), path: Section::Monitors.path().to_owned() }
    }
}

/// What surrounds the content of a page.
#[derive(Clone, Debug)]
pub(super) struct PageFrame<'a> {
    /// Title of the window.
    pub(super) title: &'a str,
    /// What the header offers.
    pub(super) session_control: &'a SessionControl,
    /// How the person wants it to look.
    pub(super) preferences: Preferences,
    /// The location that the person looks at; `None` where there is no person yet.
    pub(super) location_switch: Option<&'a LocationSwitch>,
    /// The section that it belongs to.
    pub(super) section: Option<Section>,
    /// The pages above it, from the top; empty for the page of a section.
    pub(super) breadcrumbs: Vec<Breadcrumb>,
    /// What browsers tell about its address.
    pub(super) referrer: Referrer,
    /// Whether nothing but the content is shown: no link leads to the other pages, which its reader may not see.
    pub(super) is_bare: bool,
    /// Whether the foot has the form of preferences, which leads back to this page.
    pub(super) has_preferences: bool,
    /// The time of the server, in milliseconds since 1970, for pages with ages: the clock of the browser may be wrong.
    pub(super) now_ms: Option<i64>,
}

impl<'a> PageFrame<'a> {
    /// Returns the frame of a page for `viewer`, in no section.
    pub(super) fn new(title: &'a str, viewer: &'a Viewer) -> Self {
        let session_control = &viewer.session_control;
        let location_switch = Some(&viewer.location_switch);
        Self { session_control, location_switch, ..Self::without_viewer(title, viewer.preferences) }
    }

    /// Returns the frame of a page for somebody who is not signed in.
    pub(super) fn without_viewer(title: &'a str, preferences: Preferences) -> Self {
        Self {
            title,
            session_control: &SessionControl::Nothing,
            preferences,
            location_switch: None,
            section: None,
            breadcrumbs: Vec::new(),
            referrer: Referrer::default(),
            is_bare: false,
            has_preferences: true,
            now_ms: None,
        }
    }

    /// Returns the frame of a page behind a secret address, for people who may not see the other pages.
    pub(super) fn bare(title: &'a str, preferences: Preferences) -> Self {
        let frame = Self::without_viewer(title, preferences);
        // The form of preferences leads back to the address, which must not be told to it.
        Self { referrer: Referrer::Never, is_bare: true, has_preferences: false, ..frame }
    }

    /// Returns the frame with the time of the server.
    pub(super) fn at(self, now: Timestamp) -> Self {
        Self { now_ms: Some(now.as_micros().div_euclid(1_000)), ..self }
    }

    fn is_in(&self, section: Section) -> bool {
        self.section == Some(section)
    }

    /// Whether the person may see pages, and so can go to one.
    fn has_palette(&self) -> bool {
        matches!(self.session_control, SessionControl::SignOut { .. })
    }

    /// Whether the navigation leads to `section`: to an account, only for its users.
    fn shows(&self, section: Section) -> bool {
        section != Section::Account || self.has_palette()
    }

    /// Returns the name of the location that the person looks at, where there are several.
    fn location_name(&self, t: &Locale) -> Option<&str> {
        let switch = self.location_switch.filter(|switch| !switch.choices().is_empty());
        switch.map(|switch| switch.name(t))
    }

    fn theme(&self) -> Theme {
        self.preferences.theme
    }
}

/// A whole document.
#[derive(Template)]
#[template(path = "layout.html", config = "src/web/askama.toml")]
struct Layout<'a> {
    frame: PageFrame<'a>,
    body: &'a str,
    version: &'static str,
    t: Locale,
    /// The texts of scripts, as JSON, unless they are in English.
    script_texts: Option<String>,
}

/// The texts of scripts, which have them in English.
const SCRIPT_TEXTS: [&str; 15] = [
    key("{duration} ago"),
    key("Live"),
    key("Signed out: this page is no longer up to date."),
    key("Sign in"),
    key("This page no longer exists."),
    key("Monitors"),
    key("Not connected, trying again …"),
    key("no run passed"),
    key("Drag to move"),
    key("the {count} chosen"),
    key("{picture}, {number} of {count}"),
    key("Screenshot"),
    key("Close"),
    key("Previous"),
    key("Next"),
];

/// Returns the texts of scripts as JSON; `None` for English.
fn script_texts(t: Locale) -> Option<String> {
    let texts = SCRIPT_TEXTS.iter().map(|english| ((*english).to_owned(), t.text(english).into()));
    let texts = serde_json::Value::Object(texts.collect());
    (t.language != Language::English).then(|| texts.to_string())
}

/// Renders a whole document around `body`, which is HTML.
pub(super) fn render_page(frame: PageFrame<'_>, body: &str) -> Html<String> {
    let t = frame.preferences.locale();
    let layout = Layout { body, version: env!("CARGO_PKG_VERSION"), t, script_texts: script_texts(t), frame };
    // Writing into a string cannot fail.
    Html(layout.render().unwrap_or_default())
}
