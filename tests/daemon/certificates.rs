//! Certificates by id, from the API and from the settings, as presented to a server that demands one.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::sys::signal::Signal;
use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use rustls::ServerConfig;
use rustls::version::{TLS12, TLS13};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::daemon::process::{Daemon, command, folder};
use crate::support::tls_server::{Authority, Identity, config};

const VALID: (i32, i32) = (2020, 2090);
const PASSWORD: &str = "opens the shop's PKCS#12";

/// The certificates that clients presented, in order.
type PresentedCertificates = Arc<Mutex<Vec<Vec<u8>>>>;

/// Starts an HTTPS server that demands a client certificate.
async fn start_server(config: ServerConfig) -> (SocketAddr, PresentedCertificates) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (presented, acceptor) = (PresentedCertificates::default(), TlsAcceptor::from(Arc::new(config)));
    let log = Arc::clone(&presented);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, log) = (acceptor.clone(), Arc::clone(&log));
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let certificate = stream.get_ref().1.peer_certificates().unwrap()[0].to_vec();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                log.lock().unwrap().push(certificate);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (at, presented)
}

fn der(identity: &Identity) -> Vec<u8> {
    CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap().to_vec()
}

fn key(identity: &Identity) -> PrivatePkcs8KeyDer<'static> {
    PrivatePkcs8KeyDer::from_pem_slice(identity.key.as_bytes()).unwrap()
}

fn pkcs12_of(identity: &Identity) -> String {
    let key = PrivateKey::from_der(key(identity).secret_pkcs8_der()).unwrap();
    let chain = PrivateKeyChain::new("1", key, [Certificate::from_der(&der(identity)).unwrap()]);
    let mut store = KeyStore::new();
    store.add_entry("shop", KeyStoreEntry::PrivateKeyChain(chain));
    STANDARD.encode(store.writer(PASSWORD).write().unwrap())
}

/// Returns the private scalar of a key on P-256: 32 bytes after the version of its RFC 5915 structure.
fn private_scalar(identity: &Identity) -> Vec<u8> {
    let key = key(identity).secret_pkcs8_der().to_vec();
    let at = key.windows(5).position(|part| part == [2, 1, 1, 4, 32]).unwrap() + 5;
    key[at..at + 32].to_vec()
}

/// Returns where `hidden` occurs: in a file or file name below `folder`, or in `reply`.
fn find_secret(folder: &Path, reply: &str, hidden: &[u8]) -> Option<String> {
    let has_secret = |bytes: &[u8]| bytes.windows(hidden.len()).any(|part| part == hidden);
    if has_secret(reply.as_bytes()) {
        return Some("answers and log".to_owned());
    }
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if has_secret(&fs::read(&path).unwrap()) {
            return Some(path.display().to_string());
        }
    }
    None
}

/// A daemon and the bodies of all responses to calls of its host.
struct ApiClient {
    daemon: Daemon,
    responses: String,
}

impl ApiClient {
    /// Starts a daemon in `folder` with the settings in it.
    fn start(folder: tempfile::TempDir) -> Self {
        let mut command = command(folder.path());
        command
            .arg("--config")
            .arg(folder.path().join("vigie.yaml"))
            .env("VIGIE_LOG_LEVEL", "info,vigie=trace");
        Self { daemon: Daemon::from_child(command.spawn().unwrap(), folder), responses: String::new() }
    }

    fn call(&mut self, method: &str, path: &str, body: Value, status: u16) -> Value {
        let (actual, response) = self.daemon.call(method, path, &body);
        assert_eq!(actual, status, "{method} {path}: {response}");
        self.responses.push_str(&response.to_string());
        response
    }

    fn create(&mut self, path: &str, body: Value) -> i64 {
        let response = self.call("POST", path, body, 200);
        response["id"]
            .as_i64()
            .or_else(|| response["id"].as_str()?.parse().ok())
            .unwrap_or_else(|| panic!("{response}"))
    }

    /// Runs a test on demand of `monitor`; returns its result.
    fn check(&mut self, monitor: i64) -> Value {
        let started = self.call("POST", &format!("/tests?monitor_id={monitor}"), json!({}), 200);
        let url = started["result_url"].as_str().unwrap().strip_prefix("/api/v3").unwrap().to_owned();
        let until = Instant::now() + Duration::from_secs(40);
        loop {
            let test = self.call("GET", &url, Value::Null, 200);
            if test["progress"] != 1 {
                return test["result"].clone();
            }
            assert!(Instant::now() < until, "{test}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn monitor(name: &str, at: SocketAddr, client: i64, authority: i64) -> Value {
    json!({
        "name": name, "billing_plancode": "x", "url": format!("https://localhost:{}/", at.port()),
        "enabled": false, "ssl_cert_id": client, "use_client_ssl_cert": true, "ca_cert_id": authority,
    })
}

fn check_once(folder: &Path, at: SocketAddr, client: i64) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    command.args(["check", "website-ssl", &format!("https://localhost:{}/", at.port())]);
    command.args(["--set", "use_client_ssl_cert=true", "--set", "ca_cert_id=1"]);
    command.arg("--set").arg(format!("ssl_cert_id={client}"));
    command.arg("--config").arg(folder.join("vigie.yaml")).output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn monitors_present_their_certificate_and_its_key_stays_secret() {
    let (private, clients) = (Authority::new("private"), Authority::new("clients"));
    let server = private.issue(&["localhost"], VALID);
    let (at, presented) = start_server(config(&server, &[&TLS12, &TLS13], Some(&clients))).await;
    let [by_pem, by_pkcs12, by_file, by_packed] = [(); 4].map(|()| clients.issue(&["client.test"], VALID));
    let home = folder("[]");
    let data_folder = home.path().to_owned();
    // Outside the data folder, where the daemon only reads.
    let files = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = files.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let archive = files.path().join("client.p12");
    fs::write(&archive, STANDARD.decode(pkcs12_of(&by_packed)).unwrap()).unwrap();
    let settings = format!(
        "certificates:\n  - {{id: 1, name: private, ca_file: {}}}\n  - {{id: 2, name: a file, cert_file: {}, key_file: {}}}\n  \
         - {{id: 3, name: a packed file, pkcs12_file: {}, password_file: {}}}\n",
        write("ca.pem", &private.pem()),
        write("client.pem", &by_file.certificate),
        write("client.key", &by_file.key),
        archive.display(),
        write("password", PASSWORD),
    );
    fs::write(data_folder.join("vigie.yaml"), &settings).unwrap();
    let mut api = ApiClient::start(home);

    let authority = json!({"name": "private", "kind": "authority", "pem": private.pem()});
    let authority = api.create("/certificates", authority);
    let pem = json!({"name": "as PEM", "kind": "client", "pem": by_pem.pem()});
    let pem = api.create("/certificates", pem);
    let blob = pkcs12_of(&by_pkcs12);
    let pkcs12 = json!({"name": "as PKCS#12", "kind": "client", "pkcs12": blob, "password": PASSWORD});
    let pkcs12 = api.create("/certificates", pkcs12);
    let wrong_password = json!({"name": "shut", "kind": "client", "pkcs12": blob, "password": "another"});
    api.call("POST", "/certificates", wrong_password, 400);
    let mut last = 0;
    for (name, id, ca, format, identity) in [
        ("as PEM", pem, authority, "PEM", &by_pem),
        ("as PKCS#12", pkcs12, authority, "PKCS#12", &by_pkcs12),
        ("a packed file", 3, 1, "PKCS#12", &by_packed),
        ("a file", 2, 1, "PEM", &by_file),
    ] {
        let monitor_id = api.create("/monitors/website-ssl", monitor(name, at, id, ca));
        let result = api.check(monitor_id);
        assert_eq!(result["outcome"], "ok", "{name}: {result}");
        let certificates = std::mem::take(&mut *presented.lock().unwrap());
        assert!(!certificates.is_empty() && certificates.iter().all(|one| *one == der(identity)), "{name}");
        let read = api.call("GET", &format!("/monitors/{monitor_id}"), Value::Null, 200);
        assert_eq!((&read["ssl_cert_name"], &read["ssl_cert_format"]), (&json!(name), &json!(format)));
        last = monitor_id;
    }
    // Without a certificate the handshake fails.
    let mut without_certificate = monitor("none", at, pem, authority);
    without_certificate["use_client_ssl_cert"] = json!(false);
    let without_certificate = api.create("/monitors/website-ssl", without_certificate);
    let result = api.check(without_certificate);
    assert_eq!(result["outcome"], "error", "{result}");
    assert!(presented.lock().unwrap().is_empty());

    // A single check from the command line, with the settings only.
    for id in [2, 3] {
        let output = check_once(&data_folder, at, id);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(*presented.lock().unwrap(), [der(&by_file), der(&by_packed)]);
    let output = check_once(&data_folder, at, 4);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("ssl_cert_id"), "{message}");

    // A certificate in use cannot be deleted; when the settings lose theirs, the check of its monitor
    // reports it.
    api.call("DELETE", &format!("/certificates/{pem}"), Value::Null, 409);
    for path in ["/certificates", "/audit", "/monitors", "/results"] {
        api.call("GET", path, Value::Null, 200);
    }
    api.call("GET", &format!("/certificates/{pkcs12}"), Value::Null, 200);
    api.daemon.signal(Signal::SIGTERM);
    assert!(api.daemon.wait_for_exit().success());
    let reply = api.daemon.log_text() + &api.responses;
    let without = settings.lines().take(2).fold(String::new(), |text, line| text + line + "\n");
    fs::write(data_folder.join("vigie.yaml"), without).unwrap();
    let hidden: Vec<Vec<u8>> = [&by_pem, &by_pkcs12, &by_file, &by_packed]
        .into_iter()
        .flat_map(|identity| [private_scalar(identity), identity.key.lines().nth(1).unwrap().into()])
        .chain([PASSWORD.into(), blob[80..140].into(), b"PRIVATE KEY".into()])
        .collect();
    for hidden in &hidden {
        let at = find_secret(&data_folder, &reply, hidden);
        assert_eq!(at, None, "{}", String::from_utf8_lossy(hidden));
    }
    assert!(
        find_secret(&data_folder, &reply, &der(&by_pem)[20..60]).is_none()
            && find_secret(&data_folder, &reply, b"as PKCS#12").is_some()
    );
    let home = std::mem::replace(&mut api.daemon.folder, tempfile::tempdir().unwrap());
    drop(api);
    let mut api = ApiClient::start(home);
    let result = api.check(last);
    assert_eq!(result["outcome"], "unknown", "{result}");
    let text = result.to_string();
    assert!(text.contains("95") && text.contains("`ssl_cert_id` 2 is not among the certificates"), "{text}");
    assert!(text.contains("not_configured"), "{text}");
    assert!(presented.lock().unwrap().len() == 2, "nothing was shown");
}
