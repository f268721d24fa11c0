//! Any text as a SoapUI project: it is parsed, or an error with a position is returned. What cannot be run of any of its
//! cases is a bounded list with positions. Its secrets are masked and restored, and its cases converted.

use vigie::project::{Project, case_step_count, convert_to_steps, secret_text, unsupported};

/// Largest number of cases that are listed.
const MAX_CASES: usize = 20;

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let masked = secret_text::mask_secrets(text);
    if let Ok(restored) = secret_text::restore_masked_secrets(&masked, Some(text)) {
        assert_eq!(restored, text, "{masked}");
    }
    let lines = text.lines().count() + 1;
    match Project::parse(text) {
        Err(error) => {
            assert!(!error.message.is_empty() && error.message.len() < 1000, "{error:?}");
            assert!(error.line as usize <= lines, "{error:?}");
        }
        Ok(project) => {
            for (suite, case) in project.case_names().take(MAX_CASES) {
                let items = unsupported(&project, suite, case);
                assert!(items.len() <= 200, "{}", items.len());
                for item in &items {
                    assert!(item.line >= 1 && item.line as usize <= lines && item.column >= 1, "{item:?}");
                    assert!(!item.what.is_empty() && item.what.len() < 4000, "{item:?}");
                }
                assert!(case_step_count(&project, suite, case) <= text.len());
                if let Ok(conversion) = convert_to_steps(&project, suite, case) {
                    assert!(conversion.steps.len() <= 50, "{}", conversion.steps.len());
                }
            }
            assert!(!unsupported(&project, "\0", "\0").is_empty());
        }
    }
}
