//! Makes the inputs of a form from the fields: each from its type, lists and objects from those of their fields.

use super::conditions::condition_of;
use super::form_choices::{Choices, FormChoices, NO_CHOICES};
use super::form_fields::shown_fields;
use super::form_zones::FormZones;
use super::input::{Control, FormInput, Item, Items, SecretState};
use super::input_names::{STEPS, clear_name, is_within, item_path, member_path, origin_name, sealed_name};
use super::labels::{default_text, error_text, label, singular, value_label};
use super::nested_values::{StoredValue, is_shown_by_field, item_count};
use super::text_from_values::{FormTexts, is_scalar};
use crate::schema::field::{Field, FieldType};
use crate::schema::table::FieldTable;
use crate::syntax::ValidationError;
use crate::syntax::text_format::TextFormat;
use crate::texts::Locale;

/// Texts that may be longer than this get several lines.
const MAX_LINE_CHARS: usize = 300;

/// Secrets that may be longer than this get several lines.
const MAX_SECRET_LINE_CHARS: usize = 10_000;

/// Of lists with more items than this, ids are typed instead of chosen.
const MAX_ITEMS_WITH_CHOICES: usize = 50;

/// Longest text in an input, in bytes. Longer ones are for files and the API.
const MAX_SHOWN_BYTES: usize = 128 * 1024;

/// What all inputs of a form are made from.
#[derive(Clone, Copy)]
pub(super) struct FormContent<'a> {
    /// What stands in the inputs.
    pub(super) texts: &'a FormTexts,
    /// What is wrong with it.
    pub(super) errors: &'a [ValidationError],
    /// What a person can choose.
    pub(super) choices: &'a FormChoices,
    /// Path of the item that the person goes on with, if a button has changed a list.
    pub(super) focus: Option<&'a str>,
    /// The zones that times are in.
    pub(super) zones: FormZones,
    /// The language of the page.
    pub(super) t: Locale,
}

/// Returns the input of the field `path`, of which `stored` is stored.
pub(super) fn build_input(
    field: &'static Field,
    path: &str,
    content: FormContent<'_>,
    stored: StoredValue<'_>,
) -> FormInput {
    let default = default_text(field);
    let text = content.texts.get(path).cloned().unwrap_or_default();
    let control = if text.len() > MAX_SHOWN_BYTES {
        Control::TooLong
    } else {
        control(field, path, &text, content, stored)
    };
    let is_changed = match &control {
        Control::Items(items) => !items.list.is_empty(),
        Control::Group(inputs) => inputs.iter().any(|input| input.is_changed),
        Control::Secret(secret) | Control::SecretLines(secret) => {
            secret.is_stored || !secret.sealed.is_empty()
        }
        _ => !text.is_empty() && text != default,
    };
    let label = content.t.text(&label(field.name)).to_owned();
    let zone = content.zones.zone_of(&field.field_type, matches!(control, Control::Yaml));
    let mut input = FormInput {
        name: path.to_owned(),
        label: match zone {
            Some(zone) => content.t.fill("{label}, in {zone}", &[("label", &label), ("zone", zone.name())]),
            None => label,
        },
        help: content.t.text(field.description).to_owned(),
        required: field.required,
        control,
        errors: Vec::new(),
        is_changed,
        text,
        default: if default.is_empty() { default } else { value_label(field, &default, content.t) },
        is_in_item: path.contains('['),
        changes_choices: content.choices.depend_on(path),
        condition: condition_of(field.name),
        t: content.t,
    };
    let own = content.errors.iter().filter(|error| input.owns(&error.path));
    input.errors = own.map(error_text).collect();
    input
}

fn control(
    field: &'static Field,
    path: &str,
    text: &str,
    content: FormContent<'_>,
    stored: StoredValue<'_>,
) -> Control {
    if let Some(choices) = content.choices.of(path) {
        return select(field, text, choices.clone(), content.t);
    }
    match &field.field_type {
        field_type if field.secret => {
            let secret = SecretState {
                is_stored: stored.masked.is_some_and(|value| !value.is_null()),
                is_cleared: content.texts.contains_key(&clear_name(path)),
                sealed: content.texts.get(&sealed_name(path)).cloned().unwrap_or_default(),
            };
            // An input of one line would lose line breaks.
            let is_long = matches!(field_type, FieldType::Text { max, .. } if *max > MAX_SECRET_LINE_CHARS);
            if is_long { Control::SecretLines(secret) } else { Control::Secret(secret) }
        }
        FieldType::Bool => Control::Checkbox,
        FieldType::IntEnum(numbers) => {
            let choices = numbers.iter().map(|number| (number.to_string(), number.to_string()));
            select(field, text, choices.collect(), content.t)
        }
        FieldType::TextEnum(texts) => {
            let choices = texts.iter().map(|text| ((*text).to_owned(), value_label(field, text, content.t)));
            select(field, text, choices.collect(), content.t)
        }
        FieldType::Int { min, max } => Control::Number { min: *min, max: *max },
        FieldType::Text { format: TextFormat::HttpUrl | TextFormat::HttpUrlTemplate, .. } => Control::Url,
        FieldType::Text { max, .. } if *max > MAX_LINE_CHARS && !field.is_url() || text.contains('\n') => {
            Control::Lines
        }
        FieldType::Text { .. } | FieldType::Float { .. } => Control::Line,
        FieldType::List { item_type, .. } if is_scalar(item_type) => Control::List,
        FieldType::List { item_type: FieldType::Object(table), max, .. }
            if is_shown_by_field(path, content.texts) =>
        {
            Control::Items(build_items(field.name, table, *max, path, content, stored))
        }
        FieldType::Object(table) if is_shown_by_field(path, content.texts) => {
            Control::Group(object_inputs(table, path, content, stored))
        }
        FieldType::List { .. } | FieldType::Object(_) | FieldType::Any => Control::Yaml,
    }
}

fn select(field: &Field, text: &str, choices: Choices, t: Locale) -> Control {
    // Without a default, a choice can be left open.
    let none = (field.default_value().is_none()).then(|| (String::new(), "–".to_owned()));
    // A value that is no choice any more stays until somebody chooses another.
    let is_choice = text.is_empty() || choices.iter().any(|(value, _)| value == text);
    let other =
        (!is_choice).then(|| (text.to_owned(), t.fill("{text} (no choice any more)", &[("text", text)])));
    Control::Select(none.into_iter().chain(other).chain(choices).collect())
}

/// Returns the inputs of the fields of an object: `path` is that of the object.
fn object_inputs(
    table: &'static FieldTable,
    path: &str,
    content: FormContent<'_>,
    stored: StoredValue<'_>,
) -> Vec<FormInput> {
    let to_input = |field: &'static Field| {
        build_input(field, &member_path(path, field.name), content, stored.member(field.name))
    };
    shown_fields(table).map(to_input).collect()
}

/// Returns the items of the list `path` of at most `max`; `name` is that of its field, `table` has the fields of an item.
fn build_items(
    name: &str,
    table: &'static FieldTable,
    max: usize,
    path: &str,
    content: FormContent<'_>,
    stored: StoredValue<'_>,
) -> Items {
    let count = item_count(path, content.texts).min(max);
    // Each item has its own list of choices.
    let content = if count > MAX_ITEMS_WITH_CHOICES {
        FormContent { choices: &NO_CHOICES, ..content }
    } else {
        content
    };
    let noun = content.t.text(&singular(name)).to_owned();
    let to_item = |index| {
        let item_path = item_path(path, index);
        let stored = stored.item(content.texts.get(&origin_name(&item_path)));
        build_item(table, &item_path, &format!("{noun} {}", index + 1), content, stored)
    };
    Items { list: (0..count).map(to_item).collect(), has_room: count < max, noun }
}

fn build_item(
    table: &'static FieldTable,
    path: &str,
    place: &str,
    content: FormContent<'_>,
    stored: StoredValue<'_>,
) -> Item {
    let text = |name: &str| content.texts.get(&member_path(path, name)).filter(|text| !text.is_empty());
    let name = text("step_name").or_else(|| text("name"));
    let mut inputs = object_inputs(table, path, content, stored);
    // People begin with the name.
    inputs.sort_by_key(|input| !input.name.ends_with("_name"));
    let is_more = |input: &FormInput| {
        let field = input.name.rsplit('.').next().and_then(|name| table.field(name));
        field.is_some_and(|field| !field.required && (field.extension || is_rare(field.name)))
    };
    let (more, main): (Vec<_>, Vec<_>) = inputs.into_iter().partition(is_more);
    let is_own = |error_path: &str| {
        is_within(error_path, path)
            && !main.iter().chain(&more).any(|input| is_within(error_path, &input.name))
    };
    Item {
        title: name.map_or_else(|| place.to_owned(), |name| format!("{place}: {name}")),
        origin: content.texts.get(&origin_name(path)).cloned().unwrap_or_default(),
        errors: content.errors.iter().filter(|error| is_own(&error.path)).map(error_text).collect(),
        has_focus: content.focus == Some(path),
        is_step: path.strip_prefix(STEPS).is_some_and(|rest| rest.starts_with('[') && !rest.contains('.')),
        path: path.to_owned(),
        main,
        more,
    }
}

/// Whether few items set the field.
fn is_rare(name: &str) -> bool {
    ["custom_method", "head", "post", "id"].contains(&name)
}
