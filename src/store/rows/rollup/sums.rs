//! The sums of a rollup, apart from its durations: phases, user experience and content views, in one compact column.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::{CheckDetails, ContentViewFigures, Outcome, Phase, Phases, Status, UserExperience};

/// Most content views of a rollup, so that its row stays small: as many as a monitor may have.
const MAX_VIEWS: usize = 100;
/// Layout shifts are fractions; multiplied by this, they are summed up as integers.
const LAYOUT_SHIFT_SCALE: f64 = 1_000_000.0;
/// Number of figures of user experience.
const EXPERIENCE_FIGURES: usize = 6;

/// A sum and the number of its summands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct MeanSum {
    pub(in crate::store) count: u64,
    pub(in crate::store) sum: u64,
}

/// Sums of a content view. Those of durations, objects and bytes are of runs in which it passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct ViewSums {
    pub(in crate::store) runs: u64,
    pub(in crate::store) errors: u64,
    pub(in crate::store) duration_us: u64,
    pub(in crate::store) objects: u64,
    pub(in crate::store) bytes: u64,
}

/// The sums that the means of a rollup are computed from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct RollupSums {
    pub(in crate::store) phases: BTreeMap<Phase, MeanSum>,
    /// Number of pages that browsers measured.
    pub(in crate::store) pages: u64,
    /// First paint, first and largest contentful paint, layout shift, `DOMContentLoaded`, `load`.
    pub(in crate::store) experience: [MeanSum; EXPERIENCE_FIGURES],
    pub(in crate::store) views: BTreeMap<i64, ViewSums>,
}

impl MeanSum {
    fn add(&mut self, value: u64) {
        self.merge(Self { count: 1, sum: value });
    }

    fn merge(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
    }

    fn mean(self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }
}

impl ViewSums {
    fn merge(&mut self, other: Self) {
        for (sum, added) in [
            (&mut self.runs, other.runs),
            (&mut self.errors, other.errors),
            (&mut self.duration_us, other.duration_us),
            (&mut self.objects, other.objects),
            (&mut self.bytes, other.bytes),
        ] {
            *sum = sum.saturating_add(added);
        }
    }

    fn figures(self, id: i64) -> ContentViewFigures {
        let passed_runs = self.runs.saturating_sub(self.errors);
        ContentViewFigures {
            id,
            name: None,
            runs: self.runs,
            errors: self.errors,
            mean_us: self.duration_us.checked_div(passed_runs),
            objects: self.objects.checked_div(passed_runs),
            bytes: self.bytes.checked_div(passed_runs),
        }
    }
}

impl RollupSums {
    pub(in crate::store) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a phase of a run that passed.
    pub(in crate::store) fn add_phase(&mut self, phase: Phase, micros: u32) {
        self.phases.entry(phase).or_default().add(u64::from(micros));
    }

    /// Adds the details of a browser check with this outcome.
    pub(in crate::store) fn add_details(&mut self, outcome: Outcome, details: &CheckDetails) {
        for view in &details.content_views {
            let passed = view.status == Status::OK;
            let sums = ViewSums {
                runs: 1,
                errors: u64::from(!passed),
                duration_us: if passed { view.duration_us } else { 0 },
                objects: if passed { u64::from(view.object_count) } else { 0 },
                bytes: if passed { view.decoded_bytes } else { 0 },
            };
            self.add_view(view.id, sums);
        }
        if !matches!(outcome, Outcome::Ok | Outcome::Warning) {
            return;
        }
        let timings = details.steps.iter().filter_map(|step| step.browser_step.as_ref()?.timing.as_ref());
        for timing in timings {
            let phase = |phase| timing.phases.micros(phase).map(u64::from);
            let values = [
                phase(Phase::FirstPaint),
                timing.first_contentful_paint_us,
                timing.largest_contentful_paint_us,
                timing.cumulative_layout_shift.and_then(scaled_layout_shift),
                phase(Phase::DomLoad),
                phase(Phase::PageLoad),
            ];
            self.pages += u64::from(values.iter().any(Option::is_some));
            for (sum, value) in self.experience.iter_mut().zip(values) {
                if let Some(value) = value {
                    sum.add(value);
                }
            }
        }
    }

    /// Adds `sums` of a content view; drops those of a new one when there are [`MAX_VIEWS`].
    fn add_view(&mut self, id: i64, sums: ViewSums) {
        if self.views.len() < MAX_VIEWS || self.views.contains_key(&id) {
            self.views.entry(id).or_default().merge(sums);
        }
    }

    /// Adds the sums of a shorter span.
    pub(in crate::store) fn merge(&mut self, other: &Self) {
        for (phase, sum) in &other.phases {
            self.phases.entry(*phase).or_default().merge(*sum);
        }
        self.pages = self.pages.saturating_add(other.pages);
        for (sum, added) in self.experience.iter_mut().zip(other.experience) {
            sum.merge(added);
        }
        for (id, sums) in &other.views {
            self.add_view(*id, *sums);
        }
    }

    /// Takes the browser figures of `stored` where they cover more runs: the details of some were removed since.
    pub(in crate::store) fn restore_browser_figures(&mut self, stored: &Self) {
        if stored.pages > self.pages {
            (self.pages, self.experience) = (stored.pages, stored.experience);
        }
        let most_runs = |views: &BTreeMap<i64, ViewSums>| views.values().map(|view| view.runs).max();
        if most_runs(&stored.views) > most_runs(&self.views) {
            self.views.clone_from(&stored.views);
        }
    }

    pub(in crate::store) fn mean_phases(&self) -> Option<Phases> {
        let mut phases = Phases::default();
        for (phase, sum) in &self.phases {
            if let Some(mean) = sum.mean() {
                phases.set(*phase, Duration::from_micros(mean));
            }
        }
        Some(phases).filter(|phases| !phases.is_empty())
    }

    pub(in crate::store) fn user_experience(&self) -> Option<UserExperience> {
        let [first_paint, first_contentful, largest_contentful, layout_shift, dom_load, page_load] =
            self.experience;
        (self.pages > 0).then(|| UserExperience {
            pages: self.pages,
            first_paint_us: first_paint.mean(),
            first_contentful_paint_us: first_contentful.mean(),
            largest_contentful_paint_us: largest_contentful.mean(),
            layout_shift: layout_shift.mean().map(|mean| mean as f64 / LAYOUT_SHIFT_SCALE),
            dom_load_us: dom_load.mean(),
            page_load_us: page_load.mean(),
        })
    }

    pub(in crate::store) fn view_figures(&self) -> Vec<ContentViewFigures> {
        self.views.iter().map(|(id, sums)| sums.figures(*id)).collect()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked: small and not negative"
)]
fn scaled_layout_shift(shift: f64) -> Option<u64> {
    (0.0..1e9).contains(&shift).then(|| (shift * LAYOUT_SHIFT_SCALE).round() as u64)
}
