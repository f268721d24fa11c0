//! A setting: its name, type, default and documentation.

use super::setting_type::SettingType;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Path in the file: `section.name`, or the name alone at the top level.
    pub path: &'static str,
    /// Its type.
    pub setting_type: SettingType,
    /// Default value, as YAML; `null` for none.
    pub default: &'static str,
    /// Description for people; comment lines of the file.
    pub description: &'static str,
    /// Whether a change takes effect without a restart.
    pub reloadable: bool,
}

impl Setting {
    pub(super) const fn new(
        path: &'static str,
        kind: SettingType,
        default: &'static str,
        description: &'static str,
    ) -> Self {
        Self { path, setting_type: kind, default, description, reloadable: false }
    }

    pub(super) const fn reloadable(mut self) -> Self {
        self.reloadable = true;
        self
    }

    /// Returns its environment variable, `VIGIE_` and the path; `None` for lists of maps.
    #[must_use]
    pub fn env_var(&self) -> Option<String> {
        let name = || format!("VIGIE_{}", self.path.replace('.', "_").to_uppercase());
        (!matches!(self.setting_type, SettingType::MapList(_))).then(name)
    }
}
