//! An in-memory outbox that behaves like that of the store.

use std::sync::Mutex;

use vigie::domain::{
    CheckId, CustomerId, NewNotification, Notification, NotificationState, RecipientId, Timestamp,
};
use vigie::store::{
    DeliveryOutcome, NotificationFilter, Outbox, Paginated, Pagination, StoreError, StoreFuture,
};

#[derive(Default)]
pub struct FakeOutbox {
    rows: Mutex<Vec<Notification>>,
    pub broken: std::sync::atomic::AtomicBool,
}

impl FakeOutbox {
    pub fn put(&self, new: NewNotification) -> i64 {
        let mut rows = self.rows.lock().unwrap();
        if let Some(row) = rows.iter().find(|row| row.message.idempotency_key == new.idempotency_key) {
            return row.id;
        }
        add_row(&mut rows, new)
    }

    /// Adds messages whose keys are new.
    pub fn put_new(&self, messages: impl Iterator<Item = NewNotification>) {
        let mut rows = self.rows.lock().unwrap();
        for message in messages {
            add_row(&mut rows, message);
        }
    }

    /// Returns the oldest `max` rows.
    pub fn first_rows(&self, max: usize) -> Vec<Notification> {
        self.rows.lock().unwrap().iter().take(max).cloned().collect()
    }

    pub fn rows(&self) -> Vec<Notification> {
        self.rows.lock().unwrap().clone()
    }

    pub fn count(&self, state: NotificationState) -> usize {
        self.rows.lock().unwrap().iter().filter(|row| row.state == state).count()
    }

    fn respond<T: Send + 'static>(&self, value: T) -> StoreFuture<'_, T> {
        let broken = self.broken.load(std::sync::atomic::Ordering::Relaxed);
        Box::pin(async move { if broken { Err(StoreError::DiskFull("test".to_owned())) } else { Ok(value) } })
    }

    fn select(&self, take: impl Fn(&Notification) -> bool) -> Vec<Notification> {
        self.rows.lock().unwrap().iter().filter(|row| take(row)).cloned().collect()
    }
}

fn add_row(rows: &mut Vec<Notification>, message: NewNotification) -> i64 {
    let id = i64::try_from(rows.len()).unwrap() + 1;
    rows.push(Notification {
        id,
        next_attempt_at: message.not_before,
        message,
        state: NotificationState::Pending,
        attempts: 0,
        sent_at: None,
        error: String::new(),
        digest_id: None,
    });
    id
}

impl Outbox for FakeOutbox {
    fn due_notifications(&self, now: Timestamp, max: u32, each: u32) -> StoreFuture<'_, Vec<Notification>> {
        let mut counts = std::collections::HashMap::<RecipientId, u32>::new();
        let rows = self.rows.lock().unwrap();
        let due =
            rows.iter().filter(|row| row.state == NotificationState::Pending && row.next_attempt_at <= now);
        let due = due.filter(|row| {
            let count = counts.entry(row.message.recipient_id).or_default();
            *count += 1;
            *count <= each
        });
        self.respond(due.take(max as usize).cloned().collect())
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        let rows = self.rows.lock().unwrap();
        let pending = rows.iter().filter(|row| row.state == NotificationState::Pending);
        self.respond(pending.map(|row| row.next_attempt_at).min())
    }

    fn held_notifications(&self, recipient: RecipientId, max: u32) -> StoreFuture<'_, Vec<Notification>> {
        let mut held =
            self.select(|row| row.state == NotificationState::Held && row.message.recipient_id == recipient);
        held.truncate(max as usize);
        self.respond(held)
    }

    fn recipients_with_held(&self) -> StoreFuture<'_, Vec<RecipientId>> {
        let mut recipients: Vec<_> = self
            .select(|row| row.state == NotificationState::Held)
            .iter()
            .map(|row| row.message.recipient_id)
            .collect();
        recipients.dedup();
        self.respond(recipients)
    }

    fn record_outcomes(&self, outcomes: Vec<(i64, DeliveryOutcome)>, at: Timestamp) -> StoreFuture<'_, ()> {
        if !self.broken.load(std::sync::atomic::Ordering::Relaxed) {
            let mut rows = self.rows.lock().unwrap();
            for (id, delivery) in outcomes {
                let row = &mut rows[usize::try_from(id).unwrap() - 1];
                match delivery {
                    DeliveryOutcome::Sent => {
                        (row.state, row.sent_at) = (NotificationState::Sent, Some(at));
                        row.attempts += 1;
                    }
                    DeliveryOutcome::RetryScheduled { error, next_attempt_at: next_at } => {
                        row.attempts += 1;
                        (row.error, row.next_attempt_at) = (error, next_at);
                    }
                    DeliveryOutcome::Dead { error } => {
                        (row.state, row.error) = (NotificationState::Dead, error);
                    }
                    DeliveryOutcome::Held => row.state = NotificationState::Held,
                    DeliveryOutcome::Released => {
                        (row.state, row.next_attempt_at) = (NotificationState::Pending, at);
                    }
                    DeliveryOutcome::Digested(digest) => {
                        (row.state, row.digest_id) = (NotificationState::Digested, Some(digest));
                    }
                }
            }
        }
        self.respond(())
    }

    fn make_due_for_check(&self, _: CheckId, _: Timestamp) -> StoreFuture<'_, ()> {
        self.respond(())
    }

    fn enqueue(&self, new: Vec<NewNotification>) -> StoreFuture<'_, Vec<i64>> {
        let ids = new.into_iter().map(|new| self.put(new)).collect();
        self.respond(ids)
    }

    fn notifications(
        &self,
        _: NotificationFilter,
        _: Pagination,
    ) -> StoreFuture<'_, Paginated<Notification>> {
        let rows = self.rows();
        self.respond(Paginated { total: rows.len() as u64, items: rows })
    }

    fn retry_dead(&self, _: CustomerId, _: i64, _: Timestamp) -> StoreFuture<'_, bool> {
        self.respond(false)
    }
}
