//! `vigie script import`.

use std::fs;
use std::path::Path;

use vigie::script::language::Script;

use crate::script::support::read;
use crate::support::binary::{err, out, vigie};

fn side(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/script/sides").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_project_with_one_test_is_printed() {
    let output = vigie(&["script", "import", &side("clean.side")]);
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""));
    let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<script version=\"1\" name=\"Find\" base=\"https://search.example.test/\">
  <step name=\"Find\">
    <open url=\"/\"/>
    <clear>
      <by name=\"q\"/>
      <by css=\"input\"/>
    </clear>
    <type text=\"lamp\">
      <by name=\"q\"/>
      <by css=\"input\"/>
    </type>
    <click css=\"button\"/>
    <assert-title equals=\"lamp - Search\"/>
  </step>
</script>
";
    assert_eq!(out(&output), expected);
    assert!(Script::parse(expected).is_ok());
}

#[test]
fn several_tests_are_written_to_a_folder_and_losses_reported() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new/scripts");
    let output = vigie(&["script", "import", &side("shop.side"), "-o", target.to_str().unwrap()]);
    let text = err(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let issues: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("not converted: ")).collect();
    let size = "the page size is not part of a script: set the monitor's `subtype` to a device profile";
    let expected = [
        format!("test `Log in`, command 2 `setWindowSize`: {size}"),
        format!("test `Log in`, command 2 `setWindowSize`: {size}"),
        "test `Buy a lamp`, command 4 `if`: control flow cannot be converted; the commands inside are left out".to_owned(),
        "test `Buy a lamp`, command 5 `click`: it is inside control flow, which cannot be converted".to_owned(),
    ];
    assert_eq!(issues, expected, "{text}");
    assert!(!text.contains("open sesame"), "{text}");
    let login = fs::read_to_string(target.join("log-in.xml")).unwrap();
    assert!(
        login.contains("<variable name=\"password\" value=\"open sesame\" protected=\"true\"/>"),
        "{login}"
    );
    assert!(login.contains("<type text=\"anna\">"), "{login}");
    assert!(login.contains("equals=\"Welcome, Anna &amp; Co &lt;shop&gt;\""), "{login}");
    assert!(
        login.contains("<by xpath=\"//form[@id='login']/div/input\"/>") && !login.contains("//input[\""),
        "{login}"
    );
    let buy = read(&fs::read_to_string(target.join("buy-a-lamp.xml")).unwrap());
    let steps: Vec<_> = buy.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["Log in", "The lamps"]);
    let acts: Vec<_> = buy.steps[1].actions.iter().map(|action| action.kind.name()).collect();
    let expected =
        ["open", "extract", "click", "switch-window", "assert-text", "close-window", "switch-window"];
    assert_eq!(acts, expected);
    let checked = vigie(&["script", "check", target.join("log-in.xml").to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(0), "{}", out(&checked));
}

#[test]
fn a_test_can_be_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("buy.xml");
    let output = vigie(&[
        "script",
        "import",
        &side("shop.side"),
        "--test",
        "Buy a lamp",
        "-o",
        target.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(read(&fs::read_to_string(&target).unwrap()).name, "Buy a lamp");
    assert!(err(&output).contains(&format!("wrote {}: 2 steps, ", target.display())), "{}", err(&output));
}

#[test]
fn wrong_use_names_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x");
    fs::write(&file, "{}").unwrap();
    let file = file.to_str().unwrap();
    let shop = side("shop.side");
    for (args, text) in [
        (vec![&*shop], "has 2 tests: `Log in`, `Buy a lamp`\nhint: choose one with `--test NAME`"),
        (vec![&*shop, "--test", "Login"], "has no test `Login`\nhint: did you mean `Log in`?"),
        (vec![&*shop, "-o", file], "`-o` names a file"),
        (vec!["/none.side"], "`/none.side` cannot be read"),
        (vec![file], "x:1:2: not a Selenium IDE project: missing field `tests`"),
    ] {
        let output = vigie(&[&["script", "import"][..], &args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", err(&output));
        assert!(err(&output).contains(text), "{args:?}: {}", err(&output));
        assert_eq!(out(&output), "", "{args:?}");
    }
}
