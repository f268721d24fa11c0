//! The script language as validated types (behaviour.md 8). They contain what a script runner needs, and nothing that
//! cannot be run. Texts keep their placeholders `{{name}}`; the runner fills them in.
//!
//! `src/manual/browser-scripts-reference.md` is the reference for users, `config/script.xsd` for editors.

mod action;
mod action_names;
mod action_parser;
mod css_selector;
mod element;
mod element_target;
mod keys;
mod parser;
mod script;
pub mod vocabulary;
mod writer;

pub use action::{
    Action, ActionKind, DialogResponse, ElementState, ElementTarget, ExpectedEffect, FrameSelector, Locator,
    Matcher, OptionSelector, PageProperty, RegexPattern, WaitCondition, WindowSelector,
};
pub use keys::{KeyChord, MODIFIER_KEYS, NAMED_KEYS};
pub use script::{Script, ScriptStep, ScriptVariable};
