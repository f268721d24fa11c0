//! Short ways to scripts and their faults.

use vigie::script::language::{Action, ActionKind, Script};
use vigie::syntax::node::Position;

/// A script of one step with these acts.
pub fn stepped(acts: &str) -> String {
    format!("<script version=\"1\"><variable name=\"user\" value=\"anna\"/><step>{acts}</step></script>")
}

/// The script, which has to be good.
pub fn read(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"))
}

/// The acts of the first step.
pub fn acts(text: &str) -> Vec<Action> {
    read(&stepped(text)).steps.remove(0).actions
}

/// What the only act does.
pub fn action(act: &str) -> ActionKind {
    let mut acts = acts(act);
    assert_eq!(acts.len(), 1, "{act}");
    acts.remove(0).kind
}

/// Every fault as `line:column: message`, with its hint in brackets.
pub fn faults(text: &str) -> Vec<String> {
    let told = Script::parse(text).expect_err(text);
    told.iter()
        .map(|fault| {
            let hint = fault.hint.as_ref().map(|hint| format!(" [{hint}]")).unwrap_or_default();
            format!("{}:{}: {}{hint}", fault.position.line, fault.position.column, fault.message)
        })
        .collect()
}

/// The script without places, as one that was never text.
pub fn placeless(mut script: Script) -> Script {
    for step in &mut script.steps {
        step.position = Position::default();
        step.actions.iter_mut().for_each(|act| act.position = Position::default());
    }
    script
}
