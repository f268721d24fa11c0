//! Runs a step that calls another case.

use std::sync::Arc;

use super::project_run::ProjectRun;
use super::resolver::CaseResolver;
use super::run_state::{CaseState, RunState};
use super::step_budget::StepBudget;
use crate::domain::{Failure, FailureKind, Phase};
use crate::project::model::{CaseCall, CaseIndex, RunMode};
use crate::project::property_owner::PropertyOwner;
use crate::syntax::escape::escape_expansions;

/// Maximum nesting of calls.
const MAX_CALL_DEPTH: usize = 16;

impl ProjectRun<'_> {
    /// Runs the case that a step calls. Returns its failure; an error ends the run.
    pub(super) async fn run_call(
        &mut self,
        caller: CaseIndex,
        step: usize,
        call: &CaseCall,
    ) -> Result<Option<Failure>, Failure> {
        let project = Arc::clone(&self.state.project);
        let Some(called) = project.called_case(call, caller.suite) else {
            return Ok(Some(self.fail_step(
                caller,
                step,
                FailureKind::ProjectFailed,
                "the called case does not exist",
            )));
        };
        if self.running_cases.len() >= MAX_CALL_DEPTH {
            let detail = format!("cases call each other more than {MAX_CALL_DEPTH} deep");
            return Err(Failure::new(Phase::Prepare, FailureKind::ProjectFailed, detail));
        }
        if call.run_mode == RunMode::Shared && self.running_cases.contains(&called) {
            let reason = "the called case is running already";
            return Ok(Some(self.fail_step(caller, step, FailureKind::ProjectFailed, reason)));
        }
        self.state.ensure_case(called);
        self.learn_secrets();
        let saved_state = match call.run_mode {
            RunMode::Copy => self.state.put_aside(called),
            RunMode::Shared => None,
        };
        self.check_memory()?;
        let (own_call, budget) = (call.clone(), self.step_budget());
        let passed = self
            .compute(0, move |state| pass_properties(state, (caller, step), (&own_call, called), &budget))
            .await?;
        self.learn_secrets();
        if let Err(reason) = passed {
            return Ok(Some(self.fail_step(caller, step, FailureKind::VariableInvalid, &reason)));
        }
        let caller_session = (self.keeps_session, std::mem::take(&mut self.runner.cookie_jar));
        let inherits_session = call.copy_http_session && caller_session.0;
        if inherits_session {
            // One session: cookies that the called case receives are sent by the caller too.
            self.runner.cookie_jar = caller_session.1;
            let failure = Box::pin(self.run_case(called, true)).await?;
            self.keeps_session = caller_session.0;
            self.return_properties(caller, step, call, called, saved_state);
            return Ok(failure);
        }
        let failure = Box::pin(self.run_case(called, false)).await?;
        (self.keeps_session, self.runner.cookie_jar) = caller_session;
        self.return_properties(caller, step, call, called, saved_state);
        Ok(failure)
    }

    /// Copies the properties that come back to the step, and restores the state of a copy.
    fn return_properties(
        &mut self,
        caller: CaseIndex,
        step: usize,
        call: &CaseCall,
        called: CaseIndex,
        saved_state: Option<CaseState>,
    ) {
        let case = self.state.case(called);
        let returned: Vec<(String, String, bool)> = call
            .return_properties
            .iter()
            .filter_map(|name| {
                let properties = &case?.properties;
                Some((name.clone(), properties.get(name)?.to_owned(), properties.is_from_response(name)))
            })
            .collect();
        if let Some(saved_state) = saved_state {
            self.state.put_back(called, saved_state);
        }
        for (name, value, is_from_response) in returned {
            self.state.set_property(caller, PropertyOwner::Step(step), &name, (value, is_from_response));
        }
        self.learn_secrets();
    }
}

/// Sets the properties of the called case from those of the calling step, but for those that only come back.
fn pass_properties(
    state: &mut RunState,
    (caller, step): (CaseIndex, usize),
    (call, called): (&CaseCall, CaseIndex),
    budget: &StepBudget,
) -> Result<(), String> {
    let resolver = CaseResolver::new(state, caller, budget);
    let mut passed = Vec::new();
    for (name, _) in call.properties.iter() {
        let comes_back = call.return_properties.iter().any(|other| other.eq_ignore_ascii_case(name));
        let is_known = state.case(called).is_some_and(|case| case.properties.get(name).is_some());
        if comes_back || !is_known {
            continue;
        }
        let value = resolver.property(PropertyOwner::Step(step), name)?.unwrap_or_default();
        let value = resolver.expand(&value)?;
        if !value.is_empty() || !call.ignore_empty_properties {
            passed.push((name, value));
        }
    }
    for (name, value) in passed {
        // Nothing is left to be expanded.
        let value = escape_expansions(value.into()).into_owned();
        state.set_property(called, PropertyOwner::Case, name, (value, true));
    }
    Ok(())
}
