//! What a project has and Vigie does not run is listed, with its place, and nothing is sent.

use super::check::{run_passing, run_unstarted, start_service};
use super::project::{
    assertion, case, http, one_case, project, properties, rest, rest_interface, soap, soap_interface, step,
    transfer,
};

/// Returns a request whose children are `children`, and whose configuration has these attributes too.
fn request(attributes: &str, children: &str) -> String {
    http("Get", "GET", "http://127.0.0.1:9/", children).replace("method=", &format!("{attributes} method="))
}

#[tokio::test]
async fn unsupported_steps_are_listed() {
    for (step_type, config, reason) in [
        ("groovy", "<script>1</script>", "Groovy scripts are not run"),
        ("jdbc", "", "steps of type `jdbc` are not run"),
        ("amfrequest", "", "`amfrequest`"),
        ("mockresponse", "", "`mockresponse`"),
        ("manualTestStep", "", "`manualTestStep`"),
        ("datasource", "", "`datasource`"),
        ("datasink", "", "`datasink`"),
        ("graphqltestrequest", "", "`graphqltestrequest`"),
        ("delay", "<con:delay>soon</con:delay>", "the delay `soon`"),
        ("calltestcase", "<con:targetTestCase>none</con:targetTestCase>", "the called case does not exist"),
    ] {
        let script = one_case(&step(step_type, "S", &format!("<con:config>{config}</con:config>")));
        let detail = run_unstarted(&script).await;
        assert!(
            detail.contains("suite `Suite`, case `Case`, step `S`: ") && detail.contains(reason),
            "{detail}"
        );
        let disabled = script.replace("<con:testStep ", "<con:testStep disabled=\"true\" ");
        run_passing(&disabled).await;
    }
}

#[tokio::test]
async fn unsupported_assertions_are_listed() {
    for (assertion_type, configuration, reason) in [
        ("GroovyScriptAssertion", &[("scriptText", "1")][..], "Groovy scripts are not run"),
        ("XQuery Match", &[("path", "/"), ("content", "")], "`XQuery Match`"),
        ("Schema Compliance", &[], "`Schema Compliance`"),
        ("WS-A Request Assertion", &[], "`WS-A Request Assertion`"),
        ("WSS Status Assertion", &[], "`WSS Status Assertion`"),
        ("JDBC Status", &[], "`JDBC Status`"),
        ("JMS Timeout", &[], "`JMS Timeout`"),
        ("Sensitive Information Exposure", &[], "`Sensitive Information Exposure`"),
        ("MessageContentAssertion", &[], "`MessageContentAssertion`"),
        ("XPath Match", &[("path", "exists(//a)"), ("content", "true")], "not one of version 1.0"),
        ("XPath Match", &[("path", "//*:a"), ("content", "true")], "not one of version 1.0"),
        ("XPath Match", &[("content", "true")], "`path` is missing"),
        (
            "JsonPath Match",
            &[("path", "$.a[?(@.b =~ /x/)]"), ("content", "")],
            "the JSONPath is not understood",
        ),
        (
            "JsonPath RegEx Match",
            &[("path", "$.a"), ("regEx", "(?<=a)b")],
            "the regular expression cannot be used",
        ),
        ("Valid HTTP Status Codes", &[], "`codes` is missing"),
    ] {
        let rule = assertion(assertion_type, configuration);
        let detail = run_unstarted(&one_case(&request("", &rule))).await;
        assert!(detail.contains("step `Get`: assertion `the rule`: ") && detail.contains(reason), "{detail}");
    }
}

#[tokio::test]
async fn unsupported_parts_of_requests_are_listed() {
    let login = |auth_type: &str| {
        format!(
            "<con:credentials><con:username>u</con:username><con:password>p</con:password><con:authType>{auth_type}</con:authType></con:credentials>"
        )
    };
    let setting = |name: &str, value: &str| {
        format!("<con:settings><con:setting id=\"x@{name}\">{value}</con:setting></con:settings>")
    };
    for (attributes, children, reason) in [
        ("timeout=\"soon\"", String::new(), "the timeout `soon`"),
        ("", login("NTLM"), "logins of type `NTLM`"),
        ("", login("SPNEGO/Kerberos"), "logins of type `SPNEGO/Kerberos`"),
        ("", login("OAuth 2.0"), "logins of type `OAuth 2.0`"),
        ("wsAddressing=\"true\"", String::new(), "WS-Addressing"),
        ("useWsReliableMessaging=\"true\"", String::new(), "WS-ReliableMessaging"),
        ("outgoingWss=\"w\"", String::new(), "WS-Security of requests"),
        ("incomingWss=\"w\"", String::new(), "WS-Security of responses"),
        ("sslKeystore=\"k\"", String::new(), "client certificates of the project"),
        ("dumpFile=\"/tmp/x\"", String::new(), "files of responses"),
        ("", "<con:attachment><con:name>a</con:name></con:attachment>".to_owned(), "attachments"),
        ("", "<con:encoding>UTF-16</con:encoding>".to_owned(), "the encoding `UTF-16`"),
        ("", setting("strip-whitespaces", "true"), "the setting `strip-whitespaces`"),
        ("", setting("dump-file", "/tmp/x"), "the setting `dump-file`"),
        ("", setting("request-headers", "&lt;x"), "the headers cannot be read"),
        ("", "<con:request>${=new Date()}</con:request>".to_owned(), "expansions of Groovy"),
    ] {
        let detail = run_unstarted(&one_case(&request(attributes, &children))).await;
        assert!(detail.contains("step `Get`: ") && detail.contains(reason), "{reason}: {detail}");
    }
    let multipart = request("", "").replace("application/json", "multipart/form-data");
    assert!(run_unstarted(&one_case(&multipart)).await.contains("bodies of type `multipart/form-data`"));
    let jms = request("", "").replace("http://127.0.0.1:9/", "jms://q");
    assert!(run_unstarted(&one_case(&jms)).await.contains("JMS"));
    let rest_only = |steps: &str| project(&rest_interface("http://127.0.0.1:9"), &case("Case", "", steps));
    for (script, reason) in [
        (rest_only(&rest("R", "/v1/none", "Read", "")), "has no method `Read` of `/v1/none`"),
        (one_case(&rest("R", "/v1/none", "Read", "")), "no interface `Shop`"),
        (one_case(&soap("S", "None", "", "")), "no interface `None`"),
        (
            project(
                &soap_interface("One", "1_1", "http://h").replace("Add\" b", "Other\" b"),
                &case("Case", "", &soap("S", "One", "", "")),
            ),
            "no operation `Add`",
        ),
    ] {
        let detail = run_unstarted(&script).await;
        assert!(detail.contains(reason), "{detail}");
    }
    let strategy =
        "<con:endpointStrategy><con:endpoint username=\"u\">http://h</con:endpoint></con:endpointStrategy>";
    let interface = rest_interface("http://127.0.0.1:9")
        .replace("<con:endpoints>", &format!("{strategy}<con:endpoints>"));
    let script = project(&interface, &case("Case", "", &rest("R", "/v1/items/{id}", "Read", "")));
    assert!(run_unstarted(&script).await.contains("credentials of the endpoints of interface `Shop`"));
}

#[tokio::test]
async fn scripts_around_a_case_are_listed() {
    let scripts = |name: &str, text: &str| format!("<con:{name}>{text}</con:{name}>");
    let passing = properties("V", &[]);
    for name in ["setupScript", "tearDownScript"] {
        let of_case = case("Case", "", &format!("{passing}{}", scripts(name, "log.info 1")));
        let detail = run_unstarted(&project("", &of_case)).await;
        assert!(detail.contains(&format!("case `Case`: `{name}`: Groovy")), "{detail}");
        let of_suite = project("", &format!("{}{}", case("Case", "", &passing), scripts(name, "1")));
        assert!(run_unstarted(&of_suite).await.contains(&format!("suite `Suite`: `{name}`")));
        run_passing(&project("", &case("Case", "", &format!("{passing}{}", scripts(name, " "))))).await;
    }
    let of_project = project("", &case("Case", "", &passing))
        .replace("<con:wssContainer/>", "<con:afterLoadScript>1</con:afterLoadScript>");
    assert!(run_unstarted(&of_project).await.contains("project `P`: `afterLoadScript`"));
    let environment = project("", &case("Case", "", &passing))
        .replace("resourceRoot", "activeEnvironment=\"Test\" resourceRoot");
    assert!(run_unstarted(&environment).await.contains("environments of ReadyAPI"));
    let groovy = project("", &case("Case", "", &passing)).replace("pr0ject-s3cret", "${=1}");
    assert!(run_unstarted(&groovy).await.contains("project `P`: expansions of Groovy"));
}

#[tokio::test]
async fn unsupported_transfers_and_conditions_are_listed() {
    let ends = [
        ("sourceType", "Response"),
        ("sourcePath", "//a"),
        ("targetStep", "#TestCase#"),
        ("targetType", "out"),
    ];
    for (attributes, more, reason) in [
        ("useXQuery=\"true\"", &[][..], "XQuery is not known"),
        ("", &[("type", "XQUERY")], "XQuery is not known"),
        ("", &[("targetPath", "exists(//a)")], "not one of version 1.0"),
        ("", &[("targetPath", "$["), ("targetTransferType", "JSONPATH")], "the JSONPath is not understood"),
    ] {
        let detail = run_unstarted(&one_case(&transfer("T", attributes, &[&ends[..], more].concat()))).await;
        assert!(detail.contains("step `T`: transfer `copy`: ") && detail.contains(reason), "{detail}");
    }
    let condition = |condition_type: &str, expression: &str, target: &str| {
        one_case(&step(
            "goto",
            "G",
            &format!(
                "<con:config><con:condition><con:name>c</con:name><con:type>{condition_type}</con:type><con:expression>{expression}</con:expression><con:targetStep>{target}</con:targetStep></con:condition></con:config>"
            ),
        ))
    };
    for (script, reason) in [
        (condition("GROOVY", "true", "G"), "conditions of type `GROOVY`"),
        (condition("XPATH", "exists(//a)", "G"), "not one of version 1.0"),
        (condition("XPATH", "true()", "None"), "the case has no step `None`"),
    ] {
        let detail = run_unstarted(&script).await;
        assert!(detail.contains("step `G`: condition `c`: ") && detail.contains(reason), "{detail}");
    }
}

#[tokio::test]
async fn called_cases_are_listed_and_others_are_not() {
    let groovy = step("groovy", "Script", "<con:config><script>1</script></con:config>");
    let call = step(
        "calltestcase",
        "Call",
        "<con:config><con:targetTestCase>id-Other</con:targetTestCase></con:config>",
    );
    let called = project("", &[case("Case", "", &call), case("Other", "", &groovy)].concat());
    assert!(run_unstarted(&called).await.contains("case `Other`, step `Script`"));
    run_passing(&project("", &[case("Case", "", ""), case("Other", "", &groovy)].concat())).await;
    let off = project("", &[case("Case", "", &call), case("Other", "disabled=\"true\"", "")].concat());
    let detail = run_unstarted(&off).await;
    assert!(detail.contains("case `Case`, step `Call`: the called case is disabled"), "{detail}");
}

#[tokio::test]
async fn broken_and_hostile_files_do_not_start() {
    let service = start_service().await;
    let script = one_case(&http("Get", "GET", &service.url("/json"), ""));
    let doctype = script.replace("?>\n", "?>\n<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>\n");
    assert!(run_unstarted(&doctype).await.contains("document types are not allowed"));
    assert!(run_unstarted(&script[..script.len() - 5]).await.starts_with("line "));
    // The root, suite, case and step, and their configuration, are five of the 256.
    for (depth, is_refused) in [(251, false), (252, true), (5000, true)] {
        let nested = format!("<con:config>{}{}</con:config>", "<b>".repeat(depth), "</b>".repeat(depth));
        let script = one_case(&step("properties", "V", &nested));
        if is_refused {
            let detail = run_unstarted(&script).await;
            assert!(detail.contains("elements are nested deeper than 256"), "{depth}: {detail}");
        } else {
            run_passing(&script).await;
        }
    }
    let names: Vec<String> = (0..1001).map(|number| format!("p{number}")).collect();
    let values: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let many = one_case(&properties("V", &values));
    assert!(run_unstarted(&many).await.contains("more than 1000 properties"));
    let items = one_case(&step("groovy", "Script", "<con:config/>").repeat(300));
    let detail = run_unstarted(&items).await;
    assert!(detail.len() < 2100 && detail.contains("; and "), "{detail}");
    assert!(service.requests().is_empty());
}

#[tokio::test]
async fn what_a_file_makes_the_parser_copy_is_bounded() {
    let parameters = |count: usize| {
        let list: String = (0..count)
            .map(|number| format!("<con:parameter name=\"p{number}\" style=\"PLAIN\"/>"))
            .collect::<Vec<_>>()
            .concat();
        format!("<con:parameters>{list}</con:parameters>")
    };
    let service = start_service().await;
    run_passing(&one_case(&http("Get", "GET", &service.url("/json"), &parameters(1000)))).await;
    let detail = run_unstarted(&one_case(&request("", &parameters(1001)))).await;
    assert!(detail.contains("a request has more than 1000 parameters"), "{detail}");
    let path = "/v1/items/{id}";
    let read = "<con:method name=\"Read\" method=\"GET\"><con:parameters>";
    let with_parameter = |value: &str| {
        let parameter = format!(
            "<con:parameter name=\"long\" style=\"PLAIN\"><con:value>{value}</con:value></con:parameter>"
        );
        rest_interface(&service.url("")).replace(read, &format!("{read}{parameter}"))
    };
    let steps = |count: usize| case("Case", "", &rest("R", path, "Read", "").repeat(count));
    run_passing(&project(&with_parameter("x"), &steps(2))).await;
    let before = service.requests().len();
    let detail = run_unstarted(&project(&with_parameter(&"x".repeat(1 << 20)), &steps(100))).await;
    assert!(detail.contains("steps repeat more than 64 MiB"), "{detail}");
    let more: String =
        (0..600).map(|number| format!("<con:parameter name=\"p{number}\"/>")).collect::<Vec<_>>().concat();
    let both = rest_interface("http://127.0.0.1:9").replace(read, &format!("{read}{more}")).replace(
        "<con:parameter><con:name>id</con:name>",
        &format!("{}<con:parameter><con:name>id</con:name>", more.replace("\"p", "\"q")),
    );
    let detail = run_unstarted(&project(&both, &steps(1))).await;
    assert!(detail.contains("a request has more than 1000 parameters"), "{detail}");
    // Transfers name the request before them.
    let long_name = "n".repeat(1 << 20);
    let transfers =
        transfer("T", "", &[("sourceType", "Response"), ("targetStep", "#TestCase#"), ("targetType", "out")]);
    let named = http(&long_name, "GET", &service.url("/json"), "");
    let detail = run_unstarted(&one_case(&format!("{named}{}", transfers.repeat(100)))).await;
    assert!(detail.contains("steps repeat more than 64 MiB"), "{detail}");
    assert_eq!(service.requests().len(), before);
}
