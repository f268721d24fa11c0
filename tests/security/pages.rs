//! No program of another user on this host, no other site in a browser and no other account sees the pages.

use serde_json::{Value, json};

use super::{create, server_with_other_account};
use crate::daemon::process::{Daemon, Response};

const PASSWORD: &str = "correct horse";

/// A browser: it keeps cookies, and names its origin when it sends a form.
struct Browser<'a> {
    server: &'a Daemon,
    cookies: Vec<(String, String)>,
}

impl<'a> Browser<'a> {
    fn new(server: &'a Daemon) -> Self {
        Self { server, cookies: Vec::new() }
    }

    fn origin(&self) -> String {
        format!("http://{}", self.server.address)
    }

    fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Response {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let headers = format!(
            "Host: {}\r\nAccept: text/html\r\nCookie: {}\r\nContent-Length: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n{headers}",
            self.server.address,
            cookies.join("; "),
            body.len()
        );
        let response = self.server.send_raw(method, path, &headers, body);
        for cookie in response.headers("set-cookie") {
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.retain(|(known, _)| known != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        response
    }

    fn get(&mut self, path: &str) -> Response {
        self.send("GET", path, "", "")
    }

    fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let origin = format!("Origin: {}\r\n", self.origin());
        self.send("POST", path, &origin, &form(fields))
    }

    fn session(&self) -> Option<&str> {
        let name = format!("vigie-session-{}", self.server.address.port());
        self.cookies.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Signs in through the form and returns the response.
    fn sign_in(&mut self, login: &str, password: &str, next: &str) -> Response {
        let page = self.get("/sign-in");
        let token = form_token(&page.body);
        let fields =
            [("login", login), ("password", password), ("next", next), ("form_token", token.as_str())];
        self.post("/sign-in", &fields)
    }
}

fn form(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Returns the token of the form in `page`.
fn form_token(page: &str) -> String {
    let (_, rest) = page.split_once(r#"name="form_token" value=""#).unwrap_or_else(|| panic!("{page}"));
    rest.split('"').next().unwrap().to_owned()
}

fn add_user(server: &Daemon, account: i64, login: &str, role: &str) -> String {
    let user = json!({"login": login, "role": role, "password": PASSWORD});
    let (status, response) = server.call_in(account, "POST", "/users", &user);
    assert_eq!(status, 200, "{response}");
    response["id"].as_str().unwrap().to_owned()
}

fn website(server: &Daemon, account: i64, name: &str) -> String {
    create(server, account, "website", json!({"name": name, "url": "http://192.0.2.1/"}))
}

#[test]
fn a_program_on_this_host_sees_no_page_without_a_login() {
    let (server, other) = server_with_other_account();
    let monitor = website(&server, other, "Payroll");
    for path in ["/", &format!("/monitors/{monitor}"), "/results/0000000000000001", "/manual/"] {
        let (status, body) = server.get_with_headers(path, "");
        assert_eq!(status, 401, "{path}: {body}");
        assert!(!body.contains("Payroll"), "{path}: {body}");
        let response = Browser::new(&server).get(path);
        assert_eq!(response.status, 303, "{path}");
        let next = form(&[("next", path)]);
        assert_eq!(response.headers("location"), [format!("/sign-in?{next}")]);
    }
}

#[test]
fn a_signed_in_user_sees_their_own_account_only() {
    let (server, other) = server_with_other_account();
    let (own, foreign) = (website(&server, 1, "Own shop"), website(&server, other, "Payroll"));
    for (account, login) in [(1, "anna"), (other, "bert")] {
        add_user(&server, account, login, "ADMIN");
        let mut browser = Browser::new(&server);
        let response = browser.sign_in(login, PASSWORD, "/?standing=waiting");
        assert_eq!(
            (response.status, response.headers("location")),
            (303, vec!["/?standing=waiting".to_owned()])
        );
        let cookie = response.headers("set-cookie").remove(0);
        for attribute in ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=604800"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        let page = browser.get("/").body;
        assert_eq!(
            (page.contains("Own shop"), page.contains("Payroll")),
            (account == 1, account != 1),
            "{page}"
        );
        assert_eq!(browser.get(&format!("/monitors/{own}")).status == 200, account == 1);
        assert_eq!(browser.get(&format!("/monitors/{foreign}")).status == 200, account != 1);
        // The cookie is for the pages alone.
        let session = browser.session().unwrap().to_owned();
        let bearer = format!("Authorization: Bearer {session}\r\n");
        assert_eq!(server.get_with_headers("/api/v3/monitors", &bearer).0, 401);
        assert_eq!(browser.get("/api/v3/monitors").status, 401);
        let database = std::fs::read(server.folder.path().join("data/vigie.db")).unwrap();
        let wal = std::fs::read(server.folder.path().join("data/vigie.db-wal")).unwrap_or_default();
        let stores = [database, wal].concat();
        assert!(
            !stores.windows(session.len()).any(|bytes| bytes == session.as_bytes()),
            "stored in plain text"
        );
    }
    add_user(&server, 1, "clara", "REPORTONLY");
    let mut browser = Browser::new(&server);
    browser.sign_in("clara", PASSWORD, "/");
    let page = browser.get("/");
    assert!(page.status == 403 && !page.body.contains("Own shop"), "{}", page.body);
}

/// Creates a performance alert of `monitor`; returns the path of its page.
fn performance_alert(server: &Daemon, account: i64, monitor: &str) -> String {
    let alerts = format!("/monitors/{monitor}/performance-alerts");
    let body = json!({"type": "static", "threshold": 77.5});
    let (status, response) = server.call_in(account, "POST", &alerts, &body);
    assert_eq!(status, 200, "{response}");
    format!("{alerts}/{}", response["id"].as_str().unwrap())
}

#[test]
fn performance_alerts_are_seen_by_their_account_and_changed_by_its_editors() {
    let (server, other) = server_with_other_account();
    let (own, second) = (website(&server, 1, "Own shop"), website(&server, 1, "Second shop"));
    let foreign = website(&server, other, "Payroll");
    let own_alert = performance_alert(&server, 1, &own);
    let foreign_alert = performance_alert(&server, other, &foreign);
    let list = format!("/monitors/{own}/performance-alerts");
    let id_of = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    for (login, role, may_edit) in [("anna", "POWER-USER", true), ("vera", "READONLY", false)] {
        add_user(&server, 1, login, role);
        let mut browser = Browser::new(&server);
        browser.sign_in(login, PASSWORD, "/");
        let page = browser.get(&list);
        assert!(page.status == 200 && page.body.contains("77.5"), "{}", page.body);
        for path in [format!("{list}/new"), own_alert.clone()] {
            assert_eq!(page.body.contains(&format!("\"{path}\"")), may_edit, "{login} {path}: {}", page.body);
        }
        assert_eq!(browser.get(&format!("{list}/new")).status == 200, may_edit, "{login}");
        let page = browser.get(&own_alert);
        assert_eq!(page.status, 200, "{login}");
        assert_eq!(page.body.contains("primary"), may_edit, "{login}: {}", page.body);
        let token = form_token(&page.body);
        let of_foreign = [
            format!("/monitors/{foreign}/performance-alerts"),
            format!("/monitors/{foreign}/performance-alerts/new"),
            foreign_alert.clone(),
            format!("{foreign_alert}/remove"),
            // Of another monitor than the path says.
            format!("{list}/{}", id_of(&foreign_alert)),
            format!("/monitors/{second}/performance-alerts/{}", id_of(&own_alert)),
            format!("/monitors/{second}/performance-alerts/{}/remove", id_of(&own_alert)),
        ];
        for path in &of_foreign {
            let page = browser.get(path);
            assert!(page.status == 404 && !page.body.contains("77.5"), "{login} {path}: {}", page.body);
        }
        let fields =
            [("form_token", token.as_str()), ("revision", "1"), ("type", "static"), ("threshold", "1")];
        let refused_status = if may_edit { 404 } else { 403 };
        for path in &of_foreign[1..] {
            assert_eq!(browser.post(path, &fields).status, refused_status, "{login} {path}");
        }
        let response = browser.post(&own_alert, &fields);
        assert_eq!(response.status, if may_edit { 303 } else { 403 }, "{login}: {}", response.body);
        let (_, alert) = server.call_in(1, "GET", &own_alert, &Value::Null);
        assert_eq!(alert["threshold"], if may_edit { 1.0 } else { 77.5 }, "{alert}");
        let put_back = json!({"threshold": 77.5});
        assert_eq!(server.call_in(1, "PATCH", &own_alert, &put_back).0, 200);
        let (_, alert) = server.call_in(other, "GET", &foreign_alert, &Value::Null);
        assert_eq!(alert["threshold"], 77.5, "{alert}");
    }
}

#[test]
fn sign_out_and_a_new_password_end_the_session() {
    let (server, _) = server_with_other_account();
    let id = add_user(&server, 1, "anna", "READONLY");
    let mut browser = Browser::new(&server);
    browser.sign_in("anna", PASSWORD, "/");
    let page = browser.get("/");
    assert_eq!(page.status, 200);
    let stolen = browser.cookies.clone();
    let response = browser.post("/sign-out", &[("form_token", &form_token(&page.body))]);
    assert_eq!((response.status, browser.session()), (303, None));
    browser.cookies = stolen;
    assert_eq!(browser.get("/").status, 303, "the session goes on");
    browser.sign_in("anna", PASSWORD, "/");
    assert_eq!(browser.get("/").status, 200);
    let change = json!({"password": "another password"});
    assert_eq!(server.call_in(1, "PATCH", &format!("/users/{id}"), &change).0, 200);
    assert_eq!(browser.get("/").status, 303, "the session goes on");
}

#[test]
fn other_sites_cannot_send_forms_in_the_name_of_a_user() {
    let (server, _) = server_with_other_account();
    add_user(&server, 1, "anna", "READONLY");
    let mut browser = Browser::new(&server);
    let token = form_token(&browser.get("/sign-in").body);
    let login = |token: &str| form(&[("login", "anna"), ("password", PASSWORD), ("form_token", token)]);
    let own = format!("Origin: {}\r\n", browser.origin());
    let foreign = [
        "Origin: http://evil.example\r\n".to_owned(),
        format!("Origin: http://127.0.0.1:{}\r\n", server.address.port() ^ 1),
        "Origin: null\r\n".to_owned(),
        String::new(),
        format!("{own}Sec-Fetch-Site: cross-site\r\n"),
    ];
    for headers in &foreign {
        let response = browser.send("POST", "/sign-in", headers, &login(&token));
        assert_eq!((response.status, browser.session()), (403, None), "{headers}");
    }
    for wrong in ["", "x", &form_token(&Browser::new(&server).get("/sign-in").body)] {
        assert_eq!(browser.send("POST", "/sign-in", &own, &login(wrong)).status, 403, "{wrong}");
    }
    assert_eq!(browser.send("POST", "/sign-in", &own, &login(&token)).status, 303);
    let token = form_token(&browser.get("/").body);
    for headers in &foreign {
        let response = browser.send("POST", "/sign-out", headers, &form(&[("form_token", &token)]));
        assert_eq!(response.status, 403, "{headers}");
    }
    assert_eq!(browser.send("POST", "/sign-out", &own, &form(&[("form_token", "x")])).status, 403);
    assert_eq!(browser.get("/").status, 200, "signed out by another site");
}

#[test]
fn links_to_the_sign_in_page_do_not_lead_to_other_sites() {
    let (server, _) = server_with_other_account();
    add_user(&server, 1, "anna", "READONLY");
    for next in ["//evil.example/", "https://evil.example/", "/\\evil.example", "/a\r\nSet-Cookie: a=b"] {
        let mut browser = Browser::new(&server);
        let response = browser.sign_in("anna", PASSWORD, next);
        assert_eq!(response.headers("location"), ["/"], "{next}");
        let query = form(&[("next", next)]);
        assert_eq!(browser.get(&format!("/sign-in?{query}")).headers("location"), ["/"], "{next}");
    }
}

#[test]
fn unknown_host_names_get_no_page_so_that_dns_rebinding_fails() {
    let (server, _) = server_with_other_account();
    for path in ["/", "/metrics", "/sign-in", "/sign-in/link?token=x"] {
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:7979"] {
            let response = server.send_raw("GET", path, &format!("Host: {host}\r\n"), "");
            assert_eq!(response.status, 421, "{path} {host}");
        }
    }
    let token = format!("Host: vigie.example\r\nAuthorization: Bearer {}\r\n", server.token());
    for path in ["/", "/metrics"] {
        assert_eq!(server.send_raw("GET", path, &token, "").status, 200, "calls with a token are free of it");
    }
}

#[test]
fn guesses_on_the_sign_in_page_are_slowed_down() {
    let (server, _) = server_with_other_account();
    add_user(&server, 1, "anna", "READONLY");
    let mut browser = Browser::new(&server);
    for _ in 0..5 {
        assert_eq!(browser.sign_in("anna", "wrong password", "/").status, 400);
    }
    let response = browser.sign_in("anna", PASSWORD, "/");
    assert_eq!((response.status, browser.session()), (429, None));
    assert_eq!(response.headers("retry-after"), ["1"]);
    // The same counter as that of the API.
    let login = json!({"username": "anna", "password": PASSWORD});
    assert_eq!(server.call("POST", "/access-tokens", &login).0, 429);
}

#[test]
fn a_sign_in_link_of_the_host_works_once_and_only_by_its_button() {
    let (mut server, other) = server_with_other_account();
    website(&server, other, "Payroll");
    add_user(&server, 1, "anna", "ADMIN");
    let login = json!({"username": "anna", "password": PASSWORD});
    let (_, token) = server.call("POST", "/access-tokens", &login);
    let admin = token["access_token"].as_str().unwrap().to_owned();
    assert_eq!(server.call_with_token(&admin, "POST", "/sign-in-links", &Value::Null).0, 403);
    let (status, link) = server.call("POST", "/sign-in-links", &Value::Null);
    assert_eq!((status, &link["expires_in"]), (200, &json!(600)), "{link}");
    let path = link["path"].as_str().unwrap();
    let (_, token) = path.split_once("token=").unwrap();
    let mut browser = Browser::new(&server);
    for _ in 0..2 {
        let page = browser.get(path);
        assert!(page.status == 200 && page.body.contains("<button>"), "{}", page.body);
        assert_eq!(page.headers("referrer-policy"), ["no-referrer"]);
    }
    assert_eq!(browser.get("/").status, 303, "opening the page must not sign in");
    let evil = "Origin: http://evil.example\r\n";
    assert_eq!(browser.send("POST", "/sign-in/link", evil, &form(&[("token", token)])).status, 403);
    // Browsers send this from a page without a referrer.
    let response = browser.send("POST", "/sign-in/link", "Origin: null\r\n", &form(&[("token", token)]));
    assert_eq!((response.status, response.headers("location")), (303, vec!["/".to_owned()]));
    let page = browser.get("/");
    assert!(page.status == 200 && page.body.contains("Payroll"), "{}", page.body);
    let mut second = Browser::new(&server);
    assert_eq!(second.post("/sign-in/link", &[("token", token)]).status, 403, "used twice");
    assert!(second.session().is_none());
    let token = token.to_owned();
    assert!(!server.log_text().contains(&token));
}
