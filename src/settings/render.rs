//! Renders the settings table as a file: every setting with its default.

use std::fmt::Write;

use super::table::{SECTIONS, SETTINGS};

const HEADER: &str = "\
# The settings of `vigie serve`, each with its default: leave out what you do not change.
#
# A flag (--listen, --data, --monitors) beats an environment variable, which beats this file. The variable of a
# setting is VIGIE_ and its path in capitals: VIGIE_LISTEN, VIGIE_LOG_FORMAT, VIGIE_ENGINE_TOTAL; lists are
# separated by commas. Paths count from the working directory. An unknown key is an error.
# Changes of settings marked (live) are taken while Vigie runs; for the others the log asks for a restart.
";

/// Returns the text of config/vigie.yaml.
#[must_use]
pub fn render_default_file() -> String {
    let mut out = String::from(HEADER);
    for (section, description) in SECTIONS {
        if !section.is_empty() {
            // Writing into a string cannot fail.
            let _ = write!(out, "\n# {description}\n{section}:");
        }
        for setting in SETTINGS {
            let (section_name, name) = setting.path.split_once('.').unwrap_or(("", setting.path));
            if section_name != *section {
                continue;
            }
            let indent = if section.is_empty() { "" } else { "  " };
            let live = if setting.reloadable { " (live)" } else { "" };
            out.push('\n');
            let lines = setting.description.lines().count();
            for (index, line) in setting.description.lines().enumerate() {
                let suffix = if index + 1 == lines { live } else { "" };
                let _ = writeln!(out, "{indent}# {line}{suffix}");
            }
            let _ = writeln!(out, "{indent}{name}: {}", setting.default);
        }
    }
    out
}
