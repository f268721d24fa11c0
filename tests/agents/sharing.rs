//! Two agents of one location on hosts of their own: while both are connected, while one is cut off, killed or stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use vigie::clock::{Clock, SystemClock};
use vigie::domain::{AgentId, MonitorId, Timestamp};
use vigie::schedule::{LocationMember, LocationMembers, SlotGrid};

use super::network::{AgentProcess, Host, Installation, SETUP, TARGET, Target, answer_http, until};
use crate::support::namespace::inside;

const INTERVAL: Duration = Duration::from_secs(5);
/// How much later than planned a check reaches its target at most, on a busy machine.
const LATE: Duration = Duration::from_secs(2);
/// How much the clocks of the agents may be ahead.
const EARLY: Duration = Duration::from_millis(200);
/// How long the agents take at most to take over a share, before the next slot: 15 seconds without a heartbeat, one until
/// it is seen, three until the change takes effect.
const TAKEOVER: Duration = Duration::from_secs(15 + 1 + 3);

/// A monitor, with a target of its own.
struct Watched {
    id: i64,
    target: Target,
}

struct World {
    installation: Installation,
    location: i64,
    hosts: [Host; 2],
    agents: [AgentProcess; 2],
    /// Those of the first agent, and those of the second.
    shares: [Vec<Watched>; 2],
}

fn wait_until(time: Timestamp) {
    std::thread::sleep(time.since(SystemClock.now()));
}

impl World {
    /// Starts both agents, and creates monitors until each has two; `monitor` creates one. Returns when their shares begin.
    fn build(monitor: impl Fn(&Installation, i64, &str) -> Watched) -> (Self, Timestamp) {
        let mut installation = Installation::start();
        installation.notify_somebody();
        let location = installation.location("north", 1);
        let hosts = [Host::new(1), Host::new(2)];
        let second = installation.another_secret(&location);
        let agents =
            [installation.agent(&location, &hosts[0], &[]), installation.agent(&second, &hosts[1], &[])];
        let effective_at = installation.wait_for_members(location.id, 2);
        let listed = installation.list("/agents");
        let mut ids: Vec<_> = listed.iter().map(|agent| agent["id"].as_i64().unwrap()).collect();
        ids.sort_unstable();
        let to_member = |id: &i64| LocationMember { agent_id: AgentId(*id), weight: 1 };
        let members = LocationMembers { effective_at, members: ids.iter().map(to_member).collect() };
        let mut shares = [Vec::new(), Vec::new()];
        while shares.iter().any(|share| share.len() < 2) {
            let watched = monitor(
                &installation,
                location.id,
                &format!("monitor {}", shares[0].len() + shares[1].len()),
            );
            let owner = members.owner(MonitorId(watched.id)).unwrap();
            // The first agent enrolled first.
            shares[usize::from(owner.0 != ids[0])].push(watched);
        }
        (Self { installation, location: location.id, hosts, agents, shares }, effective_at)
    }

    fn watched(&self) -> impl Iterator<Item = &Watched> {
        self.shares.iter().flatten()
    }

    /// Returns who ran each slot of a monitor that is planned in `from..until`, as its target saw it.
    fn runs_at_target(
        &self,
        watched: &Watched,
        from: Timestamp,
        until: Timestamp,
    ) -> BTreeMap<Timestamp, Vec<usize>> {
        let grid = SlotGrid::new(MonitorId(watched.id), INTERVAL, None);
        let mut runs = BTreeMap::new();
        let mut slot = grid.first_slot_at_or_after(from);
        while slot < until {
            runs.insert(slot, Vec::new());
            slot = grid.next_slot_after(slot);
        }
        for (at, address) in watched.target.connections() {
            let host = self.hosts.iter().position(|host| host.address == address);
            let host = host.unwrap_or_else(|| panic!("{address} connects"));
            // First checks are made at other times, before.
            if let Some(hosts) = runs.get_mut(&grid.last_slot_at_or_before(at + EARLY)) {
                hosts.push(host);
            }
        }
        runs
    }

    /// Asserts that each slot in `from..until` ran once, at the agent that `agent_of` says for its share.
    fn assert_each_slot_ran_once(&self, from: Timestamp, until: Timestamp, agent_of: fn(usize) -> usize) {
        for (share, all) in self.shares.iter().enumerate() {
            for watched in all {
                let runs = self.runs_at_target(watched, from, until);
                assert!(!runs.is_empty());
                let expected = [agent_of(share)];
                let history = || self.installation.results(watched.id);
                let is_expected = runs.values().all(|hosts| *hosts == expected);
                assert!(
                    is_expected,
                    "share {share}: {runs:?}, connections {:?}, history {:?}",
                    watched.target.connections(),
                    history()
                );
            }
        }
    }

    /// Waits until every slot in `from..until` has its result, and returns them; each has exactly one.
    fn results(
        &self,
        watched: &Watched,
        from: Timestamp,
        until_slot: Timestamp,
    ) -> BTreeMap<Timestamp, Value> {
        let grid = SlotGrid::new(MonitorId(watched.id), INTERVAL, None);
        let wanted = grid.count_slots_between(from, until_slot);
        let mut by_slot = BTreeMap::<Timestamp, Value>::new();
        until("every slot has a result", || {
            by_slot.clear();
            for result in self.installation.results(watched.id) {
                let planned_at = Timestamp::parse(result["planned_at"].as_str().unwrap()).unwrap();
                if result["trigger"] == "schedule" && (from..until_slot).contains(&planned_at) {
                    let before = by_slot.insert(planned_at, result);
                    assert!(before.is_none(), "the slot {planned_at} has two results");
                }
            }
            by_slot.retain(|_, result| result["outcome"] != "missed");
            by_slot.len() as u64 == wanted
        });
        by_slot
    }
}

#[test]
fn a_cut_off_agent_goes_on_and_each_slot_keeps_one_result() {
    const NAME: &str = "agents::sharing::a_cut_off_agent_goes_on_and_each_slot_keeps_one_result";
    if !inside(NAME, SETUP, "") {
        return;
    }
    let (mut world, began) = World::build(|installation, location, name| {
        let target = Target::open();
        let fields = json!({"name": name, "hostname": TARGET, "port": target.port, "mode": "Global Notify",
            "locations": [{"id": location}], "home_location": location});
        Watched { id: installation.monitor("tcp", &fields), target }
    });
    // One of the first agent, whose target is down while the agent is cut off.
    let failing = TcpListener::bind((TARGET, 0)).unwrap();
    let port = failing.local_addr().unwrap().port();
    let failing_id = failing_monitor(&world, port);

    let stable_until = SystemClock.now().max(began) + 2 * INTERVAL;
    wait_until(stable_until + LATE);
    world.assert_each_slot_ran_once(began + INTERVAL, stable_until, |share| share);

    // Both run what was the share of the first, once the second has taken it over.
    world.hosts[0].cut_off_from_nats();
    let cut_at = SystemClock.now();
    drop(failing);
    wait_until(cut_at + 2 * INTERVAL);
    let up_again = TcpListener::bind((TARGET, port)).unwrap();
    let taken_over = world.installation.wait_for_members(world.location, 1);
    assert!(taken_over <= cut_at + TAKEOVER + LATE, "{taken_over} is too long after {cut_at}");
    let both_until = taken_over + 2 * INTERVAL;
    wait_until(both_until + LATE);
    let both: BTreeSet<usize> = [0, 1].into();
    for watched in &world.shares[0] {
        for (slot, hosts) in world.runs_at_target(watched, taken_over, both_until) {
            assert_eq!((hosts.len(), hosts.into_iter().collect()), (2, both.clone()), "at {slot}");
        }
    }

    world.hosts[0].join_nats_again();
    let joined = world.installation.wait_for_members(world.location, 2);
    wait_until(joined + INTERVAL + LATE);
    for watched in world.watched() {
        let results = world.results(watched, began + INTERVAL, joined);
        assert!(results.values().all(|result| result["outcome"] == "ok"), "{results:?}");
    }
    world.assert_each_slot_ran_once(joined, joined + INTERVAL, |share| share);
    // What failed meanwhile is in the history, and nobody was woken by it so late.
    let history = world.installation.results(failing_id);
    let failed = |result: &&Value| {
        let planned_at = Timestamp::parse(result["planned_at"].as_str().unwrap()).unwrap();
        result["outcome"] == "error" && (cut_at..cut_at + 2 * INTERVAL).contains(&planned_at)
    };
    assert!(history.iter().filter(failed).count() >= 1, "{history:?}");
    assert_eq!(history[0]["outcome"], "ok");
    assert_eq!(world.installation.notified(), Vec::<i64>::new());
    assert_eq!(world.installation.list("/episodes"), Vec::<Value>::new());
    // While it is connected, the same failure wakes somebody.
    drop(up_again);
    until("somebody is notified", || world.installation.notified().contains(&failing_id));
}

/// Creates monitors of what listens at `port` until one belongs to the first agent; returns it.
fn failing_monitor(world: &World, port: u16) -> i64 {
    let listed = world.installation.list("/agents");
    let to_member =
        |agent: &Value| LocationMember { agent_id: AgentId(agent["id"].as_i64().unwrap()), weight: 1 };
    let members: Vec<_> = listed.iter().map(to_member).collect();
    let first = members.iter().map(|member| member.agent_id).min();
    let members = LocationMembers { effective_at: SystemClock.now(), members };
    loop {
        let fields = json!({"name": "failing", "hostname": TARGET, "port": port, "mode": "Global Notify",
            "locations": [{"id": world.location}], "home_location": world.location});
        let id = world.installation.monitor("tcp", &fields);
        if members.owner(MonitorId(id)) == first {
            return id;
        }
        world.installation.call("DELETE", &format!("/monitors/{id}"), &Value::Null);
    }
}

#[test]
fn a_killed_agent_is_replaced_and_one_that_is_stopped_loses_nothing() {
    const NAME: &str = "agents::sharing::a_killed_agent_is_replaced_and_one_that_is_stopped_loses_nothing";
    if !inside(NAME, SETUP, "") {
        return;
    }
    // The checks take a while, so that some are in progress at any time.
    let (mut world, began) = World::build(|installation, location, name| {
        let target =
            Target::answering(|stream| answer_http(stream, "200 OK", "fine", Duration::from_millis(1_500)));
        let url = format!("http://{TARGET}:{}/", target.port);
        let fields = json!({"name": name, "url": url, "mode": "Global Notify", "timeout": 4,
            "locations": [{"id": location}], "home_location": location});
        Watched { id: installation.monitor("website", &fields), target }
    });
    wait_until(began + INTERVAL);

    world.agents[0].daemon.signal(Signal::SIGKILL);
    let killed_at = SystemClock.now();
    world.agents[0].daemon.wait_for_exit();
    // An order goes to the other agent at once.
    let monitor = world.shares[0][0].id;
    let path = format!("/tests?monitor_id={monitor}&location_id={}", world.location);
    let test = world.installation.call("POST", &path, &json!({}))["id"].as_str().unwrap().to_owned();
    until("the test on demand ends", || {
        let test = world.installation.get(&format!("/tests/{test}"));
        assert_ne!(test["progress"], 3, "{test}");
        test["progress"] == 2
    });
    let taken_over = world.installation.wait_for_members(world.location, 1);
    assert!(taken_over <= killed_at + TAKEOVER + LATE, "{taken_over} is too long after {killed_at}");
    wait_until(taken_over + INTERVAL + LATE);
    world.assert_each_slot_ran_once(taken_over, taken_over + INTERVAL, |_| 1);

    let World { agents, hosts, .. } = &mut world;
    agents[0].start_again(&hosts[0]);
    let shared_again = world.installation.wait_for_members(world.location, 2);
    wait_until(shared_again + INTERVAL + LATE);
    world.assert_each_slot_ran_once(shared_again, shared_again + INTERVAL, |share| share);

    world.agents[1].daemon.signal(Signal::SIGTERM);
    let alone = world.installation.wait_for_members(world.location, 1);
    world.agents[1].daemon.wait_for_log("shut down");
    assert_eq!(world.agents[1].daemon.wait_for_exit().code(), Some(0));
    wait_until(alone + INTERVAL + LATE);
    world.assert_each_slot_ran_once(alone, alone + INTERVAL, |_| 0);
    world.assert_each_slot_ran_once(shared_again, alone, |share| share);
    for watched in world.watched() {
        let results = world.results(watched, shared_again, alone + INTERVAL);
        assert!(results.values().all(|result| result["outcome"] == "ok"), "{results:?}");
    }
}
