//! The heartbeat of a running process.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::receiver::Receiver;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_works_calls_the_heartbeat_url() {
    let receiver = Receiver::always(200).await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let _server = Server(
        Command::new(env!("CARGO_BIN_EXE_vigie"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(&data)
            .env("VIGIE_HEARTBEAT_URL", receiver.url("/beat/1"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let end = Instant::now() + Duration::from_mins(1);
    while receiver.requests().is_empty() {
        assert!(Instant::now() < end, "no heartbeat came");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(receiver.only_request().line, "GET /beat/1 HTTP/1.1");
}
