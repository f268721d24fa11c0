//! `vigie script check`.

use std::fs;

use crate::support::binary::{err, out, vigie};

#[test]
fn a_valid_script_is_summarised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.xml");
    let text = "<script><variable name='user'/><variable name='pass' value='hush' protected='true'/>\n\
        <step name='Front'><open url='/'/><click css='#a'/></step><step><close-window/></step></script>";
    fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap();
    let output = vigie(&["script", "check", name]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let expected = format!(
        "{name}: 2 steps, 3 actions, 2 variables (1 protected)\n  1. Front: open, click\n  2. Step 2: close-window\n  \
         variable user\n  variable pass, protected\n\
         {name}:2:20: warning: a relative URL needs `base` of the script or `url` of the monitor\n"
    );
    assert_eq!(out(&output), expected);
    let many = format!("<script>{}</script>", "<step><close-window/></step>".repeat(60));
    fs::write(&path, many).unwrap();
    let output = vigie(&["script", "check", name]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        out(&output).contains("warning: more than 50 steps: checks end with status 94"),
        "{}",
        out(&output)
    );
}

#[test]
fn errors_have_file_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let faulty = file("bad.xml", "<script>\n<step>\n <clik css='a'/>\n <open/>\n</step></script>");
    let valid = file("good.xml", "<script><step><close-window/></step></script>");
    let broken = file("broken.xml", "<script>\n<step>");
    let output = vigie(&["script", "check", &faulty, &valid, &broken]);
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let printed = out(&output);
    let expected = format!(
        "{faulty}:3:2: `clik` is not allowed in `step`\n  hint: did you mean `click`?\n{faulty}:4:2: `open` needs the \
         attribute `url`\n{valid}: 1 step, 1 action\n  1. Step 1: close-window\n{broken}:1:1: "
    );
    assert!(printed.starts_with(&expected), "{printed}");
    assert!(printed.ends_with("3 errors\n"), "{printed}");

    let missing = folder.path().join("none.xml").to_str().unwrap().to_owned();
    let output = vigie(&["script", "check", &valid, &missing]);
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(2), ""));
    assert_eq!(err(&output), format!("error: `{missing}` does not exist\n"));
}

#[test]
fn wrong_usage_has_its_own_exit_code() {
    for args in [&["script"][..], &["script", "check"], &["script", "chek", "a.xml"], &["script", "import"]] {
        let output = vigie(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", err(&output));
    }
    for args in [&["script", "check", "--help"][..], &["script", "import", "--help"]] {
        let output = vigie(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(
            out(&output).contains("Examples:") && out(&output).contains("Exit codes:"),
            "{}",
            out(&output)
        );
    }
}
