//! The task that sweeps at least once a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::sweep::MissedRunSweep;
use super::swept_location::SweptLocation;
use crate::app::supervisor::StatelessTask;
use crate::domain::LocationId;
use crate::store::StoreError;
use crate::telemetry::{SupervisedTask, TaskHeartbeat};

/// Longest time between two sweeps. The agents have it to connect after the start of the server.
const MAX_SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// Returns the task that sweeps until `stop`.
pub(in crate::app) fn supervised(
    sweep: MissedRunSweep,
    heartbeat: TaskHeartbeat,
    stop: CancellationToken,
) -> impl SupervisedTask {
    let sweep = Arc::new(sweep);
    let work = move |heartbeat: TaskHeartbeat| {
        let (sweep, stop) = (Arc::clone(&sweep), stop.clone());
        async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = run(&sweep, &heartbeat) => {}
            }
        }
    };
    StatelessTask::new(heartbeat, work)
}

async fn run(sweep: &MissedRunSweep, heartbeat: &TaskHeartbeat) {
    let mut swept = None;
    let interval = MAX_SWEEP_INTERVAL.min(sweep.missed_after / 2);
    loop {
        heartbeat.mark_idle_for(interval);
        tokio::time::sleep(interval).await;
        heartbeat.beat();
        if let Err(error) = try_run(sweep, &mut swept, heartbeat).await {
            tracing::warn!(error = %error, "missed runs of agents were not recorded; trying again");
        }
    }
}

async fn try_run(
    sweep: &MissedRunSweep,
    swept: &mut Option<HashMap<LocationId, SweptLocation>>,
    heartbeat: &TaskHeartbeat,
) -> Result<(), StoreError> {
    let swept = match swept {
        Some(swept) => swept,
        None => swept.insert(sweep.load().await?),
    };
    sweep.run(swept, heartbeat).await
}
