//! The login of a request.

use serde_json::Value;

use super::aws_signature::AwsCredentials;
use super::json_entries::value_text;
use crate::redaction::sensitive_names::token_after_scheme;

/// How a request logs in.
#[derive(Clone, PartialEq, Eq)]
pub enum AuthMethod {
    /// Not at all.
    None,
    /// User name and password at once (RFC 7617).
    Basic {
        /// User name.
        user: String,
        /// Password.
        password: String,
    },
    /// User name and password after a challenge (RFC 7616).
    Digest {
        /// User name.
        user: String,
        /// Password.
        password: String,
    },
    /// A header field.
    Header {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A parameter of the URL.
    Query {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A signature of AWS, version 4.
    Aws(AwsCredentials),
}

impl AuthMethod {
    /// Reads a login whose placeholders are replaced, of format 2.0 (an object) or 2.1 (a list).
    #[must_use]
    pub fn from_json(auth: &Value) -> Self {
        let kind = auth["type"].as_str().unwrap_or("noauth");
        let get = |name: &str| parameter(&auth[kind], name);
        match kind {
            "basic" => Self::Basic { user: get("username"), password: get("password") },
            "digest" => Self::Digest { user: get("username"), password: get("password") },
            "bearer" => match get("token") {
                token if token.is_empty() => Self::None,
                token => header("Authorization", format!("Bearer {token}")),
            },
            "apikey" => match (get("key"), get("value"), get("in").as_str()) {
                (key, ..) if key.is_empty() => Self::None,
                (name, value, "query") => Self::Query { name, value },
                (key, value, _) => header(&key, value),
            },
            "oauth2" => match (get("accessToken"), get("addTokenTo").as_str()) {
                (token, _) if token.is_empty() => Self::None,
                (value, "queryParams") => Self::Query { name: "access_token".to_owned(), value },
                (token, _) => {
                    let prefix = Some(get("headerPrefix")).filter(|prefix| !prefix.trim().is_empty());
                    header(
                        "Authorization",
                        format!("{} {token}", prefix.as_deref().unwrap_or("Bearer").trim()),
                    )
                }
            },
            "awsv4" => Self::Aws(AwsCredentials {
                access_key: get("accessKey"),
                secret_key: get("secretKey"),
                session_token: Some(get("sessionToken")).filter(|token| !token.is_empty()),
                region: Some(get("region"))
                    .filter(|region| !region.is_empty())
                    .unwrap_or_else(|| "us-east-1".to_owned()),
                service: get("service"),
                signs_content_hash: true,
            }),
            _ => Self::None,
        }
    }

    /// Returns what of it no result may show.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::Basic { password, .. } | Self::Digest { password, .. } => vec![password.clone()],
            Self::Header { value, .. } | Self::Query { value, .. } => {
                let token = token_after_scheme(value).map(str::to_owned);
                std::iter::once(value.clone()).chain(token).collect()
            }
            Self::Aws(credentials) => {
                let secret_key = credentials.secret_key.clone();
                std::iter::once(secret_key).chain(credentials.session_token.clone()).collect()
            }
        }
    }
}

fn header(name: &str, value: String) -> AuthMethod {
    AuthMethod::Header { name: name.to_owned(), value }
}

/// Returns a parameter of a login as text; empty without it.
fn parameter(parameters: &Value, name: &str) -> String {
    let value = match parameters {
        Value::Array(entries) => {
            entries.iter().find(|entry| entry["key"] == name).map(|entry| &entry["value"])
        }
        parameters => parameters.get(name),
    };
    value.map(value_text).unwrap_or_default()
}

/// Returns why a login cannot be used, if so.
pub(super) fn unsupported_reason(auth: &Value) -> Option<String> {
    let kind = auth["type"].as_str()?;
    match kind {
        "oauth2" if parameter(&auth[kind], "tokenType").eq_ignore_ascii_case("mac") => {
            Some("the login `oauth2` with a MAC token is not supported".to_owned())
        }
        "awsv4" if parameter(&auth[kind], "addAuthDataToQuery") == "true" => {
            Some("the login `awsv4` in the URL is not supported; send it in headers".to_owned())
        }
        "noauth" | "basic" | "bearer" | "apikey" | "digest" | "oauth2" | "awsv4" | "" => None,
        other => Some(format!(
            "the login `{}` is not supported; supported are basic, bearer, apikey, digest, oauth2 and awsv4",
            crate::syntax::truncate_value(other)
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_formats_are_read() {
        let basic = AuthMethod::Basic { user: "u".into(), password: "p".into() };
        let list = json!({"type": "basic", "basic": [{"key": "username", "value": "u"}, {"key": "password", "value": "p"}]});
        assert!(AuthMethod::from_json(&list) == basic);
        assert!(
            AuthMethod::from_json(&json!({"type": "basic", "basic": {"username": "u", "password": "p"}}))
                == basic
        );
    }

    #[test]
    fn each_kind_says_what_it_sends() {
        let header = |value: &str| AuthMethod::Header { name: "Authorization".into(), value: value.into() };
        for (auth, expected) in [
            (json!({"type": "noauth"}), AuthMethod::None),
            (json!({"type": "bearer", "bearer": {"token": "t"}}), header("Bearer t")),
            (json!({"type": "bearer", "bearer": {"token": ""}}), AuthMethod::None),
            (
                json!({"type": "oauth2", "oauth2": {"accessToken": "t", "headerPrefix": "Token"}}),
                header("Token t"),
            ),
            (json!({"type": "oauth2", "oauth2": {"accessToken": "t"}}), header("Bearer t")),
            (
                json!({"type": "oauth2", "oauth2": {"accessToken": "t", "addTokenTo": "queryParams"}}),
                AuthMethod::Query { name: "access_token".into(), value: "t".into() },
            ),
            (
                json!({"type": "apikey", "apikey": {"key": "X-Key", "value": 5}}),
                AuthMethod::Header { name: "X-Key".into(), value: "5".into() },
            ),
            (
                json!({"type": "apikey", "apikey": {"key": "k", "value": "v", "in": "query"}}),
                AuthMethod::Query { name: "k".into(), value: "v".into() },
            ),
        ] {
            assert!(AuthMethod::from_json(&auth) == expected, "{auth}");
            assert_eq!(unsupported_reason(&auth), None);
        }
        for kind in ["oauth1", "hawk", "ntlm", "edgegrid", "asap"] {
            assert!(unsupported_reason(&json!({"type": kind})).unwrap().contains(kind));
        }
    }
}
