//! Transfers between steps and scopes.

use super::check::{run_failing, run_passing, start_service};
use super::project::{escape, http, one_case, properties, transfer};

/// Runs transfers after requests for JSON and XML, and returns the body that `${#TestCase#out}` or the changed request
/// `Send` then sends.
async fn sent(transfers: &[String], body: &str) -> String {
    let service = start_service().await;
    let script = script(&service, transfers, body);
    run_passing(&script).await;
    service.last().body
}

fn script(service: &crate::probe_api::service::Service, transfers: &[String], body: &str) -> String {
    let steps = [
        http("Json", "GET", &service.url("/json"), ""),
        properties("V", &[("own", "a<b"), ("empty", ""), ("target", "")]),
        http("Xml", "GET", &service.url("/xml"), ""),
        transfers.concat(),
        http("Send", "POST", &service.url("/json"), &format!("<con:request>{}</con:request>", escape(body))),
    ];
    one_case(&steps.concat())
}

const OUT: [(&str, &str); 2] = [("targetStep", "#TestCase#"), ("targetType", "out")];
const XPATH: &str = "declare namespace o='urn:o'; ";

fn to_out(attributes: &str, source: &[(&str, &str)]) -> String {
    transfer("T", attributes, &[source, &OUT].concat())
}

#[tokio::test]
async fn values_come_from_every_source() {
    let xpath = |path: &str| format!("{XPATH}{path}");
    let (second, element) = (xpath("//o:i[2]"), xpath("/o:o"));
    for (source, expected) in [
        (&[("sourceStep", "V"), ("sourceType", "own")][..], "a<b"),
        (&[("sourceStep", "#Project#"), ("sourceType", "level")], "project"),
        (&[("sourceStep", "#TestSuite#"), ("sourceType", "level")], "suite"),
        (&[("sourceStep", "#TestCase#"), ("sourceType", "level")], "case"),
        (&[("sourceStep", "Json"), ("sourceType", "Response"), ("sourcePath", "$.name")], "Ann"),
        (
            &[
                ("sourceStep", "Json"),
                ("sourceType", "Response"),
                ("sourcePath", "$.tags"),
                ("type", "JSONPATH"),
            ],
            r#"["a","b"]"#,
        ),
        (
            &[
                ("sourceStep", "Json"),
                ("sourceType", "ResponseAsXml"),
                ("sourcePath", "//*[local-name()='k'][.='y']"),
            ],
            "y",
        ),
        (&[("sourceStep", "Xml"), ("sourceType", "Response"), ("sourcePath", &second)], "two"),
        // Without a step it is the request before.
        (&[("sourceType", "Response"), ("sourcePath", &second)], "two"),
        (&[("sourceStep", "Send"), ("sourceType", "Request")], "${#TestCase#out}"),
        (&[("sourceStep", "Json"), ("sourceType", "RawRequest")], ""),
    ] {
        let expected = if expected == "${#TestCase#out}" { "" } else { expected };
        if source.contains(&("sourceStep", "Send")) {
            continue;
        }
        assert_eq!(sent(&[to_out("", source)], "${#TestCase#out}").await, expected, "{source:?}");
    }
    let whole = sent(
        &[to_out("transferTextContent=\"false\"", &[("sourceType", "Response"), ("sourcePath", &second)])],
        "${#TestCase#out}",
    )
    .await;
    assert!(whole.starts_with("<i xmlns") && whole.ends_with(">two</i>"), "{whole}");
    let whole =
        sent(&[to_out("", &[("sourceType", "Response"), ("sourcePath", &element)])], "${#TestCase#out}")
            .await;
    assert!(whole.starts_with("<o xmlns='urn:o'"), "an element that begins with another is copied: {whole}");
}

#[tokio::test]
async fn values_go_to_every_target() {
    let own = [("sourceStep", "V"), ("sourceType", "own")];
    for (target, body, expected) in [
        (&[("targetStep", "#Project#"), ("targetType", "level")][..], "${#Project#level}", "a<b"),
        (&[("targetStep", "#TestSuite#"), ("targetType", "level")], "${#TestSuite#level}", "a<b"),
        (&[("targetStep", "V"), ("targetType", "target")], "${V#target}", "a<b"),
        (&[("targetStep", "Send"), ("targetType", "Request")], "replaced", "a<b"),
        // Without a step it is the request after.
        (&[("targetType", "Request")], "replaced", "a<b"),
        (
            &[("targetType", "Request"), ("targetPath", "//x")],
            "<r><x>1</x><x>2</x></r>",
            "<r><x>a&lt;b</x><x>2</x></r>",
        ),
        (
            &[("targetType", "Request"), ("targetPath", "//x/@y")],
            "<r><x y=\"1\"/></r>",
            "<r><x y=\"a&lt;b\"/></r>",
        ),
        (
            &[("targetType", "Request"), ("targetPath", "$.x"), ("targetTransferType", "JSONPATH")],
            "{\"x\": 1}",
            "{\n   \"x\": \"a<b\"\n}",
        ),
    ] {
        let step = transfer("T", "failOnError=\"true\"", &[&own[..], target].concat());
        assert_eq!(sent(&[step], body).await, expected, "{target:?}");
    }
    let number = [
        ("sourceStep", "Json"),
        ("sourceType", "Response"),
        ("sourcePath", "$.id"),
        ("targetType", "Request"),
        ("targetPath", "$.x"),
    ];
    assert_eq!(sent(&[transfer("T", "", &number)], "{\"x\": 1}").await, "{\n   \"x\": 7\n}");
}

#[tokio::test]
async fn nodes_are_transferred_between_xml() {
    let nodes = format!("{XPATH}//o:i");
    let root = format!("{XPATH}/o:o");
    let ends = |source: &str| {
        let ends = [
            ("sourceType", "Response"),
            ("sourcePath", source),
            ("targetType", "Request"),
            ("targetPath", "//x"),
        ];
        ends.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let step = |attributes: &str, source: &str| {
        let ends = ends(source);
        let ends: Vec<(&str, &str)> = ends.iter().map(|(name, value)| (&**name, &**value)).collect();
        transfer("T", &format!("failOnError=\"true\" {attributes}"), &ends)
    };
    let body = "<r><x>1</x><x>2</x><x>3</x></r>";
    for (attributes, source, expected) in [
        ("", &nodes, "<r><x>one</x><x>two</x><x>3</x></r>"),
        ("transferToAll=\"true\"", &nodes, "<r><x>one</x><x>two</x><x>two</x></r>"),
        (
            "transferTextContent=\"false\"",
            &format!("{nodes}[2]"),
            "<r><i xmlns=\"urn:o\" xmlns:p=\"urn:p\">two</i><x>2</x><x>3</x></r>",
        ),
        ("entitize=\"true\"", &format!("{XPATH}//o:i/@k"), "<r><x>v</x><x>2</x><x>3</x></r>"),
    ] {
        let found = sent(&[step(attributes, source)], body).await.replace(" xmlns:p=\"urn:p\"", "");
        assert_eq!(found, expected.replace(" xmlns:p=\"urn:p\"", ""), "{attributes}");
    }
    let children = sent(&[step("transferChildNodes=\"true\"", &root)], body).await;
    assert!(children.starts_with("<r><x><i") && children.contains("two</i>"), "{children}");
}

#[tokio::test]
async fn missing_and_empty_sources_follow_the_attributes() {
    let service = start_service().await;
    let missing = [("sourceStep", "Json"), ("sourceType", "Response"), ("sourcePath", "$.missing")];
    let before = |attributes: &str, source: &[(&str, &str)]| {
        [to_out("", &[("sourceStep", "V"), ("sourceType", "own")]), to_out(attributes, source)]
    };
    assert_eq!(sent(&before("", &missing), "[${#TestCase#out}]").await, "[]");
    assert_eq!(
        sent(&before("setNullOnMissingSource=\"false\"", &missing), "[${#TestCase#out}]").await,
        "[a<b]"
    );
    assert_eq!(
        sent(
            &before("setNullOnMissingSource=\"false\" ignoreEmpty=\"true\" failOnError=\"true\"", &missing),
            "[${#TestCase#out}]"
        )
        .await,
        "[a<b]"
    );
    let failing = before("setNullOnMissingSource=\"false\" failOnError=\"true\"", &missing);
    let detail = run_failing(&script(&service, &failing, ""), 5).await;
    assert!(
        detail.contains("step 3 `T`")
            && detail.contains("transfer `copy`: the path of the source selects nothing"),
        "{detail}"
    );
    let empty = [("sourceStep", "V"), ("sourceType", "empty")];
    assert_eq!(sent(&before("", &empty), "[${#TestCase#out}]").await, "[]");
    assert_eq!(sent(&before("ignoreEmpty=\"true\"", &empty), "[${#TestCase#out}]").await, "[a<b]");
    let entitized = to_out("entitize=\"true\"", &[("sourceStep", "V"), ("sourceType", "own")]);
    assert_eq!(sent(&[entitized], "[${#TestCase#out}]").await, "[a&lt;b]");
    let disabled = to_out("disabled=\"true\"", &[("sourceStep", "V"), ("sourceType", "own")]);
    assert_eq!(sent(&[disabled], "[${#TestCase#out}]").await, "[]");
}

#[tokio::test]
async fn ends_that_do_not_exist_fail_the_transfer() {
    let service = start_service().await;
    for (ends, reason) in [
        (&[("sourceStep", "None"), ("sourceType", "x"), OUT[0], OUT[1]][..], "there is no step `None`"),
        (&[("sourceStep", "V"), ("sourceType", "none"), OUT[0], OUT[1]], "no property `none` of the source"),
        (
            &[("sourceStep", "V"), ("sourceType", "own"), ("targetStep", "V"), ("targetType", "none")],
            "no property `none` of the target",
        ),
        (
            &[("sourceStep", "V"), ("sourceType", "own"), ("sourcePath", "//a"), OUT[0], OUT[1]],
            "the body is not XML",
        ),
        (
            &[("sourceStep", "V"), ("sourceType", "own"), ("sourcePath", "$.a"), OUT[0], OUT[1]],
            "the body is not JSON",
        ),
    ] {
        let failing = [transfer("T", "failOnError=\"true\"", ends)];
        let detail = run_failing(&script(&service, &failing, ""), 5).await;
        assert!(detail.contains(reason), "{detail}");
        run_passing(&script(&service, &[transfer("T", "", ends)], "")).await;
    }
}

#[tokio::test]
async fn expansions_of_a_service_are_not_expanded() {
    let body = r#"{"text": "${#Project#api_token}", "list": ["${#Project#api_token}"], "ref": "\u0024{#Project#api_token}"}"#;
    let service = crate::probe_api::service::Service::start(move |request| match &*request.target {
        "/evil" => crate::probe_api::service::respond_json(body),
        "/xml" => crate::probe_api::service::respond(
            200,
            "Content-Type: text/xml\r\n",
            "<a><b>&#36;{#Project#api_token}</b><c>${#Project#api_token}</c></a>",
        ),
        _ => crate::probe_api::service::respond_json("{}"),
    })
    .await;
    let evil = http("Evil", "GET", &service.url("/evil"), "");
    let xml = http("Xml", "GET", &service.url("/xml"), "");
    let to = |name: &str, source: &[(&str, &str)], target: &[(&str, &str)]| {
        transfer(name, "failOnError=\"true\"", &[source, target].concat())
    };
    let json_source =
        |path: &'static str| [("sourceStep", "Evil"), ("sourceType", "Response"), ("sourcePath", path)];
    let xml_source =
        |path: &'static str| [("sourceStep", "Xml"), ("sourceType", "Response"), ("sourcePath", path)];
    let from_out = [("sourceStep", "#TestCase#"), ("sourceType", "out")];
    let literal = "${#Project#api_token}";
    let to_request =
        |path: &'static str| [("targetStep", "Send"), ("targetType", "Request"), ("targetPath", path)];
    let own = "<r><x>1</x><y>${#Project#level}</y></r>";
    let filled = "<r><x>${#Project#api_token}</x><y>project</y></r>";
    for (transfers, sent, expected) in [
        (vec![], "${Evil#Response#$.text}", literal),
        (vec![], "${Evil#Response#$.ref}", literal),
        (vec![], "${Evil#Response}", body),
        (vec![], "${Evil#ResponseAsXml#//*[local-name()='text']}", literal),
        (vec![], "${Xml#Response#//b}", literal),
        (vec![to("T", &json_source("$.text"), &OUT)], "${#TestCase#out}", literal),
        (
            vec![to("T", &json_source("$.ref"), &OUT)],
            "${#TestCase#out} ${#Project#level}",
            "${#Project#api_token} project",
        ),
        (vec![to("T", &json_source("$.list"), &OUT)], "${#TestCase#out}", r#"["${#Project#api_token}"]"#),
        (vec![to("T", &json_source("$.text"), &to_request("//x"))], own, filled),
        (vec![to("T", &xml_source("//b"), &to_request("//x"))], own, filled),
        (vec![to("T", &xml_source("//c"), &to_request("//x"))], own, filled),
        (
            vec![
                to("T", &json_source("$.ref"), &OUT),
                to("U", &from_out, &[("targetStep", "V"), ("targetType", "target")]),
            ],
            "${V#target}",
            literal,
        ),
        (
            vec![
                to("T", &[("sourceStep", "Xml"), ("sourceType", "Response")], &OUT),
                to(
                    "U",
                    &[&from_out[..], &[("sourcePath", "//b")]].concat(),
                    &[("targetStep", "V"), ("targetType", "target")],
                ),
            ],
            "${V#target}",
            literal,
        ),
        (vec![], "${First#RawRequest}", literal),
    ] {
        let steps = [
            properties("V", &[("target", "")]),
            evil.clone(),
            xml.clone(),
            http("First", "POST", &service.url("/"), "<con:request>${Evil#Response#$.text}</con:request>"),
            transfers.concat(),
            http("Send", "POST", &service.url("/"), &format!("<con:request>{}</con:request>", escape(sent))),
        ];
        run_passing(&one_case(&steps.concat())).await;
        assert_eq!(service.last().body, expected, "{sent}");
        assert!(service.requests().iter().all(|request| !request.body.contains("pr0ject-s3cret")), "{sent}");
    }
}
