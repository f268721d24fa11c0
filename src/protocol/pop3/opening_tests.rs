//! Tests of the opening with scripted sessions.

use super::super::super::auth::{Credentials, SaslMechanism};
use super::*;
use crate::protocol::transcript_test::run_transcript;

fn login(mechanism: Option<SaslMechanism>) -> LoginOptions {
    let credentials = Credentials { user: "tim".to_owned(), password: "tanstaaf".to_owned() };
    LoginOptions { credentials, mechanism }
}

fn opening(secure: bool, login: impl Into<Option<LoginOptions>>) -> OpeningDialogue {
    OpeningDialogue::new(OpeningDialogueOptions { require_tls: false, login: login.into() }, secure)
}

fn strict(login: LoginOptions) -> OpeningDialogue {
    OpeningDialogue::new(OpeningDialogueOptions { require_tls: true, login: Some(login) }, false)
}

fn done(core: &mut OpeningDialogue, script: &str) -> MailFacts {
    assert_eq!(run_transcript(core, &format!("{script}\n* done")), None);
    core.facts()
}

/// Returns phase, status and text of the failure at the end of `script`.
fn fails(core: &mut OpeningDialogue, script: &str) -> (Phase, u16, String) {
    let failure = run_transcript(core, script).unwrap();
    assert_eq!(failure.phase, core.phase(), "the phase that failed is not the one that was timed");
    (failure.phase, failure.status().0, failure.detail)
}

#[test]
fn a_mailbox_is_opened_with_implicit_tls() {
    let facts = done(
        &mut opening(true, login(None)),
        "< +OK POP3 ready <1896.697170952@dbc.mtview.ca.us>
         > CAPA
         < +OK Capability list follows
         < TOP
         < UIDL
         < SASL PLAIN LOGIN
         < .
         > USER tim
         < +OK
         > PASS tanstaaf
         < +OK Logged in.
         > STAT
         < +OK 2 320",
    );
    assert_eq!(facts.mail_banner, "+OK POP3 ready <1896.697170952@dbc.mtview.ca.us>");
    assert_eq!(facts.mail_capabilities, ["TOP", "UIDL", "SASL PLAIN LOGIN"]);
    assert_eq!((facts.mail_auth_method.as_deref(), facts.sent_password_in_cleartext), (Some("user"), false));
    assert_eq!((facts.mailbox_messages, facts.mailbox_bytes), (Some(2), Some(320)));
}

#[test]
fn stls_is_used_when_offered_and_earlier_capabilities_are_dropped() {
    let facts = done(
        &mut strict(login(None)),
        "< +OK <1.2@forged>
         > CAPA
         < +OK
         < STLS
         < X-FORGED
         < .
         > STLS
         < +OK Begin TLS negotiation now.
         * tls
         > CAPA
         < +OK
         < USER
         < .
         > USER tim
         < +OK
         > PASS tanstaaf
         < +OK
         > STAT
         < +OK 0 0",
    );
    assert_eq!(facts.mail_capabilities, ["USER"]);
    assert!(!facts.sent_password_in_cleartext);
}

#[test]
fn without_tls_apop_is_used_where_the_greeting_allows_it() {
    // The example of RFC 1939 7.
    let apop = done(
        &mut opening(
            false,
            Some(LoginOptions {
                credentials: Credentials { user: "mrose".to_owned(), password: "tanstaaf".to_owned() },
                mechanism: None,
            }),
        ),
        "< +OK POP3 server ready <1896.697170952@dbc.mtview.ca.us>
         > CAPA
         < -ERR
         > APOP mrose c4c9334bac560ecc979e58001b3e22fb
         < +OK maildrop has 1 message (369 octets)
         > STAT
         < +OK 1 369 and more that nobody asked for",
    );
    assert_eq!((apop.mail_auth_method.as_deref(), apop.sent_password_in_cleartext), (Some("apop"), false));
    for greeting in
        ["+OK ready", "+OK ready <no address>", "+OK <a@b", "+OK a@b>", "+OK >a@b<", "+OK <a b@c>"]
    {
        let script = format!(
            "< {greeting}
             > CAPA
             < -ERR unknown command
             > USER tim
             < +OK
             > PASS tanstaaf
             < +OK
             > STAT
             < +OK 1 369"
        );
        let user = done(&mut opening(false, login(None)), &script);
        assert_eq!(
            (user.mail_auth_method.as_deref(), user.sent_password_in_cleartext),
            (Some("user"), true),
            "{greeting}"
        );
    }
}

#[test]
fn an_explicit_mechanism_uses_auth() {
    let plain = done(
        &mut opening(false, login(Some(SaslMechanism::Plain))),
        "< +OK
         > CAPA
         < +OK
         < SASL plain
         < .
         > AUTH PLAIN AHRpbQB0YW5zdGFhZg==
         < +OK
         > STAT
         < +OK 1 1",
    );
    assert_eq!((plain.mail_auth_method.as_deref(), plain.sent_password_in_cleartext), (Some("plain"), true));
    // A server that announces no mechanisms gets no initial response with the command (RFC 5034 4).
    let unannounced = done(
        &mut opening(true, login(Some(SaslMechanism::Plain))),
        "< +OK
         > CAPA
         < -ERR
         > AUTH PLAIN
         < +
         > AHRpbQB0YW5zdGFhZg==
         < +OK
         > STAT
         < +OK 1 1",
    );
    assert!(!unannounced.sent_password_in_cleartext);
    let in_turns = done(
        &mut opening(false, login(Some(SaslMechanism::Login))),
        "< +OK
         > CAPA
         < -ERR
         > AUTH LOGIN
         < + VXNlcm5hbWU6
         > dGlt
         < + UGFzc3dvcmQ6
         > dGFuc3RhYWY=
         < +OK
         > STAT
         < +OK 1 1",
    );
    assert_eq!(
        (in_turns.mail_auth_method.as_deref(), in_turns.sent_password_in_cleartext),
        (Some("login"), true)
    );
    // The digest of RFC 2195 2, for another password.
    let cram_md5 = done(
        &mut opening(
            false,
            Some(LoginOptions {
                credentials: Credentials { user: "tim".to_owned(), password: "tanstaaftanstaaf".to_owned() },
                mechanism: Some(SaslMechanism::CramMd5),
            }),
        ),
        "< +OK
         > CAPA
         < +OK
         < SASL CRAM-MD5
         < .
         > AUTH CRAM-MD5
         < + PDE4OTYuNjk3MTcwOTUyQHBvc3RvZmZpY2UucmVzdG9uLm1jaS5uZXQ+
         > dGltIGI5MTNhNjAyYzdlZGE3YTQ5NWI0ZTZlNzMzNGQzODkw
         < +OK
         > STAT
         < +OK 1 1",
    );
    assert_eq!(
        (cram_md5.mail_auth_method.as_deref(), cram_md5.sent_password_in_cleartext),
        (Some("cram-md5"), false)
    );
}

#[test]
fn without_a_login_the_mailbox_stays_closed() {
    let facts = done(&mut opening(true, None), "< +OK hi\n> CAPA\n< -ERR");
    assert_eq!((facts.mail_auth_method, facts.mailbox_messages), (None, None));
}

#[test]
fn an_invalid_greeting_is_reported() {
    for (line, reply) in [
        ("-ERR [SYS/TEMP] too many connections", "it said `-ERR [SYS/TEMP] too many connections`"),
        ("* OK IMAP4rev1", "it said `* OK IMAP4rev1`"),
        ("220 mx.test ESMTP", "it said `220 mx.test ESMTP`"),
        ("+ more", "it said `+ more`"),
    ] {
        let mut core = opening(false, None);
        assert_eq!(fails(&mut core, &format!("< {line}")), (Phase::Banner, 3, reply.to_owned()));
        assert_eq!(core.facts().mail_banner, line);
    }
    let failure = run_transcript(&mut opening(false, None), &format!("< {}", "x".repeat(5000))).unwrap();
    assert!(failure.detail.len() < 250, "{failure}");
}

#[test]
fn required_tls_is_enforced() {
    let no_stls = "< +OK\n> CAPA\n< +OK\n< TOP\n< .";
    let expected = (Phase::Capability, 5, "it offers no STLS".to_owned());
    assert_eq!(fails(&mut strict(login(None)), no_stls), expected);
    let expected = (Phase::Capability, 5, "it announces no capabilities".to_owned());
    assert_eq!(fails(&mut strict(login(None)), "< +OK\n> CAPA\n< -ERR"), expected);
    // A refusal after the offer may be forced by an attacker: no login follows.
    let refused = "< +OK\n> CAPA\n< +OK\n< STLS\n< .\n> STLS\n< -ERR not now";
    let expected = (Phase::Starttls, 3, "it replied to STLS with `-ERR not now`".to_owned());
    assert_eq!(fails(&mut opening(false, login(None)), refused), expected);
}

#[test]
fn refused_logins_locked_mailboxes_and_server_errors_are_distinguished() {
    for (reply, status, waits) in [
        ("-ERR [AUTH] Authentication failed.", 5, false),
        ("-ERR", 5, false),
        ("-ERR [IN-USE] Mailbox is locked by another session", 3, true),
        ("-ERR maildrop already locked", 3, true),
        ("-ERR [SYS/TEMP] come back later", 3, true),
        ("-ERR [LOGIN-DELAY] minimum time between logins", 3, true),
        ("-ERR [SYS/PERM] no such folder", 3, false),
        ("what?", 3, false),
        ("+ bWVociE=", 3, false),
    ] {
        let script = format!("< +OK\n> CAPA\n< -ERR\n> USER tim\n< +OK\n> PASS tanstaaf\n< {reply}");
        let mut core = opening(true, login(None));
        let text = format!("it replied to PASS with `{reply}`");
        let (phase, found, detail) = fails(&mut core, &script);
        assert_eq!((phase, found, detail), (Phase::Auth, status, text), "{reply}");
        assert_eq!(core.should_retry_later(), waits, "{reply}");
        let facts = core.facts();
        assert_eq!((facts.mail_auth_method.as_deref(), facts.mailbox_messages), (Some("user"), None));
    }
    let user = "< +OK\n> CAPA\n< -ERR\n> USER tim\n< -ERR [AUTH] no plain text here";
    let text = "it replied to USER with `-ERR [AUTH] no plain text here`".to_owned();
    assert_eq!(fails(&mut opening(false, login(None)), user), (Phase::Auth, 5, text));
}

#[test]
fn a_mechanism_that_is_not_offered_is_not_used() {
    let script = "< +OK\n> CAPA\n< +OK\n< SASL PLAIN\n< .";
    let text = "it does not offer CRAM-MD5; it offers `PLAIN`".to_owned();
    let mut core = opening(true, login(Some(SaslMechanism::CramMd5)));
    let failure = run_transcript(&mut core, script).unwrap();
    assert_eq!((failure.phase, failure.status().0, failure.detail), (Phase::Auth, 3, text));
}

#[test]
fn command_injection_is_refused() {
    for (user, password) in [("tim\r\nDELE 1", "x"), ("tim", "x\nDELE 1"), ("tim", "x\0")] {
        let credentials = Credentials { user: user.to_owned(), password: password.to_owned() };
        for greeting in ["+OK", "+OK <a@b>"] {
            let login = Some(LoginOptions { credentials: credentials.clone(), mechanism: None });
            let failure =
                run_transcript(&mut opening(false, login), &format!("< {greeting}\n> CAPA\n< -ERR")).unwrap();
            assert_eq!((failure.status().0, failure.phase), (95, Phase::Auth));
        }
    }
}

#[test]
fn invalid_stat_replies_are_reported() {
    for reply in [
        "-ERR [SYS/TEMP] index broken",
        "+OK",
        "+OK 1",
        "+OK one two",
        "+OK -1 0",
        "+OK 99999999999999999999 0",
    ] {
        let script =
            format!("< +OK\n> CAPA\n< -ERR\n> USER tim\n< +OK\n> PASS tanstaaf\n< +OK\n> STAT\n< {reply}");
        let expected = (Phase::Select, 3, format!("it replied to STAT with `{reply}`"));
        assert_eq!(fails(&mut opening(true, login(None)), &script), expected);
    }
}

#[test]
fn capabilities_are_limited() {
    let many = |count: usize| format!("< +OK\n> CAPA\n< +OK\n{}", "< OFFER\n".repeat(count));
    let expected = (Phase::Capability, 3, "its answer to CAPA has more than 200 lines".to_owned());
    assert_eq!(fails(&mut opening(true, None), &many(201)), expected);
    let facts = done(&mut opening(true, None), &format!("{}< .", many(200)));
    assert_eq!(facts.mail_capabilities.len(), MAX_FACT_CAPABILITIES);
}

#[test]
fn each_reply_counts_for_its_phase() {
    let session = [
        ("< +OK", Phase::Banner),
        ("> CAPA", Phase::Capability),
        ("< +OK", Phase::Capability),
        ("< STLS", Phase::Capability),
        ("< .", Phase::Capability),
        ("> STLS", Phase::Starttls),
        ("< +OK", Phase::Starttls),
        ("* tls", Phase::Tls),
        ("> CAPA", Phase::Capability),
        ("< -ERR", Phase::Capability),
        ("> USER tim", Phase::Auth),
        ("< +OK", Phase::Auth),
        ("> PASS tanstaaf", Phase::Auth),
        ("< +OK", Phase::Auth),
        ("> STAT", Phase::Select),
    ];
    for (index, (line, phase)) in session.iter().enumerate() {
        if !line.starts_with('>') {
            continue;
        }
        let script: Vec<&str> = session[..=index].iter().map(|(line, _)| *line).collect();
        let mut core = opening(false, login(None));
        assert_eq!(run_transcript(&mut core, &script.join("\n")), None);
        assert_eq!(core.phase(), *phase, "{line}");
    }
}

#[test]
fn the_login_delay_is_parsed() {
    for (offer, delay) in [
        ("LOGIN-DELAY 30", Some(30)),
        ("login-delay 900 USER", Some(900)),
        ("LOGIN-DELAY", None),
        ("TOP", None),
    ] {
        let mut core = opening(true, None);
        done(&mut core, &format!("< +OK\n> CAPA\n< +OK\n< {offer}\n< ."));
        assert_eq!(core.login_delay_seconds(), delay, "{offer}");
    }
}
