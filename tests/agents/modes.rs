//! The five modes, rotation, staggering, verification, own connectivity and the kinds of orders, over agents on hosts of
//! their own.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use vigie::domain::Timestamp;

use super::network::{
    AgentProcess, Host, Installation, SETUP, TARGET, Target, answer_http, until, until_lacks_nothing,
};
use crate::support::namespace::inside;

/// What the hosts cannot reach of the addresses of the target.
const FROM_NORTH: &str = "10.77.0.101";
const FROM_NORTH_AND_SOUTH: &str = "10.77.0.102";
const FROM_NOWHERE: &str = "10.77.0.104";
const FROM_WEST: &str = "10.77.0.105";
/// What all of them reach, except the island when it is cut off.
const REACHED: &str = "10.77.0.103";

const INTERVAL: Duration = Duration::from_secs(5);

struct World {
    installation: Installation,
    /// North, south, west.
    pool: [i64; 3],
    island: i64,
    island_host: Host,
    target: Target,
    monitors: BTreeMap<&'static str, i64>,
    _hosts: Vec<Host>,
    _agents: Vec<AgentProcess>,
}

/// The checks of one run: location, start, whole result.
type Run = (Timestamp, Vec<(i64, Timestamp, Value)>);

fn time(result: &Value, field: &str) -> Timestamp {
    Timestamp::parse(result[field].as_str().unwrap()).unwrap()
}

impl World {
    fn build() -> Self {
        let installation = Installation::start();
        installation.notify_somebody();
        let target = Target::open();
        let places = [
            ("north", 1, &[FROM_NORTH, FROM_NORTH_AND_SOUTH, FROM_NOWHERE][..]),
            ("south", 1, &[FROM_NORTH_AND_SOUTH, FROM_NOWHERE]),
            ("west", 2, &[FROM_WEST, FROM_NOWHERE]),
            ("island", 2, &[FROM_NORTH]),
        ];
        let connectivity_target = format!("{TARGET}:{}", target.port);
        let (mut locations, mut hosts, mut agents) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (name, region, unreachable)) in (1..).zip(places) {
            let (host, location) = (Host::new(number), installation.location(name, region));
            for address in unreachable {
                host.cannot_reach(address);
            }
            let settings = [("VIGIE_LOCATION_CONNECTIVITY_TARGETS", connectivity_target.as_str())];
            agents.push(installation.agent(&location, &host, &settings));
            locations.push(location.id);
            hosts.push(host);
        }
        until("all agents are online", || {
            installation.list("/agents").iter().filter(|agent| agent["state"] == "online").count() == 4
        });
        let island_host = hosts.pop().unwrap();
        let (pool, island) = ([locations[0], locations[1], locations[2]], locations[3]);
        let monitors = BTreeMap::new();
        Self { installation, pool, island, island_host, target, monitors, _hosts: hosts, _agents: agents }
    }

    /// Creates a monitor of the pool, north first.
    fn monitor(&mut self, name: &'static str, mode: &str, address: &str, more: &Value) {
        let locations: Vec<_> = self.pool.iter().map(|id| json!({"id": id})).collect();
        let mut fields = json!({"name": name, "mode": mode, "hostname": address, "port": self.target.port,
            "locations": locations, "home_location": self.pool[0]});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.monitors.insert(name, self.installation.monitor("tcp", &fields));
    }

    /// Returns the scheduled runs of a monitor that `count` locations have checked, the oldest first. The first one may
    /// have begun before all agents knew the monitor.
    fn runs(&self, name: &str, count: usize) -> Vec<Run> {
        let mut runs = BTreeMap::<Timestamp, Vec<_>>::new();
        for result in self.installation.results(self.monitors[name]) {
            if result["trigger"] == "schedule" {
                let check =
                    (result["location_id"].as_i64().unwrap(), time(&result, "started_at"), result.clone());
                runs.entry(time(&result, "planned_at")).or_default().push(check);
            }
        }
        runs.retain(|_, checks| checks.len() == count);
        for checks in runs.values_mut() {
            checks.sort_by_key(|(_, started_at, _)| *started_at);
        }
        runs.into_iter().collect()
    }

    /// Returns the monitors with a notification.
    fn notified(&self) -> BTreeSet<&'static str> {
        let ids = self.installation.notified();
        self.monitors.iter().filter(|(_, id)| ids.contains(id)).map(|(name, _)| *name).collect()
    }
}

#[test]
fn the_modes_hold_over_agents_on_hosts_of_their_own() {
    const NAME: &str = "agents::modes::the_modes_hold_over_agents_on_hosts_of_their_own";
    if !inside(NAME, SETUP, "") {
        return;
    }
    let mut world = World::build();
    let none = json!({});
    // By default, a run is checked by one location then, by two in Round Robin.
    let rotating = json!({"rotate_locations": true});
    world.monitor("primary: home fails", "Primary", FROM_NORTH, &none);
    world.monitor("primary: another fails", "Primary", FROM_WEST, &none);
    world.monitor("primary: all fail", "Primary", FROM_NOWHERE, &none);
    world.monitor("notify: one fails", "Global Notify", FROM_NORTH, &none);
    world.monitor("notify: rotating", "Global Notify", REACHED, &rotating);
    world.monitor("verify: one fails", "Global Verify", FROM_NORTH, &none);
    world.monitor("verify: two fail", "Global Verify", FROM_NORTH_AND_SOUTH, &none);
    world.monitor("verify: rotating, all fail", "Global Verify", FROM_NOWHERE, &rotating);
    world.monitor("robin: none fails", "Round Robin", REACHED, &none);
    world.monitor("robin: one fails", "Round Robin", FROM_NORTH, &none);
    world.monitor("robin: two fail", "Round Robin", FROM_NORTH_AND_SOUTH, &none);
    world.monitor("robin: rotating", "Round Robin", REACHED, &rotating);
    world.monitor("multipop: one fails", "SLA (MultiPOP)", FROM_NORTH, &none);
    world.monitor("multipop: two fail", "SLA (MultiPOP)", FROM_NORTH_AND_SOUTH, &none);
    world.monitor("multipop: all fail", "SLA (MultiPOP)", FROM_NOWHERE, &none);
    let of_island = json!({"locations": [{"id": world.island}], "home_location": world.island});
    world.monitor("island: reached", "Global Notify", REACHED, &of_island);
    world.monitor("island: fails", "Global Notify", FROM_NORTH, &of_island);
    let traced = json!({"traceroute_on_error": true, "port": 9});
    world.monitor("traced", "Global Notify", REACHED, &traced);
    let page = Target::answering(|stream| {
        answer_http(stream, "500 Broken", "<p>out of order", Duration::ZERO);
    });
    let fields = json!({"name": "captured", "mode": "Global Notify", "url": format!("http://{REACHED}:{}/", page.port),
        "locations": [{"id": world.pool[2]}], "home_location": world.pool[2]});
    let captured = world.installation.monitor("website", &fields);

    first_checks_run_everywhere(&world);
    let alerting = [
        "island: fails",
        "multipop: all fail",
        "multipop: two fail",
        "notify: one fails",
        "primary: all fail",
        "robin: two fail",
        "traced",
        "verify: rotating, all fail",
        "verify: two fail",
    ];
    until_lacks_nothing("everybody is notified who has to be", || {
        let missing: Vec<_> = BTreeSet::from(alerting).difference(&world.notified()).copied().collect();
        if missing.is_empty() { Ok(()) } else { Err(missing) }
    });
    let one_location =
        |name: &str| name.contains("island") || name.contains("notify: rot") || name.contains("verify: rot");
    let locations_of = |name: &str| match name {
        _ if one_location(name) => 1,
        "robin: rotating" => 2,
        _ => 3,
    };
    until("each monitor had four whole runs", || {
        world.monitors.keys().all(|name| world.runs(name, locations_of(name)).len() >= 4)
    });
    assert_eq!(world.notified(), alerting.into(), "nobody else is woken");

    planned_times_and_starts_are_those_of_the_mode(&world);
    failures_are_verified_from_another_region(&world);
    orders_and_captures_come_back(&world, captured);
    a_location_without_a_network_alerts_nobody(&world, &alerting);
}

/// First checks wait for no slot, run at each location of a monitor and alert nobody.
fn first_checks_run_everywhere(world: &World) {
    let pool: BTreeSet<_> = world.pool.into();
    for (name, id) in &world.monitors {
        let expected = if name.contains("island") { BTreeSet::from([world.island]) } else { pool.clone() };
        until(&format!("`{name}` has its first checks"), || {
            let results = world.installation.results(*id);
            let first = results.iter().filter(|result| result["trigger"] == "first");
            let locations: Vec<_> = first.map(|result| result["location_id"].as_i64().unwrap()).collect();
            assert!(locations.len() <= expected.len(), "`{name}` has some twice: {locations:?}");
            locations.into_iter().collect::<BTreeSet<_>>() == expected
        });
    }
}

fn planned_times_and_starts_are_those_of_the_mode(world: &World) {
    let pool = world.pool;
    let delay_us = |run: &Run, at: usize| run.1[at].1.as_micros() - run.0.as_micros();
    // Starts may be late on a busy machine, but never early.
    let assert_delays = |run: &Run, expected_ms: &[i64]| {
        for (at, expected) in expected_ms.iter().enumerate() {
            let late_us = delay_us(run, at) - 1_000 * expected;
            assert!(
                (0..1_500_000).contains(&late_us),
                "check {at}, planned at {expected} ms: {late_us} µs late"
            );
        }
    };
    let consecutive = |runs: &[Run]| {
        let planned = |at: usize| runs[at].0;
        assert!((1..runs.len()).all(|at| planned(at) == planned(at - 1) + INTERVAL), "{:?}", planned(0));
    };
    for run in world.runs("robin: none fails", 3) {
        assert_eq!(run.1.iter().map(|check| check.0).collect::<Vec<_>>(), pool, "in the order of the pool");
        assert_delays(&run, &[0, 1_667 - 1, 3_333]);
    }
    for run in world.runs("notify: one fails", 3) {
        assert_delays(&run, &[0, 0, 0]);
    }
    for (name, count, delays) in [("notify: rotating", 1, &[0][..]), ("robin: rotating", 2, &[0, 2_500])] {
        let runs = world.runs(name, count);
        consecutive(&runs);
        for run in &runs {
            assert_delays(run, delays);
        }
        let order: Vec<_> = runs.iter().flat_map(|run| run.1.iter().map(|check| check.0)).collect();
        let first = pool.iter().position(|id| *id == order[0]).unwrap();
        let cycle: Vec<_> = pool.iter().cycle().skip(first).take(order.len()).copied().collect();
        assert_eq!(order, cycle, "`{name}` takes the next of the pool each time");
    }
}

fn failures_are_verified_from_another_region(world: &World) {
    let [north, south, west] = world.pool;
    // Without an alert, since the other region finds no error: the south is in the region of the north.
    let settled = world.runs("verify: one fails", 3);
    let (_, _, failed) =
        settled[0].1.iter().find(|(location, _, _)| *location == north).expect("a check of the north");
    assert_eq!(
        (&failed["verification"]["status"], &failed["verification"]["location_id"]),
        (&json!(70), &json!(west))
    );
    assert_eq!(failed["outcome"], "warning");
    for (_, checks) in world.runs("verify: rotating, all fail", 1).iter().take(3) {
        let (location, _, result) = &checks[0];
        let by = result["verification"]["location_id"].as_i64().unwrap();
        assert_eq!(result["verification"]["status"], 71, "{result}");
        let other_region = if *location == west { vec![north, south] } else { vec![west] };
        assert!(other_region.contains(&by), "a failure at {location} was verified at {by}");
    }
    // The home location alone fails, which another one does not confirm.
    let (_, checks) = &world.runs("primary: home fails", 3)[0];
    let home = checks.iter().find(|(location, _, _)| *location == north).unwrap();
    assert_eq!(home.2["verification"]["status"], 70, "{}", home.2);
}

fn orders_and_captures_come_back(world: &World, captured: i64) {
    let installation = &world.installation;
    let with_capture = |monitor: i64, name: &str| {
        let mut found = None;
        until(&format!("`{name}` comes"), || {
            found = installation.results(monitor).into_iter().find(|result| {
                let result = installation.get(&format!("/results/{}", result["check_id"].as_str().unwrap()));
                let captures = result["captures"].as_array().cloned().unwrap_or_default();
                captures.iter().any(|capture| capture["name"] == name)
            });
            found.is_some()
        });
        let path =
            format!("/api/v3/results/{}/captures/{name}", found.unwrap()["check_id"].as_str().unwrap());
        let headers = format!("Authorization: Bearer {}\r\n", installation.server.token());
        installation.server.get_with_headers(&path, &headers)
    };
    let (status, trace) = with_capture(world.monitors["traced"], "traceroute.txt");
    assert!(status == 200 && trace.contains(REACHED), "{status}: {trace}");
    let (status, body) = with_capture(captured, "response-body.html");
    assert_eq!((status, body.as_str()), (200, "<p>out of order"));

    // A test on demand at the one location that reaches its target.
    let [north, south, _] = world.pool;
    let monitor = world.monitors["multipop: two fail"];
    for (location, progress) in [(world.pool[2], 2), (south, 3), (north, 3)] {
        let path = format!("/tests?monitor_id={monitor}&location_id={location}");
        let id = installation.call("POST", &path, &json!({}))["id"].as_str().unwrap().to_owned();
        let mut test = Value::Null;
        until("the test on demand ends", || {
            test = installation.get(&format!("/tests/{id}"));
            test["progress"] != 1
        });
        assert_eq!(test["progress"], progress, "at {location}: {test}");
    }
}

/// The island loses its network, except the way to NATS.
fn a_location_without_a_network_alerts_nobody(world: &World, alerting: &[&'static str]) {
    let installation = &world.installation;
    let monitor = world.monitors["island: reached"];
    assert!(installation.results(monitor).iter().all(|result| result["outcome"] == "ok"));
    world.island_host.cannot_reach(TARGET);
    world.island_host.cannot_reach(REACHED);
    until("its failures are unknown", || {
        let results = installation.results(monitor);
        results.iter().filter(|result| result["outcome"] == "unknown").count() >= 2
    });
    let results = installation.results(monitor);
    assert!(results.iter().all(|result| result["outcome"] != "error"), "{results:?}");
    let failure = &results[0]["attempts"][0]["failure"];
    assert_eq!(failure["fault"], "ours", "{failure}");
    assert!(failure["detail"].as_str().unwrap().contains("the location itself reached nothing"), "{failure}");
    until("its agent says so", || {
        let agents = installation.list("/agents");
        let is_isolated = |agent: &Value| agent["is_isolated"] == true;
        agents.iter().any(|agent| is_isolated(agent) && agent["location_id"] == world.island)
            && agents.iter().filter(|agent| is_isolated(agent)).count() == 1
    });
    assert_eq!(world.notified(), alerting.iter().copied().collect(), "nobody else is woken");
}
