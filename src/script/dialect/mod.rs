//! The dialect of browser scripts as checked types (behaviour.md 8): what a player needs, and nothing that
//! cannot be played. Texts keep their placeholders `{{name}}`; the player fills them in.
//!
//! `config/scripts/README.md` describes it for people, `config/script.xsd` for editors.

mod act;
mod acts;
mod css;
mod element;
mod keys;
mod names;
mod places;
mod read;
mod script;
mod target;
pub mod vocabulary;
mod write;

pub use act::{
    Action, ActionKind, DialogResponse, ElementState, ElementTarget, ExpectedEffect, FrameSelector, Locator,
    Matcher, OptionSelector, PageProperty, Pattern, WaitCondition, WindowSelector,
};
pub use keys::{KEYS, KeyChord, MODIFIERS};
pub use script::{Script, ScriptStep, ScriptVariable};
