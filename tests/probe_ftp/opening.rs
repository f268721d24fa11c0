//! The opening of a session on transcripts, without sockets.

use vigie::domain::{FailureKind as Kind, Phase};
use vigie::protocol::ftp::OpeningDialogue;
use vigie::protocol::{LineProtocol, OutgoingLine, ProtocolAction};

/// Feeds `lines` to an opening; returns its actions and its failure.
fn play(with_tls: bool, lines: &[&str]) -> (Vec<ProtocolAction>, Option<(Phase, Kind, String)>) {
    let mut opening = OpeningDialogue::new(with_tls);
    let mut actions = Vec::new();
    for line in lines {
        match opening.on_line(line) {
            Ok(action) => actions.push(action),
            Err(failure) => return (actions, Some((failure.phase, failure.kind, failure.detail))),
        }
    }
    (actions, None)
}

fn auth_tls() -> ProtocolAction {
    ProtocolAction::SendLine(OutgoingLine::new("AUTH TLS"))
}

#[test]
fn an_opening_without_tls_ends_with_the_greeting() {
    assert_eq!(play(false, &["220 hello"]), (vec![ProtocolAction::Done], None));
    let lines = ["220-Welcome to", "150 users", "220 ready"];
    assert_eq!(
        play(false, &lines),
        (vec![ProtocolAction::ReadLine, ProtocolAction::ReadLine, ProtocolAction::Done], None)
    );
    assert_eq!(
        play(false, &["120 in a minute", "220 now"]),
        (vec![ProtocolAction::ReadLine, ProtocolAction::Done], None)
    );
}

#[test]
fn an_opening_with_tls_sends_auth_tls() {
    let result = play(true, &["220 hello", "234-well", "234 go"]);
    assert_eq!(result, (vec![auth_tls(), ProtocolAction::ReadLine, ProtocolAction::StartTls], None));
    let mut opening = OpeningDialogue::new(true);
    assert_eq!(opening.phase(), Phase::Banner);
    opening.on_line("220-first \u{1b}[2J").unwrap();
    assert_eq!(opening.on_line("220 second").unwrap(), auth_tls());
    assert_eq!(opening.phase(), Phase::Starttls);
    assert_eq!(opening.banner(), Some("first \u{fffd}[2J"));
    assert_eq!(opening.on_tls_established(), ProtocolAction::Done);
}

#[test]
fn refusals_quote_the_server() {
    let cases: [(&[&str], Phase, Kind, &str); 6] = [
        (&["421 too many"], Phase::Banner, Kind::UnexpectedReply, "it greets with `421 too many`"),
        (&["530-no", "530 way"], Phase::Banner, Kind::UnexpectedReply, "it greets with `530 no / way`"),
        (
            &["SSH-2.0-x"],
            Phase::Banner,
            Kind::UnexpectedReply,
            "expected a reply that starts with three digits, got `SSH-2.0-x`",
        ),
        (
            &["220 x", "502 no"],
            Phase::Starttls,
            Kind::TlsNotOffered,
            "it replies to `AUTH TLS` with `502 no`",
        ),
        (
            &["220 x", "431 later"],
            Phase::Starttls,
            Kind::UnexpectedReply,
            "it replies to `AUTH TLS` with `431 later`",
        ),
        (&["220 x", "200"], Phase::Starttls, Kind::UnexpectedReply, "it replies to `AUTH TLS` with `200`"),
    ];
    for (lines, phase, kind, detail) in cases {
        assert_eq!(play(true, lines).1, Some((phase, kind, detail.to_owned())));
    }
}
