//! Admission control: limits the checks that run at once, in total, by concurrency class and by target host.

use std::collections::{BTreeMap, HashMap};

use crate::domain::id::mix;
use crate::probe::Weight;

/// Limits of running and waiting checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Maximum number of checks that run at once, at least 1.
    pub total: usize,
    /// Maximum number of light checks among them.
    pub light: usize,
    /// Maximum number of heavy checks among them.
    pub heavy: usize,
    /// Maximum number of checks of one target host at once.
    pub per_target: usize,
    /// Maximum number of checks that wait for admission; a run beyond that is missed.
    pub queue: usize,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self { total: 2000, light: 2000, heavy: 2, per_target: 100, queue: 100_000 }
    }
}

impl AdmissionLimits {
    fn for_weight(&self, weight: Weight) -> usize {
        match weight {
            Weight::Light => self.light,
            Weight::Heavy => self.heavy,
        }
    }
}

/// A target host, as a hash of its name, ignoring case. Two hosts with the same hash share their limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetKey(u64);

impl TargetKey {
    /// Returns the key of `host`.
    #[must_use]
    pub fn from_host(host: &str) -> Self {
        Self(host.bytes().fold(0x686f_7374, |hash, byte| mix(hash, i64::from(byte.to_ascii_lowercase()))))
    }
}

/// Id of one waiting or running check, shared by the admission and its owner.
pub type TicketId = u32;

/// Admits the longest waiting check that the limits allow: a check whose target or concurrency class is full does
/// not block those behind it.
#[derive(Debug)]
pub struct Admission {
    limits: AdmissionLimits,
    sequence: u64,
    tickets: HashMap<TicketId, TicketEntry>,
    /// Waiting checks whose target had capacity when last checked, by class and sequence number.
    ready: [BTreeMap<u64, TicketId>; 2],
    targets: HashMap<TargetKey, TargetQueue>,
    running: [usize; 2],
}

#[derive(Clone, Copy, Debug)]
struct TicketEntry {
    weight: Weight,
    target: Option<TargetKey>,
    /// Sequence number of a waiting check; `None` while it runs.
    waiting: Option<u64>,
}

/// A target with running or waiting checks.
#[derive(Debug, Default)]
struct TargetQueue {
    running: usize,
    /// Waiting checks for which this target has no capacity, by class and sequence number.
    parked: [BTreeMap<u64, TicketId>; 2],
}

impl TargetQueue {
    fn is_idle(&self) -> bool {
        self.running == 0 && self.parked.iter().all(BTreeMap::is_empty)
    }
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFull;

const WEIGHTS: [Weight; 2] = [Weight::Light, Weight::Heavy];

impl Admission {
    /// Creates an admission without checks.
    #[must_use]
    pub fn new(limits: AdmissionLimits) -> Self {
        Self {
            limits: AdmissionLimits { total: limits.total.max(1), ..limits },
            sequence: 0,
            tickets: HashMap::new(),
            ready: [BTreeMap::new(), BTreeMap::new()],
            targets: HashMap::new(),
            running: [0, 0],
        }
    }

    /// Puts `ticket` at the end of the queue. It must be neither waiting nor running. Even a full queue accepts a check
    /// that could start at once.
    pub fn enqueue(
        &mut self,
        ticket: TicketId,
        weight: Weight,
        target: Option<TargetKey>,
    ) -> Result<(), QueueFull> {
        debug_assert!(!self.tickets.contains_key(&ticket), "ticket {ticket} was offered twice");
        if self.waiting() >= self.limits.queue && !(self.waiting() == 0 && self.has_capacity(weight, target))
        {
            return Err(QueueFull);
        }
        let age = self.sequence;
        self.sequence += 1;
        self.tickets.insert(ticket, TicketEntry { weight, target, waiting: Some(age) });
        match target {
            Some(key) if self.must_queue_at_target(key, weight) => {
                self.targets.entry(key).or_default().parked[weight as usize].insert(age, ticket);
            }
            _ => {
                self.ready[weight as usize].insert(age, ticket);
            }
        }
        Ok(())
    }

    /// Admits the longest waiting check that the limits allow; `None` when there is none.
    pub fn admit(&mut self) -> Option<TicketId> {
        while self.in_flight() < self.limits.total {
            let (weight, age, ticket) = WEIGHTS
                .into_iter()
                .filter(|&weight| self.running[weight as usize] < self.limits.for_weight(weight))
                .filter_map(|weight| {
                    self.ready[weight as usize].first_key_value().map(|(&age, &ticket)| (weight, age, ticket))
                })
                .min_by_key(|&(_, age, _)| age)?;
            self.ready[weight as usize].remove(&age);
            let entry = self.tickets.get_mut(&ticket)?;
            if let Some(key) = entry.target {
                let target = self.targets.entry(key).or_default();
                if target.running >= self.limits.per_target {
                    target.parked[weight as usize].insert(age, ticket);
                    continue;
                }
                target.running += 1;
            }
            entry.waiting = None;
            self.running[weight as usize] += 1;
            return Some(ticket);
        }
        None
    }

    /// Removes a running check, or a waiting one that is no longer needed.
    pub fn release(&mut self, ticket: TicketId) {
        let Some(entry) = self.tickets.remove(&ticket) else { return };
        let class = entry.weight as usize;
        let target = entry.target.and_then(|key| self.targets.get_mut(&key));
        if let Some(age) = entry.waiting {
            if let (None, Some(target)) = (self.ready[class].remove(&age), target) {
                target.parked[class].remove(&age);
            }
        } else {
            self.running[class] -= 1;
            if let Some(target) = target {
                target.running -= 1;
            }
        }
        if let Some(key) = entry.target {
            self.unpark(key);
        }
    }

    /// Returns the number of waiting checks.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.tickets.len() - self.in_flight()
    }

    /// Returns the number of running checks.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.running.iter().sum()
    }

    /// Returns the number of running checks of a concurrency class.
    #[must_use]
    pub fn in_flight_by_weight(&self, weight: Weight) -> usize {
        self.running[weight as usize]
    }

    fn has_capacity(&self, weight: Weight, target: Option<TargetKey>) -> bool {
        self.in_flight() < self.limits.total
            && self.running[weight as usize] < self.limits.for_weight(weight)
            && target.is_none_or(|key| !self.must_queue_at_target(key, weight))
    }

    /// Whether a new check of this class must wait for the target.
    fn must_queue_at_target(&self, key: TargetKey, weight: Weight) -> bool {
        match self.targets.get(&key) {
            Some(target) => {
                target.running >= self.limits.per_target || !target.parked[weight as usize].is_empty()
            }
            None => self.limits.per_target == 0,
        }
    }

    /// Makes as many parked checks of each class ready as the target has capacity for; admission decides which of them
    /// fits first. Keeps this invariant: a class has parked checks only while at least as many of its checks for the
    /// target are ready as the target has capacity for.
    fn unpark(&mut self, key: TargetKey) {
        let Some(target) = self.targets.get_mut(&key) else { return };
        let capacity = self.limits.per_target.saturating_sub(target.running);
        for class in [0, 1] {
            for _ in 0..capacity {
                let Some((age, ticket)) = target.parked[class].pop_first() else { break };
                self.ready[class].insert(age, ticket);
            }
        }
        if target.is_idle() {
            self.targets.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: AdmissionLimits = AdmissionLimits { total: 4, light: 3, heavy: 2, per_target: 2, queue: 6 };

    /// A reference model with the same rules: one list in order of arrival.
    #[derive(Default)]
    struct Model {
        waiting: Vec<(TicketId, Weight, Option<TargetKey>)>,
        running: Vec<(TicketId, Weight, Option<TargetKey>)>,
    }

    impl Model {
        fn fits(&self, weight: Weight, target: Option<TargetKey>) -> bool {
            self.running.len() < LIMITS.total
                && self.running.iter().filter(|r| r.1 == weight).count() < LIMITS.for_weight(weight)
                && (target.is_none()
                    || self.running.iter().filter(|r| r.2 == target).count() < LIMITS.per_target)
        }

        fn admit(&mut self) -> Option<TicketId> {
            let first = self.waiting.iter().position(|&(_, weight, target)| self.fits(weight, target))?;
            let entry = self.waiting.remove(first);
            self.running.push(entry);
            Some(entry.0)
        }
    }

    proptest! {
        #[test]
        fn it_admits_exactly_what_the_model_admits(
            operations in prop::collection::vec((0_u8..10, 0_u32..12, any::<bool>(), 0_u8..4), 1..400),
        ) {
            let (mut admission, mut model) = (Admission::new(LIMITS), Model::default());
            for (operation, ticket, heavy, host) in operations {
                let known = |list: &[(TicketId, Weight, Option<TargetKey>)]| list.iter().any(|e| e.0 == ticket);
                let (waits, runs) = (known(&model.waiting), known(&model.running));
                if operation < 6 && !waits && !runs {
                    let weight = if heavy { Weight::Heavy } else { Weight::Light };
                    let target = (host > 0).then(|| TargetKey::from_host(&host.to_string()));
                    let fits = model.waiting.len() < LIMITS.queue
                        || (model.waiting.is_empty() && model.fits(weight, target));
                    prop_assert_eq!(admission.enqueue(ticket, weight, target).is_ok(), fits);
                    if fits {
                        model.waiting.push((ticket, weight, target));
                    }
                } else if waits || runs {
                    admission.release(ticket);
                    model.waiting.retain(|e| e.0 != ticket);
                    model.running.retain(|e| e.0 != ticket);
                }
                if operation % 3 > 0 {
                    loop {
                        let admitted = admission.admit();
                        prop_assert_eq!(admitted, model.admit());
                        if admitted.is_none() { break }
                    }
                }
                prop_assert_eq!((admission.waiting(), admission.in_flight()), (model.waiting.len(), model.running.len()));
            }
            for ticket in 0..12 {
                admission.release(ticket);
            }
            prop_assert!(admission.targets.is_empty() && admission.ready.iter().all(BTreeMap::is_empty));
            prop_assert_eq!((admission.waiting(), admission.in_flight()), (0, 0));
        }
    }

    #[test]
    fn a_slow_target_does_not_hold_up_the_others() {
        let mut admission = Admission::new(AdmissionLimits { queue: 100, ..LIMITS });
        let slow = Some(TargetKey::from_host("slow.test"));
        for ticket in 0..10 {
            admission.enqueue(ticket, Weight::Light, slow).unwrap();
        }
        admission.enqueue(10, Weight::Light, Some(TargetKey::from_host("quick.test"))).unwrap();
        let admitted: Vec<_> = std::iter::from_fn(|| admission.admit()).collect();
        assert_eq!(admitted, [0, 1, 10]);
    }

    #[test]
    fn host_names_are_compared_without_regard_to_case() {
        assert_eq!(TargetKey::from_host("Example.TEST"), TargetKey::from_host("example.test"));
        assert_ne!(TargetKey::from_host("a.test"), TargetKey::from_host("b.test"));
    }
}
