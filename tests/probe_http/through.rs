//! The objects of a page through real proxies: squid, microsocks and dante, each of which leaves from an address of
//! its own, so that the target sees who came.

use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind as Kind, Fault, Observation, PageObject, Phase};
use vigie::net::{EgressPolicy, Endpoint, ProxyKind, UpstreamProxy};

use crate::probe_http::check::Check;
use crate::probe_http::tls::{acceptor, pem};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking::lacks;
use crate::support::tls_server::{self, Authority};

/// A web server that notes from which address each path was asked for.
struct Site {
    at: SocketAddr,
    asked: Arc<Mutex<Vec<(String, IpAddr)>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    /// Paths with their answers, heads included; others are pictures.
    async fn start(ip: &str, tls: Option<TlsAcceptor>, answers: Vec<(&'static str, String)>) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let (asked, answers) = (Arc::<Mutex<Vec<(String, IpAddr)>>>::default(), Arc::new(answers));
        let log = asked.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                let (log, answers, tls) = (log.clone(), answers.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, peer.ip(), &log, &answers).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, peer.ip(), &log, &answers).await;
                            }
                        }
                    }
                });
            }
        });
        Self { at, asked, task }
    }

    fn asked(&self) -> Vec<(String, IpAddr)> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.sort();
        asked
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    peer: IpAddr,
    log: &Mutex<Vec<(String, IpAddr)>>,
    answers: &[(&'static str, String)],
) {
    loop {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte).await {
                Ok(1) => head.push(byte[0]),
                _ => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let answer = answers.iter().find(|(known, _)| *known == path).map(|(_, answer)| answer.clone());
        log.lock().unwrap().push((path, peer));
        let answer = answer.unwrap_or_else(|| answer_of("image/png", "picture"));
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn answer_of(kind: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

/// A proxy, and the address that it leaves from.
struct Leaving {
    way: UpstreamProxy,
    from: IpAddr,
    _daemon: Daemon,
    _folder: tempfile::TempDir,
}

fn leaving(kind: ProxyKind, port: u16, from: &str, daemon: Daemon, folder: tempfile::TempDir) -> Leaving {
    wait_for(port);
    let way = UpstreamProxy::new(kind, Endpoint::new("127.0.0.1", port));
    Leaving { way, from: from.parse().unwrap(), _daemon: daemon, _folder: folder }
}

fn squid() -> Leaving {
    let (folder, port, from) = (open_folder(), free_port(), "127.0.0.21");
    let at = folder.path().display();
    let text = format!(
        "http_port 127.0.0.1:{port}\npid_filename none\naccess_log none\ncache_log /dev/null\ncache deny all\n\
         netdb_filename none\ncoredump_dir {at}\nshutdown_lifetime 0 seconds\nhttp_access allow all\n\
         tcp_outgoing_address {from}\n"
    );
    let conf = folder.path().join("squid.conf");
    std::fs::write(&conf, text).unwrap();
    let daemon = Daemon::start(Command::new("squid").args(["-N", "-f"]).arg(conf));
    leaving(ProxyKind::Http, port, from, daemon, folder)
}

fn microsocks() -> Leaving {
    let (port, from) = (free_port(), "127.0.0.22");
    let mut command = Command::new("microsocks");
    command.args(["-i", "127.0.0.1", "-p", &port.to_string(), "-b", from]);
    leaving(ProxyKind::Socks5, port, from, Daemon::start(&mut command), open_folder())
}

fn dante() -> Leaving {
    let (folder, port, from) = (open_folder(), free_port(), "127.0.0.23");
    let text = format!(
        "logoutput: /dev/null\ninternal: 127.0.0.1 port = {port}\nexternal: {from}\nsocksmethod: none\n\
         clientmethod: none\nuser.unprivileged: nobody\nclient pass {{ from: 0/0 to: 0/0 }}\n\
         socks pass {{ from: 0/0 to: 0/0 }}\n"
    );
    let conf = folder.path().join("danted.conf");
    std::fs::write(&conf, text).unwrap();
    let pid = folder.path().join("danted.pid");
    let daemon = Daemon::start(Command::new("/usr/sbin/danted").arg("-f").arg(conf).arg("-p").arg(pid));
    leaving(ProxyKind::Socks5, port, from, daemon, folder)
}

fn object<'a>(observation: &'a Observation, end: &str) -> &'a PageObject {
    let page = observation.details.page.as_ref().unwrap_or_else(|| panic!("no full page: {observation:#?}"));
    page.objects.iter().find(|object| object.url.ends_with(end)).unwrap()
}

async fn goes_through(by: &Leaving) {
    let ca = Authority::new("test CA");
    let tls = tls_server::config(&ca.issue(&["127.0.0.1"], (2020, 2090)), rustls::ALL_VERSIONS, None);
    let secure = Site::start("127.0.0.1", Some(acceptor(tls)), Vec::new()).await;
    // Where the policy lets nobody go: an object of its own, and one that a redirect leads to.
    let denied = Site::start("127.0.0.9", None, Vec::new()).await;
    let other = Site::start("127.0.0.8", None, Vec::new()).await;
    let (far, away) =
        (format!("http://{}/denied.png", denied.at), format!("http://{}/deeper.png", denied.at));
    let html = format!(
        "<link rel=stylesheet href=/style.css><img src=/one.png><img src=/two.png><img src=https://{}/secure.png>\
         <img src=http://{}/other.png><img src=/away.png><img src={far}>",
        secure.at, other.at
    );
    let answers = vec![
        ("/", answer_of("text/html", &html)),
        ("/style.css", answer_of("text/css", "p { background: url(in-style.png) }")),
        ("/away.png", redirect(&away)),
    ];
    let site = Site::start("127.0.0.1", None, answers).await;
    let fields = json!({
        "proxy_id": 4, "interval_fullpage": 60, "fullpage_object_timeout": 10, "notify_on_fullpage_errors": true,
    });
    let mut check = Check::of(&format!("http://{}/", site.at)).with(fields);
    check.proxies = [(4, by.way.clone())].into();
    check.config.egress = EgressPolicy::parse(&[], &["127.0.0.9/32"]).unwrap();
    check.config.trust.authorities = vec![pem("test CA", ca.pem())];
    let observation = check.run().await;
    for end in ["one.png", "two.png", "in-style.png", "secure.png", "other.png", "style.css"] {
        let object = object(&observation, end);
        assert_eq!((object.failure.as_ref(), object.http_status), (None, 200), "{object:?}");
    }
    for end in ["away.png", "denied.png"] {
        let failure = object(&observation, end).failure.as_ref().unwrap();
        assert_eq!((failure.kind, failure.fault), (Kind::EgressDenied, Fault::Ours), "{failure}");
        assert_eq!(failure.phase, Phase::Connect);
    }
    let from = |paths: &[&str]| -> Vec<(String, IpAddr)> {
        paths.iter().map(|path| ((*path).to_owned(), by.from)).collect()
    };
    assert_eq!(
        site.asked(),
        from(&["/", "/away.png", "/in-style.png", "/one.png", "/style.css", "/two.png"])
    );
    assert_eq!(secure.asked(), from(&["/secure.png"]));
    assert_eq!(other.asked(), from(&["/other.png"]));
    assert_eq!(denied.asked(), []);
}

#[tokio::test]
async fn objects_come_through_a_real_squid() {
    if !has("squid") {
        return lacks(
            "probe_http::through::objects_come_through_a_real_squid",
            "squid",
            "`apt-get install squid`",
        );
    }
    goes_through(&squid()).await;
}

#[tokio::test]
async fn objects_come_through_a_real_microsocks() {
    if !has("microsocks") {
        let remedy = "`apt-get install microsocks`";
        return lacks("probe_http::through::objects_come_through_a_real_microsocks", "microsocks", remedy);
    }
    goes_through(&microsocks()).await;
}

#[tokio::test]
async fn objects_come_through_a_real_dante() {
    if !has("danted") {
        let remedy = "`apt-get install dante-server`";
        return lacks("probe_http::through::objects_come_through_a_real_dante", "dante", remedy);
    }
    goes_through(&dante()).await;
}

#[tokio::test]
async fn socks_proxies_get_addresses_and_never_names() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hearing = tokio::spawn(async move {
        let mut requests = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut greeting = [0; 3];
            stream.read_exact(&mut greeting).await.unwrap();
            stream.write_all(&[5, 0]).await.unwrap();
            // Version, command, reserved, kind of address: 1 is IPv4, 3 a name, 4 IPv6 (RFC 1928 5).
            let mut start = [0; 4];
            stream.read_exact(&mut start).await.unwrap();
            let mut address = vec![0; if start[3] == 1 { 6 } else { 18 }];
            stream.read_exact(&mut address).await.unwrap();
            requests.push((start, address));
            stream.write_all(&[5, 5, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            if requests.len() == 1 {
                return requests;
            }
        }
        requests
    });
    let way = UpstreamProxy::new(ProxyKind::Socks5, Endpoint::new("127.0.0.1", port));
    let check = |egress: &[&str]| {
        let mut check = Check::of("http://localhost:81/").with(json!({"proxy_id": 4, "resolve_dns": true}));
        check.proxies = [(4, way.clone())].into();
        check.config.egress = EgressPolicy::parse(&[], egress).unwrap();
        check
    };
    // A name whose every address is denied is not asked of the proxy. The proxy itself lies elsewhere.
    let mut denied = check(&["127.0.0.0/8", "::1/128"]);
    denied.proxies = [(4, UpstreamProxy::new(ProxyKind::Socks5, Endpoint::new("192.0.2.1", 1080)))].into();
    let failure = denied.run().await.failure.unwrap();
    assert_eq!((failure.status().0, failure.kind), (95, Kind::EgressDenied), "{failure}");
    assert!(!failure.detail.contains("192.0.2.1"), "{failure}");

    let failure = check(&["::1/128"]).run().await.failure.unwrap();
    assert_eq!(failure.kind, Kind::ConnectRefused, "{failure}");
    assert_eq!(hearing.await.unwrap(), [([5, 1, 0, 1], vec![127, 0, 0, 1, 0, 81])]);
}
