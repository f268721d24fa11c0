//! The names of actions in a script.

use super::act::{Action, Check, DialogAnswer, Wanted};

impl Action {
    /// Name of its element: `click`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Click { twice: false, .. } => "click",
            Self::Click { twice: true, .. } => "double-click",
            Self::Type { .. } => "type",
            Self::Clear { .. } => "clear",
            Self::Select { .. } => "select",
            Self::Check { .. } => "check",
            Self::Hover { .. } => "hover",
            Self::Press { .. } => "press",
            Self::Scroll { .. } => "scroll",
            Self::SwitchFrame(_) => "switch-frame",
            Self::SwitchWindow(_) => "switch-window",
            Self::CloseWindow => "close-window",
            Self::Dialog(DialogAnswer::Accept) => "accept-dialog",
            Self::Dialog(DialogAnswer::Dismiss) => "dismiss-dialog",
            Self::Dialog(DialogAnswer::Answer(_)) => "answer-dialog",
            Self::WaitFor(Wanted::Element(..)) => "wait-for",
            Self::WaitFor(Wanted::Text(..)) => "wait-for-text",
            Self::WaitFor(Wanted::Url(_)) => "wait-for-url",
            Self::WaitFor(Wanted::Event(_)) => "wait-for-event",
            Self::WaitFor(Wanted::NetworkQuiet(_)) => "wait-for-network-quiet",
            Self::Extract { .. } => "extract",
            Self::RunJs { .. } => "run-js",
            Self::Screenshot { .. } => "screenshot",
            Self::Assert { what, .. } => match what {
                Check::Text(_) => "assert-text",
                Check::Attribute(..) => "assert-attribute",
                Check::Value(_) => "assert-value",
                Check::Url => "assert-url",
                Check::Title => "assert-title",
                Check::Count(_) => "assert-count",
            },
            Self::AssertElement { .. } => "assert-element",
            Self::Keyword { .. } => "keyword",
        }
    }
}
