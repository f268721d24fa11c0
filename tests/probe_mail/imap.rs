//! `email-imap` against misbehaving servers, and against dovecot.

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

const GREETED: &str = "< * OK ready\n> v1 CAPABILITY";
const OFFERED: &str = "< * OK ready\n> v1 CAPABILITY\n< * CAPABILITY IMAP4rev1\n< v1 OK done";
const LOGIN: &str = "< * OK ready\n> v1 CAPABILITY\n< * CAPABILITY IMAP4rev1\n< v1 OK done\n> A0001 LOGIN";
const SELECT: &str = "< * OK ready\n> v1 CAPABILITY\n< * CAPABILITY IMAP4rev1\n< v1 OK done\n> A0001 LOGIN\n\
                      < A0001 OK hello\n> A0002 SELECT";
const STARTTLS: &str =
    "< * OK ready\n> v1 CAPABILITY\n< * CAPABILITY IMAP4rev1 STARTTLS\n< v1 OK done\n> v2 STARTTLS";

fn send(bytes: impl Into<Vec<u8>>) -> Act {
    Act::Send(bytes.into())
}

fn greetings() -> Vec<Case> {
    let (banner, capability) = (Phase::Banner, Phase::Capability);
    vec![
        case("closes at once", "", Fails(6, Kind::NoResponse, banner, "write its host as `imaps://…`")),
        case("says nothing", "", Fails(2, Kind::TimedOut, banner, "in phase banner")).stalls(),
        case("half a line", "", Fails(3, Kind::ResponseTruncated, banner, "after 4 bytes"))
            .then(send("* OK")),
        case(
            "says goodbye",
            "< * BYE too busy",
            Fails(3, Kind::UnexpectedReply, banner, "it greets with `BYE too busy`"),
        ),
        case("a line of 1 MiB", "", Fails(3, Kind::ResponseTooLarge, banner, "more than 8192 bytes"))
            .then(send(vec![b'*'; 1024 * 1024])),
        case("binary", "", Fails(3, Kind::ResponseInvalid, banner, "is not an IMAP response"))
            .then(send(b"\x15\x03\x03\x00\x02\x02\x46\xff\r\n".to_vec())),
        case(
            "a server of SMTP",
            "< 220 mx ESMTP",
            Fails(3, Kind::ResponseInvalid, banner, "`220 mx ESMTP` is no"),
        ),
        case("closes at CAPABILITY", GREETED, Fails(6, Kind::NoResponse, capability, "")),
        case("stalls at CAPABILITY", GREETED, Fails(2, Kind::TimedOut, capability, "")).stalls(),
        case(
            "refuses CAPABILITY",
            &format!("{GREETED}\n< v1 NO what"),
            Fails(3, Kind::UnexpectedReply, capability, "`CAPABILITY` with `NO what`"),
        ),
        case(
            "another tag",
            &format!("{GREETED}\n< x9 OK done"),
            Fails(3, Kind::ResponseInvalid, capability, "`x9 OK done` is no"),
        ),
        case(
            "capabilities without end",
            GREETED,
            Fails(3, Kind::ResponseTooLarge, capability, "more than 262144 bytes"),
        )
        .then(Act::Flood(b"* OK still thinking about what to say\r\n".repeat(50))),
        case(
            "no version of IMAP",
            &format!("{GREETED}\n< * CAPABILITY POP3\n< v1 OK"),
            Fails(3, Kind::UnexpectedReply, capability, "`POP3`"),
        ),
        case(
            "no TLS where it is required",
            OFFERED,
            Fails(5, Kind::TlsNotOffered, capability, "offers no STARTTLS"),
        )
        .fields(json!({"require_tls": true})),
    ]
}

fn upgrades() -> Vec<Case> {
    let (starttls, tls) = (Phase::Starttls, Phase::Tls);
    let go = format!("{STARTTLS}\n< v2 OK go");
    vec![
        case(
            "STARTTLS refused",
            &format!("{STARTTLS}\n< v2 NO not now"),
            Fails(3, Kind::UnexpectedReply, starttls, "which it offers, with `NO not now`"),
        ),
        case("closes at STARTTLS", STARTTLS, Fails(6, Kind::NoResponse, starttls, "")),
        case("stalls at STARTTLS", STARTTLS, Fails(2, Kind::TimedOut, starttls, "")).stalls(),
        case(
            "an answer before the handshake",
            STARTTLS,
            Fails(3, Kind::UnexpectedReply, tls, "in plain text before"),
        )
        .then(send("v2 OK go\r\n* PREAUTH hi\r\n")),
        case("closes in the handshake", &go, Fails(3, Kind::TlsHandshakeFailed, tls, "")),
        case("stalls in the handshake", &go, Fails(2, Kind::TimedOut, tls, "")).stalls(),
        case(
            "closes under TLS",
            &format!("{go}\n* tls\n> v3 CAPABILITY"),
            Fails(6, Kind::NoResponse, Phase::Capability, ""),
        ),
    ]
}

fn logins() -> Vec<Case> {
    let auth = Phase::Auth;
    let replies = |line: &str| format!("{LOGIN}\n< {line}");
    let offers = |text: &str| format!("{GREETED}\n< * CAPABILITY IMAP4rev1 {text}\n< v1 OK");
    let echo = format!("A0001 NO not with \"{USER}\" \"{PASSWORD}\" nor aHVudGVyMi1zM2NyZXQ=");
    let deep = format!("* 1 FETCH (BODYSTRUCTURE {}", "(".repeat(4000));
    vec![
        case(
            "a wrong password",
            &replies("A0001 NO [AUTHENTICATIONFAILED] no"),
            Fails(5, Kind::LoginRejected, auth, "`tim` by LOGIN: `NO [AUTHENTICATIONFAILED] no`"),
        ),
        case("the password said again", &replies(&echo), Fails(5, Kind::LoginRejected, auth, "********")),
        case(
            "logins are down",
            &replies("A0001 NO [UNAVAILABLE] later"),
            Fails(3, Kind::UnexpectedReply, auth, "[UNAVAILABLE] later"),
        ),
        case(
            "does not know LOGIN",
            &replies("A0001 BAD what"),
            Fails(3, Kind::UnexpectedReply, auth, "`LOGIN` with `BAD what`"),
        ),
        case(
            "says goodbye at the login",
            &replies("* BYE enough"),
            Fails(3, Kind::UnexpectedReply, auth, "it closes the session: `BYE enough`"),
        ),
        case(
            "says goodbye and leaves the connection open",
            &replies("* BYE enough"),
            Fails(3, Kind::UnexpectedReply, auth, "it closes the session: `BYE enough`"),
        )
        .stalls(),
        case(
            "logins that are not spoken",
            &offers("LOGINDISABLED AUTH=NTLM AUTH=OAUTHBEARER"),
            Fails(95, Kind::TargetUnsupported, auth, "it offers `NTLM OAUTHBEARER`"),
        ),
        case("closes at the login", LOGIN, Fails(6, Kind::NoResponse, auth, "")),
        case("resets at the login", &format!("{LOGIN}\n* reset"), Fails(6, Kind::ResponseReset, auth, "")),
        case("stalls at the login", LOGIN, Fails(2, Kind::TimedOut, auth, "in phase auth")).stalls(),
        case("half a line at the login", LOGIN, Fails(3, Kind::ResponseTruncated, auth, "after 8 bytes"))
            .then(send("A0001 OK")),
        case(
            "a line of 1 MiB at the login",
            LOGIN,
            Fails(3, Kind::ResponseTooLarge, auth, "more than 8192 bytes"),
        )
        .then(send(vec![b'*'; 1024 * 1024])),
        case(
            "nonsense at the login",
            &replies("%%% what"),
            Fails(3, Kind::ResponseInvalid, auth, "`%%% what` is not an IMAP response"),
        ),
        case("lists within lists", &replies(&deep), Fails(3, Kind::ResponseInvalid, auth, "nested too deep")),
        case(
            "a text of 500 MB",
            &replies("* 1 FETCH (BODY[] {500000000}"),
            Fails(3, Kind::ResponseTooLarge, auth, "{500000000}"),
        ),
        case(
            "no login",
            &offers("LOGINDISABLED"),
            Fails(3, Kind::UnexpectedReply, auth, "it offers no login at all"),
        ),
        case(
            "not the login that is wanted",
            &offers("AUTH=PLAIN"),
            Fails(3, Kind::UnexpectedReply, auth, "does not offer XOAUTH2; it offers `PLAIN`"),
        )
        .fields(json!({"auth_method": "xoauth2"})),
        case(
            "asks without end",
            &format!("{}\n> A0001 AUTHENTICATE PLAIN", offers("AUTH=PLAIN")),
            Fails(3, Kind::ResponseTooLarge, auth, "more than 1000 lines"),
        )
        .fields(json!({"auth_method": "plain"}))
        .then(Act::Flood(b"+ \r\n".repeat(1000))),
    ]
}

fn mailboxes() -> Vec<Case> {
    let select = Phase::Select;
    let opened = format!("{SELECT}\n< * 3 EXISTS\n< A0002 OK [READ-WRITE] done\n> A0003 LOGOUT");
    let known = "< * PREAUTH hello\n> v1 CAPABILITY\n< * CAPABILITY IMAP4rev1\n< v1 OK\n> A0001 SELECT INBOX\n< * 7 EXISTS\n< A0001 OK\n> A0002 LOGOUT\n< * BYE";
    vec![
        case(
            "no INBOX",
            &format!("{SELECT}\n< A0002 NO no such mailbox"),
            Fails(3, Kind::UnexpectedReply, select, "`SELECT INBOX` with `NO no such mailbox`"),
        ),
        case("closes at SELECT", SELECT, Fails(6, Kind::NoResponse, select, "")),
        case(
            "closes in the middle of SELECT",
            &format!("{SELECT}\n< * 3 EXISTS"),
            Fails(6, Kind::NoResponse, select, ""),
        ),
        case("stalls at SELECT", SELECT, Fails(2, Kind::TimedOut, select, "in phase select")).stalls(),
        case(
            "a mailbox without end",
            SELECT,
            Fails(3, Kind::ResponseTooLarge, select, "more than 1000 lines"),
        )
        .then(Act::Flood(b"* OK [UNSEEN 1] one more\r\n".repeat(50))),
        case("all is well", &format!("{opened}\n< * BYE\n< A0003 OK"), Passes),
        case("closes at LOGOUT", &opened, Passes),
        case("nonsense at LOGOUT", &format!("{opened}\n< %%"), Passes),
        case("stalls at LOGOUT", &opened, Passes).stalls(),
        case("knows us already", known, Passes),
        case(
            "does not know CAPABILITY",
            "< * OK ready\n> v1 CAPABILITY\n< v1 BAD what\n> A0001 LOGIN\n< A0001 OK in\n> A0002 SELECT \"INBOX\"\n\
             < * 3 EXISTS\n< A0002 OK done\n> A0003 LOGOUT\n< * BYE\n< A0003 OK",
            Passes,
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_misbehaviour_has_its_failure_kind() {
    let login = json!({"imap_username": USER, "imap_password": PASSWORD});
    let cases = [greetings(), upgrades(), logins(), mailboxes()].into_iter().flatten().collect();
    run_cases(MonitorType::EmailImap, login, cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_verified_after_starttls() {
    check_certificates(MonitorType::EmailImap, &format!("{STARTTLS}\n< v2 OK go\n* tls")).await;
}

// row: 2.2 email-imap.imap_username; 2.2 email-imap.imap_password
#[tokio::test]
async fn a_refused_login_is_reported_with_the_reply() {
    let at = start_server(
        parse_script(&format!("{LOGIN}\n< A0001 NO [AUTHENTICATIONFAILED] Authentication failed.")),
        None,
    )
    .await;
    let fields = json!({"imap_username": USER, "imap_password": PASSWORD});
    let observation = attempt(&net(&[]), MonitorType::EmailImap, fields_for(at, &fields), TIMEOUT).await;
    insta::assert_snapshot!("an_imap_login_is_refused", golden(&observation));
}

async fn at_dovecot(daemons: &MailServer, more: Value) -> Observation {
    let mut fields = json!({"hostname": "127.0.0.1"});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let net = net(std::slice::from_ref(&daemons.certificate));
    let observation = attempt(&net, MonitorType::EmailImap, fields, TIMEOUT).await;
    assert_no_secrets(&observation);
    observation
}

#[tokio::test(flavor = "multi_thread")]
async fn dovecot_opens_its_mailbox_over_starttls_and_implicit_tls() {
    let Some(daemons) = MailServer::build("email-imap against dovecot") else { return };
    for method in ["auto", "plain", "login", "cram-md5"] {
        for host in [format!("127.0.0.1:{}", daemons.imap), format!("imaps://127.0.0.1:{}", daemons.imaps)] {
            let fields = json!({"hostname": host, "imap_username": "anna", "imap_password": "secret",
                "auth_method": method, "require_tls": true});
            let observation = at_dovecot(&daemons, fields).await;
            assert_eq!(
                observation.failure,
                None,
                "{host} {method}: {}\n{}",
                transcript(&observation),
                daemons.log()
            );
            let mail = observation.facts.mail.clone().unwrap();
            let used = if method == "auto" { "login" } else { method };
            assert_eq!(
                (mail.mail_auth_method.as_deref(), mail.mailbox_messages),
                (Some(used), Some(0)),
                "{host}"
            );
            assert!(!mail.sent_password_in_cleartext && observation.facts.tls.is_some());
        }
    }
    let well = json!({"port": daemons.imap, "imap_username": "anna", "imap_password": "secret"});
    insta::assert_snapshot!("dovecot_is_well", golden(&at_dovecot(&daemons, well).await));
    let wrong = json!({"port": daemons.imap, "imap_username": "anna", "imap_password": PASSWORD});
    let failure = at_dovecot(&daemons, wrong).await.failure.unwrap();
    assert_eq!((failure.phase, failure.kind, failure.status().0), (Phase::Auth, Kind::LoginRejected, 5));
    let alone = at_dovecot(&daemons, json!({"port": daemons.imap})).await;
    assert_eq!((alone.failure, alone.facts.mail.unwrap().mail_auth_method), (None, None));
}
