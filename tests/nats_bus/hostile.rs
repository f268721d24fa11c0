//! What an agent sends that cannot be used is refused and told; what is right goes on.

use std::sync::Arc;

use async_nats::jetstream;
use vigie::bus::contract::ResultSink;
use vigie::bus::messages::{
    BusMessage, CapturePieceMessage, PresenceMessage, ResultMessage, ResultsMessage, capture_pieces,
};
use vigie::bus::nats::subjects::{AgentSubject, BACKLOG_STREAM, CAPTURES_STREAM, RESULTS_STREAM};
use vigie::domain::{AgentId, CapturedFile, LocationId};

use super::fixture::{Agent, Control, ControlPlane, LOCATION, assign, connect, result, until};
use crate::support::nats::NatsServer;

const HOSTILE: AgentId = AgentId(2);
const MIB: usize = 1024 * 1024;

struct World {
    server: NatsServer,
    control: Control,
    agent: Agent,
    hostile: async_nats::Client,
}

impl World {
    async fn start() -> Self {
        let server = NatsServer::start();
        let plane = ControlPlane::default();
        *plane.wanted.lock().unwrap() = vec![assign(1, 1), assign(2, 1)];
        let control = Control::start(&server, Arc::new(plane)).await;
        let agent = Agent::start(&server, 1).await;
        let hostile = connect(&server).await.client().clone();
        // The control plane listens to everything by now.
        agent.outbox.deliver(result(1, 1, 0)).await;
        until("a result", || control.plane.results.lock().unwrap().len() == 1).await;
        until("a heartbeat", || control.agent(1).is_some()).await;
        Self { server, control, agent, hostile }
    }

    async fn send(&self, subject: AgentSubject, bytes: Vec<u8>) {
        let subject = subject.of(LOCATION, HOSTILE);
        // A request has a subject for its reply.
        let reply = self.hostile.new_inbox();
        self.hostile.publish_with_reply(subject, reply, bytes.into()).await.unwrap();
    }

    /// Waits until nothing waits in the streams any more.
    async fn wait_until_taken(&self) {
        let context = jetstream::new(connect(&self.server).await.client().clone());
        for stream in [RESULTS_STREAM, BACKLOG_STREAM, CAPTURES_STREAM] {
            let mut stream = context.get_stream(stream).await.unwrap();
            while stream.info().await.unwrap().state.messages > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        }
    }
}

/// Returns the envelope of a message, with this version.
fn envelope(version: u8, kind: u8) -> Vec<u8> {
    vec![0x08, version, 0x10, kind, 0x1a, 0x00]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_nobody_can_read_are_refused_once_each() {
    let world = World::start().await;
    let subjects = [
        AgentSubject::Results,
        AgentSubject::Backlog,
        AgentSubject::Captures,
        AgentSubject::Presence,
        AgentSubject::Refused,
        AgentSubject::Watch,
    ];
    for subject in subjects {
        let unreadable = [b"garbage".to_vec(), Vec::new(), envelope(2, 12), envelope(1, 99), envelope(1, 13)];
        for bytes in unreadable {
            world.send(subject, bytes).await;
        }
    }
    let plane = &world.control.plane;
    until("a refusal of each", || plane.refusals().len() == 30).await;
    let of_version = plane.refusals().iter().filter(|reason| reason.contains("version 2")).count();
    assert_eq!(of_version, 6, "{:?}", plane.refusals());

    // One among others, and a heartbeat in the name of another agent.
    let good = ResultMessage::from_result(&result(2, 1, 1)).unwrap().to_bytes().unwrap();
    let mut message = ResultsMessage::from_encoded(vec![good]).unwrap();
    message.results.insert(0, b"garbage"[..].into());
    world.send(AgentSubject::Results, message.to_bytes().unwrap()).await;
    let of_other = world.control.agent(1).unwrap().presence;
    world.send(AgentSubject::Presence, PresenceMessage::from_presence(&of_other).to_bytes().unwrap()).await;
    until("two refusals more", || plane.refusals().len() == 32).await;
    until("the good one", || plane.results.lock().unwrap().len() == 2).await;
    assert!(world.control.agent(HOSTILE.0).is_none());

    world.agent.outbox.deliver(result(1, 1, 1)).await;
    until("results of others", || plane.results.lock().unwrap().len() == 3).await;
    // Nothing comes again, since it would be refused again.
    world.wait_until_taken().await;
    assert_eq!(plane.refusals().len(), 32);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_megabytes_of_captures_delay_and_displace_nothing() {
    let world = World::start().await;
    let plane = &world.control.plane;
    let piece = |minute: i64, file_bytes: usize| {
        let mut unfinished = result(2, 1, minute);
        unfinished.captures = vec![CapturedFile::new("screen.png", "image/png", &vec![7; MIB])];
        let first = capture_pieces(&unfinished).next().unwrap();
        CapturePieceMessage { file_bytes: file_bytes as u64, ..first }
    };
    world.send(AgentSubject::Captures, piece(0, 100 * MIB).to_bytes().unwrap()).await;
    let elsewhere = CapturePieceMessage { location_id: LocationId(6).0, ..piece(0, MIB) };
    world.send(AgentSubject::Captures, elsewhere.to_bytes().unwrap()).await;
    until("files that are too large, and of another location", || plane.refusals().len() == 2).await;
    // 200 halves of files, whose other halves never come.
    for minute in 0..200 {
        world.send(AgentSubject::Captures, piece(minute, MIB).to_bytes().unwrap()).await;
        if minute == 100 {
            let mut failed = result(1, 1, 7);
            failed.captures = vec![CapturedFile::new("page.html", "text/html", &vec![b'x'; 3 * MIB])];
            world.agent.outbox.deliver(failed).await;
        }
    }
    until("the result and the capture of another agent", || {
        plane.results.lock().unwrap().len() == 2 && plane.captures.lock().unwrap().len() == 1
    })
    .await;
    assert_eq!(plane.captures.lock().unwrap()[0].files[0].content.as_ref().unwrap().len(), 3 * MIB);
    world.wait_until_taken().await;
    let told = |reason: &&String| {
        reason.contains("captures: 1 files were dropped, since too many were not finished")
    };
    until("what was dropped is told", || plane.refusals().iter().filter(told).count() == 200 - 64).await;
}
