//! The settings of the process: a flag beats an environment variable, which beats the file.

mod alerts;
mod browser;
mod build;
mod certificates;
mod concurrency;
mod egress;
mod hosted_location;
mod load;
mod mobile;
mod model;
mod network;
mod plans;
mod probe;
mod proxies;
mod render;
mod secrets;
mod server;
mod setting_type;
mod settings_reader;
mod sources;
mod store;
mod table;
mod text_file;
mod validate;

pub use alerts::AlertSettings;
pub use concurrency::ConcurrencySettings;
pub use hosted_location::HostedLocation;
pub use model::Settings;
pub use render::render_default_file;
pub use secrets::read_secret;
pub use server::{ServerSettings, property_label};
pub use setting_type::{EntryField, SettingType};
pub use sources::SettingSources;
pub use store::StoreSettings;
pub use table::{SECTIONS, SETTINGS, Setting};
pub use text_file::read_config_text;
