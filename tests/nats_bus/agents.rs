//! Agents come, share the monitors, obey orders and go.

use std::sync::Arc;
use std::time::Duration;

use vigie::bus::contract::{AssignmentUpdate, CheckOrder, FirstCheckOrder, LocationBus, OrderError};
use vigie::bus::messages::{BusMessage, FirstCheckOrderMessage, OrderReply, OrderReplyMessage};
use vigie::bus::nats::subjects;
use vigie::domain::{AgentId, LocationId, MonitorId, Timestamp};

use super::fixture::{Agent, Control, ControlPlane, LOCATION, assign, connect, until};
use crate::support::nats::NatsServer;

const TIMEOUT: Duration = Duration::from_secs(20);

fn order(id: i64) -> CheckOrder {
    let AssignmentUpdate::Assign(monitor) = assign(id, 1) else { unreachable!() };
    CheckOrder { monitor, timeout: TIMEOUT }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_are_obeyed_and_an_absent_location_is_told_at_once() {
    let server = NatsServer::start();
    let plane = Arc::new(ControlPlane::default());
    *plane.wanted.lock().unwrap() = vec![assign(1, 1)];
    let control = Control::start(&server, plane).await;
    assert_eq!(control.bus.check(LOCATION, order(1)).await.unwrap_err(), OrderError::LocationOffline);
    assert!(control.bus.presence(LOCATION).is_none());
    let agent = Agent::start(&server, 1).await;
    until("a heartbeat", || control.bus.presence(LOCATION).is_some()).await;
    until("the monitor", || agent.applied.monitor_ids() == [1]).await;
    let result = control.bus.check(LOCATION, order(1)).await.unwrap();
    assert_eq!((result.monitor_id, result.location_id), (MonitorId(1), LOCATION));
    let first_check = |id| FirstCheckOrder {
        monitor_id: MonitorId(id),
        planned_at: Timestamp::from_seconds(1_800_000_000),
        timeout: TIMEOUT,
    };
    assert!(control.bus.first_check(LOCATION, first_check(1)).await.unwrap());
    assert!(!control.bus.first_check(LOCATION, first_check(2)).await.unwrap());
    let elsewhere = control.bus.check(LocationId(6), order(1)).await;
    assert_eq!(elsewhere.unwrap_err(), OrderError::LocationOffline);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_check_waits_for_the_assignment_that_it_overtakes() {
    let server = NatsServer::start();
    let plane = Arc::new(ControlPlane::default());
    *plane.wanted.lock().unwrap() = vec![assign(1, 1)];
    let control = Control::start(&server, plane.clone()).await;
    let agent = Agent::start(&server, 1).await;
    until("the monitor", || agent.applied.monitor_ids() == [1]).await;
    until("a heartbeat", || control.bus.presence(LOCATION).is_some()).await;
    *agent.applied.delay.lock().unwrap() = Duration::from_secs(1);
    plane.wanted.lock().unwrap().push(assign(2, 1));
    control.bus.publish(LOCATION, vec![assign(2, 1)]).await.unwrap();
    let order = FirstCheckOrder {
        monitor_id: MonitorId(2),
        planned_at: Timestamp::from_seconds(1_800_000_000),
        timeout: TIMEOUT,
    };
    // An order that does not wait comes before the assignment.
    let hasty = FirstCheckOrderMessage::from_order(&order).to_bytes().unwrap();
    let subject = subjects::orders(LOCATION, AgentId(1));
    let client = connect(&server).await.client().clone();
    let reply = client.request(subject, hasty.into()).await.unwrap();
    let reply = OrderReplyMessage::from_bytes(&reply.payload).unwrap().into_reply().unwrap();
    assert!(matches!(reply, OrderReply::FirstCheck(false)));
    assert!(control.bus.first_check(LOCATION, order).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_share_the_monitors_and_one_that_drains_or_dies_is_replaced() {
    let server = NatsServer::start();
    let plane = Arc::new(ControlPlane::default());
    *plane.wanted.lock().unwrap() = vec![assign(1, 1)];
    let control = Control::start(&server, plane).await;
    let member_ids = |agent: &Agent| {
        let members = agent.applied.members.lock().unwrap();
        members.last().map(|last| last.members.iter().map(|one| one.agent_id.0).collect::<Vec<_>>())
    };
    let first = Agent::start(&server, 1).await;
    until("the first member", || member_ids(&first) == Some(vec![1])).await;
    let second = Agent::start(&server, 2).await;
    let third = Agent::start(&server, 3).await;
    for agent in [&first, &second, &third] {
        until("three members", || member_ids(agent) == Some(vec![1, 2, 3])).await;
    }
    // Every agent knows them before they take effect.
    let last = first.applied.members.lock().unwrap().last().unwrap().clone();
    assert_eq!(second.applied.members.lock().unwrap().last(), Some(&last));
    *second.applied.is_draining.lock().unwrap() = true;
    until("without the one that drains", || member_ids(&first) == Some(vec![1, 3])).await;
    // One that dies sends no heartbeat.
    drop(third);
    until("without the dead one", || member_ids(&first) == Some(vec![1])).await;
    assert!(control.plane.event_names().contains(&"agent_offline"));
    assert!(!control.agent(3).unwrap().is_online);
}
