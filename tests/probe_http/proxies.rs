//! Checks through real proxies: squid and microsocks, with and without a login, in front of real targets.

use std::process::Command;

use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, Fault, Observation, Phase};
use vigie::net::{Endpoint, ProxyKind, UpstreamProxy};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes};
use crate::probe_http::server::{Server, answers, page};
use crate::probe_http::tls::{acceptor, pem};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking::lacks;
use crate::support::tls_server::{self, Authority};

/// `watch` with `s3cret`, as `openssl passwd -apr1` writes it.
const PASSWORD: &str = "watch:$apr1$abcdefgh$M2T3erDstkD7SsE2QQnfH0\n";

/// A running proxy.
struct Running {
    port: u16,
    _daemon: Daemon,
    _folder: tempfile::TempDir,
}

impl Running {
    /// The way through it.
    fn way(&self, kind: ProxyKind) -> UpstreamProxy {
        UpstreamProxy::new(kind, Endpoint::new("127.0.0.1", self.port))
    }
}

fn squid(login: bool) -> Running {
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
    Running { port, _daemon: daemon, _folder: folder }
}

fn microsocks(login: bool) -> Running {
    let port = free_port();
    let mut command = Command::new("microsocks");
    command.args(["-i", "127.0.0.1", "-p", &port.to_string()]);
    if login {
        command.args(["-u", "watch", "-P", "s3cret"]);
    }
    let daemon = Daemon::start(&mut command);
    wait_for(port);
    Running { port, _daemon: daemon, _folder: open_folder() }
}

async fn seen(url: &str, fields: Value, way: UpstreamProxy, ca: &Authority) -> Observation {
    let mut check = Check::of(url).with(fields).with(json!({"proxy_id": 4}));
    check.proxies = [(4, way)].into();
    check.config.trust.authorities = vec![pem("test CA", ca.pem())];
    check.run().await
}

/// A target over TLS.
async fn secure(ca: &Authority) -> Server {
    let own = ca.issue(&["127.0.0.1"], (2020, 2090));
    let config = tls_server::config(&own, rustls::ALL_VERSIONS, None);
    Server::tls(acceptor(config), vec![answers(page("ok"))]).await
}

async fn meets(kind: ProxyKind, open: Running, closed: Running) {
    let ca = Authority::new("test CA");
    let target = Server::start(vec![answers(page("ok"))]).await;
    let over_tls = secure(&ca).await;
    let secure = format!("https://{}/", over_tls.address);
    let nobody = format!("http://127.0.0.1:{}/", free_port());
    let plain = target.url("/");
    let unusable = Fails(95, Kind::NotConfigured, Some(Phase::Connect));
    let (named, wrong) = (
        closed.way(kind).with_credentials("watch", "s3cret"),
        closed.way(kind).with_credentials("watch", "wrong"),
    );
    let cases: Vec<(&str, UpstreamProxy, Expect, &str)> = vec![
        (&plain, open.way(kind), Passes, ""),
        (&secure, open.way(kind), Passes, ""),
        (&nobody, open.way(kind), Fails(1, Kind::ConnectRefused, Some(Phase::Connect)), "was refused by it"),
        (&plain, named.clone(), Passes, ""),
        (&secure, named, Passes, ""),
        (&plain, closed.way(kind), unusable, "login"),
        (&plain, wrong, unusable, "it refused the login"),
    ];
    for (url, way, expected, text) in cases {
        let observation = seen(url, json!({}), way.clone(), &ca).await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{kind:?} {url}: {difference}"));
        let told = observation.failure.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(told.contains(text), "{kind:?} {url}: {told}");
        if matches!(expected, Passes) {
            let port = url::Url::parse(url).unwrap().port();
            assert_eq!(observation.address.map(|at| at.port()), port, "the target, not the proxy");
        }
    }
    // HTTP/2 under TLS goes through as well, or falls back as it does without a proxy.
    let observation = seen(&secure, json!({"http_version": "2"}), open.way(kind), &ca).await;
    Passes.compare(&observation).unwrap_or_else(|difference| panic!("{kind:?}: {difference}"));
}

#[tokio::test]
async fn a_real_squid_is_gone_through() {
    if !has("squid") {
        return lacks(
            "probe_http::proxies::a_real_squid_is_gone_through",
            "squid",
            "`apt-get install squid`",
        );
    }
    meets(ProxyKind::Http, squid(false), squid(true)).await;
    // What its rules forbid is no fault of the target.
    let (open, ca) = (squid(false), Authority::new("test CA"));
    let observation = seen("http://127.0.0.9:1/", json!({}), open.way(ProxyKind::Http), &ca).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.kind, failure.fault), (Kind::NotConfigured, Fault::Ours), "{failure}");
    assert!(failure.detail.contains("with status 403"), "{failure}");
}

#[tokio::test]
async fn a_real_microsocks_is_gone_through() {
    if !has("microsocks") {
        let remedy = "`apt-get install microsocks`";
        return lacks("probe_http::proxies::a_real_microsocks_is_gone_through", "microsocks", remedy);
    }
    meets(ProxyKind::Socks5, microsocks(false), microsocks(true)).await;
}

#[tokio::test]
async fn a_proxy_that_the_settings_do_not_have_is_ours() {
    let observation = Check::of("http://127.0.0.1:1/").with(json!({"proxy_id": 4})).run().await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.status().0, failure.kind), (95, Kind::NotConfigured));
    assert!(failure.detail.contains("no proxy `4`"), "{failure}");
}
