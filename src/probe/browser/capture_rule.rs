//! When captures are taken and kept (interface.md 2.3 Capture, fields.md 3 `capture`). In the settings an action is a
//! step, and an event is one action in it.

use crate::domain::CapturedFile;
use crate::schema::typed::browser::{CaptureLevel, CaptureSettings, ScreenshotFormat};

/// Size limit of all files of one attempt, in bytes; later files are dropped.
const MAX_CAPTURE_BYTES: usize = 16 * 1024 * 1024;

/// A moment at which a capture can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureMoment {
    /// After an action that passed.
    ActionEnd,
    /// At the end of a step that passed.
    StepEnd,
    /// When an action, and with it the step, failed.
    Failure,
}

/// Whether a capture is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureRetention {
    Never,
    /// Only when the check fails.
    OnError,
    Always,
}

/// Returns when captures of `moment` are kept at `level`.
const fn retention_at(level: CaptureLevel, moment: CaptureMoment) -> CaptureRetention {
    use CaptureLevel::{Disabled, EachAction, EachActionOnError, EachStep, EachStepOnError};
    match (level, moment) {
        (Disabled, _) => CaptureRetention::Never,
        (_, CaptureMoment::Failure)
        | (EachStep, CaptureMoment::StepEnd)
        | (EachAction, CaptureMoment::ActionEnd) => CaptureRetention::Always,
        (EachStepOnError, CaptureMoment::StepEnd) | (EachActionOnError, CaptureMoment::ActionEnd) => {
            CaptureRetention::OnError
        }
        // The end of a step coincides with the end of its last action.
        _ => CaptureRetention::Never,
    }
}

/// The field `capture`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaptureRule {
    level: CaptureLevel,
    pub(super) screenshots_as_png: bool,
    pub(super) headers: bool,
    pub(super) screenshots: bool,
    pub(super) page_sources: bool,
}

impl CaptureRule {
    /// Creates the rule of `settings`. With `screenshot_every_action`, takes and keeps one whatever the settings say.
    pub(super) fn new(settings: CaptureSettings, screenshot_every_action: bool) -> Self {
        Self {
            level: if screenshot_every_action { CaptureLevel::EachAction } else { settings.level },
            screenshots_as_png: settings.mimetype == ScreenshotFormat::Png,
            headers: settings.headers,
            screenshots: settings.images || screenshot_every_action,
            page_sources: settings.sources,
        }
    }

    /// Returns when captures of `moment` are kept.
    pub(super) const fn retention(self, moment: CaptureMoment) -> CaptureRetention {
        retention_at(self.level, moment)
    }

    /// Whether nothing is ever kept.
    pub(super) const fn is_disabled(self) -> bool {
        matches!(self.level, CaptureLevel::Disabled)
    }
}

/// The captures of an attempt so far.
#[derive(Debug, Default)]
pub(super) struct CaptureFiles {
    files: Vec<(CapturedFile, CaptureRetention)>,
    bytes: usize,
}

impl CaptureFiles {
    pub(super) fn add(&mut self, file: CapturedFile, retention: CaptureRetention) {
        self.bytes += file.loaded_content_bytes();
        self.files.push((file, retention));
    }

    pub(super) const fn is_full(&self) -> bool {
        self.bytes >= MAX_CAPTURE_BYTES
    }

    /// Returns the files to keep, given whether the check `failed`.
    pub(super) fn into_retained(self, failed: bool) -> Vec<CapturedFile> {
        let kept = |(file, retention): (CapturedFile, CaptureRetention)| {
            (retention == CaptureRetention::Always || failed).then_some(file)
        };
        self.files.into_iter().filter_map(kept).collect()
    }

    /// Returns the number of files whose name starts with `name_prefix`.
    pub(super) fn count_with_prefix(&self, name_prefix: &str) -> usize {
        self.files.iter().filter(|(file, _)| file.name.starts_with(name_prefix)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_keeps_its_moments() {
        use CaptureRetention::{Always, Never, OnError};
        for (level, action_end, step_end, failure) in [
            (CaptureLevel::Disabled, Never, Never, Never),
            (CaptureLevel::ErrorOnly, Never, Never, Always),
            (CaptureLevel::EachStepOnError, Never, OnError, Always),
            (CaptureLevel::EachStep, Never, Always, Always),
            (CaptureLevel::EachActionOnError, OnError, Never, Always),
            (CaptureLevel::EachAction, Always, Never, Always),
        ] {
            assert_eq!(retention_at(level, CaptureMoment::ActionEnd), action_end, "{level:?}");
            assert_eq!(retention_at(level, CaptureMoment::StepEnd), step_end, "{level:?}");
            assert_eq!(retention_at(level, CaptureMoment::Failure), failure, "{level:?}");
        }
    }
}
