//! The tables of the page on the bus are the messages in `src/bus/messages`.

use std::collections::BTreeMap;
use std::fs;

use syn::{Attribute, Fields, Item, Type};
use vigie::bus::messages::MessageKind;
use vigie::manual;

use super::{files_with_extension, root};

/// The rows of a message: number, field, type.
type Rows = Vec<(String, String, String)>;

/// Returns the words in the `prost` attribute, such as `bytes = "vec"`, `optional`, `tag = "1"`.
fn prost_words(attributes: &[Attribute]) -> Option<Vec<String>> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("prost"))?;
    let syn::Meta::List(list) = &attribute.meta else { return None };
    // Commas within quotes separate the tags of a `oneof`, which is not split further.
    Some(list.tokens.to_string().split(" , ").flat_map(|part| part.split(", ")).map(str::to_owned).collect())
}

fn value_of<'a>(words: &'a [String], name: &str) -> Option<&'a str> {
    let value = words.iter().find_map(|word| word.trim().strip_prefix(name)?.trim().strip_prefix('='))?;
    Some(value.trim().trim_matches('"'))
}

/// Returns the name of the message in `Vec<...>`, `Option<...>` or `Box<...>`.
fn message_name(field_type: &Type) -> String {
    let Type::Path(path) = field_type else { panic!("not a message") };
    let last = path.path.segments.last().unwrap();
    if let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
        && let Some(syn::GenericArgument::Type(inner)) = arguments.args.first()
    {
        return message_name(inner);
    }
    last.ident.to_string().trim_end_matches("Message").to_owned()
}

fn row(name: &str, words: &[String], field_type: &Type) -> (String, String, String) {
    let base = words[0].split(['=', ' ']).next().unwrap();
    let base = if base == "message" { message_name(field_type) } else { base.to_owned() };
    let is = |word: &str| words.iter().any(|one| one.trim() == word);
    let label = if is("repeated") {
        "repeated "
    } else if is("optional") {
        "optional "
    } else {
        ""
    };
    (value_of(words, "tag").unwrap().to_owned(), name.to_owned(), format!("{label}{base}"))
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(character.to_lowercase());
    }
    text
}

/// Returns the rows of every message in the sources.
fn rows_in_sources() -> BTreeMap<String, Rows> {
    let (mut messages, mut choices) = (BTreeMap::new(), BTreeMap::new());
    let mut oneofs = Vec::new();
    for path in files_with_extension(&root().join("src/bus/messages"), "rs") {
        for item in syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap().items {
            match item {
                Item::Struct(message) => {
                    let name = message.ident.to_string().trim_end_matches("Message").to_owned();
                    let Fields::Named(fields) = message.fields else { continue };
                    let mut rows = Rows::new();
                    for field in fields.named {
                        let Some(words) = prost_words(&field.attrs) else { continue };
                        match value_of(&words, "oneof") {
                            Some(choice) => oneofs.push((name.clone(), choice.to_owned())),
                            None => rows.push(row(&field.ident.unwrap().to_string(), &words, &field.ty)),
                        }
                    }
                    messages.insert(name, rows);
                }
                Item::Enum(choice) => {
                    let variants = choice.variants.iter().filter_map(|variant| {
                        let words = prost_words(&variant.attrs)?;
                        let field = variant.fields.iter().next()?;
                        Some(row(&snake_case(&variant.ident.to_string()), &words, &field.ty))
                    });
                    choices.insert(choice.ident.to_string(), variants.collect::<Rows>());
                }
                _ => {}
            }
        }
    }
    for (message, choice) in oneofs {
        messages.insert(message, choices.remove(&choice).unwrap());
    }
    // The parts of the envelope when it is written.
    messages.remove("Header");
    messages.retain(|_, rows| !rows.is_empty());
    messages
}

/// Returns the cells of each row of the tables of `text` whose first cell is a number.
fn numbered_rows(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.split(" | ").map(str::to_owned).collect::<Vec<_>>());
    cells.filter(|cells| cells[0].bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// Returns the rows of every message on the page.
fn rows_on_page() -> BTreeMap<String, Rows> {
    let page = manual::find_page("bus").unwrap().markdown;
    let sections = page.split("\n## ").flat_map(|part| part.split("\n### "));
    let mut messages = BTreeMap::new();
    for section in sections {
        let (name, text) = section.split_once('\n').unwrap();
        let rows = numbered_rows(text).into_iter().filter(|cells| cells.len() == 4);
        let rows: Rows = rows.map(|cells| (cells[0].clone(), cells[1].clone(), cells[2].clone())).collect();
        if !rows.is_empty() {
            messages.insert(name.to_owned(), rows);
        }
    }
    messages
}

#[test]
fn the_page_on_the_bus_lists_every_field_of_every_message() {
    let mut sources = rows_in_sources();
    assert!(sources.len() > 20, "only {} messages: is the search broken?", sources.len());
    // The message is always there when one is written.
    let envelope = sources.get_mut("Envelope").unwrap();
    envelope[2].2 = "bytes".to_owned();
    assert_eq!(rows_on_page(), sources);
}

#[test]
fn the_page_on_the_bus_lists_every_kind_with_its_limit() {
    let page = manual::find_page("bus").unwrap().markdown;
    let rows: Vec<_> = numbered_rows(page).into_iter().filter(|cells| cells.len() == 5).collect();
    let kinds: Vec<_> = MessageKind::ALL
        .iter()
        .map(|kind| (kind.number().to_string(), kind.name(), (kind.max_bytes() / 1024).to_string()))
        .collect();
    let listed: Vec<_> =
        rows.iter().map(|cells| (cells[0].clone(), cells[1].as_str(), cells[4].clone())).collect();
    assert_eq!(listed, kinds);
}
