//! Guessing passwords behind a reverse proxy slows down the attacker, not everybody.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::daemon::process::{Daemon, command, folder};

const PASSWORD: &str = "correct horse";

/// Logs in through a proxy on this host, which got the request from `client`, and returns the status.
fn log_in(server: &Daemon, client: &str, login: &str, password: &str) -> u16 {
    let body = json!({"username": login, "password": password}).to_string();
    let headers = format!(
        "Host: localhost\r\nX-Forwarded-For: {client}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    server.send_raw("POST", "/api/v3/access-tokens", &headers, &body).status
}

fn server_behind_proxy(trusted_proxies: &str) -> Daemon {
    let folder = folder("[]");
    let mut command = command(folder.path());
    command.env("VIGIE_SERVER_TRUSTED_PROXIES", trusted_proxies);
    let server = Daemon::from_child(command.spawn().unwrap(), folder);
    for login in ["anna", "clara"] {
        let user = json!({"login": login, "role": "READONLY", "password": PASSWORD});
        assert_eq!(server.call("POST", "/users", &user).0, 200);
    }
    server
}

#[test]
fn an_attacker_behind_the_same_proxy_slows_nobody_else() {
    let server = server_behind_proxy("127.0.0.0/8");
    assert_eq!(log_in(&server, "192.0.2.1", "anna", PASSWORD), 200);
    let guesses = (0..30).map(|n| log_in(&server, "198.51.100.1", &format!("login {n}"), "guess number 1"));
    assert_eq!(guesses.filter(|status| *status == 400).count(), 20);
    // What the attacker writes to the left of its own address has no effect.
    assert_eq!(log_in(&server, "192.0.2.1, 198.51.100.1", "clara", PASSWORD), 429);
    assert_eq!(log_in(&server, "203.0.113.1", "clara", PASSWORD), 200, "everybody is slowed down");
    // Guesses on one login from many addresses.
    for n in 0..10 {
        log_in(&server, &format!("198.51.100.{}", n + 2), "anna", "guess number 2");
    }
    assert_eq!(log_in(&server, "198.51.100.99", "anna", PASSWORD), 429);
    assert_eq!(log_in(&server, "192.0.2.1", "anna", PASSWORD), 200, "the owner is slowed down");
    let (_, trail) = server.call("GET", "/audit?limit=200", &json!(null));
    let trail = trail.to_string();
    assert!(trail.contains("\"198.51.100.1\"") && trail.contains("\"203.0.113.1\""), "{trail}");
}

#[test]
fn a_restart_lets_an_attacker_guess_no_more() {
    let mut server = server_behind_proxy("127.0.0.0/8");
    let count_admitted = |server: &Daemon| {
        let guesses =
            (0..30).map(|n| log_in(server, "198.51.100.1", &format!("login {n}"), "guess number 1"));
        guesses.filter(|status| *status == 400).count()
    };
    assert_eq!(count_admitted(&server), 20);
    server.signal(Signal::SIGKILL);
    server.wait_for_exit();
    server.start_again_with(|command| {
        command.env("VIGIE_SERVER_TRUSTED_PROXIES", "127.0.0.0/8");
    });
    // One when its delay ended meanwhile; the next delays are 2, 4 and 8 s.
    let admitted = count_admitted(&server);
    assert!(admitted < 5, "{admitted} further guesses");
}

#[test]
fn who_is_no_trusted_proxy_chooses_no_address() {
    let server = server_behind_proxy("10.0.0.0/8");
    let guesses =
        (0..30).map(|n| log_in(&server, &format!("198.51.100.{n}"), &format!("login {n}"), "guess number 1"));
    assert_eq!(guesses.filter(|status| *status == 400).count(), 20, "a header escapes the throttle");
}
