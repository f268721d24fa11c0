//! No check reaches the ports of a browser: `WebDriver` and `DevTools` start programs for everybody who asks.

use vigie::domain::{CustomerId, EgressPrincipal, FailureKind};
use vigie::net::{ConnectionTrace, Deadline, Endpoint};

use crate::browser_pool::test_pool::{TestPool, browsers, listening_ports, session_options};
use crate::support::side_by_side::each;

#[tokio::test]
async fn no_check_reaches_a_port_of_a_browser() {
    each(browsers("no_check_reaches_a_port_of_a_browser"), async |kind| {
        let test_pool = TestPool::new();
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let opened = test_pool.open(&options, &forward).await.unwrap();
        let mut ports = listening_ports(&test_pool.processes());
        assert!(ports.contains(&opened.driver_address.unwrap().port()), "{kind:?}: {ports:?}");
        assert!(ports.len() >= 2, "{kind:?}: the driver and its browser, not {ports:?}");
        ports.insert(forward.listen_address().port());
        for port in ports {
            for scope in [EgressPrincipal::Operator, EgressPrincipal::Account(CustomerId(2))] {
                let net = test_pool.net.with_egress_principal(scope);
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
