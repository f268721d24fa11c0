//! `GET /devices`: one, several or all monitors, sent in pieces.

use std::io;
use std::sync::Arc;

use futures::stream::{self, StreamExt};
use serde_json::Value;

use super::answer::{Done, Fault};
use super::call::Call;
use super::filter::Filter;
use crate::api::list::piece;
use crate::domain::MonitorId;
use crate::schema::{Monitor, legacy};
use crate::service::monitors;
use crate::service::{Caller, MonitorContext, ServiceError};

/// Monitors in one piece at most.
const STEP: usize = 100;
/// Bytes of scripts in one piece, if it is not a single monitor.
const STEP_BYTES: usize = 4 * 1024 * 1024;

pub(super) async fn list(call: Call) -> Result<Done, Fault> {
    let filter = Filter::read(call.request.uri(), &call.caller, &call.state.monitors)?;
    let walk = Walk { monitors: call.state.monitors, caller: call.caller, filter, next: Some(MonitorId(0)) };
    // The first piece before the head of the answer: what fails here has a status of its own.
    let (begun, walk) = walk.step().await?;
    let rest = stream::try_unfold(walk, |walk| async move {
        if walk.next.is_none() {
            return Ok(None);
        }
        walk.step().await.map(Some).map_err(|refusal| broken(&refusal))
    });
    Ok(Done::Pieces(stream::once(std::future::ready(Ok(begun))).chain(rest).boxed()))
}

/// Goes through the roster by id. Monitors that come or go meanwhile do not shift the others.
struct Walk {
    monitors: Arc<MonitorContext>,
    caller: Caller,
    filter: Filter,
    /// From which id on; `None` after the last.
    next: Option<MonitorId>,
}

impl Walk {
    async fn step(mut self) -> Result<(Vec<u8>, Self), ServiceError> {
        let Some(from) = self.next.take() else { return Ok((Vec::new(), self)) };
        let fits = |monitor: &Monitor| monitor.customer == self.caller.customer && self.filter.fits(monitor);
        let mut monitors = self.monitors.list_from(from, STEP, fits);
        let found = monitors.len();
        monitors.truncate(bearable(&monitors));
        if found == STEP || monitors.len() < found {
            self.next = monitors.last().map(|last| MonitorId(last.id.0.saturating_add(1)));
        }
        let shown = monitors::monitors_to_json(&self.monitors, &self.caller, &monitors).await?;
        let records = monitors.iter().zip(shown).map(|(monitor, mut object)| {
            if !self.filter.scripts {
                object.shift_remove("script");
            }
            let mut record = legacy::record_from_v3(monitor.monitor_type(), &object);
            if !self.filter.scripts {
                record.shift_remove("script");
            }
            Value::Object(record)
        });
        Ok((piece(records), self))
    }
}

/// How many of `monitors` one piece may hold: at least one, and as many as their scripts allow.
fn bearable(monitors: &[Monitor]) -> usize {
    let mut bytes = 0;
    let fitting = monitors.iter().take_while(|monitor| {
        bytes += monitor.document.script().map_or(0, str::len);
        bytes <= STEP_BYTES
    });
    fitting.count().max(1)
}

/// What cuts off an answer that has begun.
fn broken(refusal: &ServiceError) -> io::Error {
    tracing::warn!(error = ?refusal, "a list of monitors was cut off");
    io::Error::other("the list was cut off")
}
