//! What the button does that sent a form.

use super::input_names::STEPS;
use super::item_edits::ItemEdit;
use super::shown_as::TextForm;
use crate::texts::key;

/// The value of the button with which a person goes on after signing in again.
pub(super) const GO_ON: &str = "go-on";

/// What a form says then.
pub(super) const GOES_ON: &str =
    key("You signed in again while the form was open. Nothing is saved yet: look at it again, and save it");

/// What the button does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormAction {
    /// Saves the monitor.
    Save,
    /// Changes a list, and shows the form again.
    Edit(ItemEdit),
    /// Checks what the form holds, with the steps up to this one, if it names one.
    Check(Option<usize>),
    /// Shows the monitor as a text.
    Show(TextForm),
    /// Shows the form again to a person who has signed in while it was open.
    GoOn,
    /// Only shows the form again.
    ShowForm,
}

impl FormAction {
    /// Reads the value of the button; without one, Enter was pressed, which saves.
    pub(super) fn parse(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::Save };
        let (action, rest) = text.split_once(' ').unwrap_or((text, ""));
        match action {
            GO_ON => Self::GoOn,
            "check" => Self::Check(None),
            "try" => {
                let index =
                    rest.strip_prefix(STEPS).and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
                index
                    .and_then(|index| index.parse().ok())
                    .map_or(Self::ShowForm, |step| Self::Check(Some(step)))
            }
            "show" => TextForm::parse(rest).map_or(Self::ShowForm, Self::Show),
            _ => ItemEdit::parse(text).map_or(Self::ShowForm, Self::Edit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_button_says_saves_nothing() {
        assert_eq!(FormAction::parse(None), FormAction::Save);
        assert_eq!(FormAction::parse(Some("check")), FormAction::Check(None));
        assert_eq!(FormAction::parse(Some("try api_steps[3]")), FormAction::Check(Some(3)));
        assert_eq!(FormAction::parse(Some("show curl")), FormAction::Show(TextForm::Curl));
        assert!(matches!(FormAction::parse(Some("add api_steps")), FormAction::Edit(_)));
        for other in ["", "save", "try", "try x[1]", "show", "show html", "remove api_steps"] {
            assert_eq!(FormAction::parse(Some(other)), FormAction::ShowForm, "{other}");
        }
    }
}
