//! `vigie project check`: which cases are looked at, and the exit codes.

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
