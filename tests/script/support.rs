//! Short ways to scripts and their faults.

use vigie::script::language::{Action, ActionKind, Script};
use vigie::syntax::node::Position;

/// A script of one step with these acts.
pub fn stepped(acts: &str) -> String {
    format!("<script version=\"1\"><variable name=\"user\" value=\"anna\"/><step>{acts}</step></script>")
}

/// The script, which has to be good.
pub fn read(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// The acts of the first step.
pub fn acts(text: &str) -> Vec<Action> {
    read(&stepped(text)).steps.remove(0).actions
}

/// What the only act does.
pub fn action(act: &str) -> ActionKind {
    let mut actions = acts(act);
    assert_eq!(actions.len(), 1, "{act}");
    actions.remove(0).kind
}

/// Every fault as `line:column: message`, with its hint in brackets.
pub fn faults(text: &str) -> Vec<String> {
    let errors = Script::parse(text).expect_err(text);
    errors
        .iter()
        .map(|error| {
            let hint = error.hint.as_ref().map(|hint| format!(" [{hint}]")).unwrap_or_default();
            format!("{}:{}: {}{hint}", error.position.line, error.position.column, error.message)
        })
        .collect()
}

/// The script without places, as one that was never text.
pub fn placeless(mut script: Script) -> Script {
    for step in &mut script.steps {
        step.position = Position::default();
        step.actions.iter_mut().for_each(|action| action.position = Position::default());
    }
    script
}
