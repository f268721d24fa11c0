//! `email-smtp` against misbehaving servers, and against postfix.

use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, MonitorType, Observation, Phase};

use crate::probe_mail::scripted_server::{
    Act, TIMEOUT, attempt, fields_for, net, parse_script, start_server, transcript,
};
use crate::probe_mail::table::Expect::{Fails, Passes};
use crate::probe_mail::table::{
    Case, PASSWORD, USER, assert_no_secrets, case, check_certificates, golden, run_cases,
};
use crate::support::mail_server::MailServer;

const GREETED: &str = "< 220 mx.test ESMTP\n> EHLO [127.0.0.1]";
/// A server that offers a login without TLS.
const OFFERED: &str = "< 220 mx.test ESMTP\n> EHLO [127.0.0.1]\n< 250-mx.test\n< 250 AUTH PLAIN LOGIN";
const LOGIN: &str =
    "< 220 mx.test ESMTP\n> EHLO [127.0.0.1]\n< 250-mx.test\n< 250 AUTH PLAIN LOGIN\n> AUTH PLAIN ";
const STARTTLS: &str = "< 220 mx.test ESMTP\n> EHLO [127.0.0.1]\n< 250-mx.test\n< 250 STARTTLS\n> STARTTLS";
const SECURED: &str = "< 220 mx.test ESMTP\n> EHLO [127.0.0.1]\n< 250-mx.test\n< 250 STARTTLS\n> STARTTLS\n\
                       < 220 go\n* tls\n> EHLO [127.0.0.1]";

fn send(bytes: impl Into<Vec<u8>>) -> Act {
    Act::Send(bytes.into())
}

fn greetings() -> Vec<Case> {
    let banner = Phase::Banner;
    let hint = "write its host as `smtps://…`";
    vec![
        case("closes at once", "", Fails(6, Kind::NoResponse, banner, hint)),
        case("says nothing", "", Fails(2, Kind::TimedOut, banner, hint)).stalls(),
        case("half a line, then closes", "", Fails(3, Kind::ResponseTruncated, banner, "after 6 bytes"))
            .then(send("220 mx")),
        case("half a line, then stalls", "", Fails(2, Kind::TimedOut, banner, "in phase banner"))
            .then(send("220 mx"))
            .stalls(),
        case("no service", "< 554 go away", Fails(3, Kind::UnexpectedReply, banner, "`554 go away`")),
        case(
            "too busy",
            "< 421 later",
            Fails(3, Kind::UnexpectedReply, banner, "it greets with `421 later`"),
        ),
        case("a line of 1 MiB", "", Fails(3, Kind::ResponseTooLarge, banner, "more than 8192 bytes"))
            .then(send(vec![b'2'; 1024 * 1024])),
        case("a greeting without end", "", Fails(3, Kind::ResponseInvalid, banner, "more than 100 lines"))
            .then(Act::Flood(b"220-welcome\r\n".to_vec())),
        case("binary", "", Fails(3, Kind::ResponseInvalid, banner, "is not an SMTP reply"))
            .then(send(b"\x16\x03\x01\x02\x00\x01\xff\xfe\x00\x1b[2J\r\n".to_vec())),
        case(
            "a server of IMAP",
            "< * OK ready",
            Fails(3, Kind::ResponseInvalid, banner, "`* OK ready` is no"),
        ),
        case("two codes", "< 220-a\n< 221 b", Fails(3, Kind::ResponseInvalid, banner, "begins with 220")),
    ]
}

fn hellos() -> Vec<Case> {
    let ehlo = Phase::Ehlo;
    vec![
        case("closes at EHLO", GREETED, Fails(6, Kind::NoResponse, ehlo, "")),
        case("resets at EHLO", &format!("{GREETED}\n* reset"), Fails(6, Kind::ResponseReset, ehlo, "")),
        case("stalls at EHLO", GREETED, Fails(2, Kind::TimedOut, ehlo, "in phase ehlo")).stalls(),
        case(
            "busy at EHLO",
            &format!("{GREETED}\n< 421 later"),
            Fails(3, Kind::UnexpectedReply, ehlo, "`EHLO` with `421 later`"),
        ),
        case(
            "neither EHLO nor HELO",
            &format!("{GREETED}\n< 502 what\n> HELO [127.0.0.1]\n< 550 no"),
            Fails(3, Kind::UnexpectedReply, ehlo, "`HELO` with `550 no`"),
        ),
        case("offers without end", GREETED, Fails(3, Kind::ResponseInvalid, ehlo, "more than 100 lines"))
            .then(Act::Flood(b"250-X\r\n".to_vec())),
        case("HELO alone", &format!("{GREETED}\n< 500 what\n> HELO\n< 250 mx\n> QUIT\n< 221 bye"), Passes)
            .fields(json!({"smtp_username": null})),
        case(
            "no TLS where it is required",
            OFFERED,
            Fails(5, Kind::TlsNotOffered, ehlo, "offers no STARTTLS"),
        )
        .fields(json!({"require_tls": true})),
    ]
}

fn upgrades() -> Vec<Case> {
    let (starttls, tls) = (Phase::Starttls, Phase::Tls);
    let go = format!("{STARTTLS}\n< 220 go");
    vec![
        case(
            "STARTTLS refused",
            &format!("{STARTTLS}\n< 454 not now"),
            Fails(3, Kind::UnexpectedReply, starttls, "which it offers, with `454 not now`"),
        ),
        case("closes at STARTTLS", STARTTLS, Fails(6, Kind::NoResponse, starttls, "")),
        case("stalls at STARTTLS", STARTTLS, Fails(2, Kind::TimedOut, starttls, "")).stalls(),
        case(
            "a command before the handshake",
            STARTTLS,
            Fails(3, Kind::UnexpectedReply, tls, "14 bytes in plain text before"),
        )
        .then(send("220 go\r\n250 injected\r\n")),
        case("closes in the handshake", &go, Fails(3, Kind::TlsHandshakeFailed, tls, "")),
        case("stalls in the handshake", &go, Fails(2, Kind::TimedOut, tls, "")).stalls(),
        case("closes under TLS", SECURED, Fails(6, Kind::NoResponse, Phase::Ehlo, "")),
        case("stalls under TLS", SECURED, Fails(2, Kind::TimedOut, Phase::Ehlo, "")).stalls(),
        case(
            "no login under TLS",
            &format!("{SECURED}\n< 250 mx"),
            Fails(3, Kind::UnexpectedReply, Phase::Auth, "it offers no login at all"),
        ),
        case(
            "logins that are not spoken",
            &format!("{SECURED}\n< 250-mx\n< 250 AUTH NTLM EXTERNAL"),
            Fails(95, Kind::TargetUnsupported, Phase::Auth, "it offers `NTLM EXTERNAL`"),
        ),
        case(
            "all is well",
            &format!(
                "{SECURED}\n< 250-mx\n< 250 AUTH LOGIN\n> AUTH LOGIN\n< 334 VXNlcg==\n> dGlt\n< 334 UGFzcw==\n> aHVudGVyMi1zM2NyZXQ=\n< 235 ok\n> QUIT\n< 221 bye"
            ),
            Passes,
        ),
    ]
}

fn logins() -> Vec<Case> {
    let auth = Phase::Auth;
    let replies = |line: &str| format!("{LOGIN}\n< {line}");
    let echo = format!("535 no {PASSWORD}, nor AHRpbQBodW50ZXIyLXMzY3JldA==, nor aHVudGVyMi1zM2NyZXQ=");
    vec![
        case(
            "a wrong password",
            &replies("535 5.7.8 no"),
            Fails(5, Kind::LoginRejected, auth, "`tim` by PLAIN: `535 5.7.8 no`"),
        ),
        case(
            "the password said again",
            &replies(&echo),
            Fails(5, Kind::LoginRejected, auth, "no ********, nor ********, nor ********"),
        ),
        case("logins are down", &replies("454 later"), Fails(3, Kind::UnexpectedReply, auth, "`454 later`")),
        case(
            "asks for more",
            &replies("334 bW9yZQ=="),
            Fails(3, Kind::ResponseInvalid, auth, "it continues after the last message of PLAIN"),
        ),
        case("closes at the login", LOGIN, Fails(6, Kind::NoResponse, auth, "")),
        case("stalls at the login", LOGIN, Fails(2, Kind::TimedOut, auth, "in phase auth")).stalls(),
        case("resets at the login", &format!("{LOGIN}\n* reset"), Fails(6, Kind::ResponseReset, auth, "")),
        case(
            "not the login that is wanted",
            OFFERED,
            Fails(3, Kind::UnexpectedReply, auth, "does not offer CRAM-MD5; it offers `PLAIN LOGIN`"),
        )
        .fields(json!({"auth_method": "cram-md5"})),
        case(
            "a challenge that is none",
            &format!("{GREETED}\n< 250-mx\n< 250 AUTH CRAM-MD5\n> AUTH CRAM-MD5\n< 334 ???"),
            Fails(3, Kind::ResponseInvalid, auth, "`???` is not Base64"),
        ),
        case("closes at QUIT", &format!("{LOGIN}\n< 235 ok\n> QUIT"), Passes),
        case("resets at QUIT", &format!("{LOGIN}\n< 235 ok\n> QUIT\n* reset"), Passes),
        case("nonsense at QUIT", &format!("{LOGIN}\n< 235 ok\n> QUIT\n< what?"), Passes),
        case("stalls at QUIT", &format!("{LOGIN}\n< 235 ok\n> QUIT"), Passes).stalls(),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_misbehaviour_has_its_failure_kind() {
    let login = json!({"smtp_username": USER, "smtp_password": PASSWORD});
    let cases = [greetings(), hellos(), upgrades(), logins()].into_iter().flatten().collect();
    run_cases(MonitorType::EmailSmtp, login, cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_verified_after_starttls() {
    check_certificates(MonitorType::EmailSmtp, &format!("{STARTTLS}\n< 220 go\n* tls")).await;
}

#[tokio::test]
async fn ehlo_names_the_address_of_this_host() {
    let at = start_server(parse_script(&format!("{GREETED}\n< 250 mx\n> QUIT\n< 221 bye")), None).await;
    let observation = attempt(&net(&[]), MonitorType::EmailSmtp, fields_for(at, &json!({})), TIMEOUT).await;
    assert_eq!(observation.failure, None);
    let phases: Vec<Phase> = observation.phases.iter().map(|(phase, _)| phase).collect();
    assert_eq!(phases, [Phase::Resolve, Phase::Connect, Phase::Banner, Phase::Ehlo, Phase::Quit]);
    assert!(transcript(&observation).is_empty(), "a session that went well needs no evidence");
}

// row: 2.2 email-smtp.smtp_username; 2.2 email-smtp.smtp_password
#[tokio::test]
async fn a_refused_login_is_reported_with_the_reply() {
    let at =
        start_server(parse_script(&format!("{LOGIN}\n< 535 5.7.8 Error: authentication failed")), None).await;
    let fields = json!({"smtp_username": USER, "smtp_password": PASSWORD});
    let observation = attempt(&net(&[]), MonitorType::EmailSmtp, fields_for(at, &fields), TIMEOUT).await;
    insta::assert_snapshot!(golden(&observation));
}

async fn at_postfix(daemons: &MailServer, more: Value) -> Observation {
    let mut fields = json!({"hostname": "127.0.0.1"});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let net = net(std::slice::from_ref(&daemons.certificate));
    let observation = attempt(&net, MonitorType::EmailSmtp, fields, TIMEOUT).await;
    assert_no_secrets(&observation);
    observation
}

#[tokio::test(flavor = "multi_thread")]
async fn postfix_accepts_logins_over_starttls_and_implicit_tls() {
    let Some(daemons) = MailServer::build("email-smtp against postfix") else { return };
    for method in ["auto", "plain", "login", "cram-md5"] {
        for host in [
            format!("127.0.0.1:{}", daemons.smtp),
            format!("smtp://127.0.0.1:{}", daemons.smtp_strict),
            format!("smtps://127.0.0.1:{}", daemons.smtps),
        ] {
            let fields = json!({"hostname": host, "smtp_username": "anna", "smtp_password": "secret",
                "auth_method": method, "require_tls": true});
            let observation = at_postfix(&daemons, fields).await;
            assert_eq!(
                observation.failure,
                None,
                "{host} {method}: {}\n{}",
                transcript(&observation),
                daemons.log()
            );
            let mail = observation.facts.mail.clone().unwrap();
            let used = if method == "auto" { "plain" } else { method };
            assert_eq!(
                (mail.mail_auth_method.as_deref(), mail.sent_password_in_cleartext),
                (Some(used), false),
                "{host}"
            );
            assert!(observation.facts.tls.is_some());
            assert_eq!(
                observation.phases.micros(Phase::Starttls).is_some(),
                !host.starts_with("smtps"),
                "{host}"
            );
        }
    }
    let well = json!({"port": daemons.smtp, "smtp_username": "anna", "smtp_password": "secret"});
    insta::assert_snapshot!("postfix_is_well", golden(&at_postfix(&daemons, well).await));
    let wrong = json!({"port": daemons.smtp, "smtp_username": "anna", "smtp_password": PASSWORD});
    let failure = at_postfix(&daemons, wrong).await.failure.unwrap();
    assert_eq!((failure.phase, failure.kind, failure.status().0), (Phase::Auth, Kind::LoginRejected, 5));
    // Implicit TLS at a port that starts in plain text.
    let observation =
        at_postfix(&daemons, json!({"hostname": format!("smtps://127.0.0.1:{}", daemons.smtp)})).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.phase, failure.kind), (Phase::Tls, Kind::TlsHandshakeFailed), "{failure}");
    assert!(failure.detail.ends_with("write its host as `smtp://…`"), "{failure}");
}
