//! Lists what a case, with those that it calls, has and Vigie cannot run.

use std::collections::BTreeSet;

use super::model::{CaseIndex, Project, StepAction};
use super::project_error::UnsupportedItem;
use crate::syntax::node::Position;

/// Maximum number of items that are listed.
const MAX_ITEMS: usize = 200;

/// Returns what cannot be run of the case `case` of `suite` and the cases that it calls, in the order of the file. A suite
/// or case that does not exist, or is disabled, is such an item too.
#[must_use]
pub fn unsupported(project: &Project, suite: &str, case: &str) -> Vec<UnsupportedItem> {
    let first = match project.find_case(suite, case) {
        Ok(first) => first,
        Err(what) => return vec![UnsupportedItem { line: 1, column: 1, what }],
    };
    let mut items: Vec<UnsupportedItem> = project.issues.clone();
    let (mut cases, mut suites) = (BTreeSet::new(), BTreeSet::new());
    let mut pending = vec![first];
    while let Some(index) = pending.pop() {
        if !cases.insert(index) || items.len() > MAX_ITEMS {
            continue;
        }
        if suites.insert(index.suite) {
            items.extend_from_slice(&project.suites[index.suite].issues);
        }
        add_case(project, index, &mut items, &mut pending);
    }
    items.sort_by_key(|item| (item.line, item.column));
    items.truncate(MAX_ITEMS);
    items
}

/// Adds the items of the case at `index`, and to `pending` the cases that it calls.
fn add_case(
    project: &Project,
    index: CaseIndex,
    items: &mut Vec<UnsupportedItem>,
    pending: &mut Vec<CaseIndex>,
) {
    let case = project.case(index);
    items.extend_from_slice(&case.issues);
    for step in case.steps.iter().filter(|step| !step.disabled) {
        items.extend_from_slice(&step.issues);
        let StepAction::Call(call) = &step.action else { continue };
        let reason = match project.called_case(call, index.suite) {
            Some(called) if project.suites[called.suite].disabled => {
                "the suite of the called case is disabled"
            }
            Some(called) if project.case(called).disabled => "the called case is disabled",
            Some(called) => {
                pending.push(called);
                continue;
            }
            None => "the called case does not exist",
        };
        let Position { line, column } = step.position;
        let names = [&project.suites[index.suite].name, &case.name, &step.name];
        let [suite, case, step] = names.map(|name| crate::syntax::truncate_value(name));
        let what = format!("suite `{suite}`, case `{case}`, step `{step}`: {reason}");
        items.push(UnsupportedItem { line, column, what });
    }
}

/// Returns the number of enabled steps of the case `case` of `suite`; 0 when there is no such case.
#[must_use]
pub fn case_step_count(project: &Project, suite: &str, case: &str) -> usize {
    let found = project.find_case(suite, case).ok();
    found.map_or(0, |index| project.case(index).steps.iter().filter(|step| !step.disabled).count())
}
