//! Settings of a controller (`vigie controller`).

use super::settings_reader::SettingsReader;

/// Settings of a controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControllerSettings {
    /// Its name; `None` for that of the host.
    pub name: Option<String>,
    /// The URL at which other controllers reach it; `None` for its first listening address.
    pub url: Option<String>,
}

pub(super) fn read_controller(reader: &SettingsReader<'_>) -> ControllerSettings {
    ControllerSettings {
        name: reader.optional_text("controller.name"),
        url: reader.optional_text("controller.url"),
    }
}
