//! Counts checks by the time and location that they belong to.

use std::collections::{BTreeMap, HashMap};

use super::figures::Figures;
use super::spans::Spans;
use crate::domain::{LocationId, Sample, Timestamp};

/// What counts.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// When checks count: operating periods without exclusions and blackouts.
    pub counts: Spans,
    /// When those of a single location do not.
    pub excluded_at: HashMap<LocationId, Spans>,
}

impl Scope {
    fn has(&self, check: &Sample) -> bool {
        self.counts.contains(check.planned_at)
            && !self.excluded_at.get(&check.location).is_some_and(|spans| spans.contains(check.planned_at))
    }
}

/// Counts the checks of a monitor, over all and by pieces of time. They come in the order of their runs, in
/// pieces of any size.
#[derive(Debug)]
pub struct Tally {
    scope: Scope,
    /// Starts of the pieces of time, in order; each ends with the next, the last with `thru`.
    starts: Vec<Timestamp>,
    thru: Timestamp,
    /// Ends of the time that are looked at on their own, by their start.
    tails: Vec<(Timestamp, Figures)>,
    pieces: Vec<Figures>,
    total: Figures,
    locations: BTreeMap<LocationId, Figures>,
    run: Vec<Sample>,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Over all.
    pub total: Figures,
    /// By piece of time, in their order.
    pub pieces: Vec<Figures>,
    /// By location; a run there is its check there.
    pub locations: BTreeMap<LocationId, Figures>,
    /// From each of the asked starts to the end.
    pub tails: Vec<Figures>,
}

impl Tally {
    /// For checks from the first of `starts` up to `thru`.
    #[must_use]
    pub fn new(scope: Scope, starts: Vec<Timestamp>, thru: Timestamp, tails: &[Timestamp]) -> Self {
        Self {
            scope,
            pieces: vec![Figures::default(); starts.len()],
            starts,
            thru,
            tails: tails.iter().map(|from| (*from, Figures::default())).collect(),
            total: Figures::default(),
            locations: BTreeMap::new(),
            run: Vec::new(),
        }
    }

    /// Takes the next check.
    pub fn take(&mut self, check: Sample) {
        if self.run.first().is_some_and(|first| first.planned_at != check.planned_at) {
            self.settle();
        }
        self.run.push(check);
    }

    fn settle(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        let Some(at) = run.first().map(|check| check.planned_at) else { return };
        let piece = self.starts.partition_point(|start| *start <= at).checked_sub(1);
        if let Some(piece) = piece.filter(|_| at < self.thru) {
            let all = run.len() as u64;
            run.retain(|check| self.scope.has(check));
            let excluded = all - run.len() as u64;
            self.pieces[piece].add(&run, excluded);
            self.total.add(&run, excluded);
            for check in &run {
                self.locations.entry(check.location).or_default().add(std::slice::from_ref(check), 0);
            }
            for (_, figures) in self.tails.iter_mut().filter(|(from, _)| *from <= at) {
                figures.add(&run, excluded);
            }
        }
        run.clear();
        self.run = run;
    }

    /// What was counted.
    #[must_use]
    pub fn counted(mut self) -> Counted {
        self.settle();
        Counted {
            total: self.total,
            pieces: self.pieces,
            locations: self.locations,
            tails: self.tails.into_iter().map(|(_, figures)| figures).collect(),
        }
    }
}

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
