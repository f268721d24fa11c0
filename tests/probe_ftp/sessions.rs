//! Whole sessions with servers that are well, each in another way.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use vigie::domain::{FailureKind as Kind, MonitorType, Observation, Phase as P, Phase};
use vigie::net::TlsOptions;

use crate::probe_ftp::check::{PASSWORD, SOON, attempt, config, denying, fields, pem, transcript};
use crate::probe_ftp::server::{Do, Rules, Server, say};
use crate::support::tls_server::{self, Authority};

pub const BOTH: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];

fn passed(observation: &Observation) {
    assert!(observation.failure.is_none(), "{:?}\n{}", observation.failure, transcript(observation));
}

fn secure(authority: &Authority, names: &[&str]) -> Rules {
    let config = tls_server::config(&authority.issue(names, (2020, 2090)), BOTH, None);
    Rules { tls: Some(Arc::new(config)), ..Rules::default() }
}

#[tokio::test]
async fn a_plain_session_lists_and_says_that_the_password_went_in_clear() {
    let server = Server::start(Rules::default()).await;
    let observation = attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), SOON).await;
    passed(&observation);
    assert_eq!(server.lines(), ["USER monitor", &format!("PASS {PASSWORD}"), "EPSV", "LIST", "QUIT"]);
    let facts = observation.facts.ftp.unwrap();
    assert_eq!(facts.ftp_banner, "test server");
    assert_eq!(facts.ftp_passive.as_deref(), Some("EPSV"));
    assert_eq!(facts.ftp_listed, Some(2));
    assert_eq!((facts.ftp_session_reused, facts.ftp_uploaded_bytes), (None, None));
    assert!(facts.ftp_password_in_clear);
    assert_eq!(facts.ftp_data_address.unwrap().ip(), server.address.ip());
    assert_eq!(observation.address, Some(server.address));
    let reached: Vec<_> = observation.phases.iter().map(|(phase, _)| phase).collect();
    assert_eq!(reached, [P::Resolve, P::Connect, P::Banner, P::Auth, P::Passive, P::List, P::Quit]);
    let sum: u64 = observation.phases.iter().map(|(_, micros)| u64::from(micros)).sum();
    let total = u64::try_from(observation.total.as_micros()).unwrap();
    assert!(sum <= total && sum * 2 > total, "phases {sum} us, total {total} us");
}

#[tokio::test]
async fn a_login_without_a_user_name_is_anonymous_and_tells_no_password() {
    let server = Server::start(Rules::default().but("USER", say("230 come in\r\n"))).await;
    let anonymous = json!({"ftp_username": "", "ftp_password": ""});
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, anonymous.clone()), SOON).await;
    passed(&observation);
    assert_eq!(server.lines()[..2], ["USER anonymous", "EPSV"]);
    assert!(!observation.facts.ftp.unwrap().ftp_password_in_clear);
    let server = Server::start(Rules::default()).await;
    let observation = attempt(&config(None), MonitorType::Ftp, fields(server.address, anonymous), SOON).await;
    passed(&observation);
    assert_eq!(server.lines()[1], "PASS anonymous@");
    assert!(!observation.facts.ftp.unwrap().ftp_password_in_clear);
}

#[tokio::test]
async fn a_file_goes_there_and_back_and_is_deleted() {
    let authority = Authority::new("test CA");
    let server = Server::start(secure(&authority, &["127.0.0.1"])).await;
    let asked = fields(server.address, json!({"enable_ftp_upload": true}));
    let observation = attempt(&config(Some(&authority.pem())), MonitorType::FtpSsl, asked, SOON).await;
    passed(&observation);
    let wanted = "AUTH PBSZ PROT USER PASS EPSV LIST TYPE EPSV STOR EPSV RETR DELE QUIT";
    assert_eq!(server.commands().join(" "), wanted);
    let lines = server.lines();
    let names: Vec<_> = lines.iter().filter_map(|line| line.split_once("vigie-")).collect();
    assert!(names.len() == 3 && names.iter().all(|name| name.1 == names[0].1), "{lines:?}");
    assert!(server.files.lock().unwrap().is_empty());
    let facts = observation.facts.ftp.unwrap();
    assert_eq!(facts.ftp_uploaded_bytes, Some(1024));
    assert_eq!(facts.ftp_session_reused, Some(true));
    assert!(!facts.ftp_password_in_clear);
    assert_eq!(observation.facts.tls.unwrap().tls_version.as_deref(), Some("TLSv1.3"));
    for phase in [Phase::Starttls, Phase::Tls, Phase::Upload, Phase::Download, Phase::Delete] {
        assert!(observation.phases.micros(phase).is_some(), "{phase:?}");
    }
}

#[tokio::test]
async fn tls_1_2_is_pinned_and_its_sessions_are_taken_up_again() {
    let authority = Authority::new("test CA");
    let server = Server::start(secure(&authority, &["127.0.0.1"])).await;
    let asked = fields(server.address, json!({"use_ssl_version": "12", "enable_ftp_upload": true}));
    let observation = attempt(&config(Some(&authority.pem())), MonitorType::FtpSsl, asked, SOON).await;
    passed(&observation);
    assert_eq!(observation.facts.tls.unwrap().tls_version.as_deref(), Some("TLSv1.2"));
    assert_eq!(observation.facts.ftp.unwrap().ftp_session_reused, Some(true));
}

#[tokio::test]
async fn a_server_that_keeps_no_sessions_is_told_and_passes() {
    let authority = Authority::new("test CA");
    let mut cold = tls_server::config(&authority.issue(&["127.0.0.1"], (2020, 2090)), BOTH, None);
    cold.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    cold.send_tls13_tickets = 0;
    let server = Server::start(Rules { tls: Some(Arc::new(cold)), ..Rules::default() }).await;
    let asked = fields(server.address, json!({}));
    let observation = attempt(&config(Some(&authority.pem())), MonitorType::FtpSsl, asked, SOON).await;
    passed(&observation);
    assert_eq!(observation.facts.ftp.unwrap().ftp_session_reused, Some(false));
}

#[tokio::test]
async fn nothing_is_taken_up_from_one_check_to_the_next() {
    let authority = Authority::new("test CA");
    let config_once = config(Some(&authority.pem()));
    let net = vigie::net::Net::new(&config_once).unwrap();
    let options = TlsOptions::default();
    let server = tls_server::serve(
        "127.0.0.1",
        tls_server::config(&authority.issue(&["127.0.0.1"], (2020, 2090)), BOTH, None),
    )
    .await;
    let deadline = vigie::net::Deadline::within(SOON);
    let shake = async |tls: &vigie::net::TlsSession| {
        let stream = tokio::net::TcpStream::connect(server).await.unwrap();
        let mut trace = vigie::net::ConnectTrace::default();
        let mut stream = tls.handshake(stream, deadline, &mut trace).await.unwrap();
        // Tickets come with the first bytes.
        tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut Vec::new()).await.unwrap();
        vigie::net::was_resumed(&stream)
    };
    let one = net.tls_session("127.0.0.1", &options, true).unwrap();
    assert!(!shake(&one).await);
    assert!(shake(&one).await);
    let other = net.tls_session("127.0.0.1", &options, true).unwrap();
    assert!(!shake(&other).await);
    let cold = net.tls_session("127.0.0.1", &options, false).unwrap();
    assert!(!shake(&cold).await && !shake(&cold).await);
}

#[tokio::test]
async fn implicit_tls_is_spoken_by_scheme_whatever_the_type() {
    let authority = Authority::new("test CA");
    for kind in [MonitorType::Ftp, MonitorType::FtpSsl] {
        let rules = Rules { implicit: true, ..secure(&authority, &["127.0.0.1"]) };
        let server = Server::start(rules).await;
        let asked = fields(server.address, json!({"hostname": "ftps://127.0.0.1"}));
        let observation = attempt(&config(Some(&authority.pem())), kind, asked, SOON).await;
        passed(&observation);
        assert_eq!(server.commands().join(" "), "PBSZ PROT USER PASS EPSV LIST QUIT");
        assert_eq!(observation.facts.ftp.unwrap().ftp_session_reused, Some(true));
    }
}

#[tokio::test]
async fn a_client_certificate_is_shown_where_it_is_switched_on() {
    let (authority, clients) = (Authority::new("test CA"), Authority::new("client CA"));
    let mine = clients.issue(&["me"], (2020, 2090));
    let mut config = config(Some(&authority.pem()));
    config.trust.client_certificates.insert(7, pem(&mine.pem()));
    let tls = tls_server::config(&authority.issue(&["127.0.0.1"], (2020, 2090)), BOTH, Some(&clients));
    for (on, passes) in [(true, true), (false, false)] {
        let server = Server::start(Rules { tls: Some(Arc::new(tls.clone())), ..Rules::default() }).await;
        let asked = fields(server.address, json!({"use_client_ssl_cert": on, "ssl_cert_id": 7}));
        let observation = attempt(&config, MonitorType::FtpSsl, asked, SOON).await;
        assert_eq!(
            observation.failure.is_none(),
            passes,
            "{:?}\n{}",
            observation.failure,
            transcript(&observation)
        );
        if let Some(failure) = observation.failure {
            assert_eq!((failure.kind, failure.status().0), (Kind::TlsHandshake, 3), "{failure}");
        }
    }
}

#[tokio::test]
async fn pasv_is_asked_where_epsv_is_refused_and_its_address_is_not_believed() {
    let forms: [fn(std::net::SocketAddr) -> String; 3] = [
        crate::probe_ftp::server::passive,
        // A private address of somebody else, as servers behind a router tell.
        |at| format!("227 Passive (10,1,2,3,{},{})\r\n", at.port() >> 8, at.port() & 255),
        // A public one: a server must not make us knock there. And no parentheses.
        |at| format!("227 ok 192,0,2,1,{},{}\r\n", at.port() >> 8, at.port() & 255),
    ];
    for form in forms {
        let rules = Rules::default().but("EPSV", say("500 what?\r\n")).but("PASV", Do::Listen(form));
        let server = Server::start(rules).await;
        let asked = fields(server.address, json!({"enable_ftp_upload": true}));
        let observation = attempt(&config(None), MonitorType::Ftp, asked, SOON).await;
        passed(&observation);
        let wanted = "USER PASS EPSV PASV LIST TYPE PASV STOR PASV RETR DELE QUIT";
        assert_eq!(server.commands().join(" "), wanted);
        let facts = observation.facts.ftp.unwrap();
        assert_eq!(facts.ftp_passive.as_deref(), Some("PASV"));
        assert_eq!(facts.ftp_data_address.unwrap().ip(), server.address.ip());
    }
}

#[tokio::test]
async fn a_session_over_ipv6_asks_for_epsv_alone() {
    let server = Server::start_on("::1", Rules::default()).await;
    let asked = fields(server.address, json!({"enable_ftp_upload": true}));
    let observation = attempt(&config(None), MonitorType::Ftp, asked, SOON).await;
    passed(&observation);
    let server = Server::start_on("::1", Rules::default().but("EPSV", say("522 no\r\n"))).await;
    let observation = attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), SOON).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.kind, failure.phase), (Kind::DialogueUnexpected, Phase::Passive));
    assert_eq!(server.commands().join(" "), "USER PASS EPSV");
}

#[tokio::test]
async fn servers_that_say_things_in_their_own_way_pass() {
    let ways: [(&str, &'static str, Do); 12] = [
        ("a greeting of many lines", "greeting", say("220-hello\r\n150 users\r\n\r\n 220 x\r\n220 ok\r\n")),
        ("a greeting that comes later", "greeting", say("120 in a moment\r\n220 here\r\n")),
        ("bare line feeds", "greeting", say("220 hello\n")),
        ("no text", "PASS", say("230\r\n")),
        ("many lines after the login", "PASS", say("230-a\r\n500 b\r\n230 c\r\n")),
        ("no password needed", "USER", say("232 certificate\r\n")),
        ("a superfluous password", "PASS", say("202 superfluous\r\n")),
        ("data connection already open", "LIST", say("125 open\r\n")),
        ("250 ends a list", "LIST done", say("250 listed\r\n")),
        ("an empty list", "data", say("")),
        ("450 for an empty folder", "LIST", say("450 no files\r\n")),
        ("other delimiters", "EPSV", Do::Listen(|at| format!("229 ok (!!!{}!)\r\n", at.port()))),
    ];
    for (name, step, act) in ways {
        let server = Server::start(Rules::default().but(step, act)).await;
        let observation =
            attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), SOON).await;
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
async fn a_farewell_that_does_not_come_is_a_note() {
    for act in [Do::Stall, Do::Close, say("500 no\r\n"), Do::Endless(b"x")] {
        let server = Server::start(Rules::default().but("QUIT", act)).await;
        let observation =
            attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), SOON).await;
        passed(&observation);
        assert_eq!(observation.warnings.len(), 1);
        assert!(observation.warnings[0].detail.starts_with("QUIT failed: "), "{:?}", observation.warnings);
        assert!(!observation.warnings[0].kind.affects_outcome());
        assert!(observation.total < Duration::from_secs(5), "{:?}", observation.total);
    }
}

#[tokio::test]
async fn the_egress_policy_holds_and_a_login_of_two_lines_never_leaves() {
    let server = Server::start(Rules::default()).await;
    let observation =
        attempt(&denying(&["127.0.0.0/8"]), MonitorType::Ftp, fields(server.address, json!({})), SOON).await;
    assert_eq!(observation.failure.unwrap().kind, Kind::EgressDenied);
    for broken in [json!({"ftp_username": "a\r\nDELE b"}), json!({"ftp_password": "a\nDELE b"})] {
        let observation =
            attempt(&config(None), MonitorType::Ftp, fields(server.address, broken), SOON).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.kind, failure.status().0), (Kind::NotConfigured, 95), "{failure}");
    }
    assert!(server.lines().is_empty());
}

#[tokio::test]
async fn versions_and_certificates_that_this_location_lacks_are_its_own_fault() {
    let cases = [
        (json!({"use_ssl_version": "10"}), Kind::TlsUnsupported, "TLS 1.0"),
        (json!({"use_ssl_version": "3"}), Kind::TlsUnsupported, "SSL 3.0"),
        (json!({"use_ssl_version": "2"}), Kind::TlsUnsupported, "SSL 2.0"),
        (json!({"ca_cert_id": 9}), Kind::NotConfigured, "`ca_cert_id` 9"),
        (json!({"use_client_ssl_cert": true, "ssl_cert_id": 9}), Kind::NotConfigured, "`ssl_cert_id` 9"),
    ];
    let server = Server::start(Rules::default()).await;
    for (more, kind, text) in cases {
        let observation =
            attempt(&config(None), MonitorType::FtpSsl, fields(server.address, more), SOON).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.kind, failure.status().0), (kind, 95));
        assert!(failure.detail.contains(text), "{failure}");
    }
}
