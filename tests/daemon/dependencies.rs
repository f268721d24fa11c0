//! A monitor that depends on another one, in the running server.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};

use crate::daemon::process::Daemon;

fn monitor(key: &str, port: u16, more: &str) -> String {
    format!(
        "- {{key: {key}, type: tcp, name: {key}, billing_plancode: x, hostname: 127.0.0.1, port: {port}, \
         interval_seconds: 5, timeout: 2, mode: Global Notify, retry_on_failure: false{more}}}\n"
    )
}

/// A port that refuses connections until it listens.
fn closed_port() -> (Socket, u16) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    let port = socket.local_addr().unwrap().as_socket().unwrap().port();
    (socket, port)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(40), "it never came to it that {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn items(body: &Value) -> Vec<Value> {
    body["results"].as_array().cloned().unwrap_or_default()
}

#[test]
fn only_the_parent_is_notified_until_it_clears() {
    let ((router, router_port), (_shop, shop_port)) = (closed_port(), closed_port());
    let files = monitor("shop", shop_port, ", depends_on: [router]") + &monitor("router", router_port, "");
    let daemon = Daemon::start(&files);
    let recipient = json!({"name": "Hook", "method_id": 10, "notify_on_clear": true,
        "recipient": format!("http://127.0.0.1:{shop_port}/")});
    let (status, response) = daemon.call("POST", "/recipients", &recipient);
    assert_eq!(status, 200, "{response}");
    let list = |path: &str| items(&daemon.call("GET", path, &Value::Null).1);
    let monitors = list("/monitors");
    let id =
        |name: &str| monitors.iter().find(|monitor| monitor["name"] == name).unwrap()["id"].as_i64().unwrap();
    let (shop, router_id) = (id("shop"), id("router"));
    let read = daemon.call("GET", &format!("/monitors/{shop}"), &Value::Null).1;
    assert_eq!(read["depends_on"], json!([router_id]));
    let open_outages = || {
        let episodes = list("/episodes?open=true");
        episodes.iter().map(|episode| episode["monitor_id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let results = || list(&format!("/results?monitor_id={shop}"));
    until("the router is down and errors of the shop are suppressed", || {
        let suppressed =
            results().iter().filter(|result| result["suppressed_by"] == json!([router_id])).count();
        suppressed >= 1 && open_outages() == [router_id]
    });
    assert!(results().iter().all(|result| result["outcome"] == "error"));
    let notified = || {
        let notifications = list("/notifications");
        notifications.iter().map(|row| row["monitor_id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    until("the recipient is notified", || !notified().is_empty());
    assert!(notified().iter().all(|id| *id == router_id), "{:?}", notified());
    let page_headers = format!("Authorization: Bearer {}\r\n", daemon.token());
    let (_, page) = daemon.get_with_headers(&format!("/monitors/{shop}"), &page_headers);
    let told = format!("suppressed: monitor {router_id} is down");
    assert!(page.contains(&told) && page.contains(&format!("router ({router_id})")), "{page}");
    router.listen(16).unwrap();
    until("the router clears and the shop's own outage opens", || open_outages() == [shop]);
    until("it is notified too", || notified().contains(&shop));
    let last = results().into_iter().next().unwrap();
    assert!(last.get("suppressed_by").is_none(), "{last}");
}
