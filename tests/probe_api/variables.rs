//! Variables: where they come from, where they go, and what is made of values that mean harm.

use serde_json::{Value, json};
use vigie::domain::FailureKind;
use vigie::net::EgressPolicy;

use crate::probe_api::check::{Check, failed, get, passed, run, with};
use crate::probe_api::service::{Asked, Reply, Service, json as says_json, says};

/// Answers with what `value` says to a variable `v`, and with `{}` to anything else.
async fn giving(value: &str) -> Service {
    let value = json!({ "v": value }).to_string();
    Service::start(
        move |asked: &Asked| if asked.target == "/give" { says_json(&value) } else { says_json("{}") },
    )
    .await
}

fn give(service: &Service) -> Value {
    with(get("Give", &service.url("/give")), json!({"variables": [{"name": "v", "property": "$.v"}]}))
}

const HARM: &str = "a\r\nX-Evil: 1\r\n\r\nGET /evil HTTP/1.1\r\n&\"'<%2F";

#[tokio::test]
async fn a_value_that_would_split_a_request_never_does() {
    let service = giving(HARM).await;
    let header = with(
        get("Use", &service.url("/use")),
        json!({"head": {"headers": [
        {"name": "X-Own", "value": "{{v}}"}]}}),
    );
    let bearer = with(get("Use", &service.url("/use")), json!({"head": {"bearer_token": "{{v}}"}}));
    for step in [header, bearer] {
        let observation = run(&[give(&service), step]).await;
        let failure = failed(&observation, FailureKind::VariableInvalid, 5);
        assert!(failure.detail.contains("step 2 `Use`: `{{v}}` in a header"), "{}", failure.detail);
        assert!(!failure.detail.contains("Evil"), "{}", failure.detail);
    }
    let host = get("Use", "http://{{v}}/use");
    failed(&run(&[give(&service), host]).await, FailureKind::VariableInvalid, 5);
    assert!(service.asked().iter().all(|asked| asked.target == "/give"));
    let places = [
        with(get("Path", &service.url("/use/{{v}}?q={{v}}")), json!({})),
        with(
            get("Login", &service.url("/use")),
            json!({"head": {"http_basic_auth_username": "{{v}}",
            "http_basic_auth_password": "{{v}}", "preemptive_authentication": true}}),
        ),
    ];
    for step in places {
        passed(&run(&[give(&service), step]).await);
        let asked = service.last();
        assert!(asked.target.starts_with("/use") && asked.header("X-Evil").is_none(), "{asked:?}");
        assert!(!asked.head.contains("/evil"), "{asked:?}");
    }
}

#[tokio::test]
async fn bodies_take_a_value_as_their_media_type_wants() {
    let service = giving(HARM).await;
    let post = |content_type: &str, body: &str| {
        json!({"step_name": "Use", "url": service.url("/use"), "http_method": "POST", "head": {},
            "post": {"content_type": content_type, "body": body}})
    };
    let sent = async |step: Value| {
        passed(&run(&[give(&service), step]).await);
        service.last().body
    };
    let body = sent(post("application/json", r#"{"a": ["{{v}}"]}"#)).await;
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["a"][0], HARM);
    let body = sent(post("application/x-www-form-urlencoded", "a={{v}}&b=1")).await;
    let pairs: Vec<_> = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    assert_eq!(pairs, [("a".to_owned(), HARM.to_owned()), ("b".to_owned(), "1".to_owned())]);
    let body = sent(post("text/xml", "<a>{{v}}</a>")).await;
    assert!(body.contains("&amp;&quot;&#39;&lt;%2F</a>"), "{body}");
    assert_eq!(sent(post("text/plain", "{{v}}")).await, HARM);
}

#[tokio::test]
async fn unknown_and_missing_variables_fail_their_step() {
    let service = giving("x").await;
    for (step, text) in [
        (get("Use", &service.url("/{{gone}}")), "`{{gone}}` in the URL was set by no step before"),
        (get("Use", &service.url("/{{$uuidd}}")), "`{{$uuidd}}` in the URL is no built-in variable"),
        (
            with(
                get("Use", &service.url("/")),
                json!({"assertions": [
                {"source": "JSON Response", "property": "a", "comparison": "equals", "value": "{{gone}}"}]}),
            ),
            "`{{gone}}` in the value of an assertion was set by no step before",
        ),
    ] {
        let observation = run(&[give(&service), step]).await;
        let failure = failed(&observation, FailureKind::VariableUnknown, 5);
        assert_eq!(failure.detail, format!("step 2 `Use`: {text}"));
        assert_eq!(observation.details.steps.len(), 2);
    }
    let step = with(
        get("Take", &service.url("/")),
        json!({"variables": [
        {"name": "a", "property": "$.a", "source": "JSON Response"}, {"name": "b", "property": "X-B", "source": "Header"}]}),
    );
    let observation = run(&[step]).await;
    let failure = failed(&observation, FailureKind::VariableMissing, 5);
    assert_eq!(
        failure.detail,
        "step 1 `Take`: `a` from JSON Response `$.a`: found nothing; `b` from Header `X-B`: found nothing"
    );
}

#[tokio::test]
async fn values_of_assertions_are_filled_in() {
    let service = Service::start(|_| says_json(r#"{"v": "1.5", "n": 1.50, "t": "x1.5y", "u": "115"}"#)).await;
    let step = |property: &str, comparison: &str, value: &str| {
        with(
            get("Use", &service.url("/")),
            json!({"assertions": [
            {"source": "JSON Response", "property": property, "comparison": comparison, "value": value}]}),
        )
    };
    let includes = "regular expression includes";
    for (step, holds) in [
        (step("n", "equals", "{{v}}"), true),
        (step("t", "contains", "{{v}}"), true),
        (step("t", includes, "^x{{v}}y$"), true),
        (step("u", includes, "{{v}}"), false),
        (step("n", "less than or equal", "{{v}}"), true),
        (step("n", "does not equal", "{{ v }}"), false),
    ] {
        let observation = run(&[give(&service), step.clone()]).await;
        assert_eq!(observation.failure.is_none(), holds, "{step} {:?}", observation.failure);
    }
}

#[tokio::test]
async fn a_variable_may_change_the_host_and_the_egress_policy_holds() {
    let other = Service::start(|_| says(200, "", "other")).await;
    let service = giving(&other.url("/moved?a=b")).await;
    let open = [give(&service), get("Go", "{{v}}")];
    passed(&run(&open).await);
    assert_eq!(other.last().target, "/moved?a=b");
    let service = giving("http://169.254.169.254/latest/meta-data").await;
    let observation = run(&[give(&service), get("Go", "{{v}}")]).await;
    let failure = failed(&observation, FailureKind::EgressDenied, 95);
    assert!(failure.detail.starts_with("step 2 `Go`: `169.254.169.254` is denied"), "{}", failure.detail);
    let service = giving("127.0.0.2").await;
    let mut check = Check::of(&[give(&service), get("Go", "http://{{v}}:9/")]);
    check.config.egress = EgressPolicy::new(&[], &["127.0.0.2/32".parse().unwrap()]);
    failed(&check.run().await, FailureKind::EgressDenied, 95);
    for url in ["file:///etc/passwd", "no url", "ftp://127.0.0.1/"] {
        let service = giving(url).await;
        let observation = run(&[give(&service), get("Go", "{{v}}")]).await;
        let failure = failed(&observation, FailureKind::VariableInvalid, 5);
        assert!(failure.detail.contains("the URL with its variables cannot be used"), "{}", failure.detail);
    }
}

#[tokio::test]
async fn secrets_are_kept_nowhere() {
    let service = Service::start(|asked| match asked.target.as_str() {
        "/give" => says_json(r#"{"access_token": "geheim/4711"}"#),
        // A service that says back what it was told.
        _ => says(
            500,
            "X-Echo: geheim/4711\r\n",
            format!("{} {} {}", asked.target, asked.body, r#"{"password": "w0rt"}"#),
        ),
    })
    .await;
    let give = with(
        get("Give", &service.url("/give")),
        json!({"variables": [
        {"name": "access_token", "property": "$.access_token"}]}),
    );
    let tell = json!({"step_name": "Tell", "url": service.url("/tell?t={{access_token}}"), "http_method": "POST",
        "head": {"headers": [{"name": "X-Api-Key", "value": "k-schluessel"}],
            "http_basic_auth_username": "me", "http_basic_auth_password": "p-kennwort"},
        "post": {"content_type": "application/x-www-form-urlencoded",
            "body": "t={{access_token}}&k=k-schluessel&p=p-kennwort"},
        "assertions": [{"source": "Response", "property": "", "comparison": "equals", "value": "{{access_token}}"}]});
    let observation = run(&[give, tell]).await;
    failed(&observation, FailureKind::HttpStatus, 7);
    assert!(service.last().body.contains("geheim%2F4711"), "it was sent");
    let kept = serde_json::to_string(&observation.details).unwrap()
        + &format!("{:?} {:?}", observation.failure, observation.facts);
    let captures: String = observation
        .captures
        .iter()
        .filter_map(|capture| capture.content.as_deref())
        .map(String::from_utf8_lossy)
        .collect();
    for secret in ["geheim", "k-schluessel", "p-kennwort", "w0rt"] {
        assert!(!kept.contains(secret), "{secret} in {kept}");
        assert!(!captures.contains(secret), "{secret} in {captures}");
    }
}

#[tokio::test]
async fn built_in_variables_stay_over_an_attempt_and_change_with_the_next() {
    let service = Service::start(|_| says(200, "", "")).await;
    let step = |name: &str| {
        get(
            name,
            &service.url("/{{$uuid}}/{{$timestamp}}/{{$timestamp_ms}}/{{$isoTimestamp}}/{{$randomInt}}"),
        )
    };
    for _ in 0..2 {
        passed(&run(&[step("A"), step("B")]).await);
    }
    let targets: Vec<String> = service.asked().into_iter().map(|asked| asked.target).collect();
    assert_eq!(targets[0], targets[1]);
    assert_ne!(targets[1], targets[2]);
    let parts: Vec<&str> = targets[0].split('/').skip(1).collect();
    assert_eq!(parts[0].as_bytes()[14], b'4');
    let seconds: i64 = parts[1].parse().unwrap();
    assert_eq!(parts[2].parse::<i64>().unwrap() / 1000, seconds);
    assert!(parts[3].ends_with('Z') && parts[4].parse::<u32>().unwrap() < 1_000_000);
}

#[tokio::test]
async fn a_header_that_is_too_long_is_no_variable() {
    let service =
        Service::start(|_| Reply::Says(200, format!("X-V: {}\r\n", "x".repeat(70_000)), Vec::new())).await;
    let step = with(
        get("Take", &service.url("/")),
        json!({"variables": [
        {"name": "v", "property": "X-V", "source": "Header"}]}),
    );
    failed(&run(&[step]).await, FailureKind::ResponseTooLarge, 3);
}

#[tokio::test]
async fn variables_that_are_given_stand_before_the_first_step() {
    let service = giving("of the answer").await;
    let mut check = Check::of(&[
        get("Use", &service.url("/{{v}}/{{w}}")),
        give(&service),
        get("Use", &service.url("/{{v}}")),
    ]);
    let given = [("v", "given"), ("w", "too")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    check.settings.variables = std::sync::Arc::new(given.into());
    passed(&check.run().await);
    let targets: Vec<String> = service.asked().into_iter().map(|asked| asked.target).collect();
    assert_eq!(targets, ["/given/too", "/give", "/of%20the%20answer"]);
}
