//! What suppaftp logs, at the level that tells most.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;
use vigie::domain::MonitorType;

use crate::probe_ftp::check::{PASSWORD, SOON, attempt, config, fields};
use crate::probe_ftp::server::{Rules, Server};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_level_of_logs_tells_the_password() {
    let lines = Lines::default();
    let writer = lines.clone();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("trace,suppaftp=trace"))
        .with_writer(move || writer.clone())
        .finish()
        .try_init()
        .unwrap();
    let server = Server::start(Rules::default()).await;
    let observation = attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), SOON).await;
    assert!(observation.failure.is_none(), "{:?}", observation.failure);
    assert!(server.lines().contains(&format!("PASS {PASSWORD}")));
    let text = String::from_utf8_lossy(&lines.0.lock().unwrap()).into_owned();
    assert!(text.contains("CC OUT: PASS ********"), "suppaftp logs nothing: {text}");
    assert!(!text.contains(PASSWORD), "{text}");
}
