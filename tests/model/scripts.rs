//! Browser scripts: summary, protected variables and their masks, errors and warnings when saved; hostile XML too.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::reader::InputFormat;
use vigie::schema::validation_context::ValidationContext;
use vigie::schema::{MonitorDocument, SecretMode};
use vigie::script::{
    ScriptOverview, has_secrets, have_same_protected_variables, mask_secrets, restore_masked_secrets,
};
use vigie::syntax::MASK;

use crate::model::support::{document, minimal, validate_create, validate_patch, with};
use crate::support::fields::Fields;

const SHOP: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<!-- A shop. -->
<script version="1" name="Shop">
  <variable name="user" value="anna"/>
  <variable name='pass'   protected = "true"
            value = 'it"s &lt;secret&gt;' />
  <variable name="pin" value="1234" protected="1"></variable>
  <step name="Front"><open url="/"/><wait-for text="Shop"/></step>
  <step name="Login"><type into="#p">${pass}</type></step>
</script>
"##;

/// `SHOP` as responses show it.
fn masked_shop() -> String {
    SHOP.replace("it\"s &lt;secret&gt;", MASK).replace("1234", MASK)
}

fn summary(text: &str) -> Result<(usize, usize, Vec<String>), String> {
    ScriptOverview::parse(text)
        .map(|facts| (facts.step_count, facts.action_count, facts.protected_variables))
        .map_err(|error| error.to_string())
}

#[test]
fn the_summary_counts_steps_actions_and_protected_variables() {
    assert_eq!(summary(SHOP), Ok((2, 3, vec!["pass".to_owned(), "pin".to_owned()])));
    assert_eq!(summary("<script><step/></script>"), Ok((1, 0, Vec::new())));
    let nested = "<script><step><type><css>a</css></type><!-- c -->text<![CDATA[<x/>]]></step></script>";
    assert_eq!(summary(nested), Ok((1, 1, Vec::new())), "what is inside of an act is not an act");
    let named = "<v:script xmlns:v='urn:v'><v:variable name='a' protected='true'/><v:step/></v:script>";
    assert_eq!(summary(named), Ok((1, 0, vec!["a".to_owned()])));
    let inner = "<script><step><variable name='a' protected='true' value='s'/></step></script>";
    assert_eq!(summary(inner).unwrap().2, ["a"], "wherever it stands, it is protected");
    assert_eq!(summary("\u{feff}<script><step/></script>"), Ok((1, 0, Vec::new())));
}

#[test]
fn invalid_scripts_are_reported_with_line_and_column() {
    let cases = [
        ("<s><step/></s>", "line 1, column 1: the root must be `script`, not `s`"),
        ("<script/>", "line 1, column 1: it contains no `step`"),
        ("<script>\n  <step>\n</script>", "line 3, column 1: expected 'step' tag, not 'script'"),
        ("<script>\n <step a='1' a='2'/></script>", "line 2, column 14: attribute 'a' is already defined"),
        ("<script>&x;<step/></script>", "line 1, column 9: unknown entity reference 'x'"),
        ("<!DOCTYPE script><script><step/></script>", "line 1, column 1: document types are not allowed"),
        ("<script><step/>\n<variable value='x'/></script>", "line 2, column 1: a variable needs a `name`"),
        (
            "<script><step/><variable name='a'/><variable name='a' protected='true'/></script>",
            "line 1, column 36: the variable `a` is already defined",
        ),
        (
            "<script><step/><variable name='a' protected='maybe'/></script>",
            "line 1, column 16: `protected` of a variable must be `true` or `false`",
        ),
        (
            "<script><step/><variable name='a' protected='true'>s</variable></script>",
            "line 1, column 16: the value of a variable stands in its attribute `value`",
        ),
        (
            "<script xmlns:x='urn:x'><step/><variable name='a' x:protected='true'/></script>",
            "line 1, column 32: attributes of a variable must not have a prefix",
        ),
        ("<script><step/></script><script/>", "line 1, column 25: unknown token"),
        ("", "line 1, column 1: the document does not have a root node"),
    ];
    for (text, expected) in cases {
        assert_eq!(summary(text), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn only_the_values_of_protected_variables_are_masked() {
    assert_eq!(mask_secrets(SHOP), masked_shop());
    assert!(has_secrets(SHOP));
    let open = "<script><variable name='a' protected='false' value='x'/><step/></script>";
    assert_eq!(mask_secrets(open), open);
    assert!(!has_secrets(open));
    let empty = "<script><variable name='a' protected='true' value=''/><step/></script>";
    assert_eq!(mask_secrets(empty), empty);
    for broken in ["<script protected='true'", "<script><variable protected='true' name='a' value='s'>"] {
        assert_eq!(mask_secrets(broken), MASK, "nobody knows where its secrets are: {broken}");
        assert!(has_secrets(broken));
    }
    assert_eq!(mask_secrets("<script><oops"), "<script><oops");
}

#[test]
fn masks_are_replaced_by_the_stored_values() {
    assert_eq!(restore_masked_secrets(&masked_shop(), Some(SHOP)).unwrap(), SHOP);
    let other = "<script><variable value=\"********\" name=\"pass\" protected=\"1\"/><step/></script>";
    assert_eq!(
        restore_masked_secrets(other, Some(SHOP)).unwrap(),
        other.replace(MASK, "it&quot;s &lt;secret&gt;"),
        "written so that it fits between the other quotes"
    );
    let open = "<script><variable name='a' value='********'/><step>********</step></script>";
    assert_eq!(
        restore_masked_secrets(open, Some(SHOP)).unwrap(),
        open,
        "it is no mask where nothing is protected"
    );
    assert_eq!(restore_masked_secrets(MASK, Some("<script protected")).unwrap(), "<script protected");
    let new = "<script><variable name='new' protected='true' value='********'/><step/></script>";
    let lost = "the value of the protected variable `new` is masked, and no previous value exists";
    assert_eq!(restore_masked_secrets(new, Some(SHOP)), Err(lost.to_owned()));
    assert_eq!(restore_masked_secrets(new, None), Err(lost.to_owned()));
    assert!(restore_masked_secrets(MASK, None).is_err());
    assert!(restore_masked_secrets(MASK, Some("<script/>")).is_err());
    let broken = "<script><variable name='pass' protected='true' value='********'>";
    assert!(restore_masked_secrets(broken, Some(SHOP)).unwrap_err().contains("invalid script"), "{broken}");
}

#[test]
fn protected_variables_are_compared_by_name_and_value() {
    let script = |variables: &str| format!("<script>{variables}<step/></script>");
    let one = script("<variable name='a' protected='true' value='&#65;'/><variable name='b' value='1'/>");
    for (other, same) in [
        ("<variable name='b' value='2'/><variable protected='1' name='a' value=\"A\"/>", true),
        ("<variable name='a' protected='true' value='B'/>", false),
        ("<variable name='a' protected='false' value='A'/>", false),
        ("<variable name='c' protected='true' value='A'/>", false),
        ("", false),
    ] {
        assert_eq!(have_same_protected_variables(&one, &script(other)), same, "{other}");
        assert_eq!(have_same_protected_variables(&script(other), &one), same, "{other}");
    }
    assert!(have_same_protected_variables("<script>", "<oops>"), "neither can protect anything");
    assert!(!have_same_protected_variables("<script protected", "<script  protected"));
}

#[test]
fn hostile_scripts_are_masked_quickly() {
    let secret = "<variable name='a' protected='true' value='hush'/>";
    let big = 10 * 1024 * 1024;
    let times = |part: &str| part.repeat(big / part.len());
    let spaces = " ".repeat(400);
    let attributes = (0..200_000).map(|n| format!(" a{n}=''")).collect::<Vec<_>>().concat();
    let declared = (0..60_000).map(|n| format!("<b xmlns:n{n} = 'urn:{n}'>")).collect::<Vec<_>>().concat();
    let long = "x".repeat(70_000);
    let bombs = [
        format!(
            "<!DOCTYPE s [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><script>{secret}<step>&b;</step></script>"
        ),
        format!("<!DOCTYPE s SYSTEM 'file:///etc/passwd'><script>{secret}<step/></script>"),
        format!("<script>{secret}{}", times("<a>")),
        format!("<script>{secret}<step>{}</step></script>", times("<a/>")),
        format!("<script>{secret}<step{attributes}/></script>"),
        format!("<script>{secret}<step/>{declared}"),
        format!("<script>{secret}<step a='{}", times("=")),
        format!("<script>{secret}<step {}", times(" \n")),
        format!("<script>{secret}<step{}", times(" a\n")),
        format!("<script>{secret}<step {}", times("a = ")),
        format!("<script>{secret}<step {}", times("<")),
        format!("<script>{secret}<step>{}", times("&lt;")),
        format!("<script><variable name='a' protected='true' value{spaces}={spaces}'hush'/><step/></script>"),
        format!(
            "<script><variable name='a' protected='true' {long}='' value='hush'/><step {long}/></script>"
        ),
        format!("<script>\0{secret}<step/></script>"),
    ];
    for bomb in &bombs {
        let started = Instant::now();
        let masked = mask_secrets(bomb);
        let elapsed = started.elapsed();
        let start: String = bomb.chars().take(90).collect();
        assert!(!masked.contains("hush"), "{start}");
        assert!(elapsed < Duration::from_secs(30), "{elapsed:?}: {start}");
    }
    let deep = format!("<script>{secret}{}<step/>{}</script>", "<a>".repeat(90_000), "</a>".repeat(90_000));
    assert!(
        mask_secrets(&deep).contains(MASK) && !mask_secrets(&deep).contains("hush"),
        "only deep, and read"
    );
    let code =
        format!("<script>{secret}<step><run-js><![CDATA[{}]]></run-js></step></script>", times("a=1;"));
    assert_eq!(summary(&code).unwrap().0, 1, "code is not taken for attributes");
}

#[test]
fn awkward_values_are_masked_and_restored() {
    for value in
        ["a'b", "a\"b", "&amp;", "&#10;", "é\u{1f980}", ">", "]]>", "name='x'", "\n\t", "********", "="]
    {
        let quote = if value.contains('"') { '\'' } else { '"' };
        let script = format!(
            "<script><!-- <variable/> --><![CDATA[]]><variable protected={quote}true{quote} value={quote}{value}{quote} name='n'/><step/></script>"
        )
        .replace("<![CDATA[]]>", "<x><![CDATA[<variable name='n' protected='true' value='no'/>]]></x>");
        let text = mask_secrets(&script).into_owned();
        assert_eq!(
            text,
            script.replacen(&format!("{quote}{value}{quote}"), &format!("{quote}{MASK}{quote}"), 1)
        );
        assert_eq!(restore_masked_secrets(&text, Some(&script)).unwrap(), script, "{value}");
    }
}

proptest! {
    #[test]
    fn any_value_is_restored_byte_for_byte(values in prop::collection::vec(".{0,40}", 1..8), single in any::<bool>()) {
        let quote = if single { '\'' } else { '"' };
        let escaped = |text: &str| -> String {
            text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')).map(|c| match c {
                '<' => "&lt;".to_owned(), '&' => "&amp;".to_owned(), '\'' => "&apos;".to_owned(),
                '"' => "&quot;".to_owned(), c => c.to_string() }).collect()
        };
        let variables: Vec<String> = values.iter().enumerate().map(|(at, value)| {
            let hidden = at % 2 == 0;
            format!("<variable name='v{at}' protected='{hidden}' value={quote}{}{quote}/>\n", escaped(value))
        }).collect();
        let script = format!("<script>\n{}<step/></script>", variables.concat());
        let text = mask_secrets(&script).into_owned();
        let back = restore_masked_secrets(&text, Some(&script));
        prop_assert_eq!(back.as_deref(), Ok(script.as_str()));
        prop_assert!(have_same_protected_variables(&script, &back.unwrap()));
    }

    #[test]
    fn no_text_makes_masking_panic(text in ".{0,200}", old in ".{0,50}") {
        let script = format!("<script>{text}<variable name='a' protected='true' value='********'/><step/></script>");
        for new in [text.as_str(), script.as_str()] {
            let _ = (ScriptOverview::parse(new), mask_secrets(new), restore_masked_secrets(new, Some(&old)), have_same_protected_variables(new, &old));
        }
    }
}

fn shop() -> MonitorDocument {
    document(T::BrowserScript, json!({"script": SHOP, "transaction_password": "open sesame"}))
}

fn error_lines(
    result: Result<vigie::schema::validate::ValidatedDocument, Vec<vigie::syntax::ValidationError>>,
) -> Vec<String> {
    match result {
        Ok(_) => Vec::new(),
        Err(errors) => errors
            .iter()
            .map(|error| {
                for secret in ["open sesame", "1234", "secret&gt;"] {
                    let whole = format!("{error} {:?}", error.value);
                    assert!(!whole.contains(secret), "{whole}");
                }
                format!("{}: {}", error.path, error.message)
            })
            .collect(),
    }
}

#[test]
fn protected_values_are_masked_in_store_and_responses() {
    let shop = shop();
    assert_eq!(shop.to_json(SecretMode::Masked)["script"], json!(masked_shop()));
    assert_eq!(shop.to_non_default_fields(SecretMode::Masked)["script"], json!(masked_shop()));
    assert_eq!(shop.to_non_default_fields(SecretMode::Omitted).get("script"), None);
    assert_eq!(shop.to_json(SecretMode::Revealed)["script"], json!(SHOP));
    let open = document(T::BrowserScript, json!({"script": "<script><step/></script>"}));
    assert_eq!(open.to_non_default_fields(SecretMode::Omitted)["script"], json!("<script><step/></script>"));
}

// row: 2.2 browserscript.transaction_password
#[test]
fn protected_variables_need_the_password_of_the_script() {
    let required =
        "transaction_password: `transaction_password` is required: the script has protected variables";
    let change = "transaction_password: `transaction_password` is required to change protected variables of the script";
    let wrong = "transaction_password: `transaction_password` is not the one that is stored";
    let context = ValidationContext::default();
    for form in [InputFormat::V3, InputFormat::File, InputFormat::Legacy] {
        let body = with(minimal(T::BrowserScript), json!({"script": SHOP}));
        assert_eq!(
            error_lines(validate_create(T::BrowserScript, form, body, &context)),
            [required],
            "{form:?}"
        );
    }
    let shop = shop();
    let other = SHOP.replace("1234", "5678");
    let opened = masked_shop().replace("protected=\"1\"", "");
    let cases: &[(Value, &[&str])] = &[
        (json!({"script": masked_shop()}), &[]),
        (json!({"script": masked_shop().replace("anna", "otto")}), &[]),
        (json!({"name": "other"}), &[]),
        (json!({"transaction_password": MASK, "script": masked_shop()}), &[]),
        (json!({"transaction_password": "open sesame", "script": other}), &[]),
        (json!({"script": other}), &[change]),
        (json!({"transaction_password": MASK, "script": other}), &[change]),
        (json!({"script": opened}), &[change]),
        (json!({"script": null}), &[change]),
        (json!({"script": "<script><step/></script>"}), &[change]),
        (json!({"script": format!("{SHOP}<x>")}), &[change]),
        (json!({"transaction_password": "guess", "script": other}), &[wrong]),
        (json!({"transaction_password": "guess"}), &[wrong]),
        (json!({"transaction_password": null}), &[required, wrong]),
        (json!({"transaction_password": ""}), &[required, wrong]),
    ];
    for (body, expected) in cases {
        assert_eq!(error_lines(validate_patch(&shop, InputFormat::V3, body.clone())), *expected, "{body}");
    }
    let opened = validate_patch(
        &shop,
        InputFormat::V3,
        json!({"transaction_password": "open sesame", "script": opened}),
    )
    .unwrap();
    assert!(
        opened.document.text("script").unwrap().contains("value=\"1234\" ></variable>"),
        "who knows it may read"
    );
    let masked = json!({"script": masked_shop(), "transaction_password": "x"});
    let body = with(minimal(T::BrowserScript), masked);
    let lost = "script: `script`: the value of the protected variable `pass` is masked, and no previous value exists";
    for form in [InputFormat::V3, InputFormat::Legacy, InputFormat::File] {
        assert_eq!(
            error_lines(validate_create(T::BrowserScript, form, body.clone(), &context)),
            [lost],
            "{form:?}"
        );
    }
}

#[test]
fn a_script_that_cannot_run_is_stored_with_a_warning() {
    let warnings = |more: Value| {
        let body = with(minimal(T::BrowserScript), more);
        validate_create(T::BrowserScript, InputFormat::V3, body, &ValidationContext::default())
            .unwrap()
            .warnings
    };
    assert_eq!(
        warnings(json!({"script": "<script>\n<step>\n</script>"})),
        [
            "`script` cannot be parsed, line 3, column 1: expected 'step' tag, not 'script': checks end with status 96"
        ]
    );
    assert_eq!(
        warnings(json!({"script": "<script><step>\n<clik css='a'/><open/></step></script>"})),
        [
            "`script` cannot be parsed, line 2, column 1: `clik` is not allowed in `step` (did you mean `click`?): checks end with status 96",
            "`script` cannot be parsed, line 2, column 16: `open` needs the attribute `url`: checks end with status 96",
        ]
    );
    let many = warnings(json!({"script": format!("<script><step>{}</step></script>", "<x/>".repeat(30))}));
    assert_eq!(many.len(), 21);
    assert_eq!(many[20], "`script` has at least 10 more errors: `vigie script check` lists them");
    let relative = "<script><step><open url='/a'/></step></script>";
    let text =
        "`script`, line 1, column 15: a relative URL needs `base` of the script or `url` of the monitor";
    assert_eq!(warnings(json!({"script": relative, "url": null})), [text]);
    assert_eq!(warnings(json!({"script": relative, "url": "https://a.test/"})), Vec::<String>::new());
    let steps = |count: usize| format!("<script>{}</script>", "<step><close-window/></step>".repeat(count));
    assert_eq!(warnings(json!({"script": steps(50), "interval": 60})), Vec::<String>::new());
    assert_eq!(
        warnings(json!({"script": steps(51), "interval": 60})),
        ["`script` has 51 steps, more than the 50 that are allowed: checks end with status 94"]
    );
    assert_eq!(
        warnings(json!({"script": steps(51), "transaction_steps_allowed": 51, "interval": 60})),
        Vec::<String>::new()
    );
    assert_eq!(
        document(T::BrowserScript, json!({})).script_summary().unwrap().step_count,
        1,
        "one step opens its url"
    );
    assert_eq!(document(T::Ping, json!({})).script_summary(), None);
}

#[test]
fn an_invalid_test_project_is_stored_with_a_warning() {
    let warnings = |script: &str| {
        let body = with(minimal(T::ApiProject), json!({"script": script}));
        validate_create(T::ApiProject, InputFormat::V3, body, &ValidationContext::default()).unwrap().warnings
    };
    let project = |step: &str| {
        format!(
            "<soapui-project xmlns='http://eviware.com/soapui/config'><testSuite name='s'><testCase name='c'>\n\
             {step}</testCase></testSuite></soapui-project>"
        )
    };
    assert_eq!(warnings(&project("")), Vec::<String>::new());
    assert_eq!(
        warnings(&project("<testStep type='groovy' name='g'/>")),
        [
            "`script` cannot be run, line 2, column 1: suite `s`, case `c`, step `g`: Groovy scripts are not run: \
          checks end with status 61"
        ]
    );
    assert_eq!(warnings(&project(&"<testStep type='groovy' name='g'/>".repeat(30))).len(), 21);
    assert_eq!(
        warnings(&project(&"<testStep type='properties' name='p'><config/></testStep>".repeat(51))),
        ["the case has 51 steps, more than the 50 that are allowed: checks end with status 94"]
    );
    assert_eq!(
        warnings(&project("").replace("'c'", "'d'")),
        ["`script` cannot be run, line 1, column 1: suite `s` has no case `c`: checks end with status 61"]
    );
    let messages = warnings("<project>\n<suite>\n</project>");
    assert!(
        messages.len() == 1 && messages[0].starts_with("`script` cannot be run, line 3, column 1: "),
        "{messages:?}"
    );
}

#[test]
fn a_selenium_script_must_be_a_jar() {
    let refused = "script: `script` must be the Base64 of a JAR, which is a ZIP archive";
    for (script, expected) in [
        ("UEsDBA==", vec![]),
        ("UEsF\r\nBgAAAAAAAAAA", vec![]),
        ("aGk=", vec![refused.to_owned()]),
        ("UEs=", vec![refused.to_owned()]),
        ("", vec!["script: `script` is required".to_owned()]),
    ] {
        let body = with(minimal(T::Selenium), json!({"script": script}));
        let errors =
            error_lines(validate_create(T::Selenium, InputFormat::V3, body, &ValidationContext::default()));
        assert_eq!(errors.len(), expected.len(), "{script}: {errors:?}");
        assert!(script.is_empty() || errors == expected, "{script}: {errors:?}");
    }
}

#[test]
fn paths_of_assertions_and_variables_are_compiled_when_saved() {
    let step = |assertion: Value, variable: Value| {
        let step =
            json!({"url": "http://a/", "step_name": "s", "assertions": [assertion], "variables": [variable]});
        let body = with(minimal(T::WebsiteApi), json!({"api_steps": [step]}));
        let result = validate_create(T::WebsiteApi, InputFormat::V3, body, &ValidationContext::default());
        error_lines(result).iter().map(|error| error.chars().take(60).collect()).collect::<Vec<String>>()
    };
    let assertion = |source: &str, property: &str| json!({"source": source, "property": property, "comparison": "exists"});
    let variable =
        |source: Option<&str>, property: &str| json!({"name": "n", "property": property, "source": source});
    let valid = step(assertion("JSON Response", "$.a[?@.b > 1]"), variable(Some("XML Response"), "//a/@b"));
    assert_eq!(valid, Vec::<String>::new());
    assert_eq!(step(assertion("JSON Response", "a.b"), variable(None, "[")), Vec::<String>::new());
    // The work of an XPath is limited when it is evaluated.
    assert_eq!(step(assertion("XML Response", "//a//b//c//d//e"), variable(None, "a")), Vec::<String>::new());
    let open = json!({"source": "Status Code", "property": "", "comparison": "equals", "value": "{{code}}"});
    assert_eq!(step(open, variable(None, "a")), Vec::<String>::new());
    let text = json!({"source": "Status Code", "property": "", "comparison": "equals", "value": "{{co de}}"});
    assert_eq!(step(text, variable(None, "a")).len(), 1);
    for (assertion, variable, expected) in [
        (
            assertion("JSON Response", "$.a["),
            variable(None, "a"),
            "assertions[0].property` is not a JSONPath",
        ),
        (assertion("XML Response", "/a["), variable(None, "a"), "assertions[0].property` is not an XPath"),
        (
            assertion("XML Response", &"(".repeat(40)),
            variable(None, "a"),
            "assertions[0].property` is not an XPath",
        ),
        (
            assertion("Header", "["),
            variable(Some("JSON Response"), "["),
            "variables[0].property` is not a JSONPath",
        ),
        (
            assertion("Header", "["),
            variable(Some("Response"), "("),
            "variables[0].property` is not a regular",
        ),
    ] {
        let found = step(assertion, variable);
        assert!(
            found.len() == 1 && found[0].contains(&expected[..expected.len().min(20)]),
            "{expected}: {found:?}"
        );
    }
}
