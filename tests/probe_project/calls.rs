//! Calls of other cases.

use vigie::domain::FailureKind;

use super::check::{run, run_failing, run_passing, start_service};
use super::project::{assertion, case, http, project, property_list, step, transfer};
use crate::probe_api::check::failed;

fn call(target: &str, options: &str, values: &[(&str, &str)], returned: &[&str]) -> String {
    let returned: Vec<String> =
        returned.iter().map(|name| format!("<con:entry>{name}</con:entry>")).collect();
    let returned = returned.concat();
    step(
        "calltestcase",
        "Call",
        &format!(
            "<con:config><con:targetTestCase>{target}</con:targetTestCase>{}<con:returnProperties>{returned}</con:returnProperties>{options}</con:config>",
            property_list(values)
        ),
    )
}

#[tokio::test]
async fn properties_are_passed_and_returned() {
    let service = start_service().await;
    let called = [
        http("Send", "POST", &service.url("/json"), "<con:request>${#TestCase#level}</con:request>"),
        transfer(
            "T",
            "",
            &[
                ("sourceStep", "Send"),
                ("sourceType", "Response"),
                ("sourcePath", "$.name"),
                ("targetStep", "#TestCase#"),
                ("targetType", "out"),
            ],
        ),
    ];
    let send = |body: &str| {
        http("After", "POST", &service.url("/text"), &format!("<con:request>{body}</con:request>"))
    };
    let run_mode = |mode: &str| format!("<con:runMode>{mode}</con:runMode>");
    for (mode, values, returned, during, after) in [
        ("PARALLELL", &[("level", "passed"), ("unknown", "x")][..], &["out"][..], "passed", "Ann,case"),
        ("PARALLELL", &[("level", "${#Project#level}")], &["out"], "project", "Ann,case"),
        ("PARALLELL", &[("level", "")], &[], "", ",case"),
        ("SINGLETON_AND_WAIT", &[("level", "passed")], &["out"], "passed", "Ann,case"),
    ] {
        let steps =
            [call("id-Other", &run_mode(mode), values, returned), send("${Call#out},${#TestCase#level}")];
        let cases = [case("Other", "", &called.concat()), case("Case", "", &steps.concat())];
        run_passing(&project("", &cases.concat())).await;
        let requests = service.requests();
        let bodies: Vec<&str> = requests.iter().rev().take(2).map(|request| &*request.body).collect();
        assert_eq!(bodies, [after, during], "{mode} {values:?}");
    }
    let ignoring = "<con:ignoreEmptyProperties>true</con:ignoreEmptyProperties>";
    let steps = [call("id-Other", ignoring, &[("level", "")], &[]), send("")];
    run_passing(&project(
        "",
        &[case("Other", "", &called.concat()), case("Case", "", &steps.concat())].concat(),
    ))
    .await;
    assert_eq!(service.requests().iter().rev().nth(1).unwrap().body, "case", "an empty value is not passed");
}

#[tokio::test]
async fn the_run_mode_decides_whether_changes_stay() {
    let service = start_service().await;
    let own = http("Send", "POST", &service.url("/json"), "<con:request>${#TestCase#level}</con:request>");
    for (mode, second) in
        [("PARALLELL", "case"), ("SINGLETON_AND_FAIL", "passed"), ("SINGLETON_AND_WAIT", "passed")]
    {
        let mode = format!("<con:runMode>{mode}</con:runMode>");
        let steps = [
            call("id-Other", &mode, &[("level", "passed")], &[]),
            call("id-Other", &mode, &[], &[]).replace("name=\"Call\"", "name=\"Again\""),
        ];
        run_passing(&project("", &[case("Other", "", &own), case("Case", "", &steps.concat())].concat()))
            .await;
        assert_eq!(service.last().body, second, "{mode}");
    }
}

#[tokio::test]
async fn a_failed_case_fails_the_step() {
    let service = start_service().await;
    let failing = http(
        "Fails",
        "GET",
        &service.url("/json"),
        &assertion("Valid HTTP Status Codes", &[("codes", "201")]),
    );
    let cases = [case("Other", "", &failing), case("Case", "", &call("id-Other", "", &[], &[]))].concat();
    let detail = run_failing(&project("", &cases), 5).await;
    assert!(detail.contains("step 1 `Fails`"), "{detail}");
}

#[tokio::test]
async fn a_session_is_shared_when_the_call_says_so() {
    let service = start_service().await;
    let next = http("Next", "GET", &service.url("/json"), "");
    for (copies, own, cookie) in [(true, "true", Some("sid=1")), (false, "true", None), (true, "false", None)]
    {
        let options = format!("<con:copyHttpSession>{copies}</con:copyHttpSession>");
        let steps =
            [http("Login", "GET", &service.url("/login"), ""), call("id-Other", &options, &[], &[])].concat();
        let cases =
            [case("Other", "", &next), case("Case", &format!("keepSession=\"{own}\""), &steps)].concat();
        run_passing(&project("", &cases)).await;
        assert_eq!(service.last().header("Cookie"), cookie, "{copies} {own}");
    }
}

#[tokio::test]
async fn recursion_is_bounded() {
    let itself = case("Case", "", &call("id-Case", "", &[], &[]));
    let observation = run(&project("", &itself)).await;
    assert!(failed(&observation, FailureKind::ProjectFailed, 60).detail.contains("more than 16 deep"));
    let shared =
        case("Case", "", &call("id-Case", "<con:runMode>SINGLETON_AND_FAIL</con:runMode>", &[], &[]));
    assert!(run_failing(&project("", &shared), 60).await.contains("running already"));
}

#[tokio::test]
async fn secrets_of_called_cases_are_masked() {
    let service = start_service().await;
    let send = |name: &str, property: &str| {
        let absent = assertion("Simple Contains", &[("token", "absent")]);
        let body = format!("<con:request>pw is ${{#TestCase#{property}}}</con:request>");
        http(name, "POST", &service.url("/text"), &format!("{body}{absent}"))
    };
    let login = case(
        "Login",
        "failOnError=\"false\"",
        &[send("Own", "password"), send("Passed", "pass_token")].concat(),
    );
    let own = "<con:property><con:name>level</con:name>";
    let login = login.replace(
        own,
        &format!(
            "<con:property><con:name>password</con:name><con:value>hunter2</con:value></con:property>\
             <con:property><con:name>pass_token</con:name><con:value/></con:property>{own}"
        ),
    );
    let steps = call("id-Login", "", &[("pass_token", "passed-s3cret")], &[]);
    let observation = run(&project("", &[login, case("Case", "", &steps)].concat())).await;
    let bodies: Vec<String> = service.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, ["pw is hunter2", "pw is passed-s3cret"]);
    let seen = format!("{observation:?}");
    assert!(seen.contains("pw is ********"), "{seen}");
    assert!(!seen.contains("hunter2") && !seen.contains("passed-s3cret"), "{seen}");
}
