//! A script from anybody: it ends within its limits, and the host survives it.

use std::sync::Arc;
use std::time::Duration;

use vigie::sandbox::{ScriptSandbox, Turn};

const CONTEXT: &str = r#"{"info":{"event":"test","iteration":0,"iterationCount":1,"requestName":"r","requestId":"r","location":["r"],
"environmentName":"e"},"scopes":{"local":[],"data":[],"environment":[["a","b"]],"collection":[],"globals":[]},
"request":{"method":"GET","url":"http://a.test/"},"response":{"code":200,"status":"OK","headers":[],"body":"{}","responseTime":1,
"responseSize":2,"cookies":[]},"cookies":[]}"#;

pub fn run(data: &[u8]) {
    let code = String::from_utf8_lossy(data);
    let most = Duration::from_millis(50);
    let Ok(mut sandbox) = ScriptSandbox::new(Arc::new(|_| None)) else { return };
    let mut turn = sandbox.begin(&code, CONTEXT, 0.0, most);
    for _ in 0..20 {
        turn = match turn {
            Turn::Done(_) => break,
            Turn::Waiting { operations, .. } if !operations.is_empty() => {
                sandbox.answer(operations[0].id, "{\"error\":\"no\"}", 1.0, most)
            }
            Turn::Waiting { timer_due_ms, .. } => sandbox.tick(timer_due_ms.unwrap_or(1.0), most),
        };
    }
}
