//! The element names of the actions in a script.

use super::action::{ActionKind, DialogResponse, PageProperty, WaitCondition};

impl ActionKind {
    /// Returns the name of its element, such as `click`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Click { double: false, .. } => "click",
            Self::Click { double: true, .. } => "double-click",
            Self::Type { .. } => "type",
            Self::Clear { .. } => "clear",
            Self::Select { .. } => "select",
            Self::SetChecked { .. } => "check",
            Self::Hover { .. } => "hover",
            Self::Press { .. } => "press",
            Self::Scroll { .. } => "scroll",
            Self::SwitchFrame(_) => "switch-frame",
            Self::SwitchWindow(_) => "switch-window",
            Self::CloseWindow => "close-window",
            Self::Dialog(DialogResponse::Accept) => "accept-dialog",
            Self::Dialog(DialogResponse::Dismiss) => "dismiss-dialog",
            Self::Dialog(DialogResponse::AcceptWithText(_)) => "answer-dialog",
            Self::WaitFor(WaitCondition::Element(..)) => "wait-for",
            Self::WaitFor(WaitCondition::Text(..)) => "wait-for-text",
            Self::WaitFor(WaitCondition::Url(_)) => "wait-for-url",
            Self::WaitFor(WaitCondition::Event(_)) => "wait-for-event",
            Self::WaitFor(WaitCondition::NetworkIdle(_)) => "wait-for-network-quiet",
            Self::Extract { .. } => "extract",
            Self::RunJs { .. } => "run-js",
            Self::Screenshot { .. } => "screenshot",
            Self::Assert { property, .. } => match property {
                PageProperty::Text(_) => "assert-text",
                PageProperty::Attribute(..) => "assert-attribute",
                PageProperty::Value(_) => "assert-value",
                PageProperty::Url => "assert-url",
                PageProperty::Title => "assert-title",
                PageProperty::Count(_) => "assert-count",
            },
            Self::AssertElement { .. } => "assert-element",
            Self::Keyword { .. } => "keyword",
        }
    }
}
