//! Admission control: limits the checks that run at once, in total, by concurrency class and by target host.

use std::collections::{BTreeMap, HashMap};

use crate::domain::id::mix_hash;
use crate::probe::ConcurrencyClass;

/// Limits of running and waiting checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Maximum number of checks that run at once, at least 1.
    pub max_running: usize,
    /// Maximum number of light checks among them.
    pub max_light: usize,
    /// Maximum number of heavy checks among them.
    pub max_heavy: usize,
    /// Maximum number of checks of one target host at once.
    pub max_per_target: usize,
    /// Maximum number of checks that wait for admission; a run beyond that is missed.
    pub max_waiting: usize,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self { max_running: 2000, max_light: 2000, max_heavy: 2, max_per_target: 100, max_waiting: 100_000 }
    }
}

impl AdmissionLimits {
    fn for_class(&self, class: ConcurrencyClass) -> usize {
        match class {
            ConcurrencyClass::Light => self.max_light,
            ConcurrencyClass::Heavy => self.max_heavy,
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
        Self(
            host.bytes().fold(0x686f_7374, |hash, byte| mix_hash(hash, i64::from(byte.to_ascii_lowercase()))),
        )
    }
}

/// Id of one waiting or running check, shared by the admission and its owner.
pub type TicketId = u32;

/// Admits the longest waiting check that the limits allow: a check whose target or concurrency class is full does
/// not block those behind it.
#[derive(Debug)]
pub struct AdmissionQueue {
    limits: AdmissionLimits,
    next_sequence: u64,
    tickets: HashMap<TicketId, Ticket>,
    /// Waiting checks whose target had capacity when last checked, by class and sequence number.
    ready_by_class: [BTreeMap<u64, TicketId>; 2],
    targets: HashMap<TargetKey, TargetQueue>,
    running_by_class: [usize; 2],
}

#[derive(Clone, Copy, Debug)]
struct Ticket {
    concurrency_class: ConcurrencyClass,
    target: Option<TargetKey>,
    /// Sequence number of a waiting check; `None` while it runs.
    queue_position: Option<u64>,
}

/// A target with running or waiting checks.
#[derive(Debug, Default)]
struct TargetQueue {
    running: usize,
    /// Waiting checks for which this target has no capacity, by class and sequence number.
    waiting_by_class: [BTreeMap<u64, TicketId>; 2],
}

impl TargetQueue {
    fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting_by_class.iter().all(BTreeMap::is_empty)
    }
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionQueueFull;

const CONCURRENCY_CLASSES: [ConcurrencyClass; 2] = [ConcurrencyClass::Light, ConcurrencyClass::Heavy];

impl AdmissionQueue {
    /// Creates an admission without checks.
    #[must_use]
    pub fn new(limits: AdmissionLimits) -> Self {
        Self {
            limits: AdmissionLimits { max_running: limits.max_running.max(1), ..limits },
            next_sequence: 0,
            tickets: HashMap::new(),
            ready_by_class: [BTreeMap::new(), BTreeMap::new()],
            targets: HashMap::new(),
            running_by_class: [0, 0],
        }
    }

    /// Puts `ticket` at the end of the queue. It must be neither waiting nor running. Even a full queue accepts a check
    /// that could start at once.
    pub fn enqueue(
        &mut self,
        ticket: TicketId,
        class: ConcurrencyClass,
        target: Option<TargetKey>,
    ) -> Result<(), AdmissionQueueFull> {
        debug_assert!(!self.tickets.contains_key(&ticket), "ticket {ticket} was offered twice");
        if self.waiting_count() >= self.limits.max_waiting
            && !(self.waiting_count() == 0 && self.has_capacity(class, target))
        {
            return Err(AdmissionQueueFull);
        }
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.tickets
            .insert(ticket, Ticket { concurrency_class: class, target, queue_position: Some(sequence) });
        match target {
            Some(key) if self.must_queue_at_target(key, class) => {
                self.targets.entry(key).or_default().waiting_by_class[class as usize]
                    .insert(sequence, ticket);
            }
            _ => {
                self.ready_by_class[class as usize].insert(sequence, ticket);
            }
        }
        Ok(())
    }

    /// Admits the longest waiting check that the limits allow; `None` when there is none.
    pub fn admit_next(&mut self) -> Option<TicketId> {
        while self.running_count() < self.limits.max_running {
            let (weight, sequence, ticket) = CONCURRENCY_CLASSES
                .into_iter()
                .filter(|&weight| self.running_by_class[weight as usize] < self.limits.for_class(weight))
                .filter_map(|weight| {
                    self.ready_by_class[weight as usize]
                        .first_key_value()
                        .map(|(&sequence, &ticket)| (weight, sequence, ticket))
                })
                .min_by_key(|&(_, sequence, _)| sequence)?;
            self.ready_by_class[weight as usize].remove(&sequence);
            let entry = self.tickets.get_mut(&ticket)?;
            if let Some(key) = entry.target {
                let target = self.targets.entry(key).or_default();
                if target.running >= self.limits.max_per_target {
                    target.waiting_by_class[weight as usize].insert(sequence, ticket);
                    continue;
                }
                target.running += 1;
            }
            entry.queue_position = None;
            self.running_by_class[weight as usize] += 1;
            return Some(ticket);
        }
        None
    }

    /// Removes a running check, or a waiting one that is no longer needed.
    pub fn release(&mut self, ticket: TicketId) {
        let Some(entry) = self.tickets.remove(&ticket) else { return };
        let class = entry.concurrency_class as usize;
        let target = entry.target.and_then(|key| self.targets.get_mut(&key));
        if let Some(sequence) = entry.queue_position {
            if let (None, Some(target)) = (self.ready_by_class[class].remove(&sequence), target) {
                target.waiting_by_class[class].remove(&sequence);
            }
        } else {
            self.running_by_class[class] -= 1;
            if let Some(target) = target {
                target.running -= 1;
            }
        }
        if let Some(key) = entry.target {
            self.make_target_checks_ready(key);
        }
    }

    /// Returns the number of waiting checks.
    #[must_use]
    pub fn waiting_count(&self) -> usize {
        self.tickets.len() - self.running_count()
    }

    /// Returns the number of running checks.
    #[must_use]
    pub fn running_count(&self) -> usize {
        self.running_by_class.iter().sum()
    }

    /// Returns the number of running checks of a concurrency class.
    #[must_use]
    pub fn running_count_by_class(&self, weight: ConcurrencyClass) -> usize {
        self.running_by_class[weight as usize]
    }

    fn has_capacity(&self, weight: ConcurrencyClass, target: Option<TargetKey>) -> bool {
        self.running_count() < self.limits.max_running
            && self.running_by_class[weight as usize] < self.limits.for_class(weight)
            && target.is_none_or(|key| !self.must_queue_at_target(key, weight))
    }

    /// Whether a new check of this class must wait for the target.
    fn must_queue_at_target(&self, key: TargetKey, weight: ConcurrencyClass) -> bool {
        match self.targets.get(&key) {
            Some(target) => {
                target.running >= self.limits.max_per_target
                    || !target.waiting_by_class[weight as usize].is_empty()
            }
            None => self.limits.max_per_target == 0,
        }
    }

    /// Makes as many parked checks of each class ready as the target has capacity for; admission decides which of them
    /// fits first. Keeps this invariant: a class has parked checks only while at least as many of its checks for the
    /// target are ready as the target has capacity for.
    fn make_target_checks_ready(&mut self, key: TargetKey) {
        let Some(target) = self.targets.get_mut(&key) else { return };
        let capacity = self.limits.max_per_target.saturating_sub(target.running);
        for class in [0, 1] {
            for _ in 0..capacity {
                let Some((age, ticket)) = target.waiting_by_class[class].pop_first() else { break };
                self.ready_by_class[class].insert(age, ticket);
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

    const LIMITS: AdmissionLimits =
        AdmissionLimits { max_running: 4, max_light: 3, max_heavy: 2, max_per_target: 2, max_waiting: 6 };

    /// A reference model with the same rules: one list in order of arrival.
    #[derive(Default)]
    struct Model {
        waiting: Vec<(TicketId, ConcurrencyClass, Option<TargetKey>)>,
        running: Vec<(TicketId, ConcurrencyClass, Option<TargetKey>)>,
    }

    impl Model {
        fn fits(&self, weight: ConcurrencyClass, target: Option<TargetKey>) -> bool {
            self.running.len() < LIMITS.max_running
                && self.running.iter().filter(|r| r.1 == weight).count() < LIMITS.for_class(weight)
                && (target.is_none()
                    || self.running.iter().filter(|r| r.2 == target).count() < LIMITS.max_per_target)
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
            let (mut admission, mut model) = (AdmissionQueue::new(LIMITS), Model::default());
            for (operation, ticket, heavy, host) in operations {
                let known = |list: &[(TicketId, ConcurrencyClass, Option<TargetKey>)]| list.iter().any(|e| e.0 == ticket);
                let (waits, runs) = (known(&model.waiting), known(&model.running));
                if operation < 6 && !waits && !runs {
                    let weight = if heavy { ConcurrencyClass::Heavy } else { ConcurrencyClass::Light };
                    let target = (host > 0).then(|| TargetKey::from_host(&host.to_string()));
                    let fits = model.waiting.len() < LIMITS.max_waiting
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
                        let admitted = admission.admit_next();
                        prop_assert_eq!(admitted, model.admit());
                        if admitted.is_none() { break }
                    }
                }
                prop_assert_eq!((admission.waiting_count(), admission.running_count()), (model.waiting.len(), model.running.len()));
            }
            for ticket in 0..12 {
                admission.release(ticket);
            }
            prop_assert!(admission.targets.is_empty() && admission.ready_by_class.iter().all(BTreeMap::is_empty));
            prop_assert_eq!((admission.waiting_count(), admission.running_count()), (0, 0));
        }
    }

    #[test]
    fn a_slow_target_does_not_hold_up_the_others() {
        let mut admission = AdmissionQueue::new(AdmissionLimits { max_waiting: 100, ..LIMITS });
        let slow = Some(TargetKey::from_host("slow.test"));
        for ticket in 0..10 {
            admission.enqueue(ticket, ConcurrencyClass::Light, slow).unwrap();
        }
        admission.enqueue(10, ConcurrencyClass::Light, Some(TargetKey::from_host("quick.test"))).unwrap();
        let admitted: Vec<_> = std::iter::from_fn(|| admission.admit_next()).collect();
        assert_eq!(admitted, [0, 1, 10]);
    }

    #[test]
    fn host_names_are_compared_without_regard_to_case() {
        assert_eq!(TargetKey::from_host("Example.TEST"), TargetKey::from_host("example.test"));
        assert_ne!(TargetKey::from_host("a.test"), TargetKey::from_host("b.test"));
    }
}
