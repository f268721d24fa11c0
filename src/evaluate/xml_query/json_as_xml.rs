//! JSON and HTML as XML, so that an XPath can be evaluated on them.

use std::borrow::Cow;

use serde_json::Value;

use crate::evaluate::assertion::json_query::parse_document;
use crate::evaluate::xpath::LazyPageXml;
use crate::syntax::escape::escape_xml_text;

/// Returns `body` as XML by its media type: JSON becomes elements in the namespace `namespace` within `root`, HTML what a
/// browser makes of it. Other texts are returned as they are.
///
/// # Errors
/// When the body is not of its media type, or is too large.
pub fn response_as_xml<'b>(
    body: &'b str,
    content_type: &str,
    root: &str,
    namespace: &str,
) -> Result<Cow<'b, str>, String> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if media_type.contains("json") || media_type.contains("javascript") {
        return json_as_xml(body, root, namespace).map(Cow::Owned);
    }
    if media_type == "text/html" {
        return LazyPageXml::default().to_xml(body).map(|xml| Cow::Owned(xml.to_owned()));
    }
    Ok(Cow::Borrowed(body))
}

/// Returns the JSON `text` as XML: members as elements of their names, items of arrays as elements `e`.
///
/// # Errors
/// When the text is not JSON, or is too large.
pub fn json_as_xml(text: &str, root: &str, namespace: &str) -> Result<String, String> {
    let value = parse_document(text)?.into_value();
    let mut xml = format!("<{root} xmlns=\"{}\">", escape_xml_text(namespace));
    write_value(&value, &mut xml);
    xml.push_str("</");
    xml.push_str(root);
    xml.push('>');
    Ok(xml)
}

/// Writes `value`, whose depth the parser has limited.
fn write_value(value: &Value, xml: &mut String) {
    match value {
        Value::Null => {}
        Value::String(text) => {
            let is_allowed = |c: &char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
            let text: String = text.chars().filter(is_allowed).collect();
            xml.push_str(&escape_xml_text(&text));
        }
        Value::Bool(_) | Value::Number(_) => xml.push_str(&value.to_string()),
        Value::Array(items) => items.iter().for_each(|item| write_element("e", item, xml)),
        Value::Object(members) => {
            for (name, member) in members {
                write_element(&element_name(name), member, xml);
            }
        }
    }
}

fn write_element(name: &str, value: &Value, xml: &mut String) {
    xml.push('<');
    xml.push_str(name);
    xml.push('>');
    write_value(value, xml);
    xml.push_str("</");
    xml.push_str(name);
    xml.push('>');
}

/// Returns `name` with `_` for characters that the name of an element cannot have.
fn element_name(name: &str) -> String {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let fits = |c: char| is_start(c) || c.is_ascii_digit() || matches!(c, '-' | '.');
    let mut element: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if !element.starts_with(is_start) {
        element.insert(0, '_');
    }
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_elements() {
        let xml =
            json_as_xml(r#"{"a": [1, {"b c": "<x>"}], "1": null, "t": true}"#, "Response", "urn:r").unwrap();
        assert_eq!(
            xml,
            "<Response xmlns=\"urn:r\"><a><e>1</e><e><b_c>&lt;x&gt;</b_c></e></a><_1></_1><t>true</t></Response>"
        );
        assert!(json_as_xml("<a/>", "Response", "").is_err());
    }

    #[test]
    fn the_media_type_decides() {
        let convert =
            |body: &str, media_type| response_as_xml(body, media_type, "Fault", "u").map(Cow::into_owned);
        assert_eq!(
            convert("[2]", "application/json; charset=utf-8").unwrap(),
            "<Fault xmlns=\"u\"><e>2</e></Fault>"
        );
        assert_eq!(convert("<a/>", "text/xml").unwrap(), "<a/>");
        assert!(convert("<p>x", "text/html").unwrap().contains("<p>x</p>"));
    }
}
