//! The task that starts the first checks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use super::location_orders::LocationOrders;
use super::requests::FirstChecks;
use crate::bus::contract::{FirstCheckOrder, LocationBus};
use crate::clock::Clock;
use crate::domain::Timestamp;
use crate::schedule::{FirstCheck, NextFirstCheck};
use crate::telemetry::{SupervisedTask, TaskFuture, TaskHeartbeat};

/// Longest that a location may take to reply: until then a first check would start.
const ORDER_TIMEOUT: Duration = Duration::from_mins(1);

/// The task that starts the first checks.
pub struct FirstCheckTask {
    pub(in crate::app) first_checks: Arc<FirstChecks>,
    pub(in crate::app) bus: Arc<dyn LocationBus>,
    pub(in crate::app) clock: Arc<dyn Clock>,
    pub(in crate::app) stop: CancellationToken,
    pub(in crate::app) heartbeat: TaskHeartbeat,
}

/// An order that waits for its reply: the check, and whether it will start.
type PendingOrder<'a> = Pin<Box<dyn Future<Output = (FirstCheck, bool)> + Send + 'a>>;

impl FirstCheckTask {
    async fn start_all(&self) {
        let (mut orders, mut pending) = (LocationOrders::default(), FuturesUnordered::new());
        loop {
            let now = self.clock.now();
            let wait = match self.take_next(now) {
                NextFirstCheck::Due(check) => {
                    self.heartbeat.beat();
                    pending.extend(orders.add(check).map(|check| self.order(check)));
                    Some(Duration::ZERO)
                }
                NextFirstCheck::DueAt(next_at) => Some(next_at.since(now)),
                NextFirstCheck::None => None,
            };
            match wait {
                Some(wait) => self.heartbeat.mark_idle_for(wait),
                None => self.heartbeat.mark_idle(),
            }
            let turn = async {
                match wait {
                    Some(Duration::ZERO) => {}
                    Some(wait) => self.clock.sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // Replies first: what will not start gives its turn back.
                biased;
                () = self.stop.cancelled() => return,
                Some((check, will_start)) = pending.next() => {
                    self.heartbeat.beat();
                    if !will_start {
                        self.first_checks.queue.lock().end_turn(check.customer_id, false, self.clock.now());
                    }
                    pending.extend(orders.end(check.location_id).map(|check| self.order(check)));
                }
                () = turn => {}
                () = self.first_checks.added.notified() => {}
            }
        }
    }

    /// Takes the check that is due and ends the turn of its account.
    fn take_next(&self, now: Timestamp) -> NextFirstCheck {
        let mut queue = self.first_checks.queue.lock();
        let next = queue.take_next(now);
        if let NextFirstCheck::Due(check) = next {
            queue.end_turn(check.customer_id, true, now);
        }
        next
    }

    /// Orders `check` at its location.
    fn order(&self, check: FirstCheck) -> PendingOrder<'_> {
        let FirstCheck { monitor_id, location_id, planned_at, .. } = check;
        let order = FirstCheckOrder { monitor_id, planned_at, timeout: ORDER_TIMEOUT };
        let reply = self.bus.first_check(location_id, order);
        Box::pin(async move { (check, reply.await.unwrap_or(false)) })
    }
}

impl SupervisedTask for FirstCheckTask {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin(async move {
            self.start_all().await;
        })
    }
}
