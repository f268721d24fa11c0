//! Starts the servers of the set-ups.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;

use super::certificates;
use super::setups::{SETUPS, Server, Setup};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking::lacks;
use crate::support::tls_server;

/// The running servers of all set-ups.
pub struct Servers {
    /// Each set-up with its port.
    pub ports: Vec<(&'static Setup, u16)>,
    _daemons: Vec<Daemon>,
    _folder: TempDir,
}

impl Servers {
    /// Starts all; `None` when a program is missing, which is counted for `test`.
    pub async fn start(test: &str) -> Option<Self> {
        for (program, package) in [("nginx", "nginx-light"), ("apache2", "apache2"), ("openssl", "openssl")] {
            if !has(program) {
                lacks(test, program, &format!("`apt-get install {package}`"));
                return None;
            }
        }
        let folder = open_folder();
        certificates::write_all(folder.path());
        let mut ports = Vec::new();
        for setup in SETUPS {
            ports.push((
                setup,
                match setup.server {
                    Server::Rustls { tls12, tls13 } => start_rustls(folder.path(), tls12, tls13).await,
                    _ => free_port(),
                },
            ));
        }
        let mut daemons = vec![start_nginx(folder.path(), &ports), start_apache(folder.path(), &ports)];
        for (setup, port) in &ports {
            if let Server::OpenSsl(arguments) = setup.server {
                let mut command = Command::new("openssl");
                let at = format!("127.0.0.1:{port}");
                command
                    .args(["s_server", "-quiet", "-www", "-accept", &at])
                    .args(arguments.split_whitespace());
                daemons.push(Daemon::start(command.current_dir(folder.path())));
            }
        }
        for (_, port) in &ports {
            wait_for(*port);
        }
        Some(Self { ports, _daemons: daemons, _folder: folder })
    }
}

async fn start_rustls(folder: &Path, tls12: bool, tls13: bool) -> u16 {
    let mut versions = Vec::new();
    versions.extend(tls12.then_some(&rustls::version::TLS12));
    versions.extend(tls13.then_some(&rustls::version::TLS13));
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let chain = CertificateDer::pem_slice_iter(&read("ecdsa.pem")).map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(&read("ecdsa.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    tls_server::serve("127.0.0.1", config).await.port()
}

fn start_nginx(folder: &Path, ports: &[(&Setup, u16)]) -> Daemon {
    let path = folder.display();
    let mut text = format!(
        "daemon off; worker_processes 2; pid {path}/nginx.pid; error_log {path}/nginx.log;\n\
         events {{ worker_connections 512; }}\nhttp {{ access_log off; default_type text/html; client_body_temp_path {path}/body;\n\
         proxy_temp_path {path}/proxy; fastcgi_temp_path {path}/fcgi; uwsgi_temp_path {path}/uwsgi;\n\
         scgi_temp_path {path}/scgi;\n"
    );
    for (setup, port) in ports {
        if let Server::Nginx(directives) = setup.server {
            let directives = with_folder(
                directives,
                &["ssl_certificate ", "ssl_certificate_key ", "ssl_dhparam ", "ssl_stapling_file "],
                folder,
            );
            writeln!(
                text,
                "server {{ listen 127.0.0.1:{port} ssl; {directives} location / {{ return 200 'ok'; }} }}"
            )
            .unwrap();
        }
    }
    text.push_str("}\n");
    fs::write(folder.join("nginx.conf"), text).unwrap();
    let mut command = Command::new("nginx");
    Daemon::start(command.arg("-c").arg(folder.join("nginx.conf")).arg("-p").arg(folder).env("PATH", PATH))
}

const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Puts `folder` before the file names after `directives`.
fn with_folder(text: &str, directives: &[&str], folder: &Path) -> String {
    directives.iter().fold(text.to_owned(), |text, directive| {
        text.replace(directive, &format!("{directive}{}/", folder.display()))
    })
}

fn start_apache(folder: &Path, ports: &[(&Setup, u16)]) -> Daemon {
    let path = folder.display();
    let modules = "/usr/lib/apache2/modules";
    let mut text = format!(
        "ServerRoot {path}\nServerName scanned.test\nPidFile {path}/apache.pid\nErrorLog {path}/apache.log\n\
         DocumentRoot {path}\nStartServers 1\nUser #33\nGroup #33\nMutex file:{path} default\n"
    );
    for (module, file) in [("mpm_event", "mpm_event"), ("authz_core", "authz_core"), ("ssl", "ssl")] {
        writeln!(text, "LoadModule {module}_module {modules}/mod_{file}.so").unwrap();
    }
    for (setup, port) in ports {
        if let Server::Apache(directives) = setup.server {
            let directives =
                with_folder(directives, &["SSLCertificateFile ", "SSLCertificateKeyFile "], folder);
            writeln!(
                text,
                "Listen 127.0.0.1:{port}\n<VirtualHost 127.0.0.1:{port}>\nSSLEngine on\n{directives}</VirtualHost>"
            )
            .unwrap();
        }
    }
    fs::write(folder.join("apache.conf"), text).unwrap();
    let mut command = Command::new("/usr/sbin/apache2");
    command.arg("-f").arg(folder.join("apache.conf")).args(["-D", "FOREGROUND"]).stderr(Stdio::null());
    Daemon::start(&mut command)
}
