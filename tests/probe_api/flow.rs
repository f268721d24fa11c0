//! A whole flow: log in, pass values of responses to later steps, log out; and how a result shows it.

use serde_json::{Value, json};
use vigie::domain::{FailureKind, Phase};

use crate::probe_api::check::{Check, failed, get, golden, passed, run, with};
use crate::probe_api::service::{Request, Response, Service, respond, respond_json};

fn shop(request: &Request) -> Response {
    let logged_in = request.header("Cookie").is_some_and(|cookies| cookies.contains("sid=abc"));
    let path = request.target.split('?').next().unwrap();
    match (request.method.as_str(), path) {
        ("POST", "/login") if request.body == r#"{"user": "me", "password": "secret"}"# => respond(
            200,
            "Content-Type: application/json\r\nSet-Cookie: sid=abc; Path=/\r\nX-Csrf: c-17\r\n",
            r#"{"token": "t0k3n-value", "user": {"id": 7, "name": "Ann \"A\" Bell"}}"#,
        ),
        _ if !logged_in => respond(403, "", "log in first"),
        ("GET", "/users/7") => respond_json(r#"{"orders": [{"id": "o/1 a"}, {"id": "o/2"}]}"#),
        ("GET", "/orders/o%2F1%20a") => respond(
            200,
            "Content-Type: text/xml\r\n",
            "<o xmlns:m='urn:m'><m:sum cur='EUR'>12.50</m:sum></o>",
        ),
        ("POST", "/pay") => respond(201, "Location: /payments/99\r\n", "Payment-Reference: <PR-4711>"),
        ("PUT", "/payments/99") if request.header("Authorization") == Some("Bearer t0k3n-value") => {
            respond(204, "", "")
        }
        ("GET", "/old") => respond(302, "Location: /new\r\n", ""),
        ("GET", "/new") => respond(200, "Content-Type: text/plain\r\n", "moved here"),
        ("HEAD", "/health") => respond(200, "X-Health: fine\r\n", ""),
        ("POST", "/logout") => respond(200, "Set-Cookie: sid=; Max-Age=0; Path=/\r\n", "bye"),
        other => respond(404, "", format!("{other:?}")),
    }
}

fn asserts(source: &str, property: &str, comparison: &str, value: &str) -> Value {
    json!({"source": source, "property": property, "comparison": comparison, "value": value})
}

fn ten_steps(service: &Service) -> Vec<Value> {
    let url = |path: &str| service.url(path);
    vec![
        json!({"step_name": "Log in", "step_number": 1, "url": url("/login"), "http_method": "POST", "head": {},
        "post": {"content_type": "application/json", "body": r#"{"user": "me", "password": "secret"}"#},
        "assertions": [asserts("Status Code", "", "equals", "2xx")],
        "variables": [
            {"name": "token", "property": "$.token", "source": "JSON Response"},
            {"name": "user", "property": "user.id"},
            {"name": "name", "property": "$.user.name"},
            {"name": "csrf", "property": "x-csrf", "source": "Header"},
        ]}),
        with(
            get("Find the user", &url("/users/{{user}}")),
            json!({"step_number": 2,
            "assertions": [asserts("JSON Response", "$.orders[*]", "count", "2")],
            "variables": [{"name": "order", "property": "$.orders[0].id"}]}),
        ),
        with(
            get("Read the order", &url("/orders/{{order}}?by={{name}}")),
            json!({"step_number": 3,
            "assertions": [asserts("XML Response", "//m:sum/@cur", "equals", "EUR")],
            "variables": [{"name": "sum", "property": "//m:sum"}]}),
        ),
        json!({"step_name": "Pay", "step_number": 4, "url": url("/pay"), "http_method": "POST", "head": {
                "headers": [{"name": "X-Csrf", "value": "{{csrf}}"}]},
            "post": {"content_type": "application/json",
                "body": r#"{"name": "{{name}}", "sum": {{sum}}, "request": "{{$uuid}}"}"#},
            "assertions": [asserts("Status Code", "", "equals", "201"),
                asserts("Header", "Location", "equals", "/payments/99")],
            "variables": [{"name": "reference", "property": "<(PR-[0-9]+)>", "source": "Response"},
                {"name": "payment", "property": "Location", "source": "Header"}]}),
        json!({"step_name": "Confirm", "step_number": 5, "url": format!("{}{{{{payment}}}}", service.url("")),
            "http_method": "CUSTOM", "custom_method": "PUT", "head": {"bearer_token": "{{token}}"},
            "post": {"content_type": "application/x-www-form-urlencoded", "body": "reference={{reference}}&by={{name}}"}}),
        with(
            get("Follow", &url("/old")),
            json!({"step_number": 6,
            "assertions": [asserts("Response", "", "equals", "moved here")]}),
        ),
        with(
            get("Do not follow", &url("/old")),
            json!({"step_number": 7, "follow_redirects": false,
            "assertions": [asserts("Status Code", "", "equals", "302"),
                asserts("Header", "Location", "contains", "/new")]}),
        ),
        with(
            get("Health", &url("/health")),
            json!({"step_number": 8, "http_method": "HEAD",
            "assertions": [asserts("Header", "X-Health", "equals", "fine"),
                asserts("Timeout", "", "less than or equal", "20")]}),
        ),
        json!({"step_name": "Log out", "step_number": 9, "url": url("/logout"), "http_method": "POST", "head": {}}),
        with(
            get("Stay out", &url("/users/7")),
            json!({"step_number": 10,
            "assertions": [asserts("Status Code", "", "equals", "403"),
                asserts("Response", "", "contains", "log in")]}),
        ),
    ]
}

// row: 2.3 API Step.url; 2.3 API Step.step_number; 2.3 API Step.variables
#[tokio::test]
async fn ten_steps_carry_cookies_and_variables() {
    let service = Service::start(shop).await;
    let mut steps = ten_steps(&service);
    // The step numbers decide the order, not the positions.
    steps.swap(1, 8);
    steps[4]["step_number"] = json!(5);
    let observation = run(&steps).await;
    passed(&observation);
    let numbers: Vec<u32> = observation.details.steps.iter().map(|step| step.number).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    let requests = service.requests();
    let targets: Vec<String> =
        requests.iter().map(|request| format!("{} {}", request.method, request.target)).collect();
    assert_eq!(
        targets,
        [
            "POST /login",
            "GET /users/7",
            "GET /orders/o%2F1%20a?by=Ann%20%22A%22%20Bell",
            "POST /pay",
            "PUT /payments/99",
            "GET /old",
            "GET /new",
            "GET /old",
            "HEAD /health",
            "POST /logout",
            "GET /users/7",
        ]
    );
    let pay = &requests[3];
    assert_eq!(pay.header("X-Csrf"), Some("c-17"));
    let body: Value = serde_json::from_str(&pay.body).unwrap();
    assert_eq!((&body["name"], &body["sum"]), (&json!("Ann \"A\" Bell"), &json!(12.5)));
    assert_eq!(body["request"].as_str().unwrap().len(), 36);
    assert_eq!(requests[4].body, "reference=PR-4711&by=Ann+%22A%22+Bell");
    assert!(requests[10].header("Cookie").is_none(), "the cookie is gone after the log out");
    let steps = &observation.details.steps;
    assert_eq!(steps[0].variable_names, ["token", "user", "name", "csrf"]);
    assert_eq!(steps[5].exchanges.len(), 2);
    assert!(steps.iter().all(|step| step.phases.micros(Phase::FirstByte).is_some()));
    assert!(
        steps.windows(2).all(|pair| pair[0].start_offset_us + pair[0].duration_us <= pair[1].start_offset_us)
    );
    let recorded = format!("{observation:?}");
    assert!(!recorded.contains("t0k3n"), "a token is kept nowhere");
    assert!(!recorded.contains("sid=abc"), "a cookie is kept nowhere");
}

// row: 2.3 API Step.step_name
#[tokio::test]
async fn results_show_each_step() {
    let service = Service::start(shop).await;
    let mut steps: Vec<Value> = ten_steps(&service).into_iter().take(3).collect();
    steps[2]["assertions"] = json!([
        asserts("XML Response", "//m:sum", "equals", "13"),
        asserts("XML Response", "//m:sum/@cur", "equals", "EUR"),
        asserts("Header", "Content-Type", "contains", "json"),
    ]);
    let observation = run(&steps).await;
    let failure = failed(&observation, FailureKind::AssertionFailed, 5);
    assert_eq!(
        failure.detail,
        "step 3 `Read the order`: XML Response `//m:sum` equals `13`: found `12.50`; \
         Header `Content-Type` contains `json`: found `text/xml`"
    );
    insta::assert_snapshot!("three_steps", golden(&observation, service.address.port()));
}

#[tokio::test]
async fn recording_exchanges_keeps_longer_bodies() {
    let service = Service::start(|_| respond(200, "", "x".repeat(100_000))).await;
    let mut check = Check::of(&[get("Long", &service.url("/"))]);
    let body_size = |observation: &vigie::domain::Observation| {
        let body = observation.details.steps[0].exchanges[0].response_body.clone().unwrap();
        (body.text.len(), body.body_bytes)
    };
    assert_eq!(body_size(&check.run().await), (2048, 100_000));
    check.record = true;
    assert_eq!(body_size(&check.run().await), (65_536, 100_000));
}

#[tokio::test]
async fn a_single_request_equals_the_step_it_is_converted_to() {
    let service =
        Service::start(|request| respond(if request.target == "/bad" { 500 } else { 200 }, "", "one")).await;
    for (path, value, status) in [("/a", "one", 0), ("/a", "two", 5), ("/bad", "one", 7)] {
        let assertions = json!([asserts("Response", "", "equals", value)]);
        let mut single = Check::of(&[]);
        let Value::Object(fields) =
            json!({"url": service.url(path), "http_method": "POST", "assertions": assertions})
        else {
            unreachable!()
        };
        single.fields = fields;
        // The same as convert-api writes it.
        let step = json!({"url": service.url(path), "http_method": "POST", "head": {}, "step_name": "Step 1",
            "step_number": 1, "assertions": assertions});
        let (one, other) = (single.run().await, run(&[step]).await);
        assert_eq!(one.failure.as_ref().map_or(0, |failure| failure.status().0), status);
        let port = service.address.port();
        assert_eq!(golden(&one, port), golden(&other, port));
    }
}
