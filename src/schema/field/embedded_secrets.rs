//! Texts of which parts are secrets: the others are shown and stored as they are.

use std::borrow::Cow;

use crate::{collection, project, script};

/// A kind of text of which parts are secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddedSecrets {
    /// A browser script: the values of its protected variables.
    BrowserScript,
    /// A collection, an environment or globals: the values of type secret.
    Variables,
    /// The file of a project: passwords and the values of what is named as a secret.
    Project,
}

impl EmbeddedSecrets {
    /// Whether `text` holds secrets, or may hold some and cannot be parsed.
    #[must_use]
    pub fn occur_in(self, text: &str) -> bool {
        match self {
            Self::BrowserScript => script::has_secrets(text),
            Self::Variables => collection::secret_text::has_secrets(text),
            Self::Project => project::secret_text::has_secrets(text),
        }
    }

    /// Returns the secrets of `text`.
    #[must_use]
    pub fn values_in(self, text: &str) -> Vec<String> {
        match self {
            Self::BrowserScript => script::secret_values(text),
            Self::Variables => collection::secret_text::secret_values(text),
            Self::Project => project::secret_text::secret_values(text),
        }
    }

    /// Returns `text` with its secrets masked.
    #[must_use]
    pub fn mask(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::BrowserScript => script::mask_secrets(text),
            Self::Variables => collection::secret_text::mask_secrets(text),
            Self::Project => project::secret_text::mask_secrets(text),
        }
    }

    /// Returns `new` with masks replaced by the secrets of `old`.
    ///
    /// # Errors
    /// Fails when a mask cannot be replaced, with a text that follows the name of the field and a colon.
    pub fn restore<'t>(self, new: &'t str, old: Option<&'t str>) -> Result<Cow<'t, str>, String> {
        match self {
            Self::BrowserScript => script::restore_masked_secrets(new, old),
            Self::Variables => collection::secret_text::restore_masked_secrets(new, old),
            Self::Project => project::secret_text::restore_masked_secrets(new, old),
        }
    }
}
