//! The probes against vsftpd and pure-ftpd of Debian.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use vigie::domain::{FailureKind as Kind, MonitorType, Observation, Phase};
use vigie::net::NetConfig;

use crate::probe_ftp::check::{PASSWORD, TIMEOUT, attempt, config, fields, pem, transcript};
use crate::support::daemon::{Daemon, free_port, has, is_root, open_folder, wait_for};
use crate::support::ftp_user::{User, run};
use crate::support::lacking;
use crate::support::tls_server::Authority;

/// What all daemons of a test share: a folder with certificates and a home.
struct Fixture {
    folder: TempDir,
    authority: Authority,
    clients: Authority,
}

impl Fixture {
    fn new() -> Self {
        let folder = open_folder();
        let (authority, clients) = (Authority::new("test CA"), Authority::new("client CA"));
        let own = authority.issue(&["127.0.0.1", "localhost"], (2020, 2090));
        let fixture = Self { folder, authority, clients };
        fixture.write("server.pem", &own.pem());
        fixture.write("clients.pem", &fixture.clients.pem());
        fs::create_dir(fixture.path("home")).unwrap();
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Returns the network of a location that trusts the authority and has client certificate 7.
    fn network(&self) -> NetConfig {
        let mut config = config(Some(&self.authority.pem()));
        let client = self.clients.issue(&["me"], (2020, 2090));
        config.trust_config.client_certificates.insert(7, pem(&client.pem()));
        config
    }

    fn files_in_home(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path("home")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn vsftpd(&self, name: &str, more: &str) -> (Daemon, SocketAddr) {
        let port = free_port();
        let folder_path = self.folder.path().display();
        let text = format!(
            "listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nbackground=NO\nseccomp_sandbox=NO\n\
             anonymous_enable=NO\nlocal_enable=YES\nwrite_enable=YES\nchroot_local_user=YES\n\
             allow_writeable_chroot=YES\npam_service_name=vsftpd\nsecure_chroot_dir={folder_path}/empty\n{}",
            more.replace("@DIR@", &folder_path.to_string())
        );
        let _ = fs::create_dir(self.path("empty"));
        self.write(name, &text);
        let daemon = Daemon::start(Command::new("/usr/sbin/vsftpd").arg(self.path(name)));
        wait_for(port);
        (daemon, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }
}

const TLS: &str = "ssl_enable=YES\nssl_tlsv1=YES\nssl_sslv2=NO\nssl_sslv3=NO\nssl_ciphers=HIGH\n\
    force_local_logins_ssl=YES\nforce_local_data_ssl=YES\nrequire_ssl_reuse=YES\n\
    rsa_cert_file=@DIR@/server.pem\nrsa_private_key_file=@DIR@/server.pem\nca_certs_file=@DIR@/clients.pem\n";

fn assert_uploaded(observation: &Observation) {
    assert!(observation.failure.is_none(), "{:?}\n{}", observation.failure, transcript(observation));
    assert!(observation.warnings.is_empty(), "{:?}", observation.warnings);
    let facts = observation.facts.ftp.as_ref().unwrap();
    assert_eq!(facts.ftp_uploaded_bytes, Some(1024));
    assert_eq!(facts.ftp_passive_command.as_deref(), Some("EPSV"));
    for phase in
        [Phase::Banner, Phase::Auth, Phase::OpenDataConnection, Phase::List, Phase::Upload, Phase::Quit]
    {
        assert!(observation.phases.micros(phase).is_some(), "{phase:?}");
    }
}

fn assert_failed(observation: &Observation, status: u16, kind: Kind, phase: Phase) {
    let failure = observation.failure.as_ref().expect("it passed");
    let found = (failure.status().0, failure.kind, failure.phase);
    assert_eq!(found, (status, kind, phase), "{failure}\n{}", transcript(observation));
}

#[tokio::test(flavor = "multi_thread")]
async fn vsftpd_plain_explicit_and_implicit() {
    if !is_root() || !has("vsftpd") {
        lacking::lacks("probe_ftp::daemons::vsftpd", "root and vsftpd", "as root: apt-get install vsftpd");
        return;
    }
    let fixture = Fixture::new();
    let user = User::with_home(&fixture.path("home"), PASSWORD);
    let net = fixture.network();
    let user_fields = |more: Value| {
        let mut all = json!({"ftp_username": user.name, "enable_ftp_upload": true});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    fs::write(fixture.path("home").join("kept"), "x").unwrap();

    let (_plain, at) = fixture.vsftpd("plain.conf", "");
    let observation = attempt(&net, MonitorType::Ftp, fields(at, user_fields(json!({}))), TIMEOUT).await;
    assert_uploaded(&observation);
    let facts = observation.facts.ftp.unwrap();
    assert_eq!(facts.ftp_listed_entries, Some(1));
    assert!(facts.ftp_sent_password_in_cleartext && facts.ftp_banner.contains("vsFTPd"), "{facts:?}");
    let wrong = fields(at, user_fields(json!({"ftp_password": "wrong"})));
    assert_failed(
        &attempt(&net, MonitorType::Ftp, wrong, TIMEOUT).await,
        5,
        Kind::LoginRejected,
        Phase::Auth,
    );
    let unencrypted = attempt(&net, MonitorType::FtpSsl, fields(at, user_fields(json!({}))), TIMEOUT).await;
    assert_failed(&unencrypted, 5, Kind::TlsNotOffered, Phase::Starttls);

    let (_explicit, at) = fixture.vsftpd("explicit.conf", TLS);
    for version in ["", "12"] {
        let monitor_fields = fields(at, user_fields(json!({"use_ssl_version": version})));
        let observation = attempt(&net, MonitorType::FtpSsl, monitor_fields, TIMEOUT).await;
        assert_uploaded(&observation);
        let facts = observation.facts.ftp.unwrap();
        assert_eq!(facts.ftp_tls_session_resumed, Some(true));
        assert!(!facts.ftp_sent_password_in_cleartext);
    }
    let unencrypted = attempt(&net, MonitorType::Ftp, fields(at, user_fields(json!({}))), TIMEOUT).await;
    assert_failed(&unencrypted, 5, Kind::LoginRejected, Phase::Auth);
    let other = config(Some(&Authority::new("another CA").pem()));
    let distrusted = attempt(&other, MonitorType::FtpSsl, fields(at, user_fields(json!({}))), TIMEOUT).await;
    assert_failed(&distrusted, 3, Kind::CertificateIssuerUnknown, Phase::Tls);

    let strict =
        format!("{TLS}implicit_ssl=YES\nssl_request_cert=YES\nrequire_cert=YES\nvalidate_cert=YES\n");
    let (_implicit, at) = fixture.vsftpd("implicit.conf", &strict);
    let host = json!({"hostname": "ftps://127.0.0.1", "ssl_cert_id": 7, "use_client_ssl_cert": true});
    let observation = attempt(&net, MonitorType::FtpSsl, fields(at, user_fields(host)), TIMEOUT).await;
    assert_uploaded(&observation);
    assert_eq!(observation.facts.ftp.unwrap().ftp_tls_session_resumed, Some(true));
    let without = json!({"hostname": "ftps://127.0.0.1", "ssl_cert_id": 7, "use_client_ssl_cert": false});
    let observation = attempt(&net, MonitorType::FtpSsl, fields(at, user_fields(without)), TIMEOUT).await;
    assert_eq!(observation.failure.as_ref().map(|failure| failure.status().0), Some(3), "{observation:?}");

    assert_eq!(fixture.files_in_home(), [fixture.path("home").join("kept")]);
}

// With virtual users. At the end, its folder accepts no files.
#[tokio::test(flavor = "multi_thread")]
async fn pure_ftpd_plain_and_explicit() {
    let root = std::env::var_os("VIGIE_PURE_FTPD")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pure-ftpd"), PathBuf::from);
    if !is_root() || !root.join("usr/sbin/pure-ftpd").exists() {
        let remedy = "run tests/run, which unpacks it to target/pure-ftpd";
        lacking::lacks("probe_ftp::daemons::pure_ftpd", "root and pure-ftpd", remedy);
        return;
    }
    let fixture = Fixture::new();
    let home = fixture.path("home");
    // pure-ftpd has its own users; no user of this machine is needed.
    fs::set_permissions(&home, fs::Permissions::from_mode(0o777)).unwrap();
    let (passwords, database) = (fixture.path("passwords"), fixture.path("users.pdb"));
    let mut make = Command::new(root.join("usr/bin/pure-pw"));
    make.args(["useradd", "monitor", "-u", "65534", "-g", "65534", "-d"]).arg(&home);
    make.arg("-f").arg(&passwords).arg("-F").arg(&database).arg("-m");
    assert!(run(&mut make, &format!("{PASSWORD}\n{PASSWORD}\n")), "pure-pw failed");
    let port = free_port();
    let mut start = Command::new(root.join("usr/sbin/pure-ftpd"));
    start.args(["-S", &format!("127.0.0.1,{port}"), "-l"]).arg(format!("puredb:{}", database.display()));
    start.args(["-Y", "1", "-2"]).arg(fixture.path("server.pem")).args(["-E", "-j", "-H", "-A", "-u", "1"]);
    start.arg("-g").arg(fixture.path("pid"));
    let _daemon = Daemon::start(&mut start);
    wait_for(port);
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let net = fixture.network();
    let monitor_fields = || fields(at, json!({"enable_ftp_upload": true}));
    let (plain, secure) = tokio::join!(
        attempt(&net, MonitorType::Ftp, monitor_fields(), 2 * TIMEOUT),
        attempt(&net, MonitorType::FtpSsl, monitor_fields(), 2 * TIMEOUT)
    );
    assert_uploaded(&plain);
    assert_uploaded(&secure);
    assert!(plain.facts.ftp.unwrap().ftp_sent_password_in_cleartext);
    assert!(secure.facts.ftp.unwrap().ftp_tls_session_resumed.is_some());
    assert!(fixture.files_in_home().is_empty());
    fs::set_permissions(&home, fs::Permissions::from_mode(0o555)).unwrap();
    let observation = attempt(&net, MonitorType::FtpSsl, monitor_fields(), 2 * TIMEOUT).await;
    assert_failed(&observation, 3, Kind::UnexpectedReply, Phase::Upload);
}
