//! No check reaches the ports of a browser: `WebDriver` and `DevTools` start programs for everybody who asks.

use std::collections::BTreeSet;
use std::fs;

use vigie::domain::{CustomerId, EgressScope, FailureKind};
use vigie::net::{ConnectionTrace, Deadline, Endpoint};

use crate::browser_pool::test_pool::{TestPool, browsers, session_options};
use crate::support::side_by_side::each;

#[tokio::test]
async fn no_check_reaches_a_port_of_a_browser() {
    each(browsers("no_check_reaches_a_port_of_a_browser"), async |kind| {
        let test_pool = TestPool::new();
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let opened = test_pool.open(&options, &forward).await.unwrap();
        let mut ports = listening_ports(&test_pool);
        assert!(ports.contains(&opened.driver_address.unwrap().port()), "{kind:?}: {ports:?}");
        assert!(ports.len() >= 2, "{kind:?}: the driver and its browser, not {ports:?}");
        ports.insert(forward.listen_address().port());
        for port in ports {
            for scope in [EgressScope::Operator, EgressScope::Account(CustomerId(2))] {
                let net = test_pool.net.with_egress_scope(scope);
                for host in ["127.0.0.1", "localhost", "::1"] {
                    let (deadline, mut trace) =
                        (Deadline::within(std::time::Duration::from_secs(5)), ConnectionTrace::default());
                    let failure =
                        net.connect(&Endpoint::new(host, port), deadline, &mut trace).await.unwrap_err();
                    assert_eq!(
                        failure.kind,
                        FailureKind::EgressDenied,
                        "{kind:?} {scope:?} {host}:{port}: {failure}"
                    );
                }
            }
        }
        opened.driver_client.close().await.unwrap();
        opened.browser_process.kill_and_remove().await;
    })
    .await;
}

/// Returns the TCP ports that the processes of the browser listen on, read apart from the code under test.
fn listening_ports(test_pool: &TestPool) -> BTreeSet<u16> {
    let processes = test_pool.processes();
    let folders = processes.iter().map(|line| line.split(' ').next().unwrap());
    let links = folders.flat_map(|folder| fs::read_dir(format!("{folder}/fd")).into_iter().flatten());
    let sockets: BTreeSet<String> = links
        .filter_map(|link| fs::read_link(link.unwrap().path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap());
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields[3] == "0A" && sockets.contains(&format!("socket:[{}]", fields[9])))
        .map(|fields| u16::from_str_radix(fields[1].rsplit(':').next().unwrap(), 16).unwrap())
        .collect()
}
