//! The service that collections of `cases/` talk to.

use crate::probe_api::service::{Request, Response, Service, respond, respond_json};

pub async fn start() -> Service {
    Service::start(answer).await
}

fn answer(request: &Request) -> Response {
    match respond_to(request) {
        // newman keeps connections, and must know that this one ends.
        Response::Send(status, headers, body) => Response::SendAndClose(status, headers, body),
        other => other,
    }
}

fn respond_to(request: &Request) -> Response {
    match request.target.split('?').next().unwrap_or_default() {
        "/redirect" => respond(302, "Location: /after\r\n", ""),
        "/cookie" => respond(200, "Set-Cookie: sid=1; Path=/\r\n", "{}"),
        "/plain" => respond(200, "Content-Type: text/plain\r\n", "just text"),
        "/missing" => respond(404, "", "nothing here"),
        "/digest" if request.header("Authorization").is_none() => {
            respond(401, "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n", "")
        }
        _ => respond_json("{\"a\":{\"b\":1},\"list\":[1,2],\"s\":\"x\"}"),
    }
}
