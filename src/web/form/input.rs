//! The inputs of a form, as their fields describe them.

use askama::Template;

use super::conditions::Condition;
use super::form_choices::Choices;
use super::input_names::{
    ACTION_NAME, clear_name, count_name, is_within, object_name, origin_name, sealed_name,
};
use crate::texts::Locale;
use crate::web::html::with_code;

/// An input.
#[derive(Template)]
#[template(path = "form_input.html", config = "src/web/askama.toml")]
pub(super) struct FormInput {
    /// Path of the field, and name of the input.
    pub(super) name: String,
    /// Label: the name of the field in words.
    pub(super) label: String,
    /// What it is.
    pub(super) help: String,
    /// The value without an input, in words.
    pub(super) default: String,
    /// Whether it has to be filled.
    pub(super) required: bool,
    /// The kind of input.
    pub(super) control: Control,
    /// What it holds.
    pub(super) text: String,
    /// What is wrong with it.
    pub(super) errors: Vec<String>,
    /// Whether it holds something else than its default.
    pub(super) is_changed: bool,
    /// Whether it belongs to an item of a list, where there is little room.
    pub(super) is_in_item: bool,
    /// Whether another value of it changes what can be chosen elsewhere.
    pub(super) changes_choices: bool,
    /// When it has an effect; `None` for always.
    pub(super) condition: Option<Condition>,
    /// The language of the page.
    pub(super) t: Locale,
}

/// The kind of input.
pub(super) enum Control {
    /// A box to mark.
    Checkbox,
    /// A choice.
    Select(Choices),
    /// A whole number.
    Number {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// A line of text.
    Line,
    /// A URL.
    Url,
    /// A secret, which is never shown.
    Secret(SecretState),
    /// A secret of several lines, such as a certificate with its key.
    SecretLines(SecretState),
    /// Several lines: a text.
    Lines,
    /// Several lines, of which each is a value.
    List,
    /// Several lines of YAML.
    Yaml,
    /// Too long for a form: it stays as it is.
    TooLong,
    /// A list of objects.
    Items(Items),
    /// An object, with an input for each of its fields.
    Group(Vec<FormInput>),
}

/// What is known of a secret.
#[derive(Clone, Debug, Default)]
pub(super) struct SecretState {
    /// Whether one is stored.
    pub(super) is_stored: bool,
    /// Whether the box is marked that removes it.
    pub(super) is_cleared: bool,
    /// What was typed before, sealed; empty without.
    pub(super) sealed: String,
}

impl FormInput {
    /// Whether an error at `path` is told at this input: it is in this field, and in no input below.
    pub(super) fn owns(&self, path: &str) -> bool {
        is_within(path, &self.name)
            && match &self.control {
                Control::Group(inputs) => !inputs.iter().any(|input| is_within(path, &input.name)),
                Control::Items(items) => !items.list.iter().any(|item| is_within(path, &item.path)),
                _ => true,
            }
    }

    /// Appends this input to `wrong` when something is wrong with it, and those below it.
    fn collect_wrong<'a>(&'a self, wrong: &mut Vec<&'a Self>) {
        if !self.errors.is_empty() {
            wrong.push(self);
        }
        match &self.control {
            Control::Group(inputs) => inputs.iter().for_each(|input| input.collect_wrong(wrong)),
            Control::Items(items) => items.inputs().for_each(|input| input.collect_wrong(wrong)),
            _ => {}
        }
    }

    /// Whether something is wrong with it or with an input below.
    pub(super) fn is_wrong(&self) -> bool {
        !wrong_inputs(std::iter::once(self)).is_empty()
    }

    /// Whether the box is marked.
    fn is_checked(&self) -> bool {
        self.text == "true"
    }

    /// Whether `value` is chosen.
    fn is_chosen(&self, value: &str) -> bool {
        self.text == value
    }
}

/// The items of a list.
pub(super) struct Items {
    /// What one is called.
    pub(super) noun: String,
    /// Them, in order.
    pub(super) list: Vec<Item>,
    /// Whether another one can be added.
    pub(super) has_room: bool,
}

/// An item.
pub(super) struct Item {
    /// Path of the item.
    pub(super) path: String,
    /// What it is called.
    pub(super) title: String,
    /// Which stored item it was; empty for a new one.
    pub(super) origin: String,
    /// Inputs that are always shown.
    pub(super) main: Vec<FormInput>,
    /// Inputs that are folded until one is needed.
    pub(super) more: Vec<FormInput>,
    /// What is wrong with it as a whole.
    pub(super) errors: Vec<String>,
    /// Whether the person goes on with it.
    pub(super) has_focus: bool,
    /// Whether it can be tried.
    pub(super) is_step: bool,
}

/// Returns the inputs that are wrong, among `inputs` and those below them.
pub(super) fn wrong_inputs<'a>(inputs: impl Iterator<Item = &'a FormInput>) -> Vec<&'a FormInput> {
    let mut wrong = Vec::new();
    inputs.for_each(|input| input.collect_wrong(&mut wrong));
    wrong
}

impl Items {
    /// Returns the inputs of all items.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &FormInput> {
        self.list.iter().flat_map(|item| item.main.iter().chain(&item.more))
    }

    /// Returns what the items are called within a sentence: abbreviations stay as they are.
    pub(super) fn noun_in_sentence(&self, t: Locale) -> String {
        let is_abbreviation = self.noun.chars().nth(1).is_some_and(char::is_uppercase);
        if is_abbreviation { self.noun.clone() } else { t.within_sentence(&self.noun) }
    }
}

impl Item {
    /// Whether the folded inputs are shown: one is set, or wrong.
    pub(super) fn is_open(&self) -> bool {
        self.more.iter().any(|input| input.is_changed || input.is_wrong())
    }
}
