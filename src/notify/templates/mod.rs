//! The words of messages: by the templates of an account, or the built-in ones.
//!
//! Templates are written by users, and what goes into them by whoever answers a check. So what a template may do
//! is little ([`template_check`]), what it may use is bounded ([`engine`]), and every value is escaped by the place that it
//! goes to: HTML, JSON, a form, a line.

mod built_in;
mod engine;
mod example;
mod renderer;
mod template;
mod template_check;
mod variables;

pub(super) use engine::OutputFormat;
pub use renderer::MessageRenderer;
pub(super) use renderer::render_body;
pub use template::{MessageTemplate, RenderedMessage, TemplateError};
