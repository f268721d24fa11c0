//! The first checks that are ordered at each location: a few at once, so that one that does not reply delays no other.

use std::collections::{HashMap, VecDeque};

use crate::domain::{LocationId, MonitorId};
use crate::schedule::FirstCheck;

/// Orders of one location whose replies are waited for at once.
const MAX_UNDER_WAY: usize = 8;

/// The first checks whose turn has come, until their locations have replied.
#[derive(Debug, Default)]
pub(super) struct LocationOrders(HashMap<LocationId, OrdersOfLocation>);

#[derive(Debug, Default)]
struct OrdersOfLocation {
    under_way: usize,
    /// Monitors whose orders wait for replies to earlier ones, oldest first.
    order: VecDeque<MonitorId>,
    /// Their checks. A later change of a monitor replaces its check, so that there are no more than monitors.
    waiting: HashMap<MonitorId, FirstCheck>,
}

impl LocationOrders {
    /// Adds `check`. Returns it if it is to be ordered now.
    pub(super) fn add(&mut self, check: FirstCheck) -> Option<FirstCheck> {
        let location = self.0.entry(check.location_id).or_default();
        if location.under_way < MAX_UNDER_WAY {
            location.under_way += 1;
            return Some(check);
        }
        if location.waiting.insert(check.monitor_id, check).is_none() {
            location.order.push_back(check.monitor_id);
        }
        None
    }

    /// Ends an order at `location`. Returns the check to order there next.
    pub(super) fn end(&mut self, location: LocationId) -> Option<FirstCheck> {
        let orders = self.0.get_mut(&location)?;
        let next = orders.order.pop_front().and_then(|monitor| orders.waiting.remove(&monitor));
        if next.is_none() {
            orders.under_way -= 1;
            if orders.under_way == 0 {
                self.0.remove(&location);
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CustomerId, Timestamp};

    fn check(monitor: i64, location: i64, second: i64) -> FirstCheck {
        FirstCheck {
            customer_id: CustomerId(1),
            monitor_id: MonitorId(monitor),
            location_id: LocationId(location),
            planned_at: Timestamp::from_seconds(second),
        }
    }

    #[test]
    fn a_location_that_does_not_reply_delays_no_other_and_each_monitor_waits_once() {
        let mut orders = LocationOrders::default();
        for monitor in 0..8 {
            assert_eq!(orders.add(check(monitor, 1, 0)), Some(check(monitor, 1, 0)));
        }
        for (monitor, second) in [(8, 0), (9, 0), (8, 5)] {
            assert_eq!(orders.add(check(monitor, 1, second)), None);
        }
        assert_eq!(orders.add(check(8, 2, 0)), Some(check(8, 2, 0)));
        assert_eq!(orders.end(LocationId(2)), None);
        // The later change of the monitor, at the place of the earlier.
        assert_eq!(orders.end(LocationId(1)), Some(check(8, 1, 5)));
        assert_eq!(orders.end(LocationId(1)), Some(check(9, 1, 0)));
        for _ in 0..8 {
            assert_eq!(orders.end(LocationId(1)), None);
        }
        assert!(orders.0.is_empty());
    }
}
