//! The settings of the process: a flag beats an environment variable, which beats the file.

mod alerts;
mod browser;
mod build;
mod certificates;
mod hosted;
mod kind;
mod mobile;
mod proxies;
mod read;
mod render;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use alerts::AlertSettings;
pub use build::{EngineSettings, ServerSettings, Settings, StoreSettings};
pub use hosted::Hosted;
pub use kind::{Kind, Part};
pub use render::render;
pub use table::{SECTIONS, SETTINGS, Setting};

use crate::syntax::source::Place;
use crate::syntax::{FieldFault, Rule, nearest};

/// Where settings come from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The settings file.
    pub file: Option<PathBuf>,
    /// Environment variables that begin with `VIGIE_`.
    pub environment: Vec<(String, String)>,
    /// Flags: the path of the setting, and its text.
    pub flags: Vec<(&'static str, String)>,
}

/// Variables of other commands and of what runs before settings are read.
const OTHER_VARIABLES: [&str; 3] = ["VIGIE_CONFIG", "VIGIE_TOKEN", "VIGIE_SERVER"];

impl Sources {
    /// The variables of this process.
    #[must_use]
    pub fn with_environment(mut self) -> Self {
        self.environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("VIGIE_"))
            .collect();
        self
    }

    /// Names of variables that look like settings and are none, each with what may be meant.
    #[must_use]
    pub fn strangers(&self) -> Vec<(String, Option<String>)> {
        let known: Vec<String> = SETTINGS.iter().filter_map(Setting::variable).collect();
        let strange = |name: &&String| !known.contains(name) && !OTHER_VARIABLES.contains(&name.as_str());
        // Nearness is told in lower case.
        let lower: Vec<String> = known.iter().map(|name| name.to_lowercase()).collect();
        let hint = |name: &String| nearest(name, lower.iter().map(String::as_str)).map(str::to_uppercase);
        self.environment
            .iter()
            .map(|(name, _)| name)
            .filter(strange)
            .map(|name| (name.clone(), hint(name)))
            .collect()
    }
}

impl Settings {
    /// Reads all of `sources`. Answers with every fault when there is any.
    pub fn load(sources: &Sources) -> Result<Self, Vec<FieldFault>> {
        let (mut values, mut faults) = (read::Values::new(), Vec::new());
        let mut label: Option<Arc<str>> = None;
        if let Some(path) = &sources.file {
            let name: Arc<str> = path.display().to_string().into();
            match crate::app::read_text(path) {
                Ok(text) => read::file(&name, &text, &mut values, &mut faults),
                Err(message) => {
                    faults.push(FieldFault::new(Rule::Syntax, "", Place::default(), message).in_file(&name));
                }
            }
            label = Some(name);
        }
        for setting in SETTINGS {
            let variable = setting.variable();
            let set = |(name, _): &&(String, String)| Some(name) == variable.as_ref();
            if let Some((name, text)) = sources.environment.iter().find(set) {
                read::text(setting, name, text, &mut values, &mut faults);
            }
            if let Some((path, text)) = sources.flags.iter().find(|(path, _)| *path == setting.path) {
                let flag = format!("--{}", path.replace(['.', '_'], "-"));
                read::text(setting, &flag, text, &mut values, &mut faults);
            }
        }
        let built = build::build(values, label.as_ref(), &mut faults);
        if faults.is_empty() {
            return Ok(built);
        }
        faults.sort_by_key(|fault| (fault.file.is_none(), fault.place));
        Err(faults)
    }

    /// The faults of a settings file alone, as `vigie config check` shows them.
    #[must_use]
    pub fn check(path: &Path) -> Vec<FieldFault> {
        let sources = Sources { file: Some(path.to_owned()), ..Sources::default() };
        Self::load(&sources).err().unwrap_or_default()
    }

    /// Takes everything that a running process cannot change from `old`.
    pub fn keep_fixed(&mut self, old: &Self) {
        let new = std::mem::replace(self, old.clone());
        self.monitors = new.monitors;
        self.monitors_named = new.monitors_named;
        self.plans = new.plans;
        self.probe = new.probe;
        self.proxies = new.proxies;
        self.mobile = new.mobile;
        for setting in SETTINGS.iter().filter(|setting| setting.live) {
            if let Some(value) = new.raw.get(setting.path) {
                self.raw.insert(setting.path, value.clone());
            }
        }
    }

    /// Paths of the settings that differ between `self` and `other`.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<&'static Setting> {
        SETTINGS.iter().filter(|setting| self.raw.get(setting.path) != other.raw.get(setting.path)).collect()
    }
}
