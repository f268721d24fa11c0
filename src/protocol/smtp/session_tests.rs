//! Tests of SMTP sessions with scripted dialogues.

use super::*;
use crate::protocol::transcript_test::run_transcript;

fn smtp_options() -> SmtpOptions {
    SmtpOptions {
        ehlo_name: "[192.0.2.1]".to_owned(),
        implicit_tls: false,
        require_tls: false,
        credentials: None,
        mechanism: None,
        message: None,
    }
}

fn options_with_login() -> SmtpOptions {
    let credentials = Credentials { user: "tim".to_owned(), password: "s3cret".to_owned() };
    SmtpOptions { credentials: Some(credentials), ..smtp_options() }
}

fn options_with_message() -> SmtpOptions {
    let message = OutgoingMessage {
        sender: "a@b.test".to_owned(),
        recipient: "c@d.test".to_owned(),
        content: "Subject: x\n\n.hi\n".to_owned(),
    };
    SmtpOptions { message: Some(message), ..smtp_options() }
}

/// Runs a script that succeeds, and returns the session.
fn passes(options: SmtpOptions, dialogue: &str) -> SmtpSession {
    let mut session = SmtpSession::new(options);
    assert_eq!(run_transcript(&mut session, dialogue), None);
    session
}

/// Runs a script that fails, and returns the failure as `phase status: text`.
fn fails(options: SmtpOptions, dialogue: &str) -> String {
    let mut session = SmtpSession::new(options);
    let failure = run_transcript(&mut session, dialogue).expect("it does not fail");
    format!("{} {}: {}", failure.phase.name(), failure.status().0, failure.detail)
}

#[test]
fn a_session_without_login_is_ehlo_and_quit() {
    let session = passes(
        smtp_options(),
        "< 220-mx.test ESMTP
         < 220 be nice
         > EHLO [192.0.2.1]
         < 250-mx.test
         < 250-SIZE 1000
         < 250 HELP
         > QUIT
         < 221 bye
         * done",
    );
    assert_eq!(session.banner, "mx.test ESMTP");
    assert_eq!(session.capabilities, ["SIZE 1000", "HELP"]);
    assert_eq!((session.mechanism, session.password_in_clear), (None, false));
}

#[test]
fn an_old_server_gets_helo() {
    for code in [500, 502, 504, 501, 550] {
        let dialogue = format!(
            "< 220 mx\n> EHLO [192.0.2.1]\n< {code} what?\n> HELO [192.0.2.1]\n< 250 mx\n> QUIT\n< 221\n* done"
        );
        assert!(passes(smtp_options(), &dialogue).capabilities.is_empty());
    }
    let reply =
        fails(smtp_options(), "< 220 mx\n> EHLO [192.0.2.1]\n< 500 what?\n> HELO [192.0.2.1]\n< 550 go");
    assert_eq!(reply, "ehlo 3: it replies to `HELO` with `550 go`");
    let reply = fails(smtp_options(), "< 220 mx\n> EHLO [192.0.2.1]\n< 421 busy");
    assert_eq!(reply, "ehlo 3: it replies to `EHLO` with `421 busy`");
}

#[test]
fn tls_is_used_where_offered_and_earlier_capabilities_are_dropped() {
    let session = passes(
        options_with_login(),
        "< 220 mx
         > EHLO [192.0.2.1]
         < 250-mx
         < 250-AUTH CRAM-MD5
         < 250 starttls
         > STARTTLS
         < 220 go ahead
         * tls
         > EHLO [192.0.2.1]
         < 250-mx
         < 250 AUTH PLAIN LOGIN
         > AUTH PLAIN AHRpbQBzM2NyZXQ=
         < 235 welcome
         > QUIT
         < 500 what?
         * done",
    );
    assert_eq!(session.capabilities, ["AUTH PLAIN LOGIN"]);
    assert_eq!((session.mechanism, session.password_in_clear), (Some(SaslMechanism::Plain), false));
}

#[test]
fn a_server_without_tls_fails_only_where_tls_is_required() {
    let hello = "< 220 mx\n> EHLO [192.0.2.1]\n< 250-mx\n< 250 STARTTLSX";
    let required = SmtpOptions { require_tls: true, ..smtp_options() };
    assert_eq!(fails(required.clone(), hello), "ehlo 5: it offers no STARTTLS");
    passes(smtp_options(), &format!("{hello}\n> QUIT\n< 221\n* done"));
    // Implicit TLS satisfies the requirement.
    let implicit = SmtpOptions { implicit_tls: true, ..required };
    passes(implicit, &format!("{hello}\n> QUIT\n< 221\n* done"));
}

#[test]
fn starttls_that_is_offered_and_then_refused_fails() {
    for refusal in ["454 TLS not available", "501 no", "554 no"] {
        let dialogue =
            format!("< 220 mx\n> EHLO [192.0.2.1]\n< 250-mx\n< 250 STARTTLS\n> STARTTLS\n< {refusal}");
        let reply = fails(smtp_options(), &dialogue);
        assert_eq!(reply, format!("starttls 3: it replies to `STARTTLS`, which it offers, with `{refusal}`"));
    }
}

#[test]
fn logins_proceed_in_turns() {
    let hello = |offer: &str| format!("< 220 mx\n> EHLO [192.0.2.1]\n< 250-mx\n< 250 {offer}\n");
    let end = "< 235 ok\n> QUIT\n< 221\n* done";
    let dialogue = hello("AUTH LOGIN")
        + "> AUTH LOGIN\n< 334 VXNlcm5hbWU6\n> dGlt\n< 334 UGFzc3dvcmQ6\n> czNjcmV0\n"
        + end;
    let session = passes(options_with_login(), &dialogue);
    assert_eq!((session.mechanism, session.password_in_clear), (Some(SaslMechanism::Login), true));
    let dialogue = hello("AUTH=LOGIN CRAM-MD5")
        + "> AUTH CRAM-MD5\n< 334 PDE+\n> dGltIDAyNWVjNDFmNGQ5ZWQxNzdmNThhNTE1MTYwN2Y1NjU5\n"
        + end;
    let session = passes(options_with_login(), &dialogue);
    assert_eq!((session.mechanism, session.password_in_clear), (Some(SaslMechanism::CramMd5), false));
    let xoauth2_options = SmtpOptions { mechanism: Some(SaslMechanism::Xoauth2), ..options_with_login() };
    let dialogue = hello("AUTH XOAUTH2 PLAIN")
        + "> AUTH XOAUTH2 dXNlcj10aW0BYXV0aD1CZWFyZXIgczNjcmV0AQE=\n< 334 eyJzdGF0dXMiOiI0MDEifQ==\n>\n< 535 no";
    assert_eq!(fails(xoauth2_options, &dialogue), "auth 5: `tim` by XOAUTH2: `535 no`");
}

#[test]
fn refused_logins_name_user_and_mechanism() {
    let hello = "< 220 mx\n> EHLO [192.0.2.1]\n< 250-mx\n< 250 AUTH PLAIN\n> AUTH PLAIN AHRpbQBzM2NyZXQ=\n";
    for (reply, expected) in [
        ("535 5.7.8 bad", "auth 5: `tim` by PLAIN: `535 5.7.8 bad`"),
        ("534 too weak", "auth 5: `tim` by PLAIN: `534 too weak`"),
        ("550 gone", "auth 5: `tim` by PLAIN: `550 gone`"),
        ("432 change it", "auth 5: `tim` by PLAIN: `432 change it`"),
        ("454 later", "auth 3: it replies to `AUTH PLAIN` with `454 later`"),
        ("421 bye", "auth 3: it replies to `AUTH PLAIN` with `421 bye`"),
        ("504 what?", "auth 3: it replies to `AUTH PLAIN` with `504 what?`"),
        ("334 more", "auth 3: it continues after the last message of PLAIN: `more`"),
        ("nonsense", "auth 3: `nonsense` is not an SMTP reply"),
    ] {
        assert_eq!(fails(options_with_login(), &format!("{hello}< {reply}")), expected);
    }
    let actual = fails(options_with_login(), "< 220 mx\n> EHLO [192.0.2.1]\n< 250 mx");
    assert_eq!(
        actual,
        "auth 3: it does not offer a login that Vigie supports; it offers no login at all without TLS"
    );
    let cram_md5_options = SmtpOptions { mechanism: Some(SaslMechanism::CramMd5), ..options_with_login() };
    let actual = fails(cram_md5_options, "< 220 mx\n> EHLO [192.0.2.1]\n< 250-mx\n< 250 AUTH PLAIN LOGIN");
    assert_eq!(actual, "auth 3: it does not offer CRAM-MD5; it offers `PLAIN LOGIN`");
}

const EHLO_DIALOGUE: &str = "< 220 mx\n> EHLO [192.0.2.1]\n< 250-mx\n< 250 SIZE 100\n";

#[test]
fn a_message_is_delivered() {
    let session = passes(
        options_with_message(),
        &format!(
            "{EHLO_DIALOGUE}> MAIL FROM:<a@b.test> SIZE=19\n< 250 ok\n> RCPT TO:<c@d.test>\n< 251 will forward\n> DATA"
        ),
    );
    assert!(!session.was_message_accepted);
    let mut session = session;
    let Ok(ProtocolAction::SendLine(data)) = session.on_line("354 go") else { panic!("no data") };
    assert_eq!(data.text(), "Subject: x\r\n\r\n..hi\r\n.");
    assert_eq!(session.phase(), Phase::Submit);
    assert_eq!(run_transcript(&mut session, "< 250 queued\n> QUIT\n< garbage\n* done"), None);
    assert!(session.was_message_accepted);
}

#[test]
fn a_message_can_be_refused_at_every_step() {
    let mail = "> MAIL FROM:<a@b.test> SIZE=19\n";
    let rcpt = format!("{mail}< 250\n> RCPT TO:<c@d.test>\n");
    let data = format!("{rcpt}< 250\n> DATA\n");
    for code in [421, 452, 550, 554] {
        for (dialogue_before, command) in
            [(mail, "`MAIL FROM:<a@b.test>`"), (&rcpt, "`RCPT TO:<c@d.test>`"), (&data, "`DATA`")]
        {
            let reply =
                fails(options_with_message(), &format!("{EHLO_DIALOGUE}{dialogue_before}< {code} no"));
            assert_eq!(reply, format!("deliver 3: it replies to {command} with `{code} no`"));
        }
        let mut session = passes(
            options_with_message(),
            &format!("{EHLO_DIALOGUE}{mail}< 250\n> RCPT TO:<c@d.test>\n< 250\n> DATA"),
        );
        assert!(matches!(session.on_line("354 go"), Ok(ProtocolAction::SendLine(_))));
        let failure = session.on_line(&format!("{code} no")).unwrap_err();
        assert_eq!(failure.detail, format!("it replies to the message with `{code} no`"));
        assert!(!session.was_message_accepted);
    }
    let reply = fails(options_with_message(), &format!("{EHLO_DIALOGUE}{data}< 250 what?"));
    assert_eq!(reply, "deliver 3: it replies to `DATA` with `250 what?`");
    let small = "< 220 mx\n> EHLO [192.0.2.1]\n< 250-mx\n< 250 SIZE 18";
    assert_eq!(
        fails(options_with_message(), small),
        "deliver 3: it accepts at most 18 bytes, the message has 19"
    );
}

#[test]
fn an_invalid_greeting_is_reported() {
    for (line, reply) in [
        ("554 no service", "banner 3: it greets with `554 no service`"),
        ("421 busy", "banner 3: it greets with `421 busy`"),
        ("* OK IMAP", "banner 3: `* OK IMAP` is not an SMTP reply"),
        ("+OK POP3", "banner 3: `+OK POP3` is not an SMTP reply"),
        ("SSH-2.0-x", "banner 3: `SSH-2.0-x` is not an SMTP reply"),
    ] {
        assert_eq!(fails(smtp_options(), &format!("< {line}")), reply);
    }
}
