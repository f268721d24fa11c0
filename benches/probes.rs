//! CPU of a ping and of a DNS query, against programs that do nothing else: fping of Debian, and a bare loop over
//! hickory-proto. Only ratios count; both sides alternate in one run, on loopback.
//!
//! `cargo bench --bench probes` takes the median of 9 rounds; `-- --quick` of 3 smaller ones. It exits with 1 when
//! a ratio is over its limit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use hickory_proto::op::{Edns, Message, MessageType, Query};
use hickory_proto::rr::{Name, RData, Record, RecordType, rdata::A};
use nix::sys::resource::UsageWho;
use serde_json::json;
use tokio::net::UdpSocket;
use vigie::domain::MonitorType;
use vigie::net::Net;
use vigie::probe::Probe;

use cpu::{attempt, cpu, probe, report};

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/cpu.rs"]
mod cpu;

/// Greatest accepted ratios.
const PING: f64 = 1.5;
const QUERY: f64 = 1.6;
/// Targets that are pinged at the same time.
const TARGETS: u32 = 2000;
/// Echo requests to each target.
const ECHOES: u32 = 5;

fn main() -> ExitCode {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (rounds, queries) = if quick { (3, 2_000) } else { (9, 10_000) };
    // A single thread, whose CPU time excludes that of the servers.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let net = cpu::net();
    let query = runtime.block_on(compare_queries(&net, rounds, queries));
    let (ping, lost, elapsed) = compare_pings(&runtime, &net, rounds);
    println!(
        "\n{TARGETS} targets pinged once each in {:.0} ms at best, {lost} lost",
        elapsed.as_secs_f64() * 1e3
    );
    let within_limits =
        query <= QUERY && ping.is_none_or(|ratio| ratio <= PING) && lost == 0 && elapsed.as_secs() < 1;
    println!("{}", if within_limits { "every bound holds" } else { "A BOUND DOES NOT HOLD" });
    if within_limits { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn compare_queries(net: &Net, rounds: usize, queries: u32) -> f64 {
    let server = start_name_server();
    let fields =
        json!({"hostname": "127.0.0.1", "port": server.port(), "name_to_resolve": "www.example.test"});
    let probe = probe(MonitorType::NameServer, fields);
    let mut costs = Vec::new();
    for round in 0..=rounds {
        let start = cpu(UsageWho::RUSAGE_THREAD);
        for _ in 0..queries {
            let observation = attempt(net, probe.as_ref(), Duration::from_secs(10)).await;
            assert!(observation.failure.is_none(), "{:?}", observation.failure);
        }
        let middle = cpu(UsageWho::RUSAGE_THREAD);
        for _ in 0..queries {
            bare_query(server).await;
        }
        // The first round is a warm-up.
        if round > 0 {
            let end = cpu(UsageWho::RUSAGE_THREAD);
            costs.push((middle.saturating_sub(start), end.saturating_sub(middle)));
        }
    }
    println!("a DNS query over UDP, {queries} a round:");
    report("DNS query", "a bare loop", &costs, queries, QUERY)
}

/// The least work for a safe query: a socket with its own port, a deadline, and a reply that is parsed and compared
/// with the query.
async fn bare_query(server: SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(server).await.unwrap();
    let mut question = Message::query();
    question.metadata.recursion_desired = true;
    question.add_query(Query::query(Name::from_ascii("www.example.test.").unwrap(), RecordType::A));
    let mut edns = Edns::new();
    edns.set_max_payload(1232);
    question.set_edns(edns);
    socket.send(&question.to_vec().unwrap()).await.unwrap();
    let mut buffer = [0; 4096];
    let received = tokio::time::timeout(Duration::from_secs(10), socket.recv(&mut buffer)).await;
    let reply = Message::from_vec(&buffer[..received.unwrap().unwrap()]).unwrap();
    assert!(reply.metadata.id == question.metadata.id && reply.queries == question.queries);
    assert_eq!(reply.answers.len(), 2);
}

/// Starts a name server in its own thread.
fn start_name_server() -> SocketAddr {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let mut message = Message::from_vec(&buffer[..length]).unwrap();
            message.metadata.message_type = MessageType::Response;
            message.metadata.authoritative = true;
            let name = message.queries[0].name().clone();
            for last in [1, 2] {
                let data = RData::A(A([192, 0, 2, last].into()));
                message.add_answer(Record::from_rdata(name.clone(), 60, data));
            }
            socket.send_to(&message.to_vec().unwrap(), from).unwrap();
        }
    });
    at
}

fn target(number: u32) -> String {
    format!("127.1.{}.{}", number / 250, number % 250 + 1)
}

/// Returns the ratio (`None` without fping), the number of lost replies, and the time of one request to each target.
fn compare_pings(
    runtime: &tokio::runtime::Runtime,
    net: &Net,
    rounds: usize,
) -> (Option<f64>, u32, Duration) {
    let probes = |count: u32| -> Vec<Arc<dyn Probe>> {
        let one = |number| probe(MonitorType::Ping, json!({"hostname": target(number), "ping_count": count}));
        (0..TARGETS).map(one).collect()
    };
    let run = |probes: &[Arc<dyn Probe>], timeout: Duration| {
        let checks =
            async { join_all(probes.iter().map(|probe| attempt(net, probe.as_ref(), timeout))).await };
        let observations = runtime.block_on(checks);
        let received: u32 = observations
            .iter()
            .filter_map(|one| one.facts.ping.as_ref())
            .map(|ping| ping.replies_received)
            .sum();
        received
    };
    let (single, repeated) = (probes(1), probes(ECHOES));
    let (mut lost, mut best) = (0, Duration::MAX);
    for _ in 0..3 {
        let started = Instant::now();
        lost += TARGETS - run(&single, Duration::from_secs(10));
        best = best.min(started.elapsed());
    }
    let list = (0..TARGETS).fold(String::new(), |mut list, number| {
        let _ = writeln!(list, "{}", target(number));
        list
    });
    let file = std::env::temp_dir().join(format!("vigie-bench-{}", std::process::id()));
    std::fs::write(&file, list).unwrap();
    let mut costs = Vec::new();
    for _ in 0..rounds {
        let start = cpu(UsageWho::RUSAGE_THREAD);
        lost += TARGETS * ECHOES - run(&repeated, Duration::from_secs(2));
        let ours = cpu(UsageWho::RUSAGE_THREAD).saturating_sub(start);
        let start = cpu(UsageWho::RUSAGE_CHILDREN);
        let echoes = ECHOES.to_string();
        // The same rate as ours: every 400 ms, 20,000 a second at most.
        let result = Command::new("fping")
            .args(["-q", "-c", &echoes, "-p", "400", "-i", "0.05", "-t", "400", "-f"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match result {
            Ok(status) if status.success() => {
                costs.push((ours, cpu(UsageWho::RUSAGE_CHILDREN).saturating_sub(start)));
            }
            Ok(status) => println!("fping lost requests: {status}"),
            Err(error) => println!("fping does not start: {error}; apt-get install fping"),
        }
    }
    std::fs::remove_file(&file).unwrap();
    println!("\nan echo request and its reply, {TARGETS} targets, {ECHOES} each, a round:");
    let ratio = (!costs.is_empty()).then(|| report("echo", "fping", &costs, TARGETS * ECHOES, PING));
    (ratio, lost, best)
}
