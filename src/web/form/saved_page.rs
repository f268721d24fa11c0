//! What is said after a form was saved, where there is more to say: values that are shown once, and warnings.

use askama::Template;

use crate::texts::Locale;

/// What stands on the page after a form was saved.
#[derive(Template)]
#[template(path = "saved.html", config = "src/web/askama.toml")]
pub(in crate::web) struct SavedPage<'a> {
    /// What was done.
    pub(in crate::web) heading: String,
    /// Names and values that only this page shows, such as the secret of a location.
    pub(in crate::web) values: Vec<(String, String)>,
    /// Warnings for the author, in English as in the API.
    pub(in crate::web) warnings: &'a [String],
    /// Path and name of the page to go on with.
    pub(in crate::web) next: (String, &'a str),
    /// Path of the form.
    pub(in crate::web) edit_path: Option<String>,
    /// The language.
    pub(in crate::web) t: Locale,
}
