//! Helpers for scripts and their errors.

use vigie::script::language::{Action, ActionKind, Script};
use vigie::syntax::node::Position;

/// Returns a script of one step with these acts.
pub fn script_with(acts: &str) -> String {
    format!("<script version=\"1\"><variable name=\"user\" value=\"anna\"/><step>{acts}</step></script>")
}

/// Parses a valid script.
pub fn read(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Returns the acts of the first step.
pub fn acts(text: &str) -> Vec<Action> {
    read(&script_with(text)).steps.remove(0).actions
}

/// Returns the only act.
pub fn action(act: &str) -> ActionKind {
    let mut actions = acts(act);
    assert_eq!(actions.len(), 1, "{act}");
    actions.remove(0).kind
}

/// Returns every error as `line:column: message`, with its hint in brackets.
pub fn errors(text: &str) -> Vec<String> {
    let errors = Script::parse(text).expect_err(text);
    errors
        .iter()
        .map(|error| {
            let hint = error.hint.as_ref().map(|hint| format!(" [{hint}]")).unwrap_or_default();
            format!("{}:{}: {}{hint}", error.position.line, error.position.column, error.message)
        })
        .collect()
}

/// Returns the script without positions, like one that was never text.
pub fn without_positions(mut script: Script) -> Script {
    for step in &mut script.steps {
        step.position = Position::default();
        step.actions.iter_mut().for_each(|action| action.position = Position::default());
    }
    script
}
