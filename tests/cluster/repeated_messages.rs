//! Messages that come again, late, in another order, and damaged, as a network and a bus that deliver at least once may
//! have it.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Message;
use futures::StreamExt;
use vigie::bus::nats::AgentCredential;
use vigie::bus::nats::subjects::AgentSubject;
use vigie::clock::SystemClock;
use vigie::service::agents::TrustFile;
use vigie::vault::Keyring;

use super::world::World;

/// How long messages are collected, and how much later they come again.
const COLLECTED_FOR: Duration = Duration::from_secs(6);

pub fn repeat(world: &World) {
    let keys = world.cluster.keys();
    let keyring = Keyring::read_or_create(&keys.join("vigie.key")).unwrap();
    let trust = TrustFile::in_data_dir(&keys).read(&keyring).unwrap().unwrap();
    let credentials: Vec<_> = world
        .agents
        .iter()
        .map(|agent| AgentCredential::read(&agent.process.daemon.folder.path().join("data")).unwrap())
        .collect();
    world.runtime.block_on(async {
        let login = trust.control_login(Arc::new(SystemClock)).unwrap();
        let control = login.connect_options().unwrap().connect(&trust.urls).await.unwrap();
        let messages = collect(&control).await;
        assert!(!messages.is_empty(), "agents send nothing");
        for credential in &credentials {
            let agent = credential.connect_options().unwrap().connect(credential.nats_urls()).await.unwrap();
            let subject = AgentSubject::Results.of(credential.location_id(), credential.agent_id());
            // In the opposite order, each twice, and once cut off or as something else.
            let own = messages.iter().filter(|message| message.subject.as_str() == subject).rev();
            for (number, message) in own.enumerate() {
                let mut damaged = message.payload.to_vec();
                if number.is_multiple_of(2) {
                    damaged.pop();
                } else {
                    damaged[0] ^= 0x55;
                }
                for payload in [message.payload.clone(), damaged.into(), message.payload.clone()] {
                    agent.publish(subject.clone(), payload).await.unwrap();
                }
            }
            agent.flush().await.unwrap();
        }
    });
}

async fn collect(control: &async_nats::Client) -> Vec<Message> {
    let mut subscriber = control.subscribe(AgentSubject::Results.of_all()).await.unwrap();
    let (mut messages, end) = (Vec::new(), tokio::time::Instant::now() + COLLECTED_FOR);
    while let Ok(Some(message)) = tokio::time::timeout_at(end, subscriber.next()).await {
        messages.push(message);
    }
    messages
}
