//! What requests look like on the wire.

use serde_json::Value;
use vigie::domain::FailureKind;

use super::check::{Check, envelope, run, run_failing, run_passing, start_service};
use super::project::{
    assertion, case, escape, http, one_case, project, properties, rest, rest_interface, soap, soap_interface,
};
use crate::probe_api::check::{failed, passed};

#[tokio::test]
async fn rest_requests_are_built_from_resource_and_method() {
    let service = start_service().await;
    let entries = r#"<con:parameters><con:entry key="id" value="a b/c"/><con:entry key="m" value="x y"/><con:entry key="X-Kind" value="${#TestCase#level}"/></con:parameters>"#;
    let with_values = rest("Read", "/v1/items/{id}", "Read", entries);
    let defaults = rest("Defaults", "/v1/items/{id}", "Read", "");
    let headers = escape(
        r#"<xml-fragment xmlns:con="http://eviware.com/soapui/config"><con:entry key="X-Own" value="1"/><con:entry key="X-Own" value="2"/></xml-fragment>"#,
    );
    let body = format!(
        r#"<con:settings><con:setting id="com.eviware.soapui.impl.wsdl.WsdlRequest@request-headers">{headers}</con:setting></con:settings>
<con:endpoint>{}</con:endpoint><con:request>{{"level": "${{level}}"}}</con:request>
<con:parameterOrder><con:entry>X-Kind</con:entry><con:entry>id</con:entry></con:parameterOrder>"#,
        service.url("")
    );
    let adding = rest("Add", "/v1/items/{id}/parts", "Add", &body);
    let steps = [with_values, defaults, adding].concat();
    let script = project(&rest_interface(&service.url("/")), &case("Case", "", &steps));
    let observation = run_passing(&script).await;
    let requests = service.requests();
    assert_eq!(requests[0].target, "/v1/items/a%20b%2Fc;m=x%20y?q=all&needed=&raw=a,b");
    assert_eq!((&*requests[0].method, requests[0].header("X-Kind")), ("GET", Some("case")));
    assert_eq!(requests[1].target, "/v1/items/7;m?q=all&needed=&raw=a,b");
    assert_eq!(requests[1].header("X-Kind"), Some("plain"));
    assert_eq!((&*requests[2].method, &*requests[2].target), ("POST", "/v1/items/7/parts"));
    assert_eq!(requests[2].body, r#"{"level": "case"}"#);
    assert_eq!(requests[2].header("Content-Type"), Some("application/json;charset=UTF-8"));
    assert_eq!(requests[2].head.matches("x-own: ").count() + requests[2].head.matches("X-Own: ").count(), 2);
    let names: Vec<&str> = observation.details.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["Read", "Defaults", "Add"]);
}

#[tokio::test]
async fn http_requests_have_parameters_of_every_style() {
    let service = start_service().await;
    let parameter = |name: &str, value: &str, style: &str| {
        format!(
            "<con:parameter><con:name>{name}</con:name><con:value>{value}</con:value><con:style>{style}</con:style></con:parameter>"
        )
    };
    let parameters = [
        parameter("q", "a&amp;b", "QUERY"),
        parameter("empty", "", "QUERY"),
        parameter("X-A", "1", "HEADER"),
        parameter("part", "json", "TEMPLATE"),
    ];
    let parameters = format!("<con:parameters>{}</con:parameters>", parameters.concat());
    let url = service.url("/{part}?fixed=1");
    run_passing(&one_case(&http("Get", "GET", &url, &parameters))).await;
    assert_eq!(service.last().target, "/json?fixed=1&q=a%26b");
    assert_eq!(service.last().header("X-A"), Some("1"));
    let sent_empty =
        http("Get", "GET", &url, &parameters).replace("method=", "sendEmptyParameters=\"true\" method=");
    run_passing(&one_case(&sent_empty)).await;
    assert_eq!(service.last().target, "/json?fixed=1&q=a%26b&empty=");
    let posted = http("Post", "POST", &service.url("/{part}"), &parameters)
        .replace("method=", "postQueryString=\"true\" method=")
        .replace("application/json", "application/x-www-form-urlencoded");
    run_passing(&one_case(&posted)).await;
    assert_eq!((&*service.last().target, &*service.last().body), ("/json", "q=a%26b"));
    let several = http("Get", "GET", &service.url("/json"), &parameters.replace("a&amp;b", "a,b"))
        .replace("method=", "multiValueDelimiter=\",\" method=");
    run_passing(&one_case(&several)).await;
    assert_eq!(service.last().target, "/json?q=a&q=b");
}

#[tokio::test]
async fn soap_requests_have_the_headers_of_their_version() {
    let service = start_service().await;
    let interfaces = [
        soap_interface("One", "1_1", &service.url("/soap")),
        soap_interface("Two", "1_2", &service.url("/soap")),
    ];
    let sent = envelope("<Add>${level}</Add>");
    let steps = [soap("First", "One", &sent, ""), soap("Second", "Two", &sent, "")].concat();
    run_passing(&project(&interfaces.concat(), &case("Case", "", &steps))).await;
    let requests = service.requests();
    assert_eq!(requests[0].body, envelope("<Add>case</Add>"));
    assert_eq!(requests[0].header("SOAPAction"), Some("\"urn:c/Add\""));
    assert_eq!(requests[0].header("Content-Type"), Some("text/xml;charset=UTF-8"));
    assert_eq!(requests[1].header("SOAPAction"), None);
    assert_eq!(
        requests[1].header("Content-Type"),
        Some("application/soap+xml;charset=UTF-8;action=\"urn:c/Add\"")
    );
    assert!(requests.iter().all(|request| request.method == "POST"));
    let skipped =
        soap("First", "One", &sent, "").replace("wsAddressing=", "skipSoapAction=\"true\" wsAddressing=");
    run_passing(&project(&interfaces.concat(), &case("Case", "", &skipped))).await;
    assert_eq!(service.last().header("SOAPAction"), None);
}

#[tokio::test]
async fn bodies_are_encoded_and_entitized() {
    let service = start_service().await;
    let body = |attributes: &str, encoding: &str| {
        let children = format!("<con:encoding>{encoding}</con:encoding><con:request>${{V#x}}é</con:request>");
        let steps = [
            properties("V", &[("x", "<&>")]),
            http("Post", "POST", &service.url("/json"), &children)
                .replace("method=", &format!("{attributes} method=")),
        ];
        one_case(&steps.concat())
    };
    run_passing(&body("", "UTF-8")).await;
    assert_eq!(service.last().body, "<&>é");
    run_passing(&body("entitizeProperties=\"true\"", "ISO-8859-1")).await;
    assert_eq!(service.last().body, "&lt;&amp;&gt;\u{fffd}", "the service reads it as UTF-8");
    assert_eq!(service.last().header("Content-Type"), Some("application/json;charset=ISO-8859-1"));
}

#[tokio::test]
async fn logins_are_sent_when_asked_for_or_before() {
    let service = start_service().await;
    let step = |auth_type: &str| {
        let credentials = format!(
            "<con:credentials><con:username>u</con:username><con:password>s3cret-pw</con:password><con:authType>{auth_type}</con:authType></con:credentials>{}",
            assertion("Valid HTTP Status Codes", &[("codes", "200")])
        );
        one_case(&http("Private", "GET", &service.url("/private"), &credentials))
    };
    for (auth_type, request_count) in [("Basic", 2), ("Preemptive", 1), ("Global HTTP Settings", 2)] {
        let before = service.requests().len();
        let observation = run_passing(&step(auth_type)).await;
        assert_eq!(service.requests().len() - before, request_count, "{auth_type}");
        assert!(!format!("{observation:?}").contains("s3cret-pw"));
    }
    let detail = run_failing(&step("No Authorization"), 5).await;
    assert!(detail.contains("the status 401 is none of `200`"), "{detail}");
}

#[tokio::test]
async fn redirects_are_followed_unless_switched_off() {
    let service = start_service().await;
    let step = |setting: &str| {
        let children = format!(
            r#"<con:settings><con:setting id="com.eviware.soapui.impl.wsdl.WsdlRequest@follow-redirects">{setting}</con:setting></con:settings>{}"#,
            assertion("Valid HTTP Status Codes", &[("codes", "200")])
        );
        one_case(&http("Old", "GET", &service.url("/old"), &children))
    };
    run_passing(&step("true")).await;
    assert!(run_failing(&step("false"), 5).await.contains("302"));
}

#[tokio::test]
async fn a_status_fails_no_step_by_itself() {
    let service = start_service().await;
    for status in [404, 500] {
        run_passing(&one_case(&http("Get", "GET", &service.url(&format!("/status/{status}")), ""))).await;
    }
    let closed = run(&one_case(&http("Get", "GET", "http://127.0.0.1:9/", ""))).await;
    assert!(failed(&closed, FailureKind::ProjectStepFailed, 6001).detail.contains("step 1 `Get`"));
}

#[tokio::test]
async fn secrets_are_masked() {
    let service = start_service().await;
    let headers = escape(
        r#"<xml-fragment><entry key="Authorization" value="Bearer b3arer-t0k"/><entry key="X-Api-Token" value="${#Project#api_token}"/></xml-fragment>"#,
    );
    let children = format!(
        r#"<con:settings><con:setting id="x@request-headers">{headers}</con:setting></con:settings><con:request>pr0ject-s3cret</con:request>{}"#,
        assertion("Simple Contains", &[("token", "absent")])
    );
    let observation =
        run(&one_case(&http("Post", "POST", &service.url("/text?a=pr0ject-s3cret"), &children))).await;
    failed(&observation, FailureKind::ProjectStepFailed, 6005);
    assert!(service.last().head.contains("b3arer-t0k") && service.last().body == "pr0ject-s3cret");
    let shown = format!("{observation:?}");
    assert!(!shown.contains("b3arer-t0k") && !shown.contains("pr0ject-s3cret"), "{shown}");
}

#[tokio::test]
async fn expansions_reach_every_scope() {
    let service = start_service().await;
    let steps = [
        properties("Values", &[("own", "1"), ("nested", "${#TestCase#level}"), ("which", "own")]),
        http("Read", "GET", &service.url("/json"), ""),
        http("Xml", "GET", &service.url("/xml"), ""),
    ];
    for (expansion, expected) in [
        ("${Values#own}", "1"),
        ("${Values#nested}", "case"),
        ("${Values#${Values#which}}", "1"),
        ("${#TestCase#level}", "case"),
        ("${#TestSuite#level}", "suite"),
        ("${#Project#level}", "project"),
        ("${level}", "case"),
        ("${suiteOnly}", "of the suite"),
        ("${Read#Response#$.parts[1].k}", "y"),
        ("${Xml#Response#declare namespace o='urn:o'; //o:i[2]}", "two"),
        ("${Read#ResponseAsXml#count(//*[local-name()='e'])}", "4"),
        ("${Read#Endpoint}", &service.url("/json")),
        (
            "[${missing}${#Project#missing}${Nobody#x}${#Global#g}${#System#user.name}${#Env#HOME}${projectDir}]",
            "[]",
        ),
        ("$${level}", "${level}"),
    ] {
        let check = http(
            "Send",
            "POST",
            &service.url("/json"),
            &format!("<con:request>{}</con:request>", escape(expansion)),
        );
        run_passing(&one_case(&[steps.concat(), check].concat())).await;
        assert_eq!(service.last().body, expected, "{expansion}");
    }
    let unsearched = case(
        "Case",
        "searchProperties=\"false\"",
        &http("Send", "POST", &service.url("/json"), "<con:request>[${level}]</con:request>"),
    );
    run_passing(&project("", &unsearched)).await;
    assert_eq!(service.last().body, "[]");
    let invalid =
        http("Send", "POST", &service.url("/json"), "<con:request>${Xml#Response#//*:i}</con:request>");
    assert!(
        run_failing(&one_case(&[steps.concat(), invalid].concat()), 5)
            .await
            .contains("not one of version 1.0")
    );
}

#[tokio::test]
async fn namespaces_are_matched_by_uri() {
    let service = start_service().await;
    let script = one_case(&http("Get", "GET", &service.url("/json"), ""))
        .replace("con:", "x:")
        .replace("xmlns:con", "xmlns:x");
    run_passing(&script).await;
    let unprefixed = one_case(&http("Get", "GET", &service.url("/json"), ""))
        .replace("xsi:type=\"con:HttpRequest\"", "")
        .replace("con:", "")
        .replace("xmlns:con", "xmlns");
    run_passing(&unprefixed).await;
    let body = "<con:request><![CDATA[<a>${#TestCase#level}${V#nil}</a>]]></con:request>";
    let nil =
        r#"<con:value xsi:nil="true" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">x</con:value>"#;
    let values = properties("V", &[("nil", "x")]).replace("<con:value>x</con:value>", nil);
    run_passing(&one_case(&[values, http("Post", "POST", &service.url("/json"), body)].concat())).await;
    assert_eq!(service.last().body, "<a>case</a>");
    let other = unprefixed.replace("http://eviware.com/soapui/config", "urn:other");
    assert!(
        super::check::run_unstarted(&other)
            .await
            .contains("line 2, column 1: the root must be `soapui-project`")
    );
}

#[tokio::test]
async fn captures_follow_the_field() {
    let service = start_service().await;
    let script = one_case(&http(
        "Get",
        "GET",
        &service.url("/json"),
        &assertion("Valid HTTP Status Codes", &[("codes", "${#TestCase#out}")]),
    ));
    let passing = script.replace("${#TestCase#out}", "200");
    for (level, headers, fails, names) in [
        ("Error Only", true, true, &["response-head.txt", "response-body.json"][..]),
        ("Error Only", false, true, &["response-body.json"]),
        ("Disabled", true, true, &[]),
        ("Error Only", true, false, &[]),
        ("All Actions", true, false, &["response-head.txt", "response-body.json"]),
    ] {
        let capture = serde_json::json!({"level": level, "headers": headers});
        let observation =
            Check::of(if fails { &script } else { &passing }).with("capture", capture).run().await;
        assert_eq!(observation.failure.is_some(), fails, "{observation:#?}");
        let found: Vec<&str> = observation.captures.iter().map(|capture| capture.name.as_str()).collect();
        assert_eq!(found, names, "{level} {headers} {fails}");
    }
}

#[tokio::test]
async fn the_fields_of_the_monitor_choose_the_case() {
    let service = start_service().await;
    let steps = http("Get", "GET", &service.url("/json"), "");
    let script = project("", &[case("Case", "", &steps), case("Other", "disabled=\"true\"", "")].concat());
    passed(&Check::of(&script).run().await);
    for (field, value, reason) in [
        ("test_suite", "None", "there is no suite `None`"),
        ("test_case", "None", "suite `Suite` has no case `None`"),
        ("test_case", "Other", "case `Other` of suite `Suite` is disabled"),
    ] {
        let observation = Check::of(&script).with(field, Value::from(value)).run().await;
        assert!(
            failed(&observation, FailureKind::ProjectNotStarted, 61).detail.contains(reason),
            "{observation:?}"
        );
    }
    let several =
        [http("A", "GET", &service.url("/json"), ""), http("B", "GET", &service.url("/json"), "")].concat();
    let limited = Check::of(&one_case(&several)).with("transaction_steps_allowed", Value::from(1));
    failed(&limited.run().await, FailureKind::TooManySteps, 94);
    passed(&limited.with("transaction_steps_allowed", Value::from(2)).run().await);
    let mut preset = Check::of(&one_case(&http(
        "Get",
        "POST",
        &service.url("/json"),
        "<con:request>${#Project#level}</con:request>",
    )));
    preset.settings.preset_variables =
        std::sync::Arc::new([("level".to_owned(), "preset".to_owned())].into());
    passed(&preset.run().await);
    assert_eq!(service.last().body, "preset");
    let mut switched_off = Check::of(&script);
    switched_off.settings.projects_enabled = false;
    failed(&switched_off.run().await, FailureKind::NotConfigured, 95);
}
