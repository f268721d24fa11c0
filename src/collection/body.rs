//! The body of a request, in each of its modes.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::json_entries::{enabled_entries, value_text};

/// A file of the monitor that bodies may send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// A body to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedBody {
    /// Its bytes.
    pub content: Vec<u8>,
    /// The media type that it has when no header field names one.
    pub content_type: Option<String>,
}

/// Largest body of parts, in bytes.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
/// What stays as it is in a form: the unreserved characters of RFC 3986.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns why a body cannot be sent, if so.
pub(super) fn unsupported_reason(body: &Value) -> Option<String> {
    if body["disabled"].as_bool() == Some(true) {
        return None;
    }
    match body["mode"].as_str()? {
        "raw" | "urlencoded" | "formdata" | "file" | "graphql" | "none" | "" => None,
        mode => Some(format!("the body mode `{}` is not supported", crate::syntax::truncate_value(mode))),
    }
}

/// Builds the body whose placeholders are replaced; `None` without one.
///
/// # Errors
/// Fails when it needs a file that the monitor does not have.
pub(super) fn render(
    body: &Value,
    files: &[UploadedFile],
    boundary: &str,
) -> Result<Option<RenderedBody>, String> {
    if body["disabled"].as_bool() == Some(true) {
        return Ok(None);
    }
    let with_type =
        |content: Vec<u8>, content_type: Option<String>| Some(RenderedBody { content, content_type });
    Ok(match body["mode"].as_str().unwrap_or_default() {
        "raw" => match body["raw"].as_str().unwrap_or_default() {
            "" => None,
            text => with_type(text.as_bytes().to_vec(), Some(raw_content_type(body).to_owned())),
        },
        "urlencoded" => {
            let pairs: Vec<String> = enabled_entries(&body["urlencoded"])
                .map(|entry| {
                    format!("{}={}", encode(&value_text(&entry["key"])), encode(&value_text(&entry["value"])))
                })
                .collect();
            let content_type = "application/x-www-form-urlencoded".to_owned();
            if pairs.is_empty() { None } else { with_type(pairs.join("&").into_bytes(), Some(content_type)) }
        }
        "formdata" => {
            let parts: Vec<&Value> = enabled_entries(&body["formdata"]).collect();
            if parts.is_empty() {
                None
            } else {
                let content = multipart(&parts, files, boundary)?;
                with_type(content, Some(format!("multipart/form-data; boundary={boundary}")))
            }
        }
        "file" => match &body["file"] {
            Value::Object(file) if file.contains_key("content") => {
                with_type(value_text(&body["file"]["content"]).into_bytes(), None)
            }
            file => match sources(&file["src"]).first() {
                Some(source) => {
                    let file = find_file(files, source)?;
                    with_type(file.content.clone(), Some(media_type(&file.name).to_owned()))
                }
                None => None,
            },
        },
        "graphql" => graphql(&body["graphql"])
            .and_then(|text| with_type(text.into_bytes(), Some("application/json".to_owned()))),
        _ => None,
    })
}

fn raw_content_type(body: &Value) -> &'static str {
    match body["options"]["raw"]["language"].as_str() {
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("html") => "text/html",
        Some("javascript") => "application/javascript",
        _ => "text/plain",
    }
}

/// The media type of a file by its name; that of any bytes otherwise.
fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "json" => "application/json",
        "xml" => "application/xml",
        "txt" => "text/plain",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "js" => "application/javascript",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

fn graphql(value: &Value) -> Option<String> {
    let query = value["query"].as_str()?;
    let mut text = format!("{{\"query\":{}", Value::from(query));
    if let Some(name) = value["operationName"].as_str() {
        text.push_str(",\"operationName\":");
        text.push_str(&Value::from(name).to_string());
    }
    // As written: the order of names is the author's.
    let variables = match &value["variables"] {
        Value::String(variables) if serde_json::from_str::<Value>(variables).is_ok() => {
            Some(variables.clone())
        }
        Value::String(_) | Value::Null => None,
        variables => Some(variables.to_string()),
    };
    if let Some(variables) = variables {
        text.push_str(",\"variables\":");
        text.push_str(&variables);
    }
    text.push('}');
    Some(text)
}

fn multipart(parts: &[&Value], files: &[UploadedFile], boundary: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for part in parts {
        if out.len() > MAX_BODY_BYTES {
            return Err(format!("its body takes more than {} MiB", MAX_BODY_BYTES >> 20));
        }
        let name = escape_parameter(&value_text(&part["key"]));
        let own_type = part["contentType"].as_str().filter(|media_type| !media_type.is_empty());
        if part["type"] == "file" {
            for source in sources(&part["src"]) {
                let file = find_file(files, &source)?;
                if out.len() + file.content.len() > MAX_BODY_BYTES {
                    return Err(format!("its body takes more than {} MiB", MAX_BODY_BYTES >> 20));
                }
                let file_name = escape_parameter(&file.name);
                let media_type = own_type.unwrap_or_else(|| media_type(&file.name));
                let head = format!(
                    "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file_name}\"\r\n\
                     Content-Type: {media_type}\r\n\r\n"
                );
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(&file.content);
                out.extend_from_slice(b"\r\n");
            }
        } else {
            let content_type = own_type.map(|media_type| format!("Content-Type: {media_type}\r\n"));
            let part = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n{}\r\n{}\r\n",
                content_type.unwrap_or_default(),
                value_text(&part["value"])
            );
            out.extend_from_slice(part.as_bytes());
        }
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(out)
}

/// Quotes and line ends would end the parameter.
fn escape_parameter(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn sources(value: &Value) -> Vec<String> {
    match value {
        Value::String(source) => vec![source.clone()],
        Value::Array(list) => list.iter().filter_map(|source| source.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// Returns the file of `source`: one with this name, or with the last part of this path.
fn find_file<'f>(files: &'f [UploadedFile], source: &str) -> Result<&'f UploadedFile, String> {
    let base = source.rsplit(['/', '\\']).next().unwrap_or(source);
    let named = |name: &str| files.iter().find(|file| file.name == name);
    named(source).or_else(|| named(base)).ok_or_else(|| {
        format!(
            "the file `{}` is not among the `files` of the monitor",
            crate::syntax::truncate_value(source)
        )
    })
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, FORM).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(body: Value) -> Option<(String, String)> {
        let files = [UploadedFile { name: "a.json".into(), content: b"{}".to_vec() }];
        let body = render(&body, &files, "B").unwrap()?;
        Some((String::from_utf8(body.content).unwrap(), body.content_type.unwrap_or_default()))
    }

    #[test]
    fn every_mode_has_its_bytes_and_type() {
        for (body, content, content_type) in [
            (json!({"mode": "raw", "raw": "x"}), "x", "text/plain"),
            (
                json!({"mode": "raw", "raw": "{}", "options": {"raw": {"language": "json"}}}),
                "{}",
                "application/json",
            ),
            (
                json!({"mode": "urlencoded", "urlencoded": [{"key": "a b", "value": "c&d'"}, {"key": "e", "disabled": true},
                                                             {"key": "f", "value": null}]}),
                "a%20b=c%26d%27&f=",
                "application/x-www-form-urlencoded",
            ),
            (
                json!({"mode": "formdata", "formdata": [
                    {"key": "n", "value": "v"}, {"key": "t", "value": "{}", "contentType": "application/json"},
                    {"key": "f\"", "type": "file", "src": "/home/me/a.json"}]}),
                "--B\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nv\r\n\
                 --B\r\nContent-Disposition: form-data; name=\"t\"\r\nContent-Type: application/json\r\n\r\n{}\r\n\
                 --B\r\nContent-Disposition: form-data; name=\"f%22\"; filename=\"a.json\"\r\nContent-Type: application/json\r\n\r\n{}\r\n\
                 --B--\r\n",
                "multipart/form-data; boundary=B",
            ),
            (json!({"mode": "file", "file": {"src": "a.json"}}), "{}", "application/json"),
            (json!({"mode": "file", "file": {"content": "inline"}}), "inline", ""),
            (
                json!({"mode": "graphql", "graphql": {"query": "{ a }", "variables": "{\"x\": 1}"}}),
                "{\"query\":\"{ a }\",\"variables\":{\"x\": 1}}",
                "application/json",
            ),
        ] {
            assert_eq!(rendered(body.clone()), Some((content.to_owned(), content_type.to_owned())), "{body}");
        }
        for body in [
            json!(null),
            json!({"mode": "raw", "raw": ""}),
            json!({"mode": "raw", "raw": "x", "disabled": true}),
        ] {
            assert_eq!(rendered(body), None);
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let body = json!({"mode": "file", "file": {"src": "/tmp/photo.png"}});
        let error = render(&body, &[], "B").err().unwrap();
        assert_eq!(error, "the file `/tmp/photo.png` is not among the `files` of the monitor");
        assert!(unsupported_reason(&json!({"mode": "stream"})).is_some());
    }
}
