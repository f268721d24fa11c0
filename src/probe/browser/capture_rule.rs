//! When something of a page is kept (interface.md 2.3 Capture, fields.md 3 `capture`): an action is a step, an event
//! one act in it.

use crate::domain::Capture;
use crate::schema::typed::browser::{CaptureLevel, CaptureSettings, ScreenshotFormat};

/// Bytes of all files of one attempt; what comes after is left out.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// When something may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// After an act that passed.
    Event,
    /// At the end of a step that passed.
    Action,
    /// When an act, and with it the step, failed.
    Failure,
}

/// What becomes of what could be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Never,
    /// Only when the check fails.
    OnError,
    Always,
}

/// What of a `moment` is kept at `level`.
const fn keep(level: CaptureLevel, moment: Moment) -> Keep {
    use CaptureLevel::{Actions, ActionsOnError, Disabled, Events, EventsOnError};
    match (level, moment) {
        (Disabled, _) => Keep::Never,
        (_, Moment::Failure) | (Actions, Moment::Action) | (Events, Moment::Event) => Keep::Always,
        (ActionsOnError, Moment::Action) | (EventsOnError, Moment::Event) => Keep::OnError,
        // The end of a step is the end of its last act.
        _ => Keep::Never,
    }
}

/// The field `capture`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaptureRule {
    level: CaptureLevel,
    pub(super) png: bool,
    pub(super) headers: bool,
    pub(super) images: bool,
    pub(super) sources: bool,
}

impl CaptureRule {
    /// `pictures`: of each act, whatever the monitor says.
    pub(super) fn new(settings: CaptureSettings, pictures: bool) -> Self {
        Self {
            level: if pictures { CaptureLevel::Events } else { settings.level },
            png: settings.mimetype == ScreenshotFormat::Png,
            headers: settings.headers,
            images: settings.images || pictures,
            sources: settings.sources,
        }
    }

    /// What of a `moment` is kept.
    pub(super) const fn keeps(self, moment: Moment) -> Keep {
        keep(self.level, moment)
    }

    /// Whether nothing is kept, whatever happens.
    pub(super) const fn is_disabled(self) -> bool {
        matches!(self.level, CaptureLevel::Disabled)
    }
}

/// What was taken so far.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: Vec<(Capture, Keep)>,
    bytes: usize,
}

impl Files {
    pub(super) fn add(&mut self, file: Capture, keep: Keep) {
        self.bytes += file.content_len();
        self.files.push((file, keep));
    }

    pub(super) const fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES
    }

    /// Those that are kept of a check that `failed`.
    pub(super) fn kept(self, failed: bool) -> Vec<Capture> {
        let kept = |(file, keep): (Capture, Keep)| (keep == Keep::Always || failed).then_some(file);
        self.files.into_iter().filter_map(kept).collect()
    }

    /// How many there are whose name begins with `name`.
    pub(super) fn named(&self, name: &str) -> usize {
        self.files.iter().filter(|(file, _)| file.name.starts_with(name)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_keep_what_the_fields_say() {
        use Keep::{Always, Never, OnError};
        for (level, event, action, failure) in [
            (CaptureLevel::Disabled, Never, Never, Never),
            (CaptureLevel::ErrorOnly, Never, Never, Always),
            (CaptureLevel::ActionsOnError, Never, OnError, Always),
            (CaptureLevel::Actions, Never, Always, Always),
            (CaptureLevel::EventsOnError, OnError, Never, Always),
            (CaptureLevel::Events, Always, Never, Always),
        ] {
            assert_eq!(keep(level, Moment::Event), event, "{level:?}");
            assert_eq!(keep(level, Moment::Action), action, "{level:?}");
            assert_eq!(keep(level, Moment::Failure), failure, "{level:?}");
        }
    }
}
