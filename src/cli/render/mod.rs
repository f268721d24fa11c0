//! A check result as text for people: verdict, reasons, phases as bars, facts about the target.

mod attempts;
mod browser;
mod check;
mod console;
mod content_view_lines;
mod facts;
mod objects;
mod page;
mod phase_bars;
mod steps;
mod text;

pub use check::render_check;
pub use text::escape_controls;
