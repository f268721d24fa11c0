//! Something that checks need of the host, and whether it is there.

use serde::Serialize;

/// Whether a host has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It has it.
    Ready,
    /// It does not have it, and only some monitors need it.
    Absent,
    /// It cannot be told.
    Unknown,
    /// It does not have it, and every installation needs it.
    Lacking,
}

/// Something that checks need of the host.
#[derive(Debug, Serialize)]
pub(super) struct Need {
    /// What it is, in a word or two.
    pub(super) name: &'static str,
    /// Whether it is there.
    pub(super) state: State,
    /// What was found.
    pub(super) detail: String,
    /// How to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

impl Need {
    pub(super) fn ready(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, state: State::Ready, detail: detail.into(), hint: None }
    }

    /// Returns a need that is not met. `text` may have its hint on a second line, as details of failures have.
    pub(super) fn unmet(name: &'static str, state: State, text: &str, hint: Option<&str>) -> Self {
        let (detail, own_hint) = text.split_once("\nhint: ").unzip();
        let hint = hint.or(own_hint).map(str::to_owned);
        Self { name, state, detail: detail.unwrap_or(text).to_owned(), hint }
    }
}
