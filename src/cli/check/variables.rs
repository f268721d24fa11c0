//! `--set {{name}}=value`: variables that are set before the first step.

use std::collections::BTreeMap;

use crate::cli::output::UsageError;
use crate::syntax::text_format::TextFormat;

/// Splits `assignments` into fields and variables.
///
/// # Errors
/// [`UsageError`] for a variable without a value, or with a name that no template can use.
pub(in crate::cli) fn split_variables(
    assignments: Vec<String>,
) -> anyhow::Result<(Vec<String>, BTreeMap<String, String>)> {
    let (mut fields, mut variables) = (Vec::new(), BTreeMap::new());
    for assignment in assignments {
        let Some(rest) = assignment.strip_prefix("{{") else {
            fields.push(assignment);
            continue;
        };
        let (name, value) = rest.split_once("}}=").ok_or_else(|| {
            let hint = "write `--set '{{name}}=value'`, in quotes".to_owned();
            UsageError::with_hint(format!("`--set {assignment}` is not a variable assignment"), Some(hint))
        })?;
        if !TextFormat::Identifier.matches(name) {
            let hint = format!("it must be {}", TextFormat::Identifier.requirement());
            return Err(UsageError::with_hint(format!("`{name}` is not a valid variable name"), Some(hint)));
        }
        variables.insert(name.to_owned(), value.to_owned());
    }
    Ok((fields, variables))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_separated_from_fields() {
        let split = |sets: &[&str]| split_variables(sets.iter().map(|&set| set.to_owned()).collect());
        let (fields, variables) =
            split(&["timeout=5", "{{token}}=a=b}}", "{{empty}}=", "{{token}}=c"]).unwrap();
        assert_eq!(fields, ["timeout=5"]);
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(variables, [("empty", ""), ("token", "c")]);
        for invalid in ["{{token", "{{token}}", "{{to ken}}=a", "{{}}=a", "{{1}}=a"] {
            assert!(split(&[invalid]).unwrap_err().is::<UsageError>(), "{invalid}");
        }
    }
}
