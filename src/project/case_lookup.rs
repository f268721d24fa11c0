//! Finds suites, cases and steps by name.

use super::model::{CaseCall, CaseIndex, Project, TestCase};

impl Project {
    /// Returns the place of the case `case` of `suite`.
    ///
    /// # Errors
    /// Says which of the two does not exist or is disabled.
    pub(crate) fn find_case(&self, suite: &str, case: &str) -> Result<CaseIndex, String> {
        let found = |name: &str| crate::syntax::truncate_value(name);
        let suite_index = self
            .suites
            .iter()
            .position(|other| other.name == suite)
            .ok_or_else(|| format!("there is no suite `{}`", found(suite)))?;
        let owner = &self.suites[suite_index];
        let case_index = owner
            .cases
            .iter()
            .position(|other| other.name == case)
            .ok_or_else(|| format!("suite `{}` has no case `{}`", found(suite), found(case)))?;
        if owner.disabled {
            return Err(format!("suite `{}` is disabled", found(suite)));
        }
        if owner.cases[case_index].disabled {
            return Err(format!("case `{}` of suite `{}` is disabled", found(case), found(suite)));
        }
        Ok(CaseIndex { suite: suite_index, case: case_index })
    }

    /// Returns the names of all cases with those of their suites, in the order of the file.
    pub fn case_names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.suites
            .iter()
            .flat_map(|suite| suite.cases.iter().map(|case| (suite.name.as_str(), case.name.as_str())))
    }

    /// Returns the names of the cases that are enabled, in enabled suites, as [`Self::case_names`] does.
    pub fn enabled_case_names(&self) -> impl Iterator<Item = (&str, &str)> {
        let suites = self.suites.iter().filter(|suite| !suite.disabled);
        suites.flat_map(|suite| {
            let cases = suite.cases.iter().filter(|case| !case.disabled);
            cases.map(|case| (suite.name.as_str(), case.name.as_str()))
        })
    }

    /// Returns the names of suite and case that were chosen, or those of the only case that is enabled.
    ///
    /// # Errors
    /// Says that there is none, or that there are several; `flags` are those that choose one.
    pub fn choose_case<'n>(
        &'n self,
        suite: Option<&'n str>,
        case: Option<&'n str>,
        flags: &str,
    ) -> Result<(&'n str, &'n str), String> {
        let mut cases = self.enabled_case_names();
        match (suite, case, cases.next(), cases.next()) {
            (Some(suite), Some(case), ..) => Ok((suite, case)),
            (None, None, Some(only), None) => Ok(only),
            (_, _, None, _) => Err("it has no case that is enabled".to_owned()),
            _ => Err(format!("it has several cases; choose one with {flags}")),
        }
    }

    /// Returns the case at `index`.
    pub(crate) fn case(&self, index: CaseIndex) -> &TestCase {
        &self.suites[index.suite].cases[index.case]
    }

    /// Returns the case that `call` runs, by its id, or by its name in `suite`, or in any other.
    pub(crate) fn called_case(&self, call: &CaseCall, suite: usize) -> Option<CaseIndex> {
        if call.target.is_empty() {
            return None;
        }
        let find = |matches: &dyn Fn(usize, &TestCase) -> bool| {
            self.suites.iter().enumerate().find_map(|(suite, owner)| {
                let case = owner.cases.iter().position(|case| matches(suite, case))?;
                Some(CaseIndex { suite, case })
            })
        };
        find(&|_, case| case.id == call.target)
            .or_else(|| find(&|owner, case| owner == suite && case.name == call.target))
            .or_else(|| find(&|_, case| case.name == call.target))
    }
}

impl TestCase {
    /// Returns the place of the step `name`.
    pub(crate) fn find_step(&self, name: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.name == name)
    }
}
