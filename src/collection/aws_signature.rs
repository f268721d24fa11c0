//! Signatures of AWS, version 4, in header fields.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Position;

use crate::domain::{Timestamp, to_hex};

/// What is encoded in the query of the canonical request: all but unreserved characters.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A request as a signature covers it.
#[derive(Clone, Copy, Debug)]
pub struct SignedRequest<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its URL.
    pub url: &'a url::Url,
    /// Its body.
    pub body: &'a [u8],
    /// The time of the signature.
    pub time: Timestamp,
}

/// A key of AWS and what it signs for.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsCredentials {
    /// Its id.
    pub access_key: String,
    /// The key itself.
    pub secret_key: String,
    /// The token of a temporary key.
    pub session_token: Option<String>,
    /// The region, such as `us-east-1`.
    pub region: String,
    /// The service, such as `execute-api`.
    pub service: String,
    /// Whether the hash of the body is a header field, too; S3 requires it.
    pub signs_content_hash: bool,
}

impl AwsCredentials {
    /// Returns the header fields that sign `request`: over method, path, query, host, time and body.
    #[must_use]
    pub fn sign(&self, request: &SignedRequest<'_>) -> Vec<(&'static str, String)> {
        let host = &request.url[Position::BeforeHost..Position::AfterPort];
        let timestamp = basic_format(request.time);
        let content_hash = to_hex(digest(&SHA256, request.body).as_ref());
        let mut headers = vec![("host", host.to_owned())];
        if self.signs_content_hash {
            headers.push(("x-amz-content-sha256", content_hash.clone()));
        }
        headers.push(("x-amz-date", timestamp.clone()));
        headers.extend(self.session_token.clone().map(|token| ("x-amz-security-token", token)));
        let signed_names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let signed_names = signed_names.join(";");
        let header_lines: Vec<String> =
            headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let canonical_request = [
            request.method,
            request.url.path(),
            &canonical_query(request.url),
            &header_lines.concat(),
            &signed_names,
            &content_hash,
        ]
        .join("\n");
        let date = timestamp.get(..8).unwrap_or_default();
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let text = format!(
            "AWS4-HMAC-SHA256\n{timestamp}\n{scope}\n{}",
            to_hex(digest(&SHA256, canonical_request.as_bytes()).as_ref())
        );
        let mut key = format!("AWS4{}", self.secret_key).into_bytes();
        for part in [date, &self.region, &self.service, "aws4_request"] {
            key = mac(&key, part);
        }
        let signature = to_hex(&mac(&key, &text));
        headers.remove(0);
        headers.push((
            "Authorization",
            format!(
                "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={signed_names}, Signature={signature}",
                self.access_key
            ),
        ));
        headers
    }
}

/// Returns `time` as `YYYYMMDDTHHMMSSZ`.
fn basic_format(time: Timestamp) -> String {
    let text = time.to_string();
    let seconds = text.split('.').next().unwrap_or_default().trim_end_matches('Z');
    format!("{}Z", seconds.replace(['-', ':'], ""))
}

fn canonical_query(url: &url::Url) -> String {
    let encode = |text: &str| utf8_percent_encode(text, UNRESERVED).to_string();
    let mut pairs: Vec<(String, String)> =
        url.query_pairs().map(|(name, value)| (encode(&name), encode(&value))).collect();
    pairs.sort();
    let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    sign(&Key::new(HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors `get-vanilla` and `get-vanilla-query-order-key-case` of AWS's own test suite.
    #[test]
    fn vectors_of_aws_are_signed_alike() {
        let credentials = AwsCredentials {
            access_key: "AKIDEXAMPLE".into(),
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: None,
            region: "us-east-1".into(),
            service: "service".into(),
            signs_content_hash: false,
        };
        for (url, signature) in [
            (
                "https://example.amazonaws.com/",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "https://example.amazonaws.com/?Param2=value2&Param1=value1",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
        ] {
            let request = SignedRequest {
                method: "GET",
                url: &url::Url::parse(url).unwrap(),
                body: b"",
                time: Timestamp::parse("2015-08-30T12:36:00Z").unwrap(),
            };
            let headers = credentials.sign(&request);
            assert_eq!(headers[0], ("x-amz-date", "20150830T123600Z".to_owned()));
            assert_eq!(
                headers[1].1,
                format!(
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                     SignedHeaders=host;x-amz-date, Signature={signature}"
                )
            );
        }
    }
}
