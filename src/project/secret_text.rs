//! Masks the secrets in the file of a project and restores them, without changing any other byte: values of properties and
//! parameters whose names mark them as secret, passwords, and lists of headers with credentials.

use std::borrow::Cow;
use std::ops::Range;

use roxmltree::Node;

use super::request_parser::parse_headers;
use super::xml_tree::{attribute, child, is_named, text};
use crate::redaction::sensitive_names::{is_sensitive_header, is_sensitive_variable, token_after_scheme};
use crate::script::parse_project_xml;
use crate::syntax::MASK;
use crate::syntax::secret_parts::{SecretFormat, SecretPart};
use crate::syntax::xml_source::content_range;

/// Files of projects.
static FORMAT: SecretFormat = SecretFormat {
    may_hold_secrets,
    parts: secret_parts,
    quote: "",
    unreadable: "a file that is no XML, or has a document type",
};

/// Whether the file holds secrets, or may hold some and cannot be parsed.
#[must_use]
pub fn has_secrets(project: &str) -> bool {
    FORMAT.has_secrets(project)
}

/// Returns the secrets. Of a file that cannot be parsed, none are known.
#[must_use]
pub fn secret_values(project: &str) -> Vec<String> {
    let parts = secret_parts(project).unwrap_or_default();
    parts
        .into_iter()
        .flat_map(|part| header_secrets(&part.value).unwrap_or_else(|| vec![part.value]))
        .collect()
}

/// Returns the credentials in a list of headers; `None` for what is no such list.
fn header_secrets(list: &str) -> Option<Vec<String>> {
    let headers = parse_headers(list).ok().filter(|headers| !headers.is_empty())?;
    let sensitive = headers.into_iter().filter(|(name, _)| is_sensitive_header(name));
    let values = sensitive.flat_map(|(_, value)| {
        let token = token_after_scheme(&value).map(str::to_owned);
        std::iter::once(value).chain(token)
    });
    Some(values.filter(|value| !value.is_empty()).collect())
}

/// Returns the file with masked secrets; a mask alone when it cannot be parsed.
#[must_use]
pub fn mask_secrets(project: &str) -> Cow<'_, str> {
    FORMAT.mask(project)
}

/// Returns `new`, as sent by a user, with masks replaced by the secrets of `old` in the same places. If `new` as a whole is a
/// mask, returns `old`.
///
/// # Errors
/// Fails when a mask cannot be replaced, with a text that follows the name of the field and a colon.
pub fn restore_masked_secrets<'t>(new: &'t str, old: Option<&'t str>) -> Result<Cow<'t, str>, String> {
    FORMAT.restore(new, old)
}

/// Whether the file may hold secrets: a cheap test before it is parsed. Names may be written with character references.
fn may_hold_secrets(project: &str) -> bool {
    is_sensitive_variable(project) || project.contains("&#")
}

/// Returns the secrets that are not empty; `None` for a file that cannot be parsed.
fn secret_parts(project: &str) -> Option<Vec<SecretPart>> {
    let text = project.trim_start_matches('\u{feff}');
    let mark_bytes = project.len() - text.len();
    let document = parse_project_xml(text).ok()?;
    let parts = document.descendants().filter(Node::is_element).filter_map(|node| secret_part(text, node));
    let shift = |part: SecretPart| {
        let range = part.range.start + mark_bytes..part.range.end + mark_bytes;
        SecretPart { range, ..part }
    };
    // One that is in another is a part of it.
    let mut end = 0;
    let outermost = |part: &SecretPart| {
        let is_outermost = part.range.start >= end;
        end = end.max(part.range.end);
        is_outermost
    };
    Some(parts.filter(outermost).map(shift).collect())
}

/// Returns the secret that `node` holds.
fn secret_part(project: &str, node: Node<'_, '_>) -> Option<SecretPart> {
    if is_named(node, "entry") {
        let value = node.attribute_node("value")?;
        return part(node, attribute(node, "key"), value.value(), value.range_value());
    }
    let name = if is_named(node, "value") || is_named(node, "default") {
        let owner =
            node.parent().filter(|owner| is_named(*owner, "property") || is_named(*owner, "parameter"));
        text(child(owner?, "name")?)
    } else if is_named(node, "setting") {
        setting_name(node)?.to_owned()
    } else if node.tag_name().name().eq_ignore_ascii_case("password") {
        "password".to_owned()
    } else {
        return None;
    };
    part(node, &name, &text(node), content_range(project, node)?)
}

/// Returns a name for the value of a setting that is secret: a password, or a list of headers with credentials.
fn setting_name<'n>(setting: Node<'n, '_>) -> Option<&'n str> {
    let id = attribute(setting, "id");
    if !id.ends_with("request-headers") {
        return id.to_ascii_lowercase().contains("passw").then_some(id);
    }
    let list = text(setting);
    let is_secret = |(name, _): &(String, String)| is_sensitive_header(name);
    // A list that cannot be read may hold anything.
    let holds_secret =
        list == MASK || parse_headers(&list).map_or(true, |headers| headers.iter().any(is_secret));
    holds_secret.then_some("authorization of headers")
}

/// Returns the value as a secret, if its name marks it as one. It is called by the names around it.
fn part(node: Node<'_, '_>, name: &str, value: &str, range: Range<usize>) -> Option<SecretPart> {
    let is_expansion = value.starts_with("${") && value.find('}') == Some(value.len() - 1);
    if value.trim().is_empty() || is_expansion || !is_sensitive_variable(name) || is_plain_option(name, value)
    {
        return None;
    }
    let mut places: Vec<&str> = node.ancestors().filter_map(|ancestor| ancestor.attribute("name")).collect();
    places.reverse();
    // A parameter and the login of one request may have the same name.
    let is_login = node.parent().is_some_and(|parent| is_named(parent, "credentials"));
    places.push(if is_login { "login" } else { node.tag_name().name() });
    places.push(name);
    Some(SecretPart { name: places.join("/"), value: value.to_owned(), range })
}

/// Whether a value is an option rather than a secret, although its name has a part such as `auth` or `session`: a flag,
/// a number, the name of a scheme. Passwords are never.
fn is_plain_option(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_certain = ["passw", "secret", "token", "key"].iter().any(|part| name.contains(part));
    let value = value.trim();
    let schemes = ["basic", "digest", "bearer", "ntlm", "preemptive", "none", "oauth2", "true", "false"];
    let is_word = schemes.iter().any(|word| word.eq_ignore_ascii_case(value));
    !is_certain && (is_word || value.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = r#"<con:soapui-project name="P" xmlns:con="http://eviware.com/soapui/config">
        <con:testSuite name="S"><con:testCase name="C"><con:testStep name="R"><con:config>
        <con:setting id="x@request-headers">&lt;entry key="Authorization" value="Bearer s-one" xmlns="u"/></con:setting>
        <con:setting id="y@request-headers">&lt;entry key="Accept" value="open-one" xmlns="u"/></con:setting>
        <con:credentials><con:username>u</con:username><con:password><![CDATA[s-two]]></con:password></con:credentials>
        <con:parameters><con:entry key="api_key" value="s-three&amp;"/><con:entry key="q" value="open-two"/></con:parameters>
        </con:config></con:testStep><con:properties>
        <con:property><con:name>token</con:name><con:value>s-four</con:value></con:property>
        <con:property><con:name>password</con:name><con:value>${#Project#token}</con:value></con:property>
        </con:properties></con:testCase></con:testSuite><con:properties>
        <con:property><con:name>token</con:name><con:value>s-five</con:value></con:property>
        <con:property><con:name>host</con:name><con:value>open-three</con:value></con:property>
        </con:properties></con:soapui-project>"#;

    #[test]
    fn secrets_are_masked_and_restored_and_nothing_else_changes() {
        assert!(has_secrets(PROJECT));
        let values = secret_values(PROJECT);
        assert_eq!(values, ["Bearer s-one", "s-one", "s-two", "s-three&", "s-four", "s-five"]);
        let masked = mask_secrets(PROJECT);
        assert!(!masked.contains("s-"), "{masked}");
        for open in ["open-one", "open-two", "open-three", "${#Project#token}", "<con:username>u<"] {
            assert!(masked.contains(open), "{open}: {masked}");
        }
        assert_eq!(masked.matches(MASK).count(), 5);
        assert_eq!(restore_masked_secrets(&masked, Some(PROJECT)).unwrap(), PROJECT);
        assert_eq!(restore_masked_secrets(MASK, Some(PROJECT)).unwrap(), PROJECT);
        let error = restore_masked_secrets(&masked, None).unwrap_err();
        assert!(error.contains("is masked, and no previous value exists"), "{error}");
    }

    #[test]
    fn a_value_finds_its_place_when_others_are_removed() {
        let masked = mask_secrets(PROJECT).into_owned();
        let property =
            format!("<con:property><con:name>token</con:name><con:value>{MASK}</con:value></con:property>");
        let edited = masked.replacen(&property, "", 1);
        let restored = restore_masked_secrets(&edited, Some(PROJECT)).unwrap();
        assert!(restored.contains("s-five") && !restored.contains("s-four"), "{restored}");
    }

    #[test]
    fn broken_files_are_hidden_when_they_may_hold_secrets() {
        assert_eq!(mask_secrets("<a password='x'"), MASK);
        let masked = mask_secrets(PROJECT).into_owned();
        for broken in [masked.replace("</con:soapui-project>", ""), format!("<!DOCTYPE a>{masked}")] {
            let error = restore_masked_secrets(&broken, Some(PROJECT)).unwrap_err();
            assert!(error.contains("masked values cannot be restored"), "{error}");
        }
        assert_eq!(mask_secrets("<a name='x'"), "<a name='x'");
        assert!(!has_secrets("<a/>"));
    }

    #[test]
    fn secrets_in_secrets_are_masked_with_them() {
        let nested = "<p><password>a<password>b</password></password><password>c</password></p>";
        let masked = mask_secrets(nested);
        assert_eq!(masked, format!("<p><password>{MASK}</password><password>{MASK}</password></p>"));
        assert_eq!(restore_masked_secrets(&masked, Some(nested)).unwrap(), nested);
        let open = "<con:x xmlns:con='http://eviware.com/soapui/config'><con:property><con:name>sessionTimeout</con:name>\
                    <con:value>3000</con:value></con:property></con:x>";
        assert!(!has_secrets(open));
    }

    #[test]
    fn a_mask_that_could_stand_for_several_values_is_refused() {
        let two = "<p><c><password>one</password></c><c><password>two</password></c></p>";
        let masked = mask_secrets(two).into_owned();
        let edited = masked.replacen(&format!("<c><password>{MASK}</password></c>"), "", 1);
        let error = restore_masked_secrets(&edited, Some(two)).unwrap_err();
        assert!(error.contains("could be one of several"), "{error}");
        let entry = |value: &str| {
            format!("<x xmlns='http://eviware.com/soapui/config'><entry key='token' value={value}/></x>")
        };
        let (old, new) = (entry("'a\"b'"), entry(&format!("\"{MASK}\"")));
        assert_eq!(restore_masked_secrets(&new, Some(&old)).unwrap(), entry("\"a&quot;b\""));
    }
}
