//! The log of suppaftp at its most verbose level.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;
use vigie::domain::MonitorType;

use crate::probe_ftp::check::{PASSWORD, TIMEOUT, attempt, config, fields};
use crate::probe_ftp::server::{Rules, Server};

#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl io::Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_password_is_not_logged_at_any_level() {
    let buffer = LogBuffer::default();
    let writer = buffer.clone();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("trace,suppaftp=trace"))
        .with_writer(move || writer.clone())
        .finish()
        .try_init()
        .unwrap();
    let server = Server::start(Rules::default()).await;
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT).await;
    assert!(observation.failure.is_none(), "{:?}", observation.failure);
    assert!(server.lines().contains(&format!("PASS {PASSWORD}")));
    let text = String::from_utf8_lossy(&buffer.0.lock().unwrap()).into_owned();
    assert!(text.contains("CC OUT: PASS ********"), "suppaftp logs nothing: {text}");
    assert!(!text.contains(PASSWORD), "{text}");
}
