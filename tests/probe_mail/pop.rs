//! `email-pop` against misbehaving servers, and against dovecot.

use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, MonitorType, Phase};

use crate::probe_mail::scripted_server::{
    Act, TIMEOUT, attempt, fields_for, net, parse_script, start_server, transcript,
};
use crate::probe_mail::table::Expect::{Fails, Passes};
use crate::probe_mail::table::{Case, PASSWORD, USER, case, check_certificates, golden, run_cases};
use crate::support::mail_server::MailServer;

const CAPA: &str = "< +OK ready\n> CAPA";
const USERNAME: &str = "< +OK ready\n> CAPA\n< -ERR what?\n> USER tim";
const LOGIN: &str = "< +OK ready\n> CAPA\n< -ERR what?\n> USER tim\n< +OK\n> PASS hunter2-s3cret";
const STAT: &str =
    "< +OK ready\n> CAPA\n< -ERR what?\n> USER tim\n< +OK\n> PASS hunter2-s3cret\n< +OK\n> STAT";
const STLS: &str = "< +OK ready\n> CAPA\n< +OK\n< STLS\n< .\n> STLS";
const SECURED: &str = "< +OK ready\n> CAPA\n< +OK\n< STLS\n< .\n> STLS\n< +OK go\n* tls\n> CAPA";
/// A login by CRAM-MD5, and the rest of the session.
const CRAM_MD5: &str = "> AUTH CRAM-MD5\n< + PDE4OTYuNjk3QHBvc3Q+\n> dGlt\n< +OK in\n> STAT\n< +OK 0 0\n\
    > QUIT\n< +OK";

fn send(bytes: impl Into<Vec<u8>>) -> Act {
    Act::Send(bytes.into())
}

fn cases() -> Vec<Case> {
    use Kind::{
        LoginRejected, MailboxLocked, NoResponse, ResponseReset, ResponseTooLarge, ResponseTruncated,
        TimedOut, TlsHandshakeFailed, TlsNotOffered, UnexpectedReply,
    };
    let (banner, capability, auth, select) = (Phase::Banner, Phase::Capability, Phase::Auth, Phase::Select);
    let (starttls, tls, quit) = (Phase::Starttls, Phase::Tls, Phase::Quit);
    let hint = "write its host as `pop3s://…`";
    let script = |start: &str, more: &str| format!("{start}\n{more}");
    vec![
        case("closes at once", "", Fails(6, NoResponse, banner, hint)),
        case("resets at CAPA", &script(CAPA, "* reset"), Fails(6, ResponseReset, capability, "")),
        case("says nothing", "", Fails(2, TimedOut, banner, hint)).stalls(),
        case("half a greeting", "", Fails(3, ResponseTruncated, banner, "after 4 bytes")).then(send("+OK ")),
        case(
            "refuses all",
            "< -ERR [SYS/TEMP] full",
            Fails(3, UnexpectedReply, banner, "`-ERR [SYS/TEMP] full`"),
        ),
        case("a server of IMAP", "< * OK ready", Fails(3, UnexpectedReply, banner, "`* OK ready`")),
        case("binary", "", Fails(3, UnexpectedReply, banner, "it said"))
            .then(send(b"\x16\x03\x01\xff\x1b[2J\r\n".to_vec())),
        case("a greeting without end", "", Fails(3, ResponseTooLarge, banner, "8192"))
            .then(Act::Flood(b"+OK".to_vec())),
        case("closes at CAPA", CAPA, Fails(6, NoResponse, capability, "")),
        case("stalls at CAPA", CAPA, Fails(2, TimedOut, capability, "")).stalls(),
        case("stalls in CAPA", &script(CAPA, "< +OK\n< TOP"), Fails(2, TimedOut, capability, "")).stalls(),
        case(
            "offers without end",
            &script(CAPA, "< +OK"),
            Fails(3, ResponseTooLarge, capability, "200 lines"),
        )
        .then(Act::Flood(b"X\r\n".to_vec())),
        case(
            "no TLS where it is required",
            &script(CAPA, "< +OK\n< TOP\n< ."),
            Fails(5, TlsNotOffered, capability, "no STLS"),
        )
        .fields(json!({"require_tls": true})),
        case(
            "STLS refused",
            &script(STLS, "< -ERR no"),
            Fails(3, UnexpectedReply, starttls, "STLS with `-ERR no`"),
        ),
        case("stalls at STLS", STLS, Fails(2, TimedOut, starttls, "")).stalls(),
        case("closes at STLS", STLS, Fails(6, NoResponse, starttls, "")),
        case("a command before the handshake", STLS, Fails(3, UnexpectedReply, tls, "plain text before"))
            .then(send("+OK go\r\n+OK injected\r\n")),
        case("closes in the handshake", &script(STLS, "< +OK go"), Fails(3, TlsHandshakeFailed, tls, "")),
        case("stalls in the handshake", &script(STLS, "< +OK go"), Fails(2, TimedOut, tls, "")).stalls(),
        case("closes under TLS", SECURED, Fails(6, NoResponse, capability, "")),
        case("closes at USER", USERNAME, Fails(6, NoResponse, auth, "")),
        case(
            "USER refused",
            &script(USERNAME, "< -ERR [AUTH] not in the open"),
            Fails(5, LoginRejected, auth, "USER with `-ERR [AUTH]"),
        ),
        case(
            "wrong password",
            &script(LOGIN, "< -ERR [AUTH] no\n> QUIT\n< +OK"),
            Fails(5, LoginRejected, auth, "[AUTH] no"),
        ),
        case(
            "the password said again",
            &script(LOGIN, "< -ERR no such password hunter2-s3cret"),
            Fails(5, LoginRejected, auth, "no such password ********"),
        ),
        case(
            "a locked mailbox",
            &script(LOGIN, "< -ERR [IN-USE] busy"),
            Fails(3, MailboxLocked, auth, "[IN-USE] busy"),
        ),
        case(
            "a locked mailbox, in old words",
            &script(LOGIN, "< -ERR maildrop already locked"),
            Fails(3, MailboxLocked, auth, ""),
        ),
        case(
            "a server in trouble",
            &script(LOGIN, "< -ERR [SYS/TEMP] later"),
            Fails(3, UnexpectedReply, auth, "[SYS/TEMP] later"),
        ),
        case("stalls at PASS", LOGIN, Fails(2, TimedOut, auth, "")).stalls(),
        case(
            "STAT refused",
            &script(STAT, "< -ERR no"),
            Fails(3, UnexpectedReply, select, "STAT with `-ERR no`"),
        ),
        case(
            "STAT without numbers",
            &script(STAT, "< +OK many"),
            Fails(3, UnexpectedReply, select, "`+OK many`"),
        ),
        case("stalls at STAT", STAT, Fails(2, TimedOut, select, "")).stalls(),
        case("closes at QUIT", &script(STAT, "< +OK 0 0\n> QUIT"), Fails(6, NoResponse, quit, "")),
        case(
            "QUIT refused",
            &script(STAT, "< +OK 0 0\n> QUIT\n< -ERR no"),
            Fails(3, UnexpectedReply, quit, "QUIT with `-ERR no`"),
        ),
        case("stalls at QUIT", &script(STAT, "< +OK 0 0\n> QUIT"), Fails(2, TimedOut, quit, "")).stalls(),
        case("all is well", &script(STAT, "< +OK 2 320\n> QUIT\n< +OK bye"), Passes),
        case("no login", &script(CAPA, "< -ERR\n> QUIT\n< +OK"), Passes)
            .fields(json!({"pop_username": null})),
        case(
            "CRAM-MD5 beside USER",
            &script(CAPA, &format!("< +OK\n< USER\n< SASL PLAIN CRAM-MD5\n< .\n{CRAM_MD5}")),
            Passes,
        ),
        case("CRAM-MD5 alone", &script(CAPA, &format!("< +OK\n< SASL CRAM-MD5\n< .\n{CRAM_MD5}")), Passes),
        case(
            "logins that are not spoken",
            &script(CAPA, "< +OK\n< SASL NTLM DIGEST-MD5\n< ."),
            Fails(95, Kind::TargetUnsupported, auth, "it offers `NTLM DIGEST-MD5`"),
        ),
        case(
            "APOP",
            "< +OK <a@b>\n> CAPA\n< -ERR\n> APOP tim \n< +OK\n> STAT\n< +OK 0 0\n> QUIT\n< +OK",
            Passes,
        ),
    ]
}

fn login() -> Value {
    json!({"pop_username": USER, "pop_password": PASSWORD})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_misbehaviour_has_its_failure_kind() {
    run_cases(MonitorType::EmailPop, login(), cases()).await;
}

#[tokio::test]
async fn certificates_are_checked_after_stls() {
    check_certificates(MonitorType::EmailPop, &format!("{STLS}\n< +OK go\n* tls")).await;
}

#[tokio::test]
async fn goldens() {
    let script = format!("{STAT}\n< +OK 2 320\n> QUIT\n< +OK bye");
    let at = start_server(parse_script(&script), None).await;
    let observation = attempt(&net(&[]), MonitorType::EmailPop, fields_for(at, &login()), TIMEOUT).await;
    insta::assert_snapshot!("pop_passes", golden(&observation));
    let at = start_server(parse_script(&format!("{LOGIN}\n< -ERR [AUTH] no\n> QUIT\n< +OK bye")), None).await;
    let observation = attempt(&net(&[]), MonitorType::EmailPop, fields_for(at, &login()), TIMEOUT).await;
    insta::assert_snapshot!("pop_login_refused", golden(&observation));
}

// row: 2.2 email-pop.pop_username; 2.2 email-pop.pop_password
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dovecot_passes_with_every_transport_and_login() {
    let Some(daemons) = MailServer::build("POP3 sessions with dovecot") else { return };
    let net = net(std::slice::from_ref(&daemons.certificate));
    let attempt_at_dovecot = async |host: String, more: Value| {
        let mut fields = json!({"hostname": host, "pop_username": "anna", "pop_password": "secret"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        attempt(&net, MonitorType::EmailPop, fields, TIMEOUT).await
    };
    let (plain, secure) =
        (format!("127.0.0.1:{}", daemons.pop), format!("pop3s://127.0.0.1:{}", daemons.pops));
    for (host, more, auth) in [
        (&plain, json!({"require_tls": true}), "user"),
        (&secure, json!({}), "user"),
        (&secure, json!({"auth_method": "plain"}), "plain"),
        (&plain, json!({"auth_method": "login"}), "login"),
        (&plain, json!({"auth_method": "cram-md5"}), "cram-md5"),
    ] {
        let observation = attempt_at_dovecot(host.clone(), more).await;
        assert_eq!(
            observation.failure,
            None,
            "{host} {auth}: {}\n{}",
            transcript(&observation),
            daemons.log()
        );
        let mail = observation.facts.mail.unwrap();
        assert_eq!((mail.mail_auth_method.as_deref(), mail.sent_password_in_cleartext), (Some(auth), false));
        assert_eq!(mail.mailbox_messages, Some(0));
        assert!(
            observation.facts.tls.is_some() && mail.mail_capabilities.iter().any(|offer| offer == "UIDL"),
            "{mail:?}"
        );
    }
    let observation = attempt_at_dovecot(plain.clone(), json!({"pop_password": "wrong"})).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.status().0, failure.phase), (5, Phase::Auth), "{failure}");
    let observation =
        attempt_at_dovecot(plain.clone(), json!({"pop_username": "", "pop_password": ""})).await;
    assert_eq!((observation.failure, observation.facts.mail.unwrap().mail_auth_method), (None, None));
}

// Without TLS, where APOP keeps the password from eavesdroppers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn apop_logs_in_to_dovecot_without_tls() {
    let apop = "ssl = no\nauth_mechanisms = plain login apop\n";
    let Some(daemons) = MailServer::with("POP3 sessions with dovecot by APOP", apop) else { return };
    let attempt_at_dovecot = async |password: &str, more: Value| {
        let mut fields = json!({
            "hostname": format!("127.0.0.1:{}", daemons.pop), "pop_username": "anna", "pop_password": password,
        });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        attempt(&net(&[]), MonitorType::EmailPop, fields, TIMEOUT).await
    };
    for (more, auth, in_clear) in
        [(json!({}), "apop", false), (json!({"auth_method": "plain"}), "plain", true)]
    {
        let observation = attempt_at_dovecot("secret", more).await;
        assert_eq!(observation.failure, None, "{auth}: {}\n{}", transcript(&observation), daemons.log());
        let mail = observation.facts.mail.unwrap();
        assert_eq!(
            (mail.mail_auth_method.as_deref(), mail.sent_password_in_cleartext),
            (Some(auth), in_clear)
        );
        assert_eq!(mail.mailbox_messages, Some(0));
    }
    assert!(daemons.log().contains("method=APOP"), "{}", daemons.log());
    let observation = attempt_at_dovecot("wrong", json!({})).await;
    let failure = observation.failure.as_ref().unwrap();
    let found = (failure.status().0, failure.kind, failure.phase);
    assert_eq!(found, (5, Kind::LoginRejected, Phase::Auth), "{failure}");
    assert!(failure.detail.contains("APOP with `-ERR [AUTH]"), "{failure}");
    let reply = transcript(&observation);
    assert!(reply.contains("> APOP ") && !reply.contains("PASS") && !reply.contains("wrong"), "{reply}");
}
