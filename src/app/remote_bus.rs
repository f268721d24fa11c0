//! Connects the server to agents on other hosts: keeps their locations and keys up to date, renews their tokens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use super::bus_events::{BusEventRecorder, LocationOwners};
use super::combined_bus::CombinedBus;
use super::local_planner::LocalPlanner;
use super::location_sealer::LocationSealer;
use super::missed_run_sweep::{self, MissedRunSweep};
use super::report_sources::LocalReports;
use super::supervisor::{StatelessTask, Supervisor};
use crate::bus::contract::{ConnectedLocation, ResultReceiver};
use crate::bus::nats::subjects::AgentSubject;
use crate::bus::nats::{
    DataKeyId, NatsBus, NatsBusDependencies, NatsConnection, PublishPermission, RemoteLocation,
    RenewalRequest,
};
use crate::clock::Clock;
use crate::domain::LocationId;
use crate::service::agents::{AgentService, RemoteLocationRecord};
use crate::service::hosts::HostService;
use crate::service::{MonitorReader, RemoteLocationName, ServiceError};
use crate::settings::BusSettings;
use crate::store::Store;
use crate::sync::Mutex;
use crate::telemetry::{Metrics, TaskHeartbeat, TaskName};

/// How often the locations with agents are read.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// How often NATS gets the list of revoked agents, besides at each revocation.
const REVOCATION_INTERVAL: Duration = Duration::from_mins(5);

/// What the connection to agents works with.
pub(super) struct RemoteBusInputs {
    pub(super) agent_service: Arc<AgentService>,
    pub(super) host_service: Arc<HostService>,
    pub(super) bus: Arc<CombinedBus>,
    pub(super) receiver: Arc<dyn ResultReceiver>,
    pub(super) planner: Arc<LocalPlanner>,
    pub(super) monitor_reader: Arc<MonitorReader>,
    pub(super) store: Arc<dyn Store>,
    pub(super) database_timeline: String,
    pub(super) may_publish: PublishPermission,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) supervisor: Arc<Supervisor>,
}

/// Connects to NATS and starts to serve agents until `stop`; without keys of NATS it does nothing.
///
/// # Errors
/// Fails for a URL or keys that cannot be used. A NATS server that is away is waited for in the background.
pub(super) async fn start(
    settings: &BusSettings,
    inputs: RemoteBusInputs,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let RemoteBusInputs { agent_service, bus, receiver, planner, .. } = &inputs;
    let Ok(trust) = agent_service.trust() else {
        anyhow::ensure!(
            settings.urls.is_empty(),
            "`bus.urls` names NATS servers, but this server has no keys for them\nhint: run `vigie nats init DIR` first"
        );
        return Ok(());
    };
    let urls = if settings.urls.is_empty() { trust.urls.clone() } else { settings.urls.clone() };
    let login = trust.control_login(Arc::clone(&inputs.clock)).context("cannot log in to NATS")?;
    login.check_urls(&urls).context("cannot use the NATS servers of `bus.urls`")?;
    let options = login.connect_options().context("cannot log in to NATS")?.name("vigie control plane");
    let connection = NatsConnection::open(&urls, options).await?;
    let owners = LocationOwners::default();
    let (recorder, store_events) = BusEventRecorder::new(
        Arc::clone(&inputs.metrics),
        Arc::clone(&inputs.clock),
        inputs.store.clone(),
        Arc::clone(&owners),
    );
    let dependencies = NatsBusDependencies {
        connection: connection.clone(),
        receiver: Arc::clone(receiver),
        events: Arc::new(recorder),
        clock: Arc::clone(&inputs.clock),
        database_timeline: inputs.database_timeline.clone(),
        may_publish: Arc::clone(&inputs.may_publish),
    };
    let supervisor = &inputs.supervisor;
    let (nats_bus, task) = NatsBus::new(dependencies, supervisor.heartbeat(TaskName::Bus));
    let nats_bus = Arc::new(nats_bus);
    bus.set_remote(Arc::clone(&nats_bus));
    let locations = Locations {
        agent_service: Arc::clone(agent_service),
        bus: Arc::clone(&nats_bus),
        monitor_reader: Arc::clone(&inputs.monitor_reader),
        owners,
        known: Mutex::default(),
    };
    let locations = Arc::new(locations);
    // Before anything is published, so that no location is taken for one without agents.
    locations.refresh().await;
    nats_bus.set_snapshot_source(planner.as_snapshot_source());
    nats_bus.set_reported_state_source(Arc::new(LocalReports(Arc::clone(&inputs.host_service))));
    let observed = Arc::downgrade(&nats_bus);
    agent_service.observe_revocations(Arc::new(move |location, agent| {
        if let Some(bus) = observed.upgrade() {
            bus.remove_agent(location, agent);
        }
    }));
    drop(supervisor.spawn(task));
    let (work_stop, sweep_stop) = (stop.clone(), stop);
    let work = move |heartbeat: TaskHeartbeat| {
        let (locations, connection, stop) = (Arc::clone(&locations), connection.clone(), work_stop.clone());
        async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = locations.run(&heartbeat) => {}
                () = renew_tokens(&locations.agent_service, &connection) => {}
                () = push_revocations(&locations.agent_service, &connection) => {}
            }
        }
    };
    drop(supervisor.spawn(StatelessTask::new(supervisor.heartbeat(TaskName::Bus), work)));
    drop(tokio::spawn(store_events));
    let sweep = MissedRunSweep {
        plans: planner.clone(),
        agents: nats_bus,
        receiver: Arc::clone(receiver),
        store: inputs.store.clone(),
        metrics: Arc::clone(&inputs.metrics),
        clock: Arc::clone(&inputs.clock),
        missed_after: settings.missed_after,
    };
    drop(supervisor.spawn(missed_run_sweep::supervised(
        sweep,
        supervisor.heartbeat(TaskName::MissedRuns),
        sweep_stop,
    )));
    tracing::info!(urls = urls.join(", "), "agents on other hosts are served over NATS");
    Ok(())
}

/// Keeps the locations of the bus up to date with the store.
struct Locations {
    agent_service: Arc<AgentService>,
    bus: Arc<NatsBus>,
    monitor_reader: Arc<MonitorReader>,
    owners: LocationOwners,
    /// The locations as the bus has them.
    known: Mutex<BTreeMap<LocationId, KnownLocation>>,
}

/// A location as the bus has it.
#[derive(Clone)]
struct KnownLocation {
    connected: ConnectedLocation,
    /// Number of its newest data key.
    newest_key: DataKeyId,
    sealer: Arc<LocationSealer>,
}

impl Locations {
    async fn run(&self, heartbeat: &TaskHeartbeat) {
        loop {
            heartbeat.mark_idle_for(REFRESH_INTERVAL);
            // Besides being woken, since a location may have another name.
            let change = self.agent_service.wait_for_change();
            let _ = tokio::time::timeout(REFRESH_INTERVAL, change).await;
            self.refresh().await;
        }
    }

    /// Reads the locations and their keys, and passes changes to the bus.
    async fn refresh(&self) {
        if let Err(error) = self.try_refresh().await {
            tracing::warn!(error = ?error, "the locations with agents cannot be read; trying again");
        }
    }

    async fn try_refresh(&self) -> Result<(), ServiceError> {
        let records = self.agent_service.remote_locations().await?;
        let to_name = |record: &RemoteLocationRecord| RemoteLocationName {
            location: record.location.clone(),
            owner: Some(record.customer).filter(|_| !record.is_shared),
        };
        self.monitor_reader.set_remote_locations(records.iter().map(to_name).collect());
        let newest_keys = self.agent_service.newest_data_keys().await?;
        let before = self.known.lock().clone();
        let mut current = BTreeMap::new();
        let mut has_changed = before.len() != records.len();
        for record in &records {
            let location_id = record.location.id;
            let connected =
                ConnectedLocation { location: record.location.clone(), can_verify: record.can_verify };
            let old = before.get(&location_id);
            has_changed |= old.is_none_or(|old| old.connected != connected);
            // The keys are opened only when they changed: this runs every two seconds, for a thousand locations.
            let unchanged = old.filter(|old| newest_keys.get(&location_id) == Some(&old.newest_key));
            let known = if let Some(old) = unchanged {
                KnownLocation { connected, ..old.clone() }
            } else {
                has_changed = true;
                let keyring = self.agent_service.location_keyring(location_id).await?;
                let newest_key = keyring.newest_key_id();
                let sealer = Arc::new(LocationSealer::new(location_id, keyring));
                KnownLocation { connected, newest_key, sealer }
            };
            current.insert(location_id, known);
        }
        if !has_changed {
            return Ok(());
        }
        *self.owners.write() = records.iter().map(|record| (record.location.id, record.customer)).collect();
        let resealed: Vec<LocationId> = current
            .iter()
            .filter(|(id, known)| before.get(id).is_some_and(|old| old.newest_key != known.newest_key))
            .map(|(id, _)| *id)
            .collect();
        let to_remote = |known: &KnownLocation| RemoteLocation {
            connected: known.connected.clone(),
            sealer: known.sealer.clone(),
        };
        self.bus.set_locations(current.values().map(to_remote).collect());
        *self.known.lock() = current;
        for location_id in resealed {
            tracing::info!(
                location_id = location_id.0,
                "the data key of a location changed; its assignments are sealed again"
            );
            self.bus.reseal(location_id).await;
        }
        Ok(())
    }
}

/// Replies to agents that renew their tokens, for ever.
async fn renew_tokens(agent_service: &AgentService, connection: &NatsConnection) {
    loop {
        let subscribed = connection.client().subscribe(AgentSubject::Renew.of_all()).await;
        let Ok(mut requests) = subscribed else {
            tokio::time::sleep(REFRESH_INTERVAL).await;
            continue;
        };
        while let Some(message) = requests.next().await {
            let (Some((location, agent)), Some(reply)) =
                (AgentSubject::Renew.sender(&message.subject), message.reply)
            else {
                continue;
            };
            let request: RenewalRequest = serde_json::from_slice(&message.payload).unwrap_or_default();
            match agent_service.renew_over_bus(location, agent, request).await {
                Ok(grant) => {
                    let bytes = serde_json::to_vec(&grant).unwrap_or_default();
                    // An agent without a reply asks again.
                    let _ = connection.client().publish(reply, bytes.into()).await;
                }
                Err(error) => {
                    tracing::warn!(error = ?error, agent_id = agent.0, "the token of an agent is not renewed");
                }
            }
        }
    }
}

/// Gives NATS the list of revoked agents whenever it may lack it, for ever.
async fn push_revocations(agent_service: &AgentService, connection: &NatsConnection) {
    loop {
        let pause = match agent_service.push_account_jwt().await {
            Ok(()) => REVOCATION_INTERVAL,
            Err(error) => {
                tracing::debug!(error, "NATS does not have the list of revoked agents yet");
                REFRESH_INTERVAL
            }
        };
        let was_connected = connection.is_connected();
        let reconnected = async {
            let mut before = was_connected;
            loop {
                tokio::time::sleep(REFRESH_INTERVAL).await;
                let is_connected = connection.is_connected();
                if is_connected && !before {
                    return;
                }
                before = is_connected;
            }
        };
        let _ = tokio::time::timeout(pause, reconnected).await;
    }
}
