//! Any text as a browser script: it is parsed, or a limited number of errors is returned. A parsed script is written so
//! that it parses to the same again, and its secrets are masked. Any text as a project of Selenium IDE: an imported
//! script can be run.

use vigie::script::language::Script;
use vigie::script::selenium_ide::SeleniumIdeProject;
use vigie::script::{ScriptOverview, mask_secrets, restore_masked_secrets};
use vigie::syntax::node::Position;

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Script::parse(text) {
        Err(errors) => {
            assert!((1..=100).contains(&errors.len()));
            let lines = text.lines().count() + 1;
            for error in errors {
                assert!(!error.message.is_empty() && error.message.len() < 1000, "{error:?}");
                assert!(error.position.line as usize <= lines, "{error:?}");
            }
        }
        Ok(script) => check_script(text, script),
    }
    if let Ok(project) = SeleniumIdeProject::parse(text) {
        for index in 0..project.test_names().count() {
            if let Some(script) = project.import(index).script {
                let text = script.to_xml();
                assert!(Script::parse(&text).is_ok(), "{:?}\n{text}", Script::parse(&text));
            }
        }
    }
}

fn check_script(text: &str, script: Script) {
    let facts = ScriptOverview::parse(text).expect("what can be played is a script");
    assert_eq!(facts.step_count, script.steps.len());
    assert_eq!(facts.action_count, script.steps.iter().map(|step| step.actions.len()).sum::<usize>());
    let masked = mask_secrets(text).into_owned();
    assert_eq!(restore_masked_secrets(&masked, Some(text)).as_deref(), Ok(text));
    let again = Script::parse(&script.to_xml()).expect("what is written can be read");
    assert_eq!(without_positions(again), without_positions(script));
}

fn without_positions(mut script: Script) -> Script {
    for step in &mut script.steps {
        step.position = Position::default();
        step.actions.iter_mut().for_each(|action| action.position = Position::default());
    }
    script
}
