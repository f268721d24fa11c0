//! Tests of admission control: a reference model, slow targets, accounts that flood.

use proptest::prelude::*;

use super::*;

const LIMITS: AdmissionLimits =
    AdmissionLimits { max_running: 4, max_light: 3, max_heavy: 2, max_per_target: 2, max_waiting: 6 };

#[derive(Clone, Copy)]
struct Entry {
    ticket: TicketId,
    account: CustomerId,
    class: ConcurrencyClass,
    target: Option<TargetKey>,
}

/// A reference model with the same rules: one list in order of arrival.
#[derive(Default)]
struct Model {
    waiting: Vec<Entry>,
    running: Vec<Entry>,
}

impl Model {
    fn has_capacity(&self, class: ConcurrencyClass, target: Option<TargetKey>) -> bool {
        self.running.len() < LIMITS.max_running
            && self.running.iter().filter(|entry| entry.class == class).count() < LIMITS.max_for_class(class)
            && (target.is_none()
                || self.running.iter().filter(|entry| entry.target == target).count() < LIMITS.max_per_target)
    }

    fn waiting_count_of(&self, account: CustomerId) -> usize {
        self.waiting.iter().filter(|entry| entry.account == account).count()
    }

    fn enqueue(&mut self, entry: Entry) -> Result<Option<TicketId>, AdmissionQueueFull> {
        let has_capacity = self.waiting.is_empty() && self.has_capacity(entry.class, entry.target);
        let mut replaced = None;
        if self.waiting.len() >= LIMITS.max_waiting && !has_capacity {
            let largest = self
                .waiting
                .iter()
                .map(|waiting| waiting.account)
                .max_by_key(|&account| (self.waiting_count_of(account), account))
                .unwrap();
            if self.waiting_count_of(largest) < self.waiting_count_of(entry.account) + 2 {
                return Err(AdmissionQueueFull);
            }
            let newest = self.waiting.iter().rposition(|waiting| waiting.account == largest).unwrap();
            replaced = Some(self.waiting.remove(newest).ticket);
        }
        self.waiting.push(entry);
        Ok(replaced)
    }

    fn admit(&mut self) -> Option<TicketId> {
        let running = |account, class| {
            self.running.iter().filter(|entry| entry.account == account && entry.class == class).count()
        };
        let (next, _) = (self.waiting.iter().enumerate())
            .filter(|(_, entry)| self.has_capacity(entry.class, entry.target))
            .min_by_key(|(position, entry)| (running(entry.account, entry.class), *position))?;
        let entry = self.waiting.remove(next);
        self.running.push(entry);
        Some(entry.ticket)
    }
}

proptest! {
    #[test]
    fn it_admits_exactly_what_the_model_admits(
        operations in prop::collection::vec((0_u8..10, 0_u32..14, any::<bool>(), 0_u8..4, 1_i64..4), 1..400),
    ) {
        let (mut admission, mut model) = (AdmissionQueue::new(LIMITS), Model::default());
        for (operation, ticket, heavy, host, account) in operations {
            let contains_ticket = |list: &[Entry]| list.iter().any(|entry| entry.ticket == ticket);
            let (waits, runs) = (contains_ticket(&model.waiting), contains_ticket(&model.running));
            if operation < 6 && !waits && !runs {
                let class = if heavy { ConcurrencyClass::Heavy } else { ConcurrencyClass::Light };
                let target = (host > 0).then(|| TargetKey::from_host(&host.to_string()));
                let account = CustomerId(account);
                let expected = model.enqueue(Entry { ticket, account, class, target });
                prop_assert_eq!(admission.enqueue(ticket, account, class, target, AdmissionPriority::Normal), expected);
            } else if waits || runs {
                admission.release(ticket);
                model.waiting.retain(|entry| entry.ticket != ticket);
                model.running.retain(|entry| entry.ticket != ticket);
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
        for ticket in 0..14 {
            admission.release(ticket);
        }
        prop_assert!(admission.targets.is_empty() && admission.accounts.is_empty());
        prop_assert!(admission.ready_accounts_by_class.iter().all(BTreeSet::is_empty));
        prop_assert_eq!((admission.waiting_count(), admission.running_count()), (0, 0));
    }
}

#[test]
fn a_slow_target_does_not_hold_up_the_others() {
    let mut admission = AdmissionQueue::new(AdmissionLimits { max_waiting: 100, ..LIMITS });
    let slow = Some(TargetKey::from_host("slow.test"));
    for ticket in 0..10 {
        admission
            .enqueue(ticket, CustomerId(1), ConcurrencyClass::Light, slow, AdmissionPriority::Normal)
            .unwrap();
    }
    let quick = Some(TargetKey::from_host("quick.test"));
    admission.enqueue(10, CustomerId(1), ConcurrencyClass::Light, quick, AdmissionPriority::Normal).unwrap();
    let admitted: Vec<_> = std::iter::from_fn(|| admission.admit_next()).collect();
    assert_eq!(admitted, [0, 1, 10]);
}

/// One account has 10,000 long checks of each class waiting; another has a check now and then.
#[test]
fn an_account_that_floods_does_not_delay_the_others() {
    let limits =
        AdmissionLimits { max_running: 20, max_light: 20, max_heavy: 2, ..AdmissionLimits::default() };
    for class in CONCURRENCY_CLASSES {
        let mut admission = AdmissionQueue::new(limits);
        for ticket in 0..10_000 {
            admission.enqueue(ticket, CustomerId(2), class, None, AdmissionPriority::Normal).unwrap();
        }
        let mut running: Vec<_> = std::iter::from_fn(|| admission.admit_next()).collect();
        for other_account_ticket in 20_000..20_100 {
            admission
                .enqueue(other_account_ticket, CustomerId(3), class, None, AdmissionPriority::Normal)
                .unwrap();
            assert_eq!(admission.admit_next(), None);
            // The next place that becomes free is for the other account.
            admission.release(running.remove(0));
            assert_eq!(admission.admit_next(), Some(other_account_ticket));
            admission.release(other_account_ticket);
            running.extend(std::iter::from_fn(|| admission.admit_next()));
        }
    }
}

#[test]
fn heavy_checks_get_places_while_light_ones_of_another_account_fill_them() {
    let mut admission = AdmissionQueue::new(AdmissionLimits { max_waiting: 100, ..LIMITS });
    for ticket in 0..50 {
        admission
            .enqueue(ticket, CustomerId(2), ConcurrencyClass::Light, None, AdmissionPriority::Normal)
            .unwrap();
    }
    assert_eq!(std::iter::from_fn(|| admission.admit_next()).count(), 3);
    for ticket in 50..53 {
        admission
            .enqueue(ticket, CustomerId(3), ConcurrencyClass::Heavy, None, AdmissionPriority::Normal)
            .unwrap();
    }
    assert_eq!(admission.admit_next(), Some(50));
    admission.release(0);
    assert_eq!(admission.admit_next(), Some(51), "its second check is before the third of the other account");
}

#[test]
fn a_full_queue_makes_room_for_accounts_with_less() {
    let mut admission = AdmissionQueue::new(AdmissionLimits { max_running: 1, max_waiting: 4, ..LIMITS });
    let mut enqueue = |ticket, account| {
        admission.enqueue(
            ticket,
            CustomerId(account),
            ConcurrencyClass::Light,
            None,
            AdmissionPriority::Normal,
        )
    };
    for ticket in 0..4 {
        assert_eq!(enqueue(ticket, 2), Ok(None));
    }
    assert_eq!(enqueue(4, 2), Err(AdmissionQueueFull), "its own places");
    assert_eq!(enqueue(5, 3), Ok(Some(3)), "the newest loses its place");
    assert_eq!(enqueue(6, 3), Ok(Some(2)));
    assert_eq!(enqueue(7, 3), Err(AdmissionQueueFull), "both have two");
}

#[test]
fn host_names_are_compared_without_regard_to_case() {
    assert_eq!(TargetKey::from_host("Example.TEST"), TargetKey::from_host("example.test"));
    assert_ne!(TargetKey::from_host("a.test"), TargetKey::from_host("b.test"));
}

#[test]
fn checks_of_low_priority_wait_for_those_of_all_accounts_and_give_up_their_places() {
    use AdmissionPriority::{Low, Normal};
    let mut admission = AdmissionQueue::new(AdmissionLimits { max_running: 2, max_waiting: 4, ..LIMITS });
    let class = ConcurrencyClass::Light;
    for ticket in 0..2 {
        admission.enqueue(ticket, CustomerId(1), class, None, Normal).unwrap();
        assert_eq!(admission.admit_next(), Some(ticket));
    }
    // Account 1 runs two checks already, account 2 none.
    assert_eq!(admission.enqueue(10, CustomerId(2), class, None, Low), Ok(None));
    assert_eq!(admission.enqueue(11, CustomerId(1), class, None, Low), Ok(None));
    for ticket in 2..4 {
        assert_eq!(admission.enqueue(ticket, CustomerId(1), class, None, Normal), Ok(None));
    }
    assert_eq!(admission.enqueue(12, CustomerId(3), class, None, Low), Err(AdmissionQueueFull));
    assert_eq!(admission.enqueue(4, CustomerId(1), class, None, Normal), Ok(Some(11)));
    let mut order = Vec::new();
    for running in [0, 1, 2, 3] {
        admission.release(running);
        order.extend(std::iter::from_fn(|| admission.admit_next()));
    }
    assert_eq!(order, [2, 3, 4, 10]);
}
