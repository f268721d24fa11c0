//! Turns: who asks the gate for a place, and what is done with it.

use std::sync::Arc;

use super::entry::Turn;
use super::queue::{Agenda, ORDERS, Start, refuse};
use crate::agent::gate::Full;
use crate::agent::order::{OrderError, Reply};
use crate::domain::{MissedReason, Timestamp};

impl Agenda {
    pub(super) fn wants_turn(&self, index: u32) -> bool {
        let pending =
            self.entries.get(index as usize).and_then(Option::as_ref).is_some_and(|e| e.pending.is_some());
        !self.stopped && (pending || self.orders.contains_key(&index))
    }

    /// Brings what is at the gate in line with what the monitor wants.
    pub(super) fn take_turn(&mut self, index: u32, now: Timestamp) {
        let wants = self.wants_turn(index);
        let Some(entry) = self.entries.get_mut(index as usize).and_then(Option::as_mut) else { return };
        match (entry.turn, wants) {
            (Turn::Queued, false) => {
                entry.turn = Turn::Idle;
                self.gate.leave(index);
            }
            (Turn::Idle, true) => match self.gate.offer(index, entry.assignment.weight, entry.target) {
                Ok(()) => entry.turn = Turn::Queued,
                Err(Full) => self.turn_away(index, now),
            },
            _ => {}
        }
    }

    /// The queue is full: the slot that wanted to wait is missed, orders are refused.
    pub(super) fn turn_away(&mut self, index: u32, now: Timestamp) {
        if let Some(slot) = self.entry(index).and_then(|entry| entry.pending.take()) {
            self.miss_one(index, MissedReason::Overload, slot, now);
        }
        for reply in self.orders.remove(&index).into_iter().flatten() {
            self.waiting_orders -= 1;
            refuse(reply, OrderError::Busy);
        }
        self.drop_when_done(index);
    }

    /// Collects what the gate lets in now, as after a change or an order.
    pub fn admit(&mut self, now: Timestamp, starts: &mut Vec<Start>) {
        while let Some(index) = self.gate.admit() {
            self.come_if_due(index, now);
            match self.next_start(index, now) {
                Some(start) => starts.push(start),
                None => self.gate.leave(index),
            }
        }
    }

    pub(super) fn next_start(&mut self, index: u32, now: Timestamp) -> Option<Start> {
        self.miss_stale(index, MissedReason::Overload, now);
        let reply = self.next_order(index);
        let entry = self.entry(index)?;
        let planned_at = if reply.is_some() { Some(now) } else { entry.pending.take() };
        entry.turn = if planned_at.is_some() { Turn::Running } else { Turn::Idle };
        let planned_at = planned_at?;
        let due_at = if reply.is_some() { now } else { entry.grid.start_at(planned_at) };
        Some(Start { index, assignment: Arc::clone(&entry.assignment), planned_at, due_at, reply })
    }

    pub(super) fn next_order(&mut self, index: u32) -> Option<Reply> {
        let waiting = self.orders.get_mut(&index)?;
        let reply = waiting.pop_front();
        if waiting.is_empty() {
            self.orders.remove(&index);
        }
        self.waiting_orders -= usize::from(reply.is_some());
        reply
    }

    pub(super) fn queue_order(&mut self, index: u32, now: Timestamp, reply: Reply) {
        if self.stopped || self.waiting_orders >= ORDERS {
            refuse(reply, if self.stopped { OrderError::Stopped } else { OrderError::Busy });
            self.drop_when_done(index);
            return;
        }
        self.waiting_orders += 1;
        self.orders.entry(index).or_default().push_back(reply);
        self.take_turn(index, now);
    }

    /// Frees an entry that is not planned and has nothing going or waiting.
    pub(super) fn drop_when_done(&mut self, index: u32) {
        let wants = self.wants_turn(index);
        let Some(entry) = self.entry(index) else { return };
        if entry.planned || wants || entry.turn == Turn::Running {
            return;
        }
        let id = entry.assignment.monitor_id;
        self.gate.leave(index);
        self.timers.cancel(index);
        self.by_id.remove(&id);
        self.entries[index as usize] = None;
        self.free.push(index);
    }
}
