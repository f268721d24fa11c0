//! Logins after a challenge of the server: Digest over several requests, stale nonces, other hosts.

use md5::{Digest, Md5};
use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, Observation, Phase};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{Fails, Passes};
use crate::probe_http::server::{Act, Server, page, redirect, respond};

fn challenge_with(challenge: &str) -> Vec<Act> {
    respond(format!("HTTP/1.1 401 No\r\nWWW-Authenticate: {challenge}\r\nContent-Length: 0\r\n\r\n"))
}

fn login() -> Value {
    json!({"realm_userid": "me", "realm_password": "secret"})
}

async fn attempt(server: &Server, path: &str) -> Observation {
    Check::new(&server.url(path)).with(login()).run().await
}

/// Returns the value of a parameter of the `Authorization` field of `request`.
fn parameter(request: &str, name: &str) -> Option<String> {
    let line = request.lines().find(|line| line.starts_with("Authorization: Digest "))?;
    let rest = line.split_once(&format!(" {name}="))?.1;
    Some(rest.split(',').next()?.trim_matches('"').to_owned())
}

fn md5(text: &str) -> String {
    format!("{:032x}", u128::from_be_bytes(Md5::digest(text).into()))
}

#[tokio::test]
async fn digest_credentials_are_reused_over_redirects() {
    let challenge = "Digest realm=\"inner\", nonce=\"n1\", qop=\"auth\", opaque=\"o\", algorithm=MD5";
    let server =
        Server::start(vec![challenge_with(challenge), respond(redirect(302, "/in?x=1")), respond(page("x"))])
            .await;
    let observation = attempt(&server, "/a?b=c").await;
    Passes.compare(&observation).unwrap();
    let requests = server.requests();
    assert!(!requests[0].contains("Authorization"), "{}", requests[0]);
    for (request, uri, count) in [(&requests[1], "/a?b=c", "00000001"), (&requests[2], "/in?x=1", "00000002")]
    {
        let value = |name| parameter(request, name).unwrap();
        assert_eq!((value("uri"), value("nc"), value("opaque")), (uri.into(), count.into(), "o".into()));
        let (secret, request_hash) = (md5("me:inner:secret"), md5(&format!("GET:{uri}")));
        let expected = md5(&format!("{secret}:n1:{count}:{}:auth:{request_hash}", value("cnonce")));
        assert_eq!(value("response"), expected, "{request}");
        assert!(!request.contains("secret") && !request.contains("Basic"), "{request}");
    }
    assert_eq!(observation.facts.http.unwrap().redirects.len(), 1, "a login is no redirect");
}

#[tokio::test]
async fn a_stale_nonce_is_replaced_a_limited_number_of_times() {
    let first = "Digest realm=\"r\", nonce=\"n1\", qop=\"auth\"";
    let stale = "Digest realm=\"r\", nonce=\"n2\", qop=\"auth\", stale=true";
    let server = Server::start(vec![challenge_with(first), challenge_with(stale), respond(page("x"))]).await;
    Passes.compare(&attempt(&server, "/").await).unwrap();
    let nonces: Vec<_> = server.requests().iter().map(|request| parameter(request, "nonce")).collect();
    assert_eq!(nonces, [None, Some("n1".to_owned()), Some("n2".to_owned())]);

    let server = Server::start(vec![challenge_with(first), challenge_with(stale)]).await;
    Fails(5, Kind::LoginRejected, Some(Phase::Validate)).compare(&attempt(&server, "/").await).unwrap();
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_wrong_password_is_not_tried_again() {
    let server = Server::start(vec![challenge_with("Digest realm=\"r\", nonce=\"n1\", qop=\"auth\"")]).await;
    Fails(5, Kind::LoginRejected, Some(Phase::Validate)).compare(&attempt(&server, "/").await).unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_401_of_another_host_is_not_a_refused_login() {
    let other = Server::bind("127.0.0.2:0", vec![challenge_with("Basic")], None).await;
    for challenge in ["Basic", "Digest realm=\"r\", nonce=\"n\""] {
        let to = respond(redirect(302, &other.url("/")));
        let first = Server::start(vec![challenge_with(challenge), to]).await;
        let observation = attempt(&first, "/").await;
        Fails(7, Kind::HttpErrorStatus, Some(Phase::Validate)).compare(&observation).unwrap();
    }
    assert!(other.requests().iter().all(|request| !request.contains("Authorization")));
}
