//! The probe against a real nginx.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, Observation, Phase, WarningKind};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes, Warns};
use crate::probe_http::tls::pem;
use crate::support::daemon::free_port;
use crate::support::lacking::lacks;
use crate::support::tls_server::Authority;

struct Nginx {
    process: Child,
    ca: Authority,
    plain: u16,
    secure: u16,
    http2: u16,
    mutual: u16,
    _folder: tempfile::TempDir,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Nginx {
    /// Starts nginx; returns `None` when it is not installed, which is allowed on a developer's machine only.
    fn start() -> Option<Self> {
        let program = ["/usr/sbin/nginx", "/usr/bin/nginx"]
            .into_iter()
            .find(|path| std::path::Path::new(path).exists());
        let Some(program) = program else {
            lacks(
                "probe_http::nginx::a_real_nginx_gives_the_expected_results",
                "nginx",
                "`apt-get install nginx-light`",
            );
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let ca = Authority::new("test CA");
        let own = ca.issue(&["127.0.0.1", "localhost"], (2020, 2090));
        let (plain, secure, http2, mutual) = (free_port(), free_port(), free_port(), free_port());
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("certificate.pem", &own.certificate);
        write("key.pem", &own.key);
        write("ca.pem", &ca.pem());
        write("passwords", "me:{PLAIN}secret\n");
        write("page.html", &"<p>a page for the needle</p>\n".repeat(500));
        let ports = [plain, secure, http2, mutual];
        write("nginx.conf", &configuration(&folder.path().display().to_string(), ports));
        let process = Command::new(program)
            .arg("-c")
            .arg(folder.path().join("nginx.conf"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let nginx = Self { process, ca, plain, secure, http2, mutual, _folder: folder };
        let until = Instant::now() + Duration::from_secs(20);
        while std::net::TcpStream::connect(("127.0.0.1", secure)).is_err() {
            assert!(Instant::now() < until, "nginx does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(nginx)
    }

    async fn check(&self, url: String, fields: Value) -> Observation {
        let mut check = Check::new(&url).with(fields);
        check.config.trust_config.additional_authorities = vec![pem("test CA", self.ca.pem())];
        check.run().await
    }
}

fn configuration(folder: &str, [plain, secure, http2, mutual]: [u16; 4]) -> String {
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let paths = kinds.map(|kind| format!("{kind}_temp_path {folder}/{kind};")).concat();
    format!(
        "daemon off; master_process off; pid {folder}/pid; error_log /dev/null;
         events {{ }}
         http {{
           {paths} access_log off; root {folder}; gzip on; gzip_min_length 1; gzip_http_version 1.0;
           types {{ text/html html; }}
           server {{
             listen 127.0.0.1:{plain};
             listen 127.0.0.1:{secure} ssl http2;
             listen 127.0.0.1:{http2} http2;
             ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
             location = /old {{ return 301 /page.html; }}
             location = /loop {{ return 302 /loop; }}
             location = /broken {{ return 503; }}
             location = /drop {{ return 444; }}
             location = /private {{ auth_basic inner; auth_basic_user_file {folder}/passwords; try_files /page.html =404; }}
             location = /posted {{ if ($request_method != POST) {{ return 405; }} return 200 \"$content_type\"; }}
           }}
           server {{
             listen 127.0.0.1:{mutual} ssl http2;
             ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
             ssl_client_certificate {folder}/ca.pem; ssl_verify_client on;
             location / {{ return 200 \"$ssl_client_s_dn over $server_protocol\"; }}
           }}
         }}"
    )
}

#[tokio::test]
async fn a_real_nginx_gives_the_expected_results() {
    let Some(nginx) = Nginx::start() else { return };
    let plain = |path: &str| format!("http://127.0.0.1:{}{path}", nginx.plain);
    let secure = |path: &str| format!("https://127.0.0.1:{}{path}", nginx.secure);
    let needle = || json!({"keyword_string": "the needle"});
    let refused = Fails(5, Kind::LoginRejected, Some(Phase::Validate));
    let cases: Vec<(String, Value, Expect)> = vec![
        (plain("/page.html"), needle(), Passes),
        (
            plain("/page.html"),
            json!({"keyword_string": "no such thing"}),
            Fails(5, Kind::KeywordMissing, None),
        ),
        (plain("/page.html"), json!({"http_version": "1.0", "keyword_string": "the needle"}), Passes),
        (plain("/page.html"), json!({"http_method": "HEAD"}), Passes),
        (plain("/missing"), json!({}), Fails(7, Kind::HttpErrorStatus, None)),
        (plain("/old"), needle(), Passes),
        (plain("/old"), json!({"http_follow_redirects": false}), Warns(WarningKind::RedirectNotFollowed)),
        (plain("/loop"), json!({}), Fails(3, Kind::RedirectLoop, None)),
        (plain("/broken"), json!({}), Fails(7, Kind::HttpErrorStatus, None)),
        (plain("/drop"), json!({}), Fails(6, Kind::NoResponse, Some(Phase::FirstByte))),
        (plain("/private"), json!({}), Fails(7, Kind::HttpErrorStatus, None)),
        (plain("/private"), json!({"realm_userid": "me", "realm_password": "secret"}), Passes),
        (plain("/private"), json!({"realm_userid": "me", "realm_password": "wrong"}), refused),
        (
            plain("/posted"),
            json!({"http_method": "POST", "post_body": "a=b", "keyword_string": "application/x-www-form-urlencoded"}),
            Passes,
        ),
        (secure("/page.html"), needle(), Passes),
        (secure("/page.html"), json!({"http_version": "2", "keyword_string": "the needle"}), Passes),
        (
            secure("/private"),
            json!({"http_version": "2", "realm_userid": "me", "realm_password": "secret"}),
            Passes,
        ),
        (secure("/page.html"), json!({"use_ssl_version": "12"}), Passes),
        (
            format!("http://127.0.0.1:{}/page.html", nginx.http2),
            json!({"http_version": "2", "keyword_string": "the needle"}),
            Passes,
        ),
        (
            format!("http://127.0.0.1:{}/page.html", nginx.http2),
            json!({}),
            Fails(3, Kind::ResponseInvalid, None),
        ),
        (
            format!("http://127.0.0.1:{}/page.html", nginx.secure),
            json!({}),
            Fails(7, Kind::HttpErrorStatus, None),
        ),
        (
            format!("https://127.0.0.1:{}/page.html", nginx.plain),
            json!({}),
            Fails(3, Kind::TlsHandshakeFailed, Some(Phase::Tls)),
        ),
    ];
    for (url, fields, expected) in cases {
        let observation = nginx.check(url.clone(), fields.clone()).await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{url} {fields}: {difference}"));
        if let Some(facts) = observation.facts.http.as_ref().filter(|facts| facts.url.ends_with("/page.html"))
        {
            let zipped = facts.body_wire_bytes > 0 && facts.body_wire_bytes < facts.body_bytes;
            assert!(zipped || facts.body_bytes == 0 || facts.http_status != 200, "{url}: {facts:?}");
        }
    }
}

#[tokio::test]
async fn client_certificates_and_private_cas_work_with_a_real_nginx() {
    let Some(nginx) = Nginx::start() else { return };
    let stranger = Authority::new("another CA");
    let client = |ca: &Authority| pem("client", ca.issue(&["client.test"], (2020, 2090)).pem());
    let clients = [(3, client(&nginx.ca)), (4, client(&stranger))];
    let refused = Fails(7, Kind::HttpErrorStatus, None);
    let cases: [(Value, Expect); 7] = [
        (
            json!({"ca_cert_id": 5, "use_client_ssl_cert": true, "ssl_cert_id": 3, "keyword_string": "CN=leaf over HTTP/1.1"}),
            Passes,
        ),
        (
            json!({"ca_cert_id": 5, "use_client_ssl_cert": true, "ssl_cert_id": 3, "http_version": "1.0", "keyword_string": "HTTP/1.0"}),
            Passes,
        ),
        (
            json!({"ca_cert_id": 5, "use_client_ssl_cert": true, "ssl_cert_id": 3, "http_version": "2", "keyword_string": "HTTP/2.0"}),
            Passes,
        ),
        (
            json!({"ca_cert_id": 5, "use_client_ssl_cert": true, "ssl_cert_id": 3, "use_ssl_version": "12"}),
            Passes,
        ),
        (json!({"ca_cert_id": 5}), refused),
        (json!({"ca_cert_id": 5, "use_client_ssl_cert": true, "ssl_cert_id": 4}), refused),
        (
            json!({"use_client_ssl_cert": true, "ssl_cert_id": 3}),
            Fails(3, Kind::CertificateIssuerUnknown, Some(Phase::Tls)),
        ),
    ];
    for (fields, expected) in cases {
        let mut check = Check::new(&format!("https://127.0.0.1:{}/", nginx.mutual)).with(fields.clone());
        check.config.trust_config.client_certificates = clients.clone().into();
        check.config.trust_config.named_authorities = [(5, pem("private CA", nginx.ca.pem()))].into();
        let observation = check.run().await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{fields}: {difference}"));
    }
}
