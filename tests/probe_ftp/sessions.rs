//! Whole sessions with correct servers of different behaviour.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use vigie::domain::{FailureKind as Kind, MonitorType, Observation, Phase as P, Phase};
use vigie::net::TlsOptions;

use crate::probe_ftp::check::{PASSWORD, TIMEOUT, attempt, config, denying, fields, pem, transcript};
use crate::probe_ftp::server::{Act, Rules, Server, send};
use crate::support::tls_server::{self, Authority};

pub const BOTH: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];

fn assert_passed(observation: &Observation) {
    assert!(observation.failure.is_none(), "{:?}\n{}", observation.failure, transcript(observation));
}

fn secure(authority: &Authority, names: &[&str]) -> Rules {
    let config = tls_server::config(&authority.issue(names, (2020, 2090)), BOTH, None);
    Rules { tls: Some(Arc::new(config)), ..Rules::default() }
}

#[tokio::test]
async fn a_plain_session_lists_and_records_a_clear_text_password() {
    // The delay makes the phases long beside the gaps that a busy machine adds between them.
    let listed = Act::SendAfter(Duration::from_millis(200), b"226 listed\r\n".to_vec());
    let server = Server::start(Rules::default().with_act("LIST done", listed)).await;
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT).await;
    assert_passed(&observation);
    assert_eq!(server.lines(), ["USER monitor", &format!("PASS {PASSWORD}"), "EPSV", "LIST", "QUIT"]);
    let facts = observation.facts.ftp.unwrap();
    assert_eq!(facts.ftp_banner, "test server");
    assert_eq!(facts.ftp_passive_command.as_deref(), Some("EPSV"));
    assert_eq!(facts.ftp_listed_entries, Some(2));
    assert_eq!((facts.ftp_tls_session_resumed, facts.ftp_uploaded_bytes), (None, None));
    assert!(facts.ftp_sent_password_in_cleartext);
    assert_eq!(facts.ftp_data_address.unwrap().ip(), server.address.ip());
    assert_eq!(observation.address, Some(server.address));
    let reached: Vec<_> = observation.phases.iter().map(|(phase, _)| phase).collect();
    assert_eq!(
        reached,
        [P::Resolve, P::Connect, P::Banner, P::Auth, P::OpenDataConnection, P::List, P::Quit]
    );
    let sum: u64 = observation.phases.iter().map(|(_, micros)| u64::from(micros)).sum();
    let total = u64::try_from(observation.duration.as_micros()).unwrap();
    assert!(sum <= total && sum * 2 > total, "phases {sum} us, total {total} us");
}

// row: 2.2 ftp.ftp_username; 2.2 ftp.ftp_password
#[tokio::test]
async fn a_login_without_user_name_is_anonymous() {
    let server = Server::start(Rules::default().with_act("USER", send("230 come in\r\n"))).await;
    let anonymous = json!({"ftp_username": "", "ftp_password": ""});
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, anonymous.clone()), TIMEOUT).await;
    assert_passed(&observation);
    assert_eq!(server.lines()[..2], ["USER anonymous", "EPSV"]);
    assert!(!observation.facts.ftp.unwrap().ftp_sent_password_in_cleartext);
    let server = Server::start(Rules::default()).await;
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, anonymous), TIMEOUT).await;
    assert_passed(&observation);
    assert_eq!(server.lines()[1], "PASS anonymous@");
    assert!(!observation.facts.ftp.unwrap().ftp_sent_password_in_cleartext);
}

// row: 2.2 ftp.enable_ftp_upload
#[tokio::test]
async fn a_file_is_uploaded_downloaded_and_deleted() {
    let authority = Authority::new("test CA");
    let server = Server::start(secure(&authority, &["127.0.0.1"])).await;
    let monitor_fields = fields(server.address, json!({"enable_ftp_upload": true}));
    let observation =
        attempt(&config(Some(&authority.pem())), MonitorType::FtpSsl, monitor_fields, TIMEOUT).await;
    assert_passed(&observation);
    let expected = "AUTH PBSZ PROT USER PASS EPSV LIST TYPE EPSV STOR EPSV RETR DELE QUIT";
    assert_eq!(server.commands().join(" "), expected);
    let lines = server.lines();
    let names: Vec<_> = lines.iter().filter_map(|line| line.split_once("vigie-")).collect();
    assert!(names.len() == 3 && names.iter().all(|name| name.1 == names[0].1), "{lines:?}");
    assert!(server.files.lock().unwrap().is_empty());
    let facts = observation.facts.ftp.unwrap();
    assert_eq!(facts.ftp_uploaded_bytes, Some(1024));
    assert_eq!(facts.ftp_tls_session_resumed, Some(true));
    assert!(!facts.ftp_sent_password_in_cleartext);
    assert_eq!(observation.facts.tls.unwrap().tls_version.as_deref(), Some("TLSv1.3"));
    for phase in [Phase::Starttls, Phase::Tls, Phase::Upload, Phase::Download, Phase::Delete] {
        assert!(observation.phases.micros(phase).is_some(), "{phase:?}");
    }
}

// row: 2.2 ftp-ssl.use_ssl_version
#[tokio::test]
async fn tls_1_2_can_be_pinned_and_resumes_sessions() {
    let authority = Authority::new("test CA");
    let server = Server::start(secure(&authority, &["127.0.0.1"])).await;
    let monitor_fields = fields(server.address, json!({"use_ssl_version": "12", "enable_ftp_upload": true}));
    let observation =
        attempt(&config(Some(&authority.pem())), MonitorType::FtpSsl, monitor_fields, TIMEOUT).await;
    assert_passed(&observation);
    assert_eq!(observation.facts.tls.unwrap().tls_version.as_deref(), Some("TLSv1.2"));
    assert_eq!(observation.facts.ftp.unwrap().ftp_tls_session_resumed, Some(true));
}

#[tokio::test]
async fn a_server_without_session_resumption_passes() {
    let authority = Authority::new("test CA");
    let mut stateless = tls_server::config(&authority.issue(&["127.0.0.1"], (2020, 2090)), BOTH, None);
    stateless.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    stateless.send_tls13_tickets = 0;
    let server = Server::start(Rules { tls: Some(Arc::new(stateless)), ..Rules::default() }).await;
    let monitor_fields = fields(server.address, json!({}));
    let observation =
        attempt(&config(Some(&authority.pem())), MonitorType::FtpSsl, monitor_fields, TIMEOUT).await;
    assert_passed(&observation);
    assert_eq!(observation.facts.ftp.unwrap().ftp_tls_session_resumed, Some(false));
}

#[tokio::test]
async fn tls_sessions_are_not_shared_between_checks() {
    let authority = Authority::new("test CA");
    let config_once = config(Some(&authority.pem()));
    let net = vigie::net::Net::new(&config_once).unwrap();
    let options = TlsOptions::default();
    let server = tls_server::serve(
        "127.0.0.1",
        tls_server::config(&authority.issue(&["127.0.0.1"], (2020, 2090)), BOTH, None),
    )
    .await;
    let deadline = vigie::net::Deadline::within(TIMEOUT);
    let is_resumed = async |tls: &vigie::net::TlsClient| {
        let stream = tokio::net::TcpStream::connect(server).await.unwrap();
        let mut trace = vigie::net::ConnectionTrace::default();
        let mut stream = tls.handshake(stream, deadline, &mut trace).await.unwrap();
        // Tickets arrive with the first application data.
        tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut Vec::new()).await.unwrap();
        vigie::net::was_tls_session_resumed(&stream)
    };
    let one = net.tls_client("127.0.0.1", &options, true).unwrap();
    assert!(!is_resumed(&one).await);
    assert!(is_resumed(&one).await);
    let other = net.tls_client("127.0.0.1", &options, true).unwrap();
    assert!(!is_resumed(&other).await);
    let disabled = net.tls_client("127.0.0.1", &options, false).unwrap();
    assert!(!is_resumed(&disabled).await && !is_resumed(&disabled).await);
}

#[tokio::test]
async fn the_ftps_scheme_means_implicit_tls_for_both_types() {
    let authority = Authority::new("test CA");
    for kind in [MonitorType::Ftp, MonitorType::FtpSsl] {
        let rules = Rules { implicit: true, ..secure(&authority, &["127.0.0.1"]) };
        let server = Server::start(rules).await;
        let monitor_fields = fields(server.address, json!({"hostname": "ftps://127.0.0.1"}));
        let observation = attempt(&config(Some(&authority.pem())), kind, monitor_fields, TIMEOUT).await;
        assert_passed(&observation);
        assert_eq!(server.commands().join(" "), "PBSZ PROT USER PASS EPSV LIST QUIT");
        assert_eq!(observation.facts.ftp.unwrap().ftp_tls_session_resumed, Some(true));
    }
}

// row: 2.2 ftp-ssl.ssl_cert_id; 2.2 ftp-ssl.use_client_ssl_cert
#[tokio::test]
async fn a_client_certificate_is_sent_when_enabled() {
    let (authority, clients) = (Authority::new("test CA"), Authority::new("client CA"));
    let client = clients.issue(&["me"], (2020, 2090));
    let mut config = config(Some(&authority.pem()));
    config.trust_config.client_certificates.insert(7, pem(&client.pem()));
    let tls = tls_server::config(&authority.issue(&["127.0.0.1"], (2020, 2090)), BOTH, Some(&clients));
    for (on, passes) in [(true, true), (false, false)] {
        let server = Server::start(Rules { tls: Some(Arc::new(tls.clone())), ..Rules::default() }).await;
        let monitor_fields = fields(server.address, json!({"use_client_ssl_cert": on, "ssl_cert_id": 7}));
        let observation = attempt(&config, MonitorType::FtpSsl, monitor_fields, TIMEOUT).await;
        assert_eq!(
            observation.failure.is_none(),
            passes,
            "{:?}\n{}",
            observation.failure,
            transcript(&observation)
        );
        if let Some(failure) = observation.failure {
            assert_eq!((failure.kind, failure.status().0), (Kind::TlsHandshakeFailed, 3), "{failure}");
        }
    }
}

#[tokio::test]
async fn pasv_follows_a_refused_epsv_and_its_address_is_ignored() {
    let forms: [fn(std::net::SocketAddr) -> String; 3] = [
        crate::probe_ftp::server::passive,
        // A private address, as sent by servers behind NAT.
        |at| format!("227 Passive (10,1,2,3,{},{})\r\n", at.port() >> 8, at.port() & 255),
        // A public address, which the client must not connect to. And no parentheses.
        |at| format!("227 ok 192,0,2,1,{},{}\r\n", at.port() >> 8, at.port() & 255),
    ];
    for form in forms {
        let rules =
            Rules::default().with_act("EPSV", send("500 what?\r\n")).with_act("PASV", Act::Listen(form));
        let server = Server::start(rules).await;
        let monitor_fields = fields(server.address, json!({"enable_ftp_upload": true}));
        let observation = attempt(&config(None), MonitorType::Ftp, monitor_fields, TIMEOUT).await;
        assert_passed(&observation);
        let expected = "USER PASS EPSV PASV LIST TYPE PASV STOR PASV RETR DELE QUIT";
        assert_eq!(server.commands().join(" "), expected);
        let facts = observation.facts.ftp.unwrap();
        assert_eq!(facts.ftp_passive_command.as_deref(), Some("PASV"));
        assert_eq!(facts.ftp_data_address.unwrap().ip(), server.address.ip());
    }
}

#[tokio::test]
async fn pasv_follows_when_the_port_of_epsv_cannot_be_reached() {
    let server = Server::start(Rules::default().with_act("EPSV", send("229 (|||1|)\r\n"))).await;
    let monitor_fields = fields(server.address, json!({"enable_ftp_upload": true}));
    let observation = attempt(&config(None), MonitorType::Ftp, monitor_fields, TIMEOUT).await;
    assert_eq!(observation.failure, None);
    let expected = "USER PASS EPSV PASV LIST TYPE PASV STOR PASV RETR DELE QUIT";
    assert_eq!(server.commands().join(" "), expected);
    let warnings: Vec<_> = observation.warnings.iter().map(|warning| warning.detail.as_str()).collect();
    assert!(matches!(warnings.as_slice(), [one] if one.contains("PASV was used")), "{warnings:?}");
}

#[tokio::test]
async fn nobody_logs_in_after_a_greeting_of_230() {
    let server = Server::start(Rules::default().with_act("greeting", send("230 you are in\r\n"))).await;
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT).await;
    assert_passed(&observation);
    assert_eq!(server.commands().join(" "), "EPSV LIST QUIT");
}

#[tokio::test]
async fn a_session_over_ipv6_uses_epsv_only() {
    let server = Server::start_on("::1", Rules::default()).await;
    let monitor_fields = fields(server.address, json!({"enable_ftp_upload": true}));
    let observation = attempt(&config(None), MonitorType::Ftp, monitor_fields, TIMEOUT).await;
    assert_passed(&observation);
    let server = Server::start_on("::1", Rules::default().with_act("EPSV", send("522 no\r\n"))).await;
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.kind, failure.phase), (Kind::UnexpectedReply, Phase::OpenDataConnection));
    assert_eq!(server.commands().join(" "), "USER PASS EPSV");
}

#[tokio::test]
async fn unusual_but_valid_replies_pass() {
    let cases: [(&str, &'static str, Act); 14] = [
        ("a greeting of many lines", "greeting", send("220-hello\r\n150 users\r\n\r\n 220 x\r\n220 ok\r\n")),
        ("a greeting that comes later", "greeting", send("120 in a moment\r\n220 here\r\n")),
        ("bare line feeds", "greeting", send("220 hello\n")),
        ("no text", "PASS", send("230\r\n")),
        ("many lines after the login", "PASS", send("230-a\r\n500 b\r\n230 c\r\n")),
        ("no password needed", "USER", send("232 certificate\r\n")),
        ("a user who is let in by a 200", "USER", send("200 in\r\n")),
        ("EPSV refused with 3xx", "EPSV", send("350 no\r\n")),
        ("a superfluous password", "PASS", send("202 superfluous\r\n")),
        ("data connection already open", "LIST", send("125 open\r\n")),
        ("250 ends a list", "LIST done", send("250 listed\r\n")),
        ("an empty list", "data", send("")),
        ("450 for an empty folder", "LIST", send("450 no files\r\n")),
        ("other delimiters", "EPSV", Act::Listen(|at| format!("229 ok (!!!{}!)\r\n", at.port()))),
    ];
    for (name, step, act) in cases {
        let server = Server::start(Rules::default().with_act(step, act)).await;
        let observation =
            attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT).await;
        assert!(
            observation.failure.is_none(),
            "{name}: {:?}\n{}",
            observation.failure,
            transcript(&observation)
        );
        assert!(observation.warnings.is_empty(), "{name}: {:?}", observation.warnings);
    }
}

#[tokio::test]
async fn a_missing_reply_to_quit_is_a_note() {
    for act in [Act::Stall, Act::Close, send("500 no\r\n"), Act::Endless(b"x")] {
        let server = Server::start(Rules::default().with_act("QUIT", act)).await;
        let observation =
            attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT).await;
        assert_passed(&observation);
        assert_eq!(observation.warnings.len(), 1);
        assert!(observation.warnings[0].detail.starts_with("QUIT failed: "), "{:?}", observation.warnings);
        assert!(!observation.warnings[0].kind.affects_outcome());
        assert!(observation.duration < Duration::from_secs(5), "{:?}", observation.duration);
    }
}

#[tokio::test]
async fn the_egress_policy_applies_and_logins_with_line_breaks_are_refused() {
    let server = Server::start(Rules::default()).await;
    let observation =
        attempt(&denying(&["127.0.0.0/8"]), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT)
            .await;
    assert_eq!(observation.failure.unwrap().kind, Kind::EgressDenied);
    for broken in [json!({"ftp_username": "a\r\nDELE b"}), json!({"ftp_password": "a\nDELE b"})] {
        let observation =
            attempt(&config(None), MonitorType::Ftp, fields(server.address, broken), TIMEOUT).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.kind, failure.status().0), (Kind::NotConfigured, 95), "{failure}");
    }
    assert!(server.lines().is_empty());
}

#[tokio::test]
async fn versions_and_certificates_that_this_location_lacks_are_its_own_fault() {
    let cases = [
        (json!({"use_ssl_version": "10"}), Kind::TlsVersionUnsupported, "TLS 1.0"),
        (json!({"use_ssl_version": "3"}), Kind::TlsVersionUnsupported, "SSL 3.0"),
        (json!({"use_ssl_version": "2"}), Kind::TlsVersionUnsupported, "SSL 2.0"),
        (json!({"ca_cert_id": 9}), Kind::NotConfigured, "`ca_cert_id` 9"),
        (json!({"use_client_ssl_cert": true, "ssl_cert_id": 9}), Kind::NotConfigured, "`ssl_cert_id` 9"),
    ];
    let server = Server::start(Rules::default()).await;
    for (more, kind, text) in cases {
        let observation =
            attempt(&config(None), MonitorType::FtpSsl, fields(server.address, more), TIMEOUT).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.kind, failure.status().0), (kind, 95));
        assert!(failure.detail.contains(text), "{failure}");
    }
}
