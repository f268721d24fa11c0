//! Dialling: refusals, black holes, families, policy, and whose fault it is.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpListener;
use vigie::model::{FailureKind, Phase};
use vigie::net::{Deadline, Endpoint, Net, NetConfig, Roots, Trace, Trust};

fn net() -> Net {
    let trust = Trust { roots: Roots::None, ..Trust::default() };
    Net::new(&NetConfig { trust, ..NetConfig::default() }).unwrap()
}

fn soon() -> Deadline {
    Deadline::within(Duration::from_secs(5))
}

#[tokio::test]
async fn a_listening_port_is_connected_and_its_phases_are_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let mut trace = Trace::default();
    let to = Endpoint::new("localhost", at.port());
    let way = tokio::spawn(async move {
        let stream = net().connect(&to, soon(), &mut trace).await.unwrap();
        (stream, trace)
    });
    let (stream, trace) = way.await.unwrap();
    assert!(stream.nodelay().unwrap());
    assert_eq!(trace.address, Some(at));
    assert!(trace.resolved.contains(&Ipv4Addr::LOCALHOST.into()));
    assert!(trace.phases.micros(Phase::Resolve).is_some());
    assert!(trace.phases.micros(Phase::Connect).is_some());
    assert!(trace.phases.micros(Phase::Tls).is_none());
}

#[tokio::test]
async fn a_closed_port_is_refused_by_the_target() {
    let at: SocketAddr = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let mut trace = Trace::default();
    let failure =
        net().connect(&Endpoint::new("127.0.0.1", at.port()), soon(), &mut trace).await.unwrap_err();
    assert_eq!((failure.phase, failure.kind), (Phase::Connect, FailureKind::ConnectRefused));
    assert_eq!(trace.address, Some(at));
}
