//! `ftp-ssl` against a real vsftpd that speaks one old version, on control and data connections.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use vigie::domain::{FailureKind as Kind, MonitorType, Observation, Phase};

use crate::daemon::{Daemon, free_port, has, is_root, open_folder, wait_for};
use crate::ftp_check::{PASSWORD, TIMEOUT, attempt, config, fields, transcript};
use crate::ftp_user::User;
use crate::lacking::lacks;
use crate::tls_server::Authority;
use crate::{NAMES, VALID};

/// Pins, each with the version name in OpenSSL's configuration and in facts.
const OLD: [(&str, &str, &str); 2] = [("10", "TLSv1", "TLSv1.0"), ("11", "TLSv1.1", "TLSv1.1")];
const REUSE: &str = "require_ssl_reuse=YES\n";

/// What the servers share: a certificate and the home of the only user.
struct Fixture {
    folder: TempDir,
    authority: Authority,
    user: User,
}

impl Fixture {
    fn new() -> Self {
        let (folder, authority) = (open_folder(), Authority::new("test CA"));
        fs::write(folder.path().join("server.pem"), authority.issue(NAMES, VALID).pem()).unwrap();
        for name in ["home", "empty"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let user = User::with_home(&folder.path().join("home"), PASSWORD);
        let fixture = Self { folder, authority, user };
        fs::write(fixture.path("home").join("kept"), "x").unwrap();
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a server that speaks `version` only. vsftpd has no setting for it, so Debian's OpenSSL gets its own
    /// configuration. Without TLS, logins and transfers are refused.
    fn start(&self, version: &str, more: &str) -> (Daemon, SocketAddr) {
        let (port, folder_path) = (free_port(), self.folder.path().display());
        let library = format!(
            "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = old\n[old]\n\
             MinProtocol = {version}\nMaxProtocol = {version}\nCipherString = ALL:@SECLEVEL=0\n"
        );
        let settings = format!(
            "listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nbackground=NO\nseccomp_sandbox=NO\n\
             anonymous_enable=NO\nlocal_enable=YES\nwrite_enable=YES\nchroot_local_user=YES\n\
             allow_writeable_chroot=YES\npam_service_name=vsftpd\nsecure_chroot_dir={folder_path}/empty\n\
             ssl_enable=YES\nssl_tlsv1=YES\nssl_ciphers=ALL:@SECLEVEL=0\n\
             force_local_logins_ssl=YES\nforce_local_data_ssl=YES\n\
             rsa_cert_file={folder_path}/server.pem\nrsa_private_key_file={folder_path}/server.pem\n{more}"
        );
        let (old, vsftpd) = (self.path(&format!("{port}.cnf")), self.path(&format!("{port}.conf")));
        fs::write(&old, library).unwrap();
        fs::write(&vsftpd, settings).unwrap();
        let mut command = Command::new("/usr/sbin/vsftpd");
        let daemon = Daemon::start(command.arg(vsftpd).env("OPENSSL_CONF", old));
        wait_for(port);
        (daemon, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }

    async fn observe(&self, at: SocketAddr, pin: &str, more: Value) -> Observation {
        let mut monitor_fields =
            json!({"use_ssl_version": pin, "ftp_username": self.user.name, "enable_ftp_upload": true});
        monitor_fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let network = config(Some(&self.authority.pem()));
        attempt(&network, MonitorType::FtpSsl, fields(at, monitor_fields), TIMEOUT).await
    }
}

#[track_caller]
fn assert_passed(observation: &Observation, version: &str) {
    assert!(
        observation.failure.is_none(),
        "{version}: {:?}\n{}",
        observation.failure,
        transcript(observation)
    );
    assert_eq!(observation.facts.tls.as_ref().unwrap().tls_version.as_deref(), Some(version));
    let facts = observation.facts.ftp.as_ref().unwrap();
    assert_eq!((facts.ftp_listed_entries, facts.ftp_uploaded_bytes), (Some(1), Some(1024)), "{version}");
    assert_eq!(
        (facts.ftp_tls_session_resumed, facts.ftp_sent_password_in_cleartext),
        (Some(false), false),
        "{version}"
    );
}

#[track_caller]
fn assert_failed(observation: &Observation, kind: Kind, phase: Phase) -> String {
    let failure = observation.failure.as_ref().expect("it passed");
    let found = (failure.status().0, failure.kind, failure.phase);
    assert_eq!(found, (3, kind, phase), "{failure}\n{}", transcript(observation));
    failure.detail.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_vsftpd_with_an_old_version_passes() {
    if !is_root() || !has("vsftpd") {
        lacks(
            "old_tls::a_real_vsftpd_with_an_old_version",
            "root and vsftpd",
            "as root: apt-get install vsftpd",
        );
        return;
    }
    let fixture = Fixture::new();
    for (pin, name, version) in OLD {
        let (_explicit, at) = fixture.start(name, "require_ssl_reuse=NO\n");
        assert_passed(&fixture.observe(at, pin, json!({})).await, version);
        for other in ["", "12", "3"] {
            let observation = fixture.observe(at, other, json!({})).await;
            assert!(
                !assert_failed(&observation, Kind::TlsHandshakeFailed, Phase::Tls).is_empty(),
                "{version} by `{other}`"
            );
        }
        let (_implicit, at) = fixture.start(name, "require_ssl_reuse=NO\nimplicit_ssl=YES\n");
        let host = json!({"hostname": "ftps://127.0.0.1"});
        assert_passed(&fixture.observe(at, pin, host).await, version);

        let (_strict, at) = fixture.start(name, REUSE);
        let detail =
            assert_failed(&fixture.observe(at, pin, json!({})).await, Kind::UnexpectedReply, Phase::List);
        assert!(detail.contains("with `522 ") && detail.contains("with TLS 1.1 and older"), "{detail}");
    }
    // Newer sessions are resumed in every build.
    let (_strict, at) = fixture.start("TLSv1.2", REUSE);
    let observation = fixture.observe(at, "12", json!({})).await;
    assert!(observation.failure.is_none(), "{:?}\n{}", observation.failure, transcript(&observation));
    assert_eq!(observation.facts.ftp.unwrap().ftp_tls_session_resumed, Some(true));
    let left: Vec<PathBuf> =
        fs::read_dir(fixture.path("home")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [fixture.path("home").join("kept")] as [PathBuf; 1]);
}
