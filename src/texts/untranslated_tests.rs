//! Finds text of pages that is not taken from the table, so that nobody adds a page in English only.

use std::path::Path;

use regex::Regex;

use super::table_tests::page_sources;

/// Texts that are the same in every language.
const COMMON_TEXTS: [&str; 8] = [
    // Names, of which the second stands before a dot in the foot.
    "Vigie",
    "Vigie  ·",
    "JSON",
    "SHA-256",
    // What is typed or copied as it is.
    "https://",
    "team:a",
    "vigie open",
    "GET /api/v3/slas//report",
];

/// Returns the texts of `html` that a person reads: between tags, and in attributes.
fn shown_texts(html: &str) -> Vec<String> {
    let between_tags = Regex::new(">([^<>]*)<").unwrap();
    let attributes = Regex::new(r#"\b(?:aria-label|title|placeholder|alt|data-h)="([^"]*)""#).unwrap();
    let word = Regex::new(r"\p{L}{2}").unwrap();
    let found = between_tags.captures_iter(html).chain(attributes.captures_iter(html));
    let texts = found.map(|found| found[1].trim().to_owned());
    texts.filter(|text| word.is_match(text) && !COMMON_TEXTS.contains(&text.as_str())).collect()
}

/// Returns the texts of a template, without what its code makes.
fn template_texts(source: &str) -> Vec<String> {
    let code = Regex::new(r"(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}").unwrap();
    shown_texts(&format!(">{}<", code.replace_all(source, "")))
}

/// Returns the texts of the strings of Rust code that are HTML, except those of the table.
fn code_texts(source: &str) -> Vec<String> {
    let string = Regex::new(r##"(?s)(\w*\(\s*)?(?:r#"(.*?)"#|"((?:[^"\\]|\\.)*)")"##).unwrap();
    let (tag, value) = (Regex::new("</?[a-z]").unwrap(), Regex::new(r"\{[^{}]*\}").unwrap());
    let of_table = Regex::new(r"^(?:key|text|fill|html|count)\(").unwrap();
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap();
    let mut texts = Vec::new();
    for found in string.captures_iter(code) {
        let is_of_table = found.get(1).is_some_and(|call| of_table.is_match(call.as_str()));
        let html = found.get(2).or(found.get(3)).map_or("", |html| html.as_str());
        if tag.is_match(html) && !is_of_table {
            let html = html.replace("\\\"", "\"");
            texts.extend(shown_texts(&format!(">{}<", value.replace_all(&html, ""))));
        }
    }
    texts
}

#[test]
fn pages_take_every_text_from_the_table() {
    let mut untranslated = Vec::new();
    for (path, source) in page_sources() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_page = path.starts_with(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web"));
        if !is_page || name.ends_with("_tests.rs") {
            continue;
        }
        let texts = match path.extension().and_then(|extension| extension.to_str()) {
            Some("html") => template_texts(&source),
            Some("rs") => code_texts(&source),
            _ => Vec::new(),
        };
        untranslated.extend(texts.into_iter().map(|text| format!("{name}: {text}")));
    }
    assert!(untranslated.is_empty(), "{untranslated:#?}");
}

#[test]
fn text_beside_the_table_is_found() {
    let template = r#"<p title="{{ t.text("A name") }}">{% if a < b %}{{ t.text("Known") }}{% endif %}</p>"#;
    assert_eq!(template_texts(template), [] as [&str; 0]);
    assert_eq!(template_texts(r#"<p title="A name">{{ a }} Unknown</p>"#), ["Unknown", "A name"]);
    let code = r##"t.html("<b>Known</b>", &[]); key(
        "<b>Known</b>"); format!("<b>{}</b>", name); format!("<td data-h=\"{name}\">{a} Unknown</td>");
        format!(r#"<p data-h="late">{}</p>"#); text("Known")"##;
    assert_eq!(code_texts(code), ["Unknown", "late"]);
}
