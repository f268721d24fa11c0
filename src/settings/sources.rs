//! Sources of settings.

use std::path::PathBuf;

use super::setting::Setting;
use super::table::SETTINGS;
use crate::syntax::closest_match;

/// Sources of settings.
#[derive(Clone, Debug, Default)]
pub struct SettingSources {
    /// The settings file.
    pub file: Option<PathBuf>,
    /// Environment variables that begin with `VIGIE_`.
    pub environment: Vec<(String, String)>,
    /// Flags: the path of the setting, and its value as text.
    pub flags: Vec<(&'static str, String)>,
    /// Folder of the credentials that systemd passes to the service (variable `CREDENTIALS_DIRECTORY`).
    pub credentials_folder: Option<PathBuf>,
}

/// The variable with the password of the store.
const STORE_PASSWORD_VARIABLE: &str = "VIGIE_STORE_PASSWORD";

/// Variables that begin with `VIGIE_` but are no settings.
const NON_SETTING_VARIABLES: [&str; 6] = [
    "VIGIE_CONFIG",
    "VIGIE_TOKEN",
    "VIGIE_SERVER",
    "VIGIE_HOST_TOKEN",
    "VIGIE_PUSH_URL",
    STORE_PASSWORD_VARIABLE,
];

impl SettingSources {
    /// Adds the environment variables of this process.
    #[must_use]
    pub fn with_environment(mut self) -> Self {
        self.environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("VIGIE_"))
            .collect();
        self.credentials_folder = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        self
    }

    /// Returns the password of the store in the environment; `None` for an empty one.
    #[must_use]
    pub fn store_password(&self) -> Option<&str> {
        let found = self.environment.iter().find(|(name, _)| name == STORE_PASSWORD_VARIABLE);
        found.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    }

    /// Returns the name and the text of the environment variable that gives `setting`.
    pub(super) fn environment_value(&self, setting: &Setting) -> Option<(&str, &str)> {
        let variable = setting.env_var()?;
        let (name, text) = self.environment.iter().find(|(name, _)| *name == variable)?;
        Some((name, text))
    }

    /// Returns the text of the flag that gives `setting`.
    pub(super) fn flag_value(&self, setting: &Setting) -> Option<&str> {
        self.flags.iter().find(|(path, _)| *path == setting.path).map(|(_, text)| text.as_str())
    }

    /// Returns the names of variables that look like settings but are not, each with the likely name.
    #[must_use]
    pub fn unknown_variables(&self) -> Vec<(String, Option<String>)> {
        let known_names: Vec<String> = SETTINGS.iter().filter_map(Setting::env_var).collect();
        let is_unknown =
            |name: &&String| !known_names.contains(name) && !NON_SETTING_VARIABLES.contains(&name.as_str());
        // Similarity is compared in lower case.
        let lowercase_names: Vec<String> = known_names.iter().map(|name| name.to_lowercase()).collect();
        let suggest = |name: &String| {
            closest_match(name, lowercase_names.iter().map(String::as_str)).map(str::to_uppercase)
        };
        self.environment
            .iter()
            .map(|(name, _)| name)
            .filter(is_unknown)
            .map(|name| (name.clone(), suggest(name)))
            .collect()
    }
}
