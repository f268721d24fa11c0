//! Old TLS versions against a real nginx.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use vigie::domain::FailureKind as Kind;

use crate::check::Expect::{Fails, Passes};
use crate::lacking::lacks;
use crate::tls_server::Authority;
use crate::{NAMES, TLS, VALID, check_at, compare};

struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn a_real_nginx_with_an_old_version_passes() {
    let programs = ["/usr/sbin/nginx", "/usr/bin/nginx"];
    let Some(program) = programs.into_iter().find(|path| std::path::Path::new(path).exists()) else {
        lacks("old_tls::a_real_nginx_with_an_old_version", "nginx", "`apt-get install nginx-light`");
        return;
    };
    let ca = Authority::new("test CA");
    let own = ca.issue(NAMES, VALID);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("certificate.pem", &own.certificate);
    write("key.pem", &own.key);
    let ports = [("TLSv1", "10", "TLSv1.0", free_port()), ("TLSv1.1", "11", "TLSv1.1", free_port())];
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {path}/{kind};"))
        .concat();
    let servers = ports
        .map(|(name, .., port)| {
            format!(
                "server {{ listen 127.0.0.1:{port} ssl; ssl_protocols {name}; ssl_ciphers ALL:@SECLEVEL=0;
                 ssl_certificate {path}/certificate.pem; ssl_certificate_key {path}/key.pem;
                 location / {{ return 200 \"$ssl_protocol and $ssl_server_name\"; }} }}"
            )
        })
        .concat();
    let head = format!("daemon off; master_process off; pid {path}/pid; error_log /dev/null;");
    write("nginx.conf", &format!("{head} events {{ }} http {{ {temporary} access_log off; {servers} }}"));
    let mut nginx = Command::new(program);
    nginx.arg("-c").arg(folder.path().join("nginx.conf")).stderr(Stdio::null());
    let _nginx = Nginx(nginx.spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(20);
    for (name, pin, version, port) in ports {
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "nginx does not start");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let at = ([127, 0, 0, 1], port).into();
        let keyword = json!({"keyword_string": format!("{name} and localhost")});
        let observation = check_at(&ca, at, pin, keyword).run().await;
        compare(name, Passes, &observation);
        assert_eq!(observation.facts.tls.unwrap().tls_version.as_deref(), Some(version));
        compare(
            name,
            Fails(3, Kind::TlsHandshakeFailed, TLS),
            &check_at(&ca, at, "12", json!({})).run().await,
        );
    }
}
