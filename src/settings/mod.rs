//! The settings of the process: a flag beats an environment variable, which beats the file.

mod alerts;
mod browser;
mod build;
mod certificates;
mod engine;
mod hosted;
mod kind;
mod load;
mod mobile;
mod model;
mod network;
mod plans;
mod probe;
mod proxies;
mod read;
mod reader;
mod render;
mod secrets;
mod server;
mod sources;
mod store;
mod table;
mod text_file;

pub use alerts::AlertSettings;
pub use engine::ConcurrencySettings;
pub use hosted::HostedLocation;
pub use kind::{EntryField, SettingType};
pub use model::Settings;
pub use render::render_default_file;
pub use secrets::read_secret;
pub use server::ServerSettings;
pub use sources::SettingSources;
pub use store::StoreSettings;
pub use table::{SECTIONS, SETTINGS, Setting};
pub use text_file::read_text;
