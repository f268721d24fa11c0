//! Import of Selenium IDE projects: each command, and the issues of commands that are lost.

use serde_json::{Value, json};
use vigie::script::language::Script;
use vigie::script::selenium_ide::{ImportReport, SeleniumIdeProject};

/// Imports a test `Main` with these commands (command, target, value).
fn import_commands(commands: &[(&str, &str, &str)]) -> ImportReport {
    let found = project(json!([{"name": "Main", "commands": command_list(commands)}])).import(0);
    if let Some(script) = &found.script {
        let text = script.to_xml();
        assert!(Script::parse(&text).is_ok(), "{:#?}\n{text}", Script::parse(&text));
    }
    found
}

fn command_list(commands: &[(&str, &str, &str)]) -> Value {
    let one = |(command, target, value): &(&str, &str, &str)| json!({"id": "x", "comment": "", "command": command, "target": target, "targets": [], "value": value});
    commands.iter().map(one).collect()
}

fn project(tests: Value) -> SeleniumIdeProject {
    let text = json!({"id": "p", "version": "2.0", "name": "P", "url": "https://a.test", "tests": tests})
        .to_string();
    SeleniumIdeProject::parse(&text).unwrap()
}

/// Returns the lines of the acts.
fn acts(found: &ImportReport) -> Vec<String> {
    let text = found.script.as_ref().map(Script::to_xml).unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with("    ") && !line.contains("</"));
    lines.map(|line| line.trim().to_owned()).collect()
}

fn issues_of(found: &ImportReport) -> Vec<String> {
    found.issues.iter().map(ToString::to_string).collect()
}

/// A command with target and value, and the lines of its acts.
type Case<'a> = ((&'a str, &'a str, &'a str), &'a [&'a str]);

#[test]
fn each_command_becomes_its_acts() {
    let cases: &[Case<'_>] = &[
        (("open", "/a b", ""), &["<open url=\"/a b\"/>"]),
        (("open", "", ""), &["<open url=\"https://a.test\"/>"]),
        (("click", "id=go", ""), &["<click id=\"go\"/>"]),
        (("clickAt", "css=.go", "3,4"), &["<click css=\".go\"/>"]),
        (("doubleClick", "xpath=//a[2]", ""), &["<double-click xpath=\"//a[2]\"/>"]),
        (("click", "//a[2]", ""), &["<click xpath=\"//a[2]\"/>"]),
        (("click", "linkText=Sign in", ""), &["<click link=\"Sign in\"/>"]),
        (("click", "name=q", ""), &["<click name=\"q\"/>"]),
        (
            ("click", "partialLinkText=it's", ""),
            &["<click xpath=\"//a[contains(normalize-space(.), &quot;it's&quot;)]\"/>"],
        ),
        (("click", "identifier=x", ""), &["<click>", "<by id=\"x\"/>", "<by name=\"x\"/>"]),
        (("type", "id=a", "b \"c\""), &["<clear id=\"a\"/>", "<type id=\"a\" text=\"b &quot;c&quot;\"/>"]),
        (("type", "id=a", ""), &["<clear id=\"a\"/>"]),
        (("sendKeys", "id=a", "b"), &["<type id=\"a\" text=\"b\"/>"]),
        (
            ("sendKeys", "id=a", "b${KEY_TAB}c${KEY_PGDN}${KEY_F5}"),
            &[
                "<type id=\"a\" text=\"b\"/>",
                "<press id=\"a\" key=\"Tab\"/>",
                "<type id=\"a\" text=\"c\"/>",
                "<press id=\"a\" key=\"PageDown\"/>",
                "<press id=\"a\" key=\"F5\"/>",
            ],
        ),
        (
            ("sendKeys", "id=a", "${KEY_CTRL}a${KEY_SHIFT}${KEY_END}"),
            &["<press id=\"a\" key=\"Control+a\"/>", "<press id=\"a\" key=\"Control+Shift+End\"/>"],
        ),
        (("select", "id=s", "label=Red"), &["<select id=\"s\" label=\"Red\"/>"]),
        (("select", "id=s", "Red = dark"), &["<select id=\"s\" label=\"Red = dark\"/>"]),
        (("addSelection", "id=s", "value=r"), &["<select id=\"s\" value=\"r\"/>"]),
        (("select", "id=s", "index=2"), &["<select id=\"s\" index=\"2\"/>"]),
        (("check", "id=c", ""), &["<check id=\"c\"/>"]),
        (("uncheck", "id=c", ""), &["<check id=\"c\" on=\"false\"/>"]),
        (("mouseOver", "id=m", ""), &["<hover id=\"m\"/>"]),
        (("selectFrame", "index=1", ""), &["<switch-frame index=\"1\"/>"]),
        (("selectFrame", "relative=parent", ""), &["<switch-frame to=\"parent\"/>"]),
        (("selectFrame", "relative=top", ""), &["<switch-frame to=\"top\"/>"]),
        (("selectFrame", "css=iframe", ""), &["<switch-frame css=\"iframe\"/>"]),
        (("selectWindow", "win_ser_local", ""), &["<switch-window to=\"main\"/>"]),
        (("selectWindow", "win_ser_1", ""), &["<switch-window index=\"1\"/>"]),
        (("selectWindow", "handle=${root}", ""), &["<switch-window to=\"main\"/>"]),
        (("selectWindow", "title=Help", ""), &["<switch-window to=\"title\" equals=\"Help\"/>"]),
        (("close", "", ""), &["<close-window/>"]),
        (("assertTitle", "Hi", ""), &["<assert-title equals=\"Hi\"/>"]),
        (("verifyText", "id=a", "Hi"), &["<assert-text id=\"a\" equals=\"Hi\" soft=\"true\"/>"]),
        (("assertNotText", "id=a", "Hi"), &["<assert-text id=\"a\" equals=\"Hi\" not=\"true\"/>"]),
        (("assertValue", "id=a", "1"), &["<assert-value id=\"a\" equals=\"1\"/>"]),
        (
            ("assertSelectedLabel", "id=a", "Red"),
            &["<assert-text css=\"[id=&quot;a&quot;] option:checked\" equals=\"Red\"/>"],
        ),
        (("assertElementPresent", "id=a", ""), &["<assert-element id=\"a\" state=\"present\"/>"]),
        (
            ("verifyElementNotPresent", "id=a", ""),
            &["<assert-element id=\"a\" state=\"absent\" soft=\"true\"/>"],
        ),
        (("assertEditable", "id=a", ""), &["<assert-element id=\"a\" state=\"enabled\"/>"]),
        (("assertChecked", "css=#a", ""), &["<assert-element css=\"#a:checked\" state=\"present\"/>"]),
        (
            ("verifyNotChecked", "css=#a", ""),
            &["<assert-element css=\"#a:not(:checked)\" state=\"present\" soft=\"true\"/>"],
        ),
        (("waitForElementVisible", "id=a", "1500"), &["<wait-for id=\"a\" timeout=\"1.5\"/>"]),
        (("waitForElementPresent", "id=a", ""), &["<wait-for id=\"a\" state=\"present\"/>"]),
        (
            ("waitForElementNotPresent", "id=a", "5"),
            &["<wait-for id=\"a\" state=\"absent\" timeout=\"0.005\"/>"],
        ),
        (("waitForElementNotVisible", "id=a", ""), &["<wait-for id=\"a\" state=\"hidden\"/>"]),
        (("waitForElementEditable", "id=a", ""), &["<wait-for id=\"a\" state=\"enabled\"/>"]),
        (("waitForText", "id=a", "Hi"), &["<wait-for-text id=\"a\" equals=\"Hi\"/>"]),
        (("storeText", "id=a", "x"), &["<extract id=\"a\" into=\"x\"/>"]),
        (("storeValue", "id=a", "x"), &["<extract id=\"a\" from=\"value\" into=\"x\"/>"]),
        (("storeTitle", "", "x"), &["<extract from=\"title\" into=\"x\"/>"]),
        (("storeXpathCount", "xpath=//a", "x"), &["<extract xpath=\"//a\" from=\"count\" into=\"x\"/>"]),
        (
            ("storeAttribute", "css=a@href", "my-x"),
            &["<extract css=\"a\" from=\"attribute\" attribute=\"href\" into=\"my_x\"/>"],
        ),
        (("acceptAlert", "", ""), &["<accept-dialog/>"]),
        (("webdriverChooseCancelOnVisibleConfirmation", "", ""), &["<dismiss-dialog/>"]),
        (("webdriverAnswerOnVisiblePrompt", "me", ""), &["<answer-dialog text=\"me\"/>"]),
        (("storeWindowHandle", "w", ""), &[]),
    ];
    for (command, expected) in cases {
        let found = import_commands(&[*command]);
        assert_eq!(acts(&found), *expected, "{command:?}");
        assert_eq!(issues_of(&found), Vec::<String>::new(), "{command:?}");
    }
}

#[test]
fn code_and_stored_values_keep_their_variables() {
    let found = import_commands(&[
        ("store", "an\"na", "user"),
        ("executeScript", "return ${user} < 1 && 2", "n"),
        ("store", "${user}-${n}", "both"),
        ("open", "/u/${both}", ""),
        ("assert", "n", "5${user}"),
        ("runScript", "go(${n})", "ignored"),
    ]);
    assert_eq!(issues_of(&found), Vec::<String>::new());
    let text = found.script.unwrap().to_xml();
    for code in [
        "<run-js into=\"user\">return \"an\\\"na\";</run-js>",
        "<run-js into=\"n\"><![CDATA[return {{user}} < 1 && 2]]></run-js>",
        "<run-js into=\"both\">return {{user}} + \"-\" + {{n}};</run-js>",
        "<open url=\"/u/{{both}}\"/>",
        "if (String({{n}}) !== \"5\" + {{user}}) { throw new Error(\"the variable `n` is not what it must be\"); }",
        "<run-js>go({{n}})</run-js>",
    ] {
        assert!(text.contains(code), "{code}\n{text}");
    }
}

#[test]
fn each_lost_command_is_reported_with_its_reason() {
    let issue = |number: usize, command: &str, reason: &str| {
        format!("test `Main`, command {number} `{command}`: {reason}")
    };
    let cases: &[((&str, &str, &str), &str)] = &[
        (("submit", "id=f", ""), "the script language has no equivalent"),
        (("noSuchThing", "", ""), "the script language has no equivalent"),
        (("echo", "hi", ""), "it has no effect on the page"),
        (("click", "", ""), "it does not say which element is meant"),
        (("click", "nonsense", ""), "`nonsense` is not a locator"),
        (("click", "dom=document.a", ""), "the dialect has no locator of the kind `dom=`"),
        (("click", "css=a[", ""), "`css` is not a CSS selector: a `]` is missing"),
        (("click", "xpath=//a[", ""), "`xpath` is not an XPath 1.0 expression: a step is missing at the end"),
        (("click", "id=${nobody}", ""), "`{{nobody}}` is not a variable, and no earlier act sets it"),
        (("type", "id=a", "{{literal}}"), "`{{literal}}` is not a variable, and no earlier act sets it"),
        (("sendKeys", "id=a", "${KEY_WHAT}"), "the dialect has no key `WHAT`"),
        (("select", "id=a", "label=regexp:R.*"), "patterns of labels cannot be carried over"),
        (
            ("assertChecked", "xpath=//a", ""),
            "it can only be carried over for an element that is found by id, name or CSS",
        ),
        (("assertConfirmation", "Sure?", ""), "the text of a dialog cannot be compared"),
        (("selectWindow", "handle=${nobody}", ""), "no earlier command stores this handle"),
        (("selectWindow", "name=x", ""), "windows are chosen by handle or title only"),
        (("run", "Other", ""), "there is no such test"),
        (("run", "Main", ""), "it runs a test that is running already"),
        (("end", "", ""), "it belongs to no block of control flow"),
        (("storeAttribute", "css=a", "x"), "it names no attribute"),
        (("executeScript", "", "x"), "`run-js` has no code in it"),
        (
            ("setWindowSize", "1x1", ""),
            "the page size is not part of a script: set the monitor's `subtype` to a device profile",
        ),
    ];
    for (command, reason) in cases {
        let found = import_commands(&[("open", "/", ""), *command]);
        assert_eq!(issues_of(&found), [issue(2, command.0, reason)], "{command:?}");
    }
    let found = import_commands(&[("pause", "2000", ""), ("", "", ""), ("//click", "id=a", "")]);
    assert_eq!(acts(&found), ["<wait-for-network-quiet quiet=\"0.5\"/>"]);
    assert_eq!(issues_of(&found).len(), 1);
    let none = import_commands(&[("echo", "x", "")]);
    assert!(none.script.is_none() && none.issues.len() == 1);
}

#[test]
fn control_flow_is_left_out_with_its_contents() {
    let found = import_commands(&[
        ("open", "/", ""),
        ("times", "3", ""),
        ("if", "true", ""),
        ("click", "id=a", ""),
        ("else", "", ""),
        ("end", "", ""),
        ("click", "id=b", ""),
        ("end", "", ""),
        ("click", "id=c", ""),
        ("do", "", ""),
        ("click", "id=d", ""),
        ("repeatIf", "true", ""),
        ("click", "id=e", ""),
    ]);
    assert_eq!(acts(&found), ["<open url=\"/\"/>", "<click id=\"c\"/>", "<click id=\"e\"/>"]);
    let numbers: Vec<usize> = found.issues.iter().map(|issue| issue.command_number).collect();
    assert_eq!(numbers, [2, 3, 4, 7, 10, 11]);
}

#[test]
fn dialogs_are_answered_once_after_the_act_that_opens_them() {
    let click = ("click", "id=a", "");
    let dialog = |commands: &[(&str, &str, &str)]| acts(&import_commands(commands));
    let act = "<click id=\"a\"/>";
    assert_eq!(dialog(&[("chooseOkOnNextConfirmation", "", ""), click]), [act, "<accept-dialog/>"]);
    assert_eq!(
        dialog(&[("chooseCancelOnNextPrompt", "", ""), click, click]),
        [act, "<dismiss-dialog/>", act]
    );
    assert_eq!(dialog(&[("answerOnNextPrompt", "me", ""), click]), [act, "<answer-dialog text=\"me\"/>"]);
    assert_eq!(dialog(&[click, ("assertAlert", "Hi", "")]), [act, "<accept-dialog/>"]);
    let recorded = [
        ("chooseOkOnNextConfirmation", "", ""),
        click,
        ("assertConfirmation", "Sure?", ""),
        ("webdriverChooseOkOnVisibleConfirmation", "", ""),
    ];
    assert_eq!(dialog(&recorded), [act, "<accept-dialog/>"]);
    assert_eq!(
        dialog(&[click, ("assertAlert", "Hi", ""), ("acceptAlert", "", "")]),
        [act, "<accept-dialog/>"]
    );
}

#[test]
fn pages_start_steps_and_tests_include_others() {
    let tests = json!([
        {"name": "Log in", "commands": command_list(&[("open", "/login", ""), ("click", "id=go", "")])},
        {"name": "Buy", "commands": command_list(&[("run", "Log in", ""), ("open", "https://a.test/buy?x=1", ""), ("click", "id=b", "")])},
        {"name": "Deep", "commands": command_list(&[("run", "Buy", ""), ("run", "Buy", "")])},
        {"name": "", "commands": command_list(&[("click", "id=b", "")])},
    ]);
    let project = project(tests);
    assert_eq!(project.test_names().collect::<Vec<_>>(), ["Log in", "Buy", "Deep", ""]);
    let steps = |index: usize| -> Vec<(String, usize)> {
        let found = project.import(index);
        assert!(found.issues.is_empty(), "{found:?}");
        found.script.unwrap().steps.into_iter().map(|step| (step.name, step.actions.len())).collect()
    };
    let step = |name: &str| (name.to_owned(), 2);
    assert_eq!(steps(0), [step("Log in")]);
    assert_eq!(steps(1), [step("Log in"), step("Open /buy")]);
    assert_eq!(steps(2), [step("Log in"), step("Open /buy"), step("Open /login"), step("Open /buy")]);
    assert_eq!(steps(3), [("Step 1".to_owned(), 1)]);
    let script = project.import(1).script.unwrap();
    assert_eq!((script.name.as_str(), script.base_url.as_deref()), ("Buy", Some("https://a.test")));
    assert!(project.import(9).script.is_none());
}

#[test]
fn passwords_become_protected_variables() {
    let found = import_commands(&[
        ("type", "id=password", "hush"),
        ("type", "css=#again.passwd", "hush"),
        ("sendKeys", "name=pwd", "other"),
        ("store", "x", "known"),
        ("type", "id=password", "${known}"),
    ]);
    let script = found.script.unwrap();
    let variables: Vec<_> = script
        .variables
        .iter()
        .map(|variable| (variable.name.as_str(), variable.value.as_str(), variable.protected))
        .collect();
    assert_eq!(variables, [("password", "hush", true), ("password_2", "other", true)]);
    let text = script.to_xml();
    assert_eq!(text.matches("hush").count(), 1, "{text}");
    assert!(text.contains("<type id=\"password\" text=\"{{known}}\"/>"), "{text}");
    assert_eq!(found.notes.len(), 2);
    assert!(found.notes.iter().all(|note| !note.contains("hush") && note.contains("transaction_password")));
}

#[test]
fn tests_that_include_each_other_stay_bounded() {
    let tests: Vec<Value> = (0..15)
        .map(|number| {
            let next = format!("t{}", number + 1);
            json!({"name": format!("t{number}"), "commands": command_list(&[("run", next.as_str(), ""); 8])})
        })
        .chain([json!({"name": "t15", "commands": command_list(&[("close", "", "")])})])
        .collect();
    let found = project(Value::from(tests)).import(0);
    let script = found.script.unwrap();
    assert_eq!(script.steps[0].actions.len(), 10_000);
    assert!(found.issues.len() <= 1000, "{}", found.issues.len());
}

#[test]
fn invalid_projects_are_refused_with_a_reason() {
    for (text, expected) in [
        ("", "1:0: not a Selenium IDE project: EOF while parsing a value"),
        ("{\n \"tests\": [}", "2:12: not a Selenium IDE project: expected value"),
        ("{\"name\": \"x\"}", "1:13: not a Selenium IDE project: missing field `tests`"),
        ("\"x\"", "1:3: not a Selenium IDE project: invalid type: string \"x\", expected struct Project"),
        ("{\"version\": \"9.0\", \"tests\": []}", "0:0: unsupported project version 9.0"),
    ] {
        let error = SeleniumIdeProject::parse(text).unwrap_err();
        let actual = format!("{}:{}: {}", error.position.line, error.position.column, error.message);
        assert_eq!(actual, expected, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(SeleniumIdeProject::parse(&deep).is_err());
}
