//! Loads the settings: a flag beats an environment variable, which beats the file.

use std::path::Path;
use std::sync::Arc;

use super::model::Settings;
use super::sources::SettingSources;
use super::table::SETTINGS;
use super::{build, validate};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

impl Settings {
    /// Reads all of `sources`. Fails with every error.
    pub fn load(sources: &SettingSources) -> Result<Self, Vec<ValidationError>> {
        let (mut values, mut errors) = (validate::SettingValues::new(), Vec::new());
        let mut file_name: Option<Arc<str>> = None;
        if let Some(path) = &sources.file {
            let name: Arc<str> = path.display().to_string().into();
            match super::text_file::read_config_text(path) {
                Ok(text) => validate::read_file_text(&name, &text, &mut values, &mut errors),
                Err(message) => {
                    errors.push(
                        ValidationError::new(ValidationErrorKind::Syntax, "", Position::default(), message)
                            .with_file(&name),
                    );
                }
            }
            file_name = Some(name);
        }
        let mut overridden_paths = Vec::new();
        for setting in SETTINGS {
            if let Some((name, text)) = sources.environment_value(setting) {
                validate::read_override(setting, name, text, &mut values, &mut errors);
                overridden_paths.push(setting.path);
            }
            if let Some(text) = sources.flag_value(setting) {
                let flag = format!("--{}", setting.path.replace(['.', '_'], "-"));
                validate::read_override(setting, &flag, text, &mut values, &mut errors);
                overridden_paths.push(setting.path);
            }
        }
        let mut settings = build::build(values, sources, file_name.as_ref(), &mut errors);
        // Defaults in the file do not count as set: the shipped file has them all. Flags and variables do.
        settings.data_dir_is_set |= overridden_paths.contains(&"data");
        settings.monitor_paths_are_set |= overridden_paths.contains(&"monitors");
        if errors.is_empty() {
            return Ok(settings);
        }
        errors.sort_by_key(|error| (error.file.is_none(), error.position));
        Err(errors)
    }

    /// Returns the errors of a settings file alone, as `vigie config check` shows them.
    #[must_use]
    pub fn file_errors(path: &Path) -> Vec<ValidationError> {
        let sources = SettingSources { file: Some(path.to_owned()), ..SettingSources::default() };
        Self::load(&sources).err().unwrap_or_default()
    }
}
