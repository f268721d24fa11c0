//! Tests of the opening with scripted sessions.

use super::super::super::auth::{Credentials, SaslMechanism};
use super::*;
use crate::protocol::transcript_test::run_transcript;

fn login_options(mechanism: Option<SaslMechanism>) -> LoginOptions {
    let credentials = Credentials { user: "tim".to_owned(), password: "tanstaaf".to_owned() };
    LoginOptions { credentials, mechanism }
}

fn opening(is_encrypted: bool, login: impl Into<Option<LoginOptions>>) -> OpeningDialogue {
    OpeningDialogue::new(OpeningDialogueOptions { require_tls: false, login: login.into() }, is_encrypted)
}

fn opening_requiring_tls(login: LoginOptions) -> OpeningDialogue {
    OpeningDialogue::new(OpeningDialogueOptions { require_tls: true, login: Some(login) }, false)
}

fn facts_after(opening_dialogue: &mut OpeningDialogue, dialogue: &str) -> MailFacts {
    assert_eq!(run_transcript(opening_dialogue, &format!("{dialogue}\n* done")), None);
    opening_dialogue.facts()
}

/// Returns phase, status and text of the failure at the end of `dialogue`.
fn fails(opening_dialogue: &mut OpeningDialogue, dialogue: &str) -> (Phase, u16, String) {
    let failure = run_transcript(opening_dialogue, dialogue).unwrap();
    assert_eq!(
        failure.phase,
        opening_dialogue.phase(),
        "the phase that failed is not the one that was timed"
    );
    (failure.phase, failure.status().0, failure.detail)
}

#[test]
fn a_mailbox_is_opened_with_implicit_tls() {
    let facts = facts_after(
        &mut opening(true, login_options(None)),
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
    let facts = facts_after(
        &mut opening_requiring_tls(login_options(None)),
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
    let apop = facts_after(
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
        let dialogue = format!(
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
        let user = facts_after(&mut opening(false, login_options(None)), &dialogue);
        assert_eq!(
            (user.mail_auth_method.as_deref(), user.sent_password_in_cleartext),
            (Some("user"), true),
            "{greeting}"
        );
    }
}

#[test]
fn an_explicit_mechanism_uses_auth() {
    let plain = facts_after(
        &mut opening(false, login_options(Some(SaslMechanism::Plain))),
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
    let unannounced = facts_after(
        &mut opening(true, login_options(Some(SaslMechanism::Plain))),
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
    let in_turns = facts_after(
        &mut opening(false, login_options(Some(SaslMechanism::Login))),
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
    let cram_md5 = facts_after(
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
    let facts = facts_after(&mut opening(true, None), "< +OK hi\n> CAPA\n< -ERR");
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
        let mut opening_dialogue = opening(false, None);
        assert_eq!(fails(&mut opening_dialogue, &format!("< {line}")), (Phase::Banner, 3, reply.to_owned()));
        assert_eq!(opening_dialogue.facts().mail_banner, line);
    }
    let failure = run_transcript(&mut opening(false, None), &format!("< {}", "x".repeat(5000))).unwrap();
    assert!(failure.detail.len() < 250, "{failure}");
}

#[test]
fn required_tls_is_enforced() {
    let no_stls = "< +OK\n> CAPA\n< +OK\n< TOP\n< .";
    let expected = (Phase::Capability, 5, "it offers no STLS".to_owned());
    assert_eq!(fails(&mut opening_requiring_tls(login_options(None)), no_stls), expected);
    let expected = (Phase::Capability, 5, "it announces no capabilities".to_owned());
    assert_eq!(fails(&mut opening_requiring_tls(login_options(None)), "< +OK\n> CAPA\n< -ERR"), expected);
    // A refusal after the offer may be forced by an attacker: no login follows.
    let refused = "< +OK\n> CAPA\n< +OK\n< STLS\n< .\n> STLS\n< -ERR not now";
    let expected = (Phase::Starttls, 3, "it replied to STLS with `-ERR not now`".to_owned());
    assert_eq!(fails(&mut opening(false, login_options(None)), refused), expected);
}

#[test]
fn refused_logins_locked_mailboxes_and_server_errors_are_distinguished() {
    for (reply, status, should_retry) in [
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
        let dialogue = format!("< +OK\n> CAPA\n< -ERR\n> USER tim\n< +OK\n> PASS tanstaaf\n< {reply}");
        let mut opening_dialogue = opening(true, login_options(None));
        let text = format!("it replied to PASS with `{reply}`");
        let (phase, actual_status, detail) = fails(&mut opening_dialogue, &dialogue);
        assert_eq!((phase, actual_status, detail), (Phase::Auth, status, text), "{reply}");
        assert_eq!(opening_dialogue.should_retry_later(), should_retry, "{reply}");
        let facts = opening_dialogue.facts();
        assert_eq!((facts.mail_auth_method.as_deref(), facts.mailbox_messages), (Some("user"), None));
    }
    let user = "< +OK\n> CAPA\n< -ERR\n> USER tim\n< -ERR [AUTH] no plain text here";
    let text = "it replied to USER with `-ERR [AUTH] no plain text here`".to_owned();
    assert_eq!(fails(&mut opening(false, login_options(None)), user), (Phase::Auth, 5, text));
}

#[test]
fn a_mechanism_that_is_not_offered_is_not_used() {
    let dialogue = "< +OK\n> CAPA\n< +OK\n< SASL PLAIN\n< .";
    let text = "it does not offer CRAM-MD5; it offers `PLAIN`".to_owned();
    let mut opening_dialogue = opening(true, login_options(Some(SaslMechanism::CramMd5)));
    let failure = run_transcript(&mut opening_dialogue, dialogue).unwrap();
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
        let dialogue =
            format!("< +OK\n> CAPA\n< -ERR\n> USER tim\n< +OK\n> PASS tanstaaf\n< +OK\n> STAT\n< {reply}");
        let expected = (Phase::Select, 3, format!("it replied to STAT with `{reply}`"));
        assert_eq!(fails(&mut opening(true, login_options(None)), &dialogue), expected);
    }
}

#[test]
fn capabilities_are_limited() {
    let capa_dialogue = |count: usize| format!("< +OK\n> CAPA\n< +OK\n{}", "< OFFER\n".repeat(count));
    let expected = (Phase::Capability, 3, "its answer to CAPA has more than 200 lines".to_owned());
    assert_eq!(fails(&mut opening(true, None), &capa_dialogue(201)), expected);
    let facts = facts_after(&mut opening(true, None), &format!("{}< .", capa_dialogue(200)));
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
        let dialogue: Vec<&str> = session[..=index].iter().map(|(line, _)| *line).collect();
        let mut opening_dialogue = opening(false, login_options(None));
        assert_eq!(run_transcript(&mut opening_dialogue, &dialogue.join("\n")), None);
        assert_eq!(opening_dialogue.phase(), *phase, "{line}");
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
        let mut opening_dialogue = opening(true, None);
        facts_after(&mut opening_dialogue, &format!("< +OK\n> CAPA\n< +OK\n< {offer}\n< ."));
        assert_eq!(opening_dialogue.login_delay_seconds(), delay, "{offer}");
    }
}
