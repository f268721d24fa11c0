//! The settings of `collection-api`.

use serde::Deserialize;

/// A collection of requests and what it is run with.
#[derive(Clone, Debug, Deserialize)]
pub struct CollectionSettings<'a> {
    /// The collection, as JSON.
    pub script: &'a str,
    /// The environment, as JSON.
    pub environment: Option<&'a str>,
    /// The globals, as JSON.
    pub globals: Option<&'a str>,
    /// Rows of data, as CSV or JSON: one iteration for each.
    pub data: Option<&'a str>,
    /// Files that bodies send.
    #[serde(borrow)]
    pub files: Vec<CollectionFileSettings<'a>>,
}

/// A file that bodies send.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CollectionFileSettings<'a> {
    /// Its name, as the collection calls it: the last part of the path.
    pub name: &'a str,
    /// Its content, as Base64.
    pub base64: &'a str,
}
