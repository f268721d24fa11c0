//! A process that checks, on a fake clock: store, ingestor, one real runner for each location.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use vigie::agent;
use vigie::agent::{
    AccountBlackouts, AdmissionLimits, BlackoutLookup, ExecutionContext, LocationAgent, LocationAgentParts,
};
use vigie::app::{HostProbeBuilder, HostedAgent, LocalPlanner, LocationAgents, PlannerDependencies};
use vigie::bus::InProcessBus;
use vigie::catalog::{AccountCache, InstanceData, MonitorCache};
use vigie::clock::FakeClock;
use vigie::domain::{CheckResult, Location, LocationId, MonitorId, MonitorType, Timestamp};
use vigie::net::{Net, NetConfig, SourceBinding};
use vigie::pipeline::{IngestSettings, Ingestor};
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;
use vigie::service::{MonitorDependencies, MonitorService};
use vigie::store::{Pagination, ResultFilter, ResultStore, SqliteSettings, SqliteStore};
use vigie::syntax::node::Node;
use vigie::telemetry::Metrics;
use vigie::vault::Keyring;

use crate::monitors::harness::{NOON, admin, common};

/// The parts of a process that run checks.
pub struct Process {
    folder: tempfile::TempDir,
    pub store: Arc<SqliteStore>,
    ingestor: Arc<Ingestor>,
    pub agents: Vec<Arc<LocationAgent>>,
    pub bus: Arc<InProcessBus>,
    pub planner: Arc<LocalPlanner>,
    pub monitors: MonitorService,
    pub clock: Arc<FakeClock>,
    pub metrics: Arc<Metrics>,
}

/// Returns the source address of location `id`, by which targets identify it.
pub fn address(id: i64) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, u8::try_from(id).unwrap())
}

impl Process {
    /// Starts a process that hosts location 1 of two.
    pub async fn start() -> Self {
        Self::over(common(), 1).await
    }

    /// Starts a process that hosts all of `number` locations.
    pub async fn hosting(number: i64) -> Self {
        let at = |id| Location { id: LocationId(id), name: format!("location {id}"), region_code: id };
        let locations = (1..=number).map(at).collect();
        Self::over(InstanceData { locations, ..common() }, usize::try_from(number).unwrap()).await
    }

    async fn over(common: InstanceData, hosted: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("vigie.db"), &SqliteSettings::default()).unwrap();
        let (store, metrics) = (Arc::new(store), Arc::new(Metrics::new()));
        let clock = Arc::new(FakeClock::new(Timestamp::from_seconds(NOON)));
        let ingestor =
            Arc::new(Ingestor::start(store.clone(), Arc::clone(&metrics), vec![], IngestSettings::default()));
        let probe_builder = Arc::new(HostProbeBuilder::default());
        let agent = |location: &Location| {
            let source = SourceBinding { ipv4: Some(address(location.id.0)), ..SourceBinding::default() };
            let net =
                Arc::new(Net::new(&NetConfig { source_binding: source, ..NetConfig::default() }).unwrap());
            let account_blackouts = Arc::new(AccountBlackouts::default());
            let blackouts: Arc<dyn BlackoutLookup> = account_blackouts.clone();
            let cx = ExecutionContext {
                blackout_lookup: Some(blackouts),
                ..ExecutionContext::new(Arc::clone(&net), clock.clone())
            };
            let limits = AdmissionLimits::default();
            let runner = agent::start_runner(limits, cx, ingestor.clone(), Arc::clone(&metrics));
            Arc::new(LocationAgent::new(LocationAgentParts {
                location: location.clone(),
                runner,
                net,
                connectivity: None,
                account_blackouts,
                sharing: Arc::default(),
                probe_builder: probe_builder.clone(),
                browser_capacity: 2,
                clock: clock.clone(),
            }))
        };
        let agents: Vec<_> = common.locations.iter().take(hosted).map(agent).collect();
        let bus = Arc::new(InProcessBus::default());
        let hosted_agent = |agent: &Arc<LocationAgent>| HostedAgent {
            agent: Arc::clone(agent),
            can_verify: agent.location().id.0 == 3,
        };
        let _ = LocationAgents::new(Arc::clone(&bus), agents.iter().map(hosted_agent).collect());
        let accounts = Arc::new(AccountCache::new(store.clone(), common));
        let monitor_cache = Arc::new(MonitorCache::default());
        let planner = Arc::new(LocalPlanner::new(PlannerDependencies {
            bus: bus.clone(),
            ingestor: Arc::clone(&ingestor),
            monitor_cache: Arc::clone(&monitor_cache),
            account_cache: Arc::clone(&accounts),
            last_known_accounts: Arc::default(),
            clock: clock.clone(),
        }));
        bus.set_snapshot_source(planner.as_snapshot_source());
        let monitors = MonitorService::new(MonitorDependencies {
            config_store: store.clone(),
            monitor_cache,
            account_cache: accounts,
            planner: planner.clone(),
            keyring: Arc::new(Keyring::ephemeral()),
            clock: clock.clone(),
        });
        Self { folder, store, ingestor, agents, bus, planner, monitors, clock, metrics }
    }

    pub async fn create(&self, port: u16, more: serde_json::Value) -> MonitorId {
        let mut body = json!({
            "billing_plancode": "p", "name": "shop", "hostname": "127.0.0.1", "port": port, "interval": 1,
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let created =
            monitors::create(&self.monitors, &admin(), MonitorType::Tcp, InputFormat::V3, &Node::from(body))
                .await;
        MonitorId(created.unwrap().id)
    }

    /// Advances the clock in small steps, and waits after each until no check is in progress.
    pub async fn advance(&self, seconds: u64) {
        for _ in 0..2 * seconds {
            self.clock.advance(Duration::from_millis(500));
            for agent in &self.agents {
                while agent.runner().current_stats().await.unwrap().running_checks > 0 {
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    /// Returns the results of `monitor` once there are `number` of them, newest first.
    pub async fn results(&self, monitor: MonitorId, number: usize) -> Vec<CheckResult> {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            let filter = ResultFilter { monitors: vec![monitor], ..ResultFilter::default() };
            let page = self.store.results(filter, Pagination { limit: 1000, offset: 0 }).await.unwrap();
            if page.results.len() >= number {
                return page.results;
            }
            assert!(tokio::time::Instant::now() < deadline, "{} of {number} results", page.results.len());
            tokio::task::yield_now().await;
        }
    }

    /// Returns the number of planned monitors, summed over all locations.
    pub async fn planned(&self) -> usize {
        let mut planned = 0;
        for agent in &self.agents {
            planned += agent.runner().current_stats().await.unwrap().planned_monitors;
        }
        planned
    }

    pub async fn end(self) {
        for agent in &self.agents {
            agent.runner().shutdown(Duration::from_secs(5)).await;
        }
        assert_eq!(self.ingestor.drain(Duration::from_secs(5)).await, 0);
        self.store.close().await;
        drop(self.folder);
    }
}
