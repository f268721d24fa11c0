//! The values that a field accepts: every choice, both flags, the ends of every range, texts of the least and of the
//! greatest length.

use serde_json::{Value, json};
use vigie::schema::field::{Field, FieldType};
use vigie::syntax::text_format::TextFormat;

use crate::api_fields::sub_objects;

/// Length above which texts are tested in [`super::long_texts`], in characters.
pub const MAX_SHORT_TEXT: usize = 66_000;

/// Characters of one, two, three and four bytes.
const CHARACTERS: [char; 4] = ['x', 'ä', '日', '𝄞'];

/// Returns `count` characters, most of which are not ASCII.
pub fn long(count: usize) -> String {
    CHARACTERS.iter().copied().cycle().skip(1).take(count).collect()
}

/// Returns `head` and `tail` with a filler between them, `count` characters in all.
fn padded(head: &str, tail: &str, count: usize) -> String {
    format!("{head}{}{tail}", long(count - head.chars().count() - tail.chars().count()))
}

/// Returns a host name of `count` bytes.
fn host(count: usize) -> String {
    "a234567890123456789012345678901.".repeat(9).chars().take(count - 1).collect::<String>() + "z"
}

/// Returns a text in `format` of exactly `count` characters, or `None` for formats without texts of any length.
pub fn of_length(format: TextFormat, count: usize) -> Option<String> {
    Some(match format {
        TextFormat::Any | TextFormat::HeaderValue => long(count),
        TextFormat::HttpUrl | TextFormat::HttpUrlTemplate => padded("http://a.example/?q=", "", count),
        TextFormat::ServiceAddress(schemes) if count <= 262 => {
            let head = format!("{}://", schemes[0]);
            format!("{head}{}", host(count - head.len()))
        }
        TextFormat::Email => format!("{}@{}", "l".repeat(64), host(count - 65)),
        TextFormat::Identifier => "_".repeat(count),
        TextFormat::Token | TextFormat::HeaderName => "X".repeat(count),
        TextFormat::Json | TextFormat::VariablesJson => padded("{\"ä\":\"", "\"}", count),
        TextFormat::JsonSchema => padded("{\"title\":\"", "\"}", count),
        TextFormat::Xml => padded("<a>", "</a>", count),
        TextFormat::Script => {
            padded("<script><step><open url=\"http://a/\"/></step><!--", "--></script>", count)
        }
        _ => return None,
    })
}

fn texts(min: usize, max: usize, format: TextFormat) -> Vec<String> {
    let fixed: &[&str] = match format {
        TextFormat::Ipv4 => &["0.0.0.1", "255.255.255.255"],
        TextFormat::Ip => &["::1", "192.0.2.1", "0000:0000:0000:0000:0000:ffff:255.255.255.255"],
        TextFormat::HttpUrl => &["http://a", "http://[::1]:65535/ä?b=1#c", "http://münchen.example/"],
        TextFormat::HttpUrlTemplate => &["{{", "https://a/{{b}}", "http://a"],
        TextFormat::Host => &["a", "münchen.example", "::1", "192.0.2.1"],
        TextFormat::ServiceAddress(_) => &["a", "[::1]:65535", "a:1"],
        TextFormat::Email => &["a@b", "ä+b@[192.0.2.1]"],
        TextFormat::Identifier => &["_"],
        TextFormat::Token => &["M", "!#$%&'*+-.^_`|~"],
        TextFormat::HeaderName => &["X"],
        TextFormat::HttpStatusCodes => &["200", "100-999, 4xx,5XX"],
        TextFormat::Json | TextFormat::VariablesJson => &["0", "{\"a\": [1, \"ä\\n\"]}\n"],
        TextFormat::JsonSchema => &["true", "{\"type\": \"null\"}\n"],
        TextFormat::Xml => &["<a/>", "<?xml version=\"1.0\"?>\r\n<a b=\"\\&quot;\">\t\u{e4}</a>\n"],
        TextFormat::Script => &[
            "<script><step name=\"ä\"><open url='http://a/'/></step></script>",
            "<a/>",
            "<script>\r\n\t<step>\n<open url=\"http://a/\\\"/>\u{7f}</step></script>\n",
        ],
        TextFormat::Base64 => &["UEsDBA==", "UEsFBgAA\r\nAAAAAAAAAAAAAAAA\nAAAAAA==\n"],
        _ if min == 0 => &["", "ä"],
        _ => &["ä"],
    };
    let longest = match format {
        TextFormat::Host => Some(host(253) + "."),
        _ if max > MAX_SHORT_TEXT => of_length(format, 3000),
        _ => of_length(format, max),
    };
    fixed.iter().map(|text| (*text).to_owned()).chain(longest).collect()
}

/// Returns the values of `kind`, the shortest first.
pub fn values(kind: &FieldType) -> Vec<Value> {
    match *kind {
        FieldType::Bool => vec![json!(true), json!(false)],
        FieldType::Int { min, max } => vec![json!(min), json!(max)],
        FieldType::IntEnum(choices) => choices.iter().map(|choice| json!(choice)).collect(),
        FieldType::Float { .. } => vec![json!(0), json!(-1.5), json!(1e300), json!(4.5)],
        FieldType::Text { min, max, format } => {
            texts(min, max, format).into_iter().map(Value::from).collect()
        }
        FieldType::TextEnum(choices) => choices.iter().map(|choice| json!(choice)).collect(),
        FieldType::Any => vec![json!({})],
        FieldType::List { item_type: of, min, max } => lists(of, min, max),
        FieldType::Object(table) => sub_objects::objects(table, 0),
    }
}

/// Returns the empty list, lists of one entry and of every value of an entry, and a list of the greatest length.
fn lists(item_type: &'static FieldType, min: usize, max: usize) -> Vec<Value> {
    let entries = match item_type {
        FieldType::Object(table) => sub_objects::objects(table, 0),
        item_type => values(item_type).into_iter().filter(|value| value != "").collect(),
    };
    let minimal_object = |at: usize| match item_type {
        FieldType::Object(table) => sub_objects::minimal_object(table, at),
        _ => entries[0].clone(),
    };
    let none = (min == 0).then(|| json!([]));
    let full: Vec<Value> = (0..max.min(200)).map(minimal_object).collect();
    none.into_iter()
        .chain([json!([minimal_object(0)]), json!(entries.iter().take(max).collect::<Vec<_>>()), json!(full)])
        .collect()
}

/// Returns the values of `field`; null, which stands for its default, comes last.
pub fn for_field(field: &Field) -> Vec<Value> {
    let mut values = values(&field.field_type);
    if !field.is_required_in_v3() {
        values.push(Value::Null);
    }
    values
}
