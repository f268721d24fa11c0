//! The URL of a request, from its parts.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

use super::json_entries::enabled_entries;

/// What would end a segment of the path.
const PATH: &AsciiSet = &CONTROLS.add(b'#').add(b'?');
/// What would end a value of the query.
const QUERY_VALUE: &AsciiSet = &CONTROLS.add(b'#').add(b'&');
/// What would end a name of the query.
const QUERY_NAME: &AsciiSet = &QUERY_VALUE.add(b'=');

/// Builds the URL, with its placeholders. Only what stands in the parts themselves is encoded: the value of a placeholder
/// may hold several parts, such as a host with a path.
pub(super) fn build(url: &Value) -> String {
    let parts = match url {
        Value::String(text) => UrlParts::from_text(text),
        url if url["host"].is_null() && url["raw"].is_string() => {
            let raw = url["raw"].as_str().unwrap_or_default();
            UrlParts { variables: variables(url), ..UrlParts::from_text(raw) }
        }
        url => UrlParts::from_object(url),
    };
    parts.to_text()
}

/// Adds `http://` to a URL without a scheme.
#[must_use]
pub fn add_scheme(url: String) -> String {
    if url.contains("://") { url } else { format!("http://{url}") }
}

/// Encodes the name of a parameter of the query.
pub(super) fn encode_name(name: &str) -> String {
    utf8_percent_encode(name, QUERY_NAME).to_string()
}

/// Encodes the value of a parameter of the query.
pub(super) fn encode_value(value: &str) -> String {
    utf8_percent_encode(value, QUERY_VALUE).to_string()
}

#[derive(Default)]
struct UrlParts<'u> {
    protocol: Option<Cow<'u, str>>,
    host: Cow<'u, str>,
    port: Option<String>,
    path: Option<Vec<Cow<'u, str>>>,
    query: Vec<(Cow<'u, str>, Option<Cow<'u, str>>)>,
    /// The values of the segments `:name`.
    variables: Vec<(String, String)>,
}

impl<'u> UrlParts<'u> {
    fn from_text(text: &'u str) -> Self {
        let text = text.trim();
        let (protocol, rest) = match text.split_once("://") {
            Some((protocol, rest)) if !protocol.contains(['/', '?', '#', '{']) => (Some(protocol), rest),
            _ => (None, text),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (before_query, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = match before_query.split_once('/') {
            Some((host, path)) => (host, Some(path.split('/').map(Cow::from).collect())),
            None => (before_query, None),
        };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let query = pairs.map(|pair| match pair.split_once('=') {
            Some((name, value)) => (Cow::from(name), Some(Cow::from(value))),
            None => (Cow::from(pair), None),
        });
        Self {
            protocol: protocol.map(Cow::from),
            host: host.into(),
            path,
            query: query.collect(),
            ..Self::default()
        }
    }

    fn from_object(url: &'u Value) -> Self {
        let text = |value: &'u Value| value.as_str().map(Cow::from);
        let host = match &url["host"] {
            Value::Array(labels) => {
                labels.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(".").into()
            }
            host => text(host).unwrap_or_default(),
        };
        let path = match &url["path"] {
            Value::Array(segments) => Some(
                segments
                    .iter()
                    .filter_map(|segment| text(segment).or_else(|| text(segment.get("value")?)))
                    .collect(),
            ),
            Value::String(path) => Some(path.trim_start_matches('/').split('/').map(Cow::from).collect()),
            _ => None,
        };
        let query = enabled_entries(&url["query"]).map(|entry| {
            let value = match &entry["value"] {
                Value::Null => None,
                Value::String(value) => Some(Cow::from(value)),
                other => Some(Cow::from(other.to_string())),
            };
            (text(&entry["key"]).unwrap_or_default(), value)
        });
        let port = match &url["port"] {
            Value::Number(port) => Some(port.to_string()),
            port => port.as_str().map(str::to_owned).filter(|port| !port.is_empty()),
        };
        Self {
            protocol: text(&url["protocol"]).filter(|protocol| !protocol.is_empty()),
            host,
            port,
            path,
            query: query.collect(),
            variables: variables(url),
        }
    }

    fn to_text(&self) -> String {
        let mut out = String::new();
        if let Some(protocol) = &self.protocol {
            out.push_str(protocol);
            out.push_str("://");
        }
        out.push_str(&self.host);
        if let Some(port) = &self.port {
            out.push(':');
            out.push_str(port);
        }
        for segment in self.path.iter().flatten() {
            out.push('/');
            let variable = segment
                .strip_prefix(':')
                .and_then(|name| self.variables.iter().find(|(key, _)| key == name).map(|(_, value)| value));
            match variable {
                Some(value) => out.push_str(value),
                None => out.extend(utf8_percent_encode(segment, PATH)),
            }
        }
        for (index, (name, value)) in self.query.iter().enumerate() {
            out.push(if index == 0 { '?' } else { '&' });
            out.extend(utf8_percent_encode(name, QUERY_NAME));
            if let Some(value) = value {
                out.push('=');
                out.extend(utf8_percent_encode(value, QUERY_VALUE));
            }
        }
        out
    }
}

fn variables(url: &Value) -> Vec<(String, String)> {
    let entries = url["variable"].as_array().map(Vec::as_slice).unwrap_or_default();
    let entry = |entry: &Value| {
        let key = entry["key"].as_str().or_else(|| entry["id"].as_str())?;
        let value = match &entry["value"] {
            Value::String(text) => text.clone(),
            Value::Null => return None,
            other => other.to_string(),
        };
        Some((key.to_owned(), value))
    };
    entries.iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn urls_are_built_from_texts_and_parts() {
        for (url, expected) in [
            (json!("http://a.test/x?y=1#z"), "http://a.test/x?y=1"),
            (json!("a.test"), "a.test"),
            (json!("{{base}}/x?q={{q}}"), "{{base}}/x?q={{q}}"),
            (
                json!({"raw": "{{base}}/:id", "variable": [{"key": "id", "value": "{{id}}/7"}]}),
                "{{base}}/{{id}}/7",
            ),
            (
                json!({"raw": "wrong", "protocol": "https", "host": ["a", "test"], "port": "8443", "path": ["b", ":c", "d?e"],
                       "query": [{"key": "a=b&c", "value": "d=e&f#g"}, {"key": "n", "value": null}, {"key": "off", "disabled": true}],
                       "variable": [{"key": "c", "value": "x/y"}], "hash": "h"}),
                "https://a.test:8443/b/x/y/d%3Fe?a%3Db%26c=d=e%26f%23g&n",
            ),
            (json!({"host": ["{{base}}"], "path": ["x", ""]}), "{{base}}/x/"),
            (json!({"host": "a.test", "path": "/p/:q"}), "a.test/p/:q"),
        ] {
            assert_eq!(build(&url), expected, "{url}");
        }
    }
}
