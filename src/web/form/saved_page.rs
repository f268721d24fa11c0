//! What is said after a form was saved, where there is more to say: values that are shown once, and warnings.

use askama::Template;

use crate::texts::Locale;

/// What stands on the page after a form was saved.
#[derive(Template)]
#[template(path = "saved.html", config = "src/web/askama.toml")]
pub(super) struct SavedPage<'a> {
    /// What was done.
    pub(super) heading: String,
    /// Names and values that only this page shows, such as the secret of a location.
    pub(super) values: Vec<(String, String)>,
    /// Warnings for the author, in English as in the API.
    pub(super) warnings: &'a [String],
    /// Path and name of the page to go on with.
    pub(super) next: (String, &'a str),
    /// Path of the form.
    pub(super) edit_path: Option<String>,
    /// The language.
    pub(super) t: Locale,
}
