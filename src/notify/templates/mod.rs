//! Rendering of messages from the templates of an account or the built-in ones.
//!
//! Users write templates, and monitored targets supply values. So templates may do little ([`template_check`]), their
//! resources are bounded ([`engine`]), and every value is escaped for its output format: HTML, JSON, a form, a line.

mod built_in;
mod engine;
mod example;
mod renderer;
mod template;
mod template_check;
mod variables;

pub(super) use engine::OutputFormat;
pub use renderer::MessageRenderer;
pub(super) use renderer::render_settings_body;
pub use template::{AccountTemplate, RenderedMessage, TemplateError};
