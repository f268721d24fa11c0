//! Objects of a page through real proxies: squid, microsocks and dante. Each connects from its own address, so that the
//! target sees which proxy a request came through.

use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind as Kind, Fault, Observation, PageObject, Phase};
use vigie::net::{EgressPolicy, Endpoint, ProxyProtocol, UpstreamProxy};

use crate::probe_http::check::Check;
use crate::probe_http::tls::{acceptor, pem};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking::lacks;
use crate::support::tls_server::{self, Authority};

/// A web server that records the peer address of each request.
struct Site {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<(String, IpAddr)>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    /// Starts a server for these paths and their whole responses; other paths are pictures.
    async fn start(ip: &str, tls: Option<TlsAcceptor>, responses: Vec<(&'static str, String)>) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, responses) = (Arc::<Mutex<Vec<(String, IpAddr)>>>::default(), Arc::new(responses));
        let log = requests.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                let (log, responses, tls) = (log.clone(), responses.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, peer.ip(), &log, &responses).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, peer.ip(), &log, &responses).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, requests, task }
    }

    fn requests(&self) -> Vec<(String, IpAddr)> {
        let mut requests = self.requests.lock().unwrap().clone();
        requests.sort();
        requests
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    peer: IpAddr,
    log: &Mutex<Vec<(String, IpAddr)>>,
    responses: &[(&'static str, String)],
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
        let response =
            responses.iter().find(|(known, _)| *known == path).map(|(_, response)| response.clone());
        log.lock().unwrap().push((path, peer));
        let response = response.unwrap_or_else(|| ok_response("image/png", "picture"));
        if stream.write_all(response.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn ok_response(kind: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

/// A running proxy and the address that it connects from.
struct Proxy {
    upstream: UpstreamProxy,
    outgoing: IpAddr,
    _daemon: Daemon,
    _folder: tempfile::TempDir,
}

fn start_proxy(
    kind: ProxyProtocol,
    port: u16,
    outgoing: &str,
    daemon: Daemon,
    folder: tempfile::TempDir,
) -> Proxy {
    wait_for(port);
    let upstream = UpstreamProxy::new(kind, Endpoint::new("127.0.0.1", port));
    Proxy { upstream, outgoing: outgoing.parse().unwrap(), _daemon: daemon, _folder: folder }
}

fn squid() -> Proxy {
    let (folder, port, outgoing) = (open_folder(), free_port(), "127.0.0.21");
    let folder_path = folder.path().display();
    let text = format!(
        "http_port 127.0.0.1:{port}\npid_filename none\naccess_log none\ncache_log /dev/null\ncache deny all\n\
         netdb_filename none\ncoredump_dir {folder_path}\nshutdown_lifetime 0 seconds\nhttp_access allow all\n\
         tcp_outgoing_address {outgoing}\n"
    );
    let conf = folder.path().join("squid.conf");
    std::fs::write(&conf, text).unwrap();
    let daemon = Daemon::start(Command::new("squid").args(["-N", "-f"]).arg(conf));
    start_proxy(ProxyProtocol::Http, port, outgoing, daemon, folder)
}

fn microsocks() -> Proxy {
    let (port, outgoing) = (free_port(), "127.0.0.22");
    let mut command = Command::new("microsocks");
    command.args(["-i", "127.0.0.1", "-p", &port.to_string(), "-b", outgoing]);
    start_proxy(ProxyProtocol::Socks5, port, outgoing, Daemon::start(&mut command), open_folder())
}

fn dante() -> Proxy {
    let (folder, port, outgoing) = (open_folder(), free_port(), "127.0.0.23");
    let text = format!(
        "logoutput: /dev/null\ninternal: 127.0.0.1 port = {port}\nexternal: {outgoing}\nsocksmethod: none\n\
         clientmethod: none\nuser.unprivileged: nobody\nclient pass {{ from: 0/0 to: 0/0 }}\n\
         socks pass {{ from: 0/0 to: 0/0 }}\n"
    );
    let conf = folder.path().join("danted.conf");
    std::fs::write(&conf, text).unwrap();
    let pid = folder.path().join("danted.pid");
    let daemon = Daemon::start(Command::new("/usr/sbin/danted").arg("-f").arg(conf).arg("-p").arg(pid));
    start_proxy(ProxyProtocol::Socks5, port, outgoing, daemon, folder)
}

fn object<'a>(observation: &'a Observation, end: &str) -> &'a PageObject {
    let page =
        observation.details.page_load.as_ref().unwrap_or_else(|| panic!("no full page: {observation:#?}"));
    page.objects.iter().find(|object| object.url.ends_with(end)).unwrap()
}

async fn check_objects_through(proxy: &Proxy) {
    let ca = Authority::new("test CA");
    let tls = tls_server::config(&ca.issue(&["127.0.0.1"], (2020, 2090)), rustls::ALL_VERSIONS, None);
    let secure = Site::start("127.0.0.1", Some(acceptor(tls)), Vec::new()).await;
    // The policy denies this host: for an object of the page, and for the target of a redirect.
    let denied = Site::start("127.0.0.9", None, Vec::new()).await;
    let other = Site::start("127.0.0.8", None, Vec::new()).await;
    let (denied_url, deeper_url) =
        (format!("http://{}/denied.png", denied.address), format!("http://{}/deeper.png", denied.address));
    let html = format!(
        "<link rel=stylesheet href=/style.css><img src=/one.png><img src=/two.png><img src=https://{}/secure.png>\
         <img src=http://{}/other.png><img src=/away.png><img src={denied_url}>",
        secure.address, other.address
    );
    let responses = vec![
        ("/", ok_response("text/html", &html)),
        ("/style.css", ok_response("text/css", "p { background: url(in-style.png) }")),
        ("/away.png", redirect(&deeper_url)),
    ];
    let site = Site::start("127.0.0.1", None, responses).await;
    let fields = json!({
        "proxy_id": 4, "interval_fullpage": 60, "fullpage_object_timeout": 10, "notify_on_fullpage_errors": true,
    });
    let mut check = Check::new(&format!("http://{}/", site.address)).with(fields);
    check.proxies = [(4, proxy.upstream.clone())].into();
    check.config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.9/32"]).unwrap();
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    let observation = check.run().await;
    for end in ["one.png", "two.png", "in-style.png", "secure.png", "other.png", "style.css"] {
        let object = object(&observation, end);
        assert_eq!((object.failure.as_ref(), object.http_status), (None, 200), "{object:?}");
    }
    for end in ["away.png", "denied.png"] {
        let failure = object(&observation, end).failure.as_ref().unwrap();
        assert_eq!((failure.kind, failure.fault), (Kind::EgressDenied, Fault::Vigie), "{failure}");
        assert_eq!(failure.phase, Phase::Connect);
    }
    let from = |paths: &[&str]| -> Vec<(String, IpAddr)> {
        paths.iter().map(|path| ((*path).to_owned(), proxy.outgoing)).collect()
    };
    assert_eq!(
        site.requests(),
        from(&["/", "/away.png", "/in-style.png", "/one.png", "/style.css", "/two.png"])
    );
    assert_eq!(secure.requests(), from(&["/secure.png"]));
    assert_eq!(other.requests(), from(&["/other.png"]));
    assert_eq!(denied.requests(), []);
}

#[tokio::test]
async fn objects_come_through_a_real_squid() {
    if !has("squid") {
        return lacks(
            "probe_http::object_proxies::objects_come_through_a_real_squid",
            "squid",
            "`apt-get install squid`",
        );
    }
    check_objects_through(&squid()).await;
}

#[tokio::test]
async fn objects_come_through_a_real_microsocks() {
    if !has("microsocks") {
        let remedy = "`apt-get install microsocks`";
        return lacks(
            "probe_http::object_proxies::objects_come_through_a_real_microsocks",
            "microsocks",
            remedy,
        );
    }
    check_objects_through(&microsocks()).await;
}

#[tokio::test]
async fn objects_come_through_a_real_dante() {
    if !has("danted") {
        let remedy = "`apt-get install dante-server`";
        return lacks("probe_http::object_proxies::objects_come_through_a_real_dante", "dante", remedy);
    }
    check_objects_through(&dante()).await;
}

#[tokio::test]
async fn socks_proxies_get_addresses_and_never_names() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let accepting = tokio::spawn(async move {
        let mut requests = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut greeting = [0; 3];
            stream.read_exact(&mut greeting).await.unwrap();
            stream.write_all(&[5, 0]).await.unwrap();
            // Version, command, reserved, address type: 1 is IPv4, 3 a name, 4 IPv6 (RFC 1928 5).
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
    let upstream = UpstreamProxy::new(ProxyProtocol::Socks5, Endpoint::new("127.0.0.1", port));
    let check = |egress: &[&str]| {
        let mut check = Check::new("http://localhost:81/").with(json!({"proxy_id": 4, "resolve_dns": true}));
        check.proxies = [(4, upstream.clone())].into();
        check.config.egress_policy = EgressPolicy::parse(&[], egress).unwrap();
        check
    };
    // A name whose addresses are all denied is not sent to the proxy. The proxy itself has another address.
    let mut denied = check(&["127.0.0.0/8", "::1/128"]);
    denied.proxies =
        [(4, UpstreamProxy::new(ProxyProtocol::Socks5, Endpoint::new("192.0.2.1", 1080)))].into();
    let failure = denied.run().await.failure.unwrap();
    assert_eq!((failure.status().0, failure.kind), (95, Kind::EgressDenied), "{failure}");
    assert!(!failure.detail.contains("192.0.2.1"), "{failure}");

    let failure = check(&["::1/128"]).run().await.failure.unwrap();
    assert_eq!(failure.kind, Kind::ConnectRefused, "{failure}");
    assert_eq!(accepting.await.unwrap(), [([5, 1, 0, 1], vec![127, 0, 0, 1, 0, 81])]);
}
