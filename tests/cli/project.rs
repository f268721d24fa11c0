//! `vigie project`: which cases are looked at and converted, and the exit codes.

use crate::support::binary::{err, out, vigie};

const PROJECT: &str = r#"<con:soapui-project name="P" xmlns:con="http://eviware.com/soapui/config">
<con:testSuite name="On">
<con:testCase name="Runs"><con:testStep type="delay" name="Wait"><con:config><con:delay>1</con:delay></con:config></con:testStep></con:testCase>
<con:testCase name="Off" disabled="true"><con:testStep type="groovy" name="Script"><con:config/></con:testStep></con:testCase>
</con:testSuite>
<con:testSuite name="OffSuite" disabled="true"><con:testCase name="In it"/></con:testSuite>
</con:soapui-project>"#;

#[test]
fn disabled_cases_are_looked_at_when_they_are_named_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("project.xml");
    std::fs::write(&file, PROJECT).unwrap();
    let file = file.to_str().unwrap();
    for (args, code, expected) in [
        (&[][..], 0, "suite `On`, case `Runs`: 1 step"),
        (&["--suite", "On", "--case", "Runs"], 0, "suite `On`, case `Runs`: 1 step"),
        (&["--suite", "On", "--case", "Off"], 1, "case `Off` of suite `On` is disabled"),
        (&["--suite", "OffSuite"], 1, "suite `OffSuite` is disabled"),
        (&["--suite", "None"], 1, "there is no suite `None`"),
    ] {
        let output = vigie(&[&["project", "check", file], args].concat());
        let text = out(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}{}", err(&output));
        assert!(text.contains(expected), "{args:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{args:?}: {text}");
    }
    let all_off = PROJECT.replace("name=\"Runs\"", "name=\"Runs\" disabled=\"true\"");
    std::fs::write(folder.path().join("project.xml"), all_off).unwrap();
    let output = vigie(&["project", "check", file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("no case that is enabled"), "{}", out(&output));
}

#[test]
fn a_case_is_converted_or_what_is_lost_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("project.xml");
    let request = r#"<con:testStep type="httprequest" name="Get"><con:config method="GET" xsi:type="con:HttpRequest"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><con:endpoint>http://a.test/</con:endpoint></con:config></con:testStep>"#;
    let lossless = PROJECT.replace("name=\"Runs\">", "name=\"Order it\">").replace(
        r#"<con:testStep type="delay" name="Wait"><con:config><con:delay>1</con:delay></con:config></con:testStep>"#,
        request,
    );
    std::fs::write(&file, &lossless).unwrap();
    let path = file.to_str().unwrap();
    let output = vigie(&["project", "convert", path]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    for expected in ["key: order-it", "type: website-api", "name: Order it", "http://a.test/", "100-599"] {
        assert!(out(&output).contains(expected), "{expected}: {}", out(&output));
    }
    std::fs::write(folder.path().join("order.yaml"), out(&output)).unwrap();
    let checked = vigie(&["config", "check", folder.path().to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(0), "{}{}", out(&checked), err(&checked));

    let lossy = lossless.replace("</con:testCase>", "<con:testStep type=\"delay\" name=\"Wait\"><con:config><con:delay>1</con:delay></con:config></con:testStep></con:testCase>");
    std::fs::write(&file, &lossy).unwrap();
    let refused = vigie(&["project", "convert", path]);
    assert_eq!((refused.status.code(), &*out(&refused)), (Some(1), ""), "{}", err(&refused));
    assert!(err(&refused).contains("step `Wait`: a delay"), "{}", err(&refused));
    let forced = vigie(&["project", "convert", path, "--lossy"]);
    assert_eq!(forced.status.code(), Some(1));
    assert!(out(&forced).contains("website-api"), "{}", out(&forced));
    for (args, expected) in [
        (&["--suite", "On", "--case", "None"][..], "suite `On` has no case `None`"),
        (&["--suite", "On"], "--case"),
    ] {
        let output = vigie(&[&["project", "convert", path], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(err(&output).contains(expected), "{args:?}: {}", err(&output));
    }
}
