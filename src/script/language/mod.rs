//! The dialect of browser scripts as checked types (behaviour.md 8): what a player needs, and nothing that
//! cannot be played. Texts keep their placeholders `{{name}}`; the player fills them in.
//!
//! `src/manual/browser-scripts-reference.md` describes it for people, `config/script.xsd` for editors.

mod action;
mod action_names;
mod action_parser;
mod css_selector;
mod element;
mod element_target;
mod keys;
mod line_index;
mod parser;
mod script;
pub mod vocabulary;
mod writer;

pub use action::{
    Action, ActionKind, DialogResponse, ElementState, ElementTarget, ExpectedEffect, FrameSelector, Locator,
    Matcher, OptionSelector, PageProperty, Pattern, WaitCondition, WindowSelector,
};
pub use keys::{KEYS, KeyChord, MODIFIERS};
pub use script::{Script, ScriptStep, ScriptVariable};
