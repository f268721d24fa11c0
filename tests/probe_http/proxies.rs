//! Checks through real proxies: squid and microsocks, with and without a login, in front of real targets.

use std::process::Command;

use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, Fault, Observation, Phase};
use vigie::net::{Endpoint, ProxyProtocol, UpstreamProxy};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes};
use crate::probe_http::server::{Server, page, respond};
use crate::probe_http::tls::{acceptor, pem};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking::lacks;
use crate::support::tls_server::{self, Authority};

/// User `watch` with password `s3cret`, in the format of `openssl passwd -apr1`.
const PASSWORD: &str = "watch:$apr1$abcdefgh$M2T3erDstkD7SsE2QQnfH0\n";

/// A running proxy.
struct Proxy {
    port: u16,
    _daemon: Daemon,
    _folder: tempfile::TempDir,
}

impl Proxy {
    /// Returns this proxy as an upstream proxy.
    fn upstream(&self, kind: ProxyProtocol) -> UpstreamProxy {
        UpstreamProxy::new(kind, Endpoint::new("127.0.0.1", self.port))
    }
}

fn squid(login: bool) -> Proxy {
    let (folder, port) = (open_folder(), free_port());
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("passwords"), PASSWORD).unwrap();
    let rule = if login {
        format!(
            "auth_param basic program /usr/lib/squid/basic_ncsa_auth {}\nauth_param basic children 2 startup=1\n\
             acl known proxy_auth REQUIRED\nhttp_access allow known\nhttp_access deny all",
            at("passwords").display()
        )
    } else {
        "acl forbidden dst 127.0.0.9\nhttp_access deny forbidden\nhttp_access allow all".to_owned()
    };
    let text = format!(
        "http_port 127.0.0.1:{port}\npid_filename none\naccess_log none\ncache_log /dev/null\ncache deny all\n\
         netdb_filename none\ncoredump_dir {}\nshutdown_lifetime 0 seconds\nforward_max_tries 1\n{rule}\n",
        folder.path().display()
    );
    std::fs::write(at("squid.conf"), text).unwrap();
    let daemon = Daemon::start(Command::new("squid").args(["-N", "-f"]).arg(at("squid.conf")));
    wait_for(port);
    Proxy { port, _daemon: daemon, _folder: folder }
}

fn microsocks(login: bool) -> Proxy {
    let port = free_port();
    let mut command = Command::new("microsocks");
    command.args(["-i", "127.0.0.1", "-p", &port.to_string()]);
    if login {
        command.args(["-u", "watch", "-P", "s3cret"]);
    }
    let daemon = Daemon::start(&mut command);
    wait_for(port);
    Proxy { port, _daemon: daemon, _folder: open_folder() }
}

async fn observe(url: &str, fields: Value, upstream: UpstreamProxy, ca: &Authority) -> Observation {
    let mut check = Check::new(url).with(fields).with(json!({"proxy_id": 4}));
    check.proxies = [(4, upstream)].into();
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    check.run().await
}

/// Starts a target over TLS.
async fn secure(ca: &Authority) -> Server {
    let own = ca.issue(&["127.0.0.1"], (2020, 2090));
    let config = tls_server::config(&own, rustls::ALL_VERSIONS, None);
    Server::tls(acceptor(config), vec![respond(page("ok"))]).await
}

async fn check_through(kind: ProxyProtocol, open: Proxy, closed: Proxy) {
    let ca = Authority::new("test CA");
    let target = Server::start(vec![respond(page("ok"))]).await;
    let over_tls = secure(&ca).await;
    let secure = format!("https://{}/", over_tls.address);
    let unused = format!("http://127.0.0.1:{}/", free_port());
    let plain = target.url("/");
    let unusable = Fails(95, Kind::NotConfigured, Some(Phase::Connect));
    let (authenticated, wrong) = (
        closed.upstream(kind).with_credentials("watch", "s3cret"),
        closed.upstream(kind).with_credentials("watch", "wrong"),
    );
    let cases: Vec<(&str, UpstreamProxy, Expect, &str)> = vec![
        (&plain, open.upstream(kind), Passes, ""),
        (&secure, open.upstream(kind), Passes, ""),
        (
            &unused,
            open.upstream(kind),
            Fails(1, Kind::ConnectRefused, Some(Phase::Connect)),
            "was refused by it",
        ),
        (&plain, authenticated.clone(), Passes, ""),
        (&secure, authenticated, Passes, ""),
        (&plain, closed.upstream(kind), unusable, "login"),
        (&plain, wrong, unusable, "it refused the login"),
    ];
    for (url, upstream, expected, text) in cases {
        let observation = observe(url, json!({}), upstream.clone(), &ca).await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{kind:?} {url}: {difference}"));
        let failure = observation.failure.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(failure.contains(text), "{kind:?} {url}: {failure}");
        if matches!(expected, Passes) {
            let port = url::Url::parse(url).unwrap().port();
            assert_eq!(observation.address.map(|at| at.port()), port, "the target, not the proxy");
        }
    }
    // HTTP/2 over TLS works through a proxy as well, or falls back as it does without one.
    let observation = observe(&secure, json!({"http_version": "2"}), open.upstream(kind), &ca).await;
    Passes.compare(&observation).unwrap_or_else(|difference| panic!("{kind:?}: {difference}"));
}

#[tokio::test]
async fn checks_run_through_a_real_squid() {
    if !has("squid") {
        return lacks(
            "probe_http::proxies::checks_run_through_a_real_squid",
            "squid",
            "`apt-get install squid`",
        );
    }
    check_through(ProxyProtocol::Http, squid(false), squid(true)).await;
    // A refusal by the rules of the proxy is not the fault of the target.
    let (open, ca) = (squid(false), Authority::new("test CA"));
    let observation =
        observe("http://127.0.0.9:1/", json!({}), open.upstream(ProxyProtocol::Http), &ca).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.kind, failure.fault), (Kind::NotConfigured, Fault::Vigie), "{failure}");
    assert!(failure.detail.contains("with status 403"), "{failure}");
}

#[tokio::test]
async fn checks_run_through_a_real_microsocks() {
    if !has("microsocks") {
        let remedy = "`apt-get install microsocks`";
        return lacks("probe_http::proxies::checks_run_through_a_real_microsocks", "microsocks", remedy);
    }
    check_through(ProxyProtocol::Socks5, microsocks(false), microsocks(true)).await;
}

#[tokio::test]
async fn an_unknown_proxy_id_is_an_own_fault() {
    let observation = Check::new("http://127.0.0.1:1/").with(json!({"proxy_id": 4})).run().await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.status().0, failure.kind), (95, Kind::NotConfigured));
    assert!(failure.detail.contains("no proxy `4`"), "{failure}");
}
