//! Breaks something, and heals it.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::agent_host::AgentHost;
use super::ballast::Ballast;
use super::earlier;
use super::fault::Fault;
use super::repeated_messages;
use super::world::{
    AGENT_WITH_CLOCK, CONTROLLERS, INTERVAL, LOCATION_THAT_FILLS_ITS_SPOOL, SMALL_DATABASE, World,
};
use crate::agents::network::{NATS, shell};
use crate::endurance::kill::RandomMoments;
use crate::support::binary::program;
use crate::support::postgres::PostgresServer;

/// How far the clock of an agent jumps.
const CLOCK_STEP_SECONDS: i64 = 300;
/// How far a replica is behind when it takes over.
const REPLICA_LAG: Duration = Duration::from_secs(1);
/// How long the leader waits with results; those of most monitors come meanwhile.
const HELD_FOR: Duration = Duration::from_secs(4);
/// How long a leader that was stopped cannot find out that another one leads: shorter than a lease.
const LEASE_HELD_FOR: Duration = Duration::from_secs(3);
/// How long another controller may take to lead, on a busy machine.
const FAIL_OVER: Duration = Duration::from_mins(1);
/// How long a spool of one MiB may take to fill. While the site is up, results are shorter, and it takes longest.
const SPOOL_FILLS: Duration = Duration::from_mins(6);

/// How long it drops results then.
const LOSES_FOR: Duration = Duration::from_secs(15);
/// How much of the log of an agent is shown, in bytes, whose spool does not fill.
const SHOWN_LOG: usize = 6_000;

/// How long a part is of one version, at least.
const RUNS_OF_A_VERSION: Duration = INTERVAL.saturating_mul(2);

/// The agent that is alone at its location.
const LONE_AGENT: usize = 2;
/// The agents that become those of an earlier version together: two of a location do so one after the other.
const UPGRADED_TOGETHER: [&[usize]; 2] = [&[0, LONE_AGENT, AGENT_WITH_CLOCK], &[1]];

/// The location whose agents a fault hits, or all.
pub fn location_of(fault: Fault) -> usize {
    match fault {
        Fault::AgentClockSteps => 2,
        Fault::AgentCutOffBeyondItsSpool | Fault::AgentDiskFull => LOCATION_THAT_FILLS_ITS_SPOOL,
        _ => 0,
    }
}

/// Breaks `fault` and heals it again.
pub fn play(world: &mut World, fault: Fault, random: &mut RandomMoments) {
    // The moments are arbitrary on purpose.
    let mut pause = |least_ms: u64, most_ms: u64| {
        std::thread::sleep(Duration::from_millis(least_ms + random.below(most_ms - least_ms)));
    };
    match fault {
        Fault::AgentKilled => {
            world.agents[0].kill();
            pause(500, 8_000);
            world.agents[0].start_again();
        }
        Fault::AgentCutOff => {
            world.agents[0].cut_off();
            pause(6_000, 12_000);
            world.agents[0].join_again();
        }
        // Others are played while its spool fills.
        Fault::AgentCutOffBeyondItsSpool => unreachable!("it has a beginning and an end"),
        Fault::NothingFromAgent => {
            world.agents[1].host.cut_off_from_nats();
            pause(6_000, 12_000);
            world.agents[1].host.join_nats_again();
        }
        Fault::NothingToAgent => {
            world.agents[1].cut_off_answers();
            pause(6_000, 12_000);
            world.agents[1].join_answers_again();
        }
        Fault::LocationCutOff => {
            world.agents[..2].iter().for_each(AgentHost::cut_off);
            pause(6_000, 12_000);
            world.agents[..2].iter().for_each(AgentHost::join_again);
        }
        Fault::AgentDiskFull => {
            let ballast = world.agents[LONE_AGENT].fill_disk();
            pause(6_000, 10_000);
            drop(ballast);
        }
        Fault::AgentClockSteps => {
            for seconds in [CLOCK_STEP_SECONDS, 0] {
                world.agents[AGENT_WITH_CLOCK].set_clock(seconds);
                pause(10_000, 15_000);
            }
        }
        Fault::LeaderKilled => {
            let (leader, ingest) = (world.leader(), hold_ingest(world));
            world.controllers[leader].end(Signal::SIGKILL);
            ingest.release(world);
            pause(0, 7_000);
            world.controllers[leader].start_again(&world.cluster, CONTROLLERS[leader]);
        }
        Fault::BothControllersRestarted => {
            let signals = [Signal::SIGKILL, Signal::SIGTERM];
            for (controller, signal) in world.controllers.iter_mut().zip(signals) {
                controller.end(signal);
            }
            pause(0, 3_000);
            for (controller, name) in world.controllers.iter_mut().zip(CONTROLLERS) {
                controller.start_again(&world.cluster, name);
            }
        }
        Fault::LeaderPaused => pause_leader(world, &mut pause),
        Fault::NatsKilled => {
            world.cluster.nats.kill();
            pause(500, 8_000);
            world.cluster.nats.restart();
        }
        Fault::NatsRestarted => {
            world.cluster.nats.stop();
            world.cluster.nats.restart();
        }
        Fault::NatsDiskFull => {
            let ballast = Ballast::fill(&world.nats_folder);
            pause(6_000, 10_000);
            drop(ballast);
            // NATS uses no streams any more once it could not write: the runbook says to start it again.
            world.cluster.nats.stop();
            world.cluster.nats.restart();
        }
        Fault::NatsDataLost => {
            world.cluster.nats.kill();
            for entry in std::fs::read_dir(&world.nats_folder).unwrap() {
                std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
            }
            world.cluster.nats.restart();
        }
        Fault::MessagesRepeated => repeated_messages::repeat(world),
        Fault::DatabaseKilled => {
            world.cluster.postgres.kill();
            pause(500, 8_000);
            world.cluster.postgres.restart();
        }
        Fault::DatabaseRestarted => {
            world.cluster.postgres.stop();
            world.cluster.postgres.restart();
        }
        Fault::DatabaseReadOnly => {
            set_read_only(world, true);
            pause(4_000, 8_000);
            set_read_only(world, false);
        }
        Fault::DatabaseDiskFull => fill_disk_of_database(world, &mut pause),
        Fault::DatabaseFailedOver => fail_over_to_late_replica(world),
        Fault::AgentsUpgraded => upgrade_agents(world),
        Fault::ControllersUpgraded => upgrade_controllers(world),
    }
}

/// Has agents be an earlier version for some runs, and upgrades them again.
fn upgrade_agents(world: &mut World) {
    let (earlier, current) = (earlier::program(), program());
    for agents in UPGRADED_TOGETHER {
        for version in [earlier, &current] {
            // Each waits for its checks when it ends: they do so together.
            for &agent in agents {
                world.agents[agent].begin_to_end();
            }
            for &agent in agents {
                world.agents[agent].go_on_as(version);
            }
            std::thread::sleep(RUNS_OF_A_VERSION);
        }
    }
}

/// Has one controller after the other be an earlier version that leads for some runs, and upgrades it again.
fn upgrade_controllers(world: &mut World) {
    let (earlier, current) = (earlier::program(), program());
    for earlier_one in 0..CONTROLLERS.len() {
        let other = 1 - earlier_one;
        // It leads when the other one ends, and no more when it is upgraded.
        // The earlier version loses results that come while it ends in an orderly way.
        for (controller, signal, version) in [
            (earlier_one, Signal::SIGTERM, earlier),
            (other, Signal::SIGTERM, &current),
            (earlier_one, Signal::SIGKILL, &current),
        ] {
            world.controllers[controller].end(signal);
            world.controllers[controller].start_again_as(version, &world.cluster, CONTROLLERS[controller]);
            std::thread::sleep(RUNS_OF_A_VERSION);
        }
    }
}

/// Begins [`Fault::AgentCutOffBeyondItsSpool`].
pub fn cut_off_lone_agent(world: &World) {
    world.agents[LONE_AGENT].cut_off();
}

/// Ends [`Fault::AgentCutOffBeyondItsSpool`] once the spool has dropped results.
pub fn join_lone_agent_with_full_spool(world: &mut World) {
    let agent = &mut world.agents[LONE_AGENT];
    let end = Instant::now() + SPOOL_FILLS;
    while !agent.process.daemon.log_text().contains("too many for the spool") {
        assert!(Instant::now() < end, "the spool does not fill: {}", agent.end_of_log(SHOWN_LOG));
        std::thread::sleep(Duration::from_secs(1));
    }
    // The first that it drops are stored: only the report did not come through.
    std::thread::sleep(LOSES_FOR);
    agent.join_again();
}

fn pause_leader(world: &mut World, pause: &mut impl FnMut(u64, u64)) {
    let (leader, ingest) = (world.leader(), hold_ingest(world));
    world.controllers[leader].daemon.signal(Signal::SIGSTOP);
    ingest.release(world);
    let end = Instant::now() + FAIL_OVER;
    while world.leader() == leader {
        assert!(Instant::now() < end, "no other controller leads");
        std::thread::sleep(Duration::from_millis(100));
    }
    pause(500, 4_000);
    // It goes on with what it had in hand, and nothing but its epoch keeps it from writing.
    let lease = TableLock::take(world, "LOCK TABLE controller_lease IN EXCLUSIVE MODE");
    world.controllers[leader].daemon.signal(Signal::SIGCONT);
    std::thread::sleep(LEASE_HELD_FOR);
    lease.release(world);
}

/// Has the leader wait when it stores results: whatever happens to it then comes in the midst of that.
fn hold_ingest(world: &World) -> TableLock {
    let lock = TableLock::take(world, "LOCK TABLE results IN SHARE MODE");
    std::thread::sleep(HELD_FOR);
    lock
}

/// A lock that keeps others from writing to a table of the database.
struct TableLock(PgConnection);

impl TableLock {
    fn take(world: &World, sql: &str) -> Self {
        let url = world.cluster.postgres.url(&world.cluster.database);
        let sql = AssertSqlSafe(format!("BEGIN; {sql}"));
        Self(world.runtime.block_on(async {
            let mut conn = PgConnection::connect(&url).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
            conn
        }))
    }

    fn release(self, world: &World) {
        world.runtime.block_on(self.0.close()).unwrap();
    }
}

fn set_read_only(world: &World, is_read_only: bool) {
    let value = if is_read_only { "on" } else { "off" };
    world.rows(&format!("ALTER SYSTEM SET default_transaction_read_only = {value}"));
    world.rows("SELECT pg_reload_conf()");
}

fn fill_disk_of_database(world: &mut World, pause: &mut impl FnMut(u64, u64)) {
    let ballast = Ballast::fill(&world.database_disks[0]);
    pause(6_000, 10_000);
    drop(ballast);
    // It may have ended, or be about to: the runbook says to start it again.
    world.cluster.postgres.kill();
    world.cluster.postgres.restart();
}

fn fail_over_to_late_replica(world: &mut World) {
    let mut replica = PostgresServer::start_replica(
        &world.cluster.postgres,
        world.database_disks[1].clone(),
        &SMALL_DATABASE,
    );
    // Replication goes on for an interval, then it stops.
    std::thread::sleep(INTERVAL);
    world.runtime.block_on(async {
        replica.execute("postgres", "ALTER SYSTEM SET primary_conninfo = ''".to_owned()).await;
        replica.execute("postgres", "SELECT pg_reload_conf()".to_owned()).await;
    });
    std::thread::sleep(REPLICA_LAG);
    world.cluster.postgres.kill();
    world.runtime.block_on(replica.execute("postgres", "SELECT pg_promote()".to_owned()));
    for controller in &world.controllers {
        controller.door.lead_to(replica.port);
    }
    std::mem::swap(&mut world.cluster.postgres, &mut replica);
    world.database_disks.swap(0, 1);
}

impl AgentHost {
    /// Has everything between the host and NATS get lost.
    fn cut_off(&self) {
        self.host.cut_off_from_nats();
        self.cut_off_answers();
    }

    fn join_again(&self) {
        self.host.join_nats_again();
        self.join_answers_again();
    }

    /// Has everything from NATS to the host get lost.
    fn cut_off_answers(&self) {
        shell(&format!("ip rule add from {NATS} to {} blackhole", self.host.address));
    }

    fn join_answers_again(&self) {
        shell(&format!("ip rule del from {NATS} to {} blackhole", self.host.address));
    }
}
