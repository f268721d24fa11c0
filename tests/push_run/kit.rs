//! A push monitor, and `vigie run` as a process.

use std::collections::BTreeMap;
use std::process::Stdio;

use tokio::process::Command;
use url::Url;

use crate::notify::receiver::{Receiver, Request, status};
use crate::support::binary::program;

/// The secret part of the push URL.
pub const TOKEN: &str = "pu5h-t0ken-0123456789";

/// What a process printed, and its exit code.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Starts a push monitor that takes everything.
pub async fn accepting() -> Receiver {
    Receiver::start(|_, _| status(200)).await
}

pub fn push_url(receiver: &Receiver) -> String {
    receiver.url(&format!("/push/{TOKEN}"))
}

/// Returns `vigie run` that pushes to `url`, with `args`.
pub fn vigie_run(url: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.arg("run").args(args).env("VIGIE_PUSH_URL", url);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Runs `command` to its end.
pub async fn ended(mut command: Command) -> Ended {
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let ended = Ended {
        code: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    assert!(!ended.stderr.contains(TOKEN), "{}", ended.stderr);
    ended
}

/// Returns the parameters of a push.
pub fn parameters(request: &Request) -> BTreeMap<String, String> {
    let target = request.line.strip_prefix("POST ").and_then(|rest| rest.strip_suffix(" HTTP/1.1")).unwrap();
    let url = Url::parse("http://a.test").unwrap().join(target).unwrap();
    assert_eq!(url.path(), format!("/push/{TOKEN}"));
    url.query_pairs().into_owned().collect()
}

/// Returns the only end that was reported, after the only start: its parameters and its body.
pub fn reported(receiver: &Receiver) -> (BTreeMap<String, String>, String) {
    let requests = receiver.requests();
    assert_eq!(requests.len(), 2, "{requests:?}");
    assert_eq!(parameters(&requests[0])["status"], "start");
    assert_eq!(requests[1].header("content-type"), Some("text/plain; charset=utf-8"));
    (parameters(&requests[1]), String::from_utf8(requests[1].body.clone()).unwrap())
}
