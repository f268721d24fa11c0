//! A case of a project as steps of a `website-api` monitor, and what that would lose.

use serde_json::Value;

use super::convert_scope::ConversionScope;
use super::convert_step::convert_request;
use super::model::{PathLanguage, Project, PropertyTransfer, StepAction, TestCase, TestStep};
use super::project_error::UnsupportedItem;
use super::unsupported::unsupported;
use crate::syntax::truncate_value;

/// Most steps of a monitor (fields.md 2).
const MAX_STEPS: usize = 50;
/// Most variables of a step (fields.md 2).
const MAX_VARIABLES: usize = 100;

/// A case as a monitor with steps.
pub struct Conversion {
    /// The steps.
    pub steps: Vec<Value>,
    /// What the steps do not do, in the order of the case.
    pub losses: Vec<UnsupportedItem>,
}

/// Converts the case `case` of `suite`. The values of properties take the place of their expansions; values that transfers
/// and expansions take from responses become variables.
///
/// # Errors
/// Says which of the two does not exist or is disabled.
pub fn convert_to_steps(project: &Project, suite: &str, case: &str) -> Result<Conversion, String> {
    let index = project.find_case(suite, case)?;
    let mut converter = CaseConverter {
        scope: ConversionScope::new(project, index),
        case: project.case(index),
        place: format!("suite `{}`, case `{}`", truncate_value(suite), truncate_value(case)),
        conversion: Conversion { steps: Vec::new(), losses: unsupported(project, suite, case) },
    };
    converter.convert_case();
    Ok(converter.conversion)
}

struct CaseConverter<'p> {
    scope: ConversionScope<'p>,
    case: &'p TestCase,
    /// Suite and case, for what is lost.
    place: String,
    conversion: Conversion,
}

impl CaseConverter<'_> {
    fn convert_case(&mut self) {
        let case = self.case;
        let requests = case.steps.iter().filter(|step| !step.disabled);
        let requests = requests.filter(|step| matches!(step.action, StepAction::Request(_))).count();
        for (is_lost, what) in [
            (!case.fail_on_error, "the case goes on after a step that failed: steps end with it"),
            (case.timeout_ms > 0, "the timeout of the case: a monitor has one of its own"),
            (!case.keep_session && requests > 1, "`keepSession` is off: steps keep cookies"),
        ] {
            if is_lost {
                self.lose(None, what);
            }
        }
        for (position, step) in case.steps.iter().enumerate().filter(|(_, step)| !step.disabled) {
            match &step.action {
                StepAction::Request(request) => {
                    if self.conversion.steps.len() == MAX_STEPS {
                        self.lose(Some(step), &format!("a monitor has no more than {MAX_STEPS} steps"));
                        continue;
                    }
                    let converted = convert_request(&self.scope, position, &step.name, request);
                    self.conversion.steps.push(converted.step);
                    let number = self.conversion.steps.len() - 1;
                    self.scope.note_request(position, number);
                    converted.losses.iter().for_each(|loss| self.lose(Some(step), loss));
                }
                StepAction::Transfer(transfers) => {
                    for transfer in transfers {
                        self.convert_transfer(step, transfer);
                    }
                }
                StepAction::Delay(_) => self.lose(Some(step), "a delay: steps have none"),
                StepAction::Goto(_) => self.lose(Some(step), "a conditional goto: steps run in order"),
                StepAction::Call(_) => self.lose(Some(step), "a call of another case"),
                StepAction::Properties(_) | StepAction::Unsupported => {}
            }
        }
        for (number, variable) in self.scope.take_variables() {
            let step = &self.conversion.steps[number];
            if step["variables"].as_array().is_some_and(|variables| variables.len() == MAX_VARIABLES) {
                let what = format!("more than {MAX_VARIABLES} values of one response");
                self.lose(None, &what);
                continue;
            }
            let step = &mut self.conversion.steps[number];
            if let Some(variables) = step["variables"].as_array_mut() {
                variables.push(variable);
            } else {
                step["variables"] = Value::Array(vec![variable]);
            }
        }
    }

    fn convert_transfer(&mut self, step: &TestStep, transfer: &PropertyTransfer) {
        let name = format!("transfer `{}`", truncate_value(&transfer.name));
        match self.transfer_variable(transfer) {
            Ok(())
                if !transfer.fail_on_error
                    || transfer.set_null_on_missing_source
                    || transfer.ignore_empty =>
            {
                self.lose(
                    Some(step),
                    &format!("{name}: without a value it goes on, a variable fails the step"),
                );
            }
            Ok(()) => {}
            Err(reason) => self.lose(Some(step), &format!("{name}: {reason}")),
        }
    }

    /// Makes a variable of what `transfer` takes from a response.
    fn transfer_variable(&self, transfer: &PropertyTransfer) -> Result<(), String> {
        let PropertyTransfer { source, target, .. } = transfer;
        if !target.path.trim().is_empty() {
            return Err("it changes a part of its target".to_owned());
        }
        if transfer.entitize || transfer.transfer_child_nodes || transfer.transfer_to_all {
            return Err("it changes what it copies".to_owned());
        }
        if source.language == PathLanguage::XPath
            && !source.path.trim().is_empty()
            && !transfer.transfer_text_content
        {
            return Err("it copies an element".to_owned());
        }
        let owner = self.case.find_owner(&target.step).ok_or("its target does not exist")?;
        let variable = self.scope.response_variable(
            &source.step,
            &source.property,
            &source.path,
            Some(&target.property),
        )?;
        self.scope.set_variable(owner, &target.property, &variable);
        Ok(())
    }

    fn lose(&mut self, step: Option<&TestStep>, what: &str) {
        let (line, column) = step.map_or((1, 1), |step| (step.position.line, step.position.column));
        let step = step.map(|step| format!(", step `{}`", truncate_value(&step.name))).unwrap_or_default();
        self.conversion.losses.push(UnsupportedItem {
            line,
            column,
            what: format!("{}{step}: {what}", self.place),
        });
    }
}
