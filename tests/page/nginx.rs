//! A page of sixty objects from a real nginx, over HTTP/1.1, TLS and HTTP/2.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use vigie::net::{Pem, PublicRoots, TrustConfig};

use crate::page::check::{Check, page};
use crate::support::daemon::free_port;
use crate::support::lacking::lacks;
use crate::support::tls_server::Authority;

struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn sixty_objects_of_a_real_nginx_are_loaded() {
    let programs = ["/usr/sbin/nginx", "/usr/bin/nginx"];
    let Some(program) = programs.into_iter().find(|path| std::path::Path::new(path).exists()) else {
        lacks(
            "page::nginx::sixty_objects_of_a_real_nginx_are_loaded",
            "nginx",
            "`apt-get install nginx-light`",
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let ca = Authority::new("test CA");
    let own = ca.issue(&["127.0.0.1"], (2020, 2090));
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("certificate.pem", &own.certificate);
    write("key.pem", &own.key);
    let mut html = "<link rel=stylesheet href=style.css>".to_owned();
    for number in 0..58 {
        html.extend(["<img src=", &number.to_string(), ".svg>"]);
        write(&format!("{number}.svg"), &"<svg xmlns='http://www.w3.org/2000/svg'/>".repeat(number + 1));
    }
    write("page.html", &html);
    write("style.css", "p { background: url(back.svg) }");
    write("back.svg", "<svg/>");
    let (plain, secure, http2) = (free_port(), free_port(), free_port());
    let folder_path = folder.path().display().to_string();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let paths = kinds.map(|kind| format!("{kind}_temp_path {folder_path}/{kind};")).concat();
    write(
        "nginx.conf",
        &format!(
            "daemon off; master_process off; pid {folder_path}/pid; error_log /dev/null;
             events {{ }}
             http {{
               {paths} access_log off; root {folder_path}; gzip on; gzip_min_length 1; gzip_types image/svg+xml text/css;
               keepalive_requests 7; types {{ text/html html; text/css css; image/svg+xml svg; }}
               server {{
                 listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl; listen 127.0.0.1:{http2} ssl http2;
                 ssl_certificate {folder_path}/certificate.pem; ssl_certificate_key {folder_path}/key.pem;
               }}
             }}"
        ),
    );
    let conf = folder.path().join("nginx.conf");
    let _nginx = Nginx(Command::new(program).arg("-c").arg(conf).stderr(Stdio::null()).spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(("127.0.0.1", http2)).is_err() {
        assert!(Instant::now() < deadline, "nginx does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let authorities = vec![Pem { label: "test CA".to_owned(), text: ca.pem().into_bytes() }];
    for (url, version) in [
        (format!("http://127.0.0.1:{plain}/page.html"), "HTTP/1.1"),
        (format!("https://127.0.0.1:{secure}/page.html"), "HTTP/1.1"),
        (format!("https://127.0.0.1:{http2}/page.html"), "HTTP/2"),
    ] {
        let trust = TrustConfig {
            public_roots: PublicRoots::None,
            additional_authorities: authorities.clone(),
            ..TrustConfig::default()
        };
        let check = Check::of(&url).with(json!({"check_fullpage_missing_objects": true})).trusting(trust);
        let observation = check.run().await;
        assert_eq!(observation.failure, None, "{url}");
        let objects = &page(&observation).objects;
        assert_eq!(objects.len(), 60, "{url}");
        assert!(objects.iter().all(|object| object.http_version == version), "{url}");
        assert_eq!(objects[58].body_bytes, 58 * 41, "{url}: {:?}", objects[58]);
        assert!(objects[58].body_wire_bytes < 200, "it came compressed: {:?}", objects[58]);
    }
}
