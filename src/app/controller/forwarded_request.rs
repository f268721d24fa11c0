//! What a controller tells the one that leads about a request that it hands on: a header field that only holders of the
//! key file can make.

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::domain::{CustomerId, Timestamp};
use crate::service::ClientConnection;
use crate::vault::Keyring;

/// The field: `VERSION;MILLISECONDS;CLIENT;FLAGS;ACCOUNT;SIGNATURE`.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("vigie-forwarded");
const VERSION: &str = "1";
/// What the signature is for.
const PURPOSE: &str = "controller-forwarding";
/// How old a request may be: the clocks of two controllers may each be a minute off that of the database.
const MAX_AGE: Duration = Duration::from_mins(3);
const TLS_FLAG: char = 't';
const FORWARDED_FLAG: char = 'f';

/// What the controller knows about the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ForwardedClient {
    /// How the client reached the controller.
    pub(super) connection: ClientConnection,
    /// The account for which the host token of the controller was shown.
    pub(super) host_account: Option<CustomerId>,
}

impl ForwardedClient {
    /// Returns the header field for a request with `method` and `uri`.
    pub(super) fn to_header(
        self,
        keyring: &Keyring,
        method: &Method,
        uri: &Uri,
        now: Timestamp,
    ) -> HeaderValue {
        let mut flags = String::new();
        if self.connection.is_tls {
            flags.push(TLS_FLAG);
        }
        if self.connection.may_be_forwarded {
            flags.push(FORWARDED_FLAG);
        }
        let account = self.host_account.map_or_else(String::new, |account| account.0.to_string());
        let millis = now.as_micros() / 1_000;
        let text = format!("{VERSION};{millis};{};{flags};{account}", self.connection.address);
        let signature = keyring.sign(PURPOSE, &signed_bytes(&text, method, uri));
        let field = format!("{text};{}", URL_SAFE_NO_PAD.encode(signature));
        // Of letters, digits and separators alone.
        HeaderValue::try_from(field).unwrap_or_else(|_| HeaderValue::from_static(VERSION))
    }

    /// Takes the field out of `request`; `None` without one.
    ///
    /// # Errors
    /// Fails for a field that no controller made, or for another request, or too long ago.
    pub(super) fn take_from(
        request: &mut Request,
        keyring: &Keyring,
        now: Timestamp,
    ) -> Result<Option<Self>, InvalidForwarding> {
        let Some(field) = request.headers_mut().remove(FORWARDED) else { return Ok(None) };
        let read = || {
            let (text, signature) = field.to_str().ok()?.rsplit_once(';')?;
            let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
            let bytes = signed_bytes(text, request.method(), request.uri());
            if !keyring.verify(PURPOSE, &bytes, &signature) {
                return None;
            }
            let mut parts = text.split(';');
            let (version, millis) = (parts.next()?, parts.next()?.parse::<i64>().ok()?);
            let (address, flags, account) = (parts.next()?, parts.next()?, parts.next()?);
            let sent_at = Timestamp::from_micros(millis.checked_mul(1_000)?);
            let age = now.since(sent_at).max(sent_at.since(now));
            if version != VERSION || age > MAX_AGE {
                return None;
            }
            let connection = ClientConnection {
                address: address.parse::<IpAddr>().ok()?,
                is_tls: flags.contains(TLS_FLAG),
                may_be_forwarded: flags.contains(FORWARDED_FLAG),
            };
            Some(Self { connection, host_account: account.parse().ok().map(CustomerId) })
        };
        read().map(Some).ok_or(InvalidForwarding)
    }
}

/// The field is not one that a controller made for this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InvalidForwarding;

fn signed_bytes(text: &str, method: &Method, uri: &Uri) -> Vec<u8> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    format!("{text}\n{method}\n{path}").into_bytes()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_795_176_000);

    fn client() -> ForwardedClient {
        let connection =
            ClientConnection { address: IpAddr::from([192, 0, 2, 7]), is_tls: true, may_be_forwarded: false };
        ForwardedClient { connection, host_account: Some(CustomerId(4)) }
    }

    fn request(method: Method, uri: &str, field: Option<HeaderValue>) -> Request {
        let mut request = Request::builder().method(method).uri(uri).body(Body::empty()).unwrap();
        if let Some(field) = field {
            request.headers_mut().insert(FORWARDED, field);
        }
        request
    }

    #[test]
    fn a_request_is_taken_as_the_controller_sent_it() {
        let keyring = Keyring::ephemeral();
        let uri = "/api/v3/monitors?limit=1".parse().unwrap();
        for (address, host_account) in [("192.0.2.7", None), ("2001:db8::1", Some(CustomerId(1)))] {
            let connection = ClientConnection { address: address.parse().unwrap(), ..client().connection };
            let sent = ForwardedClient { connection, host_account };
            let field = sent.to_header(&keyring, &Method::GET, &uri, NOW);
            let mut received = request(Method::GET, &uri.to_string(), Some(field));
            assert_eq!(ForwardedClient::take_from(&mut received, &keyring, NOW), Ok(Some(sent)));
            assert!(!received.headers().contains_key(FORWARDED), "it is not handed on");
        }
        let mut plain = request(Method::GET, "/", None);
        assert_eq!(ForwardedClient::take_from(&mut plain, &keyring, NOW), Ok(None));
    }

    #[test]
    fn what_another_sends_or_sends_again_elsewhere_is_refused() {
        let (keyring, other) = (Keyring::ephemeral(), Keyring::ephemeral());
        let uri = "/api/v3/monitors".parse().unwrap();
        let field = client().to_header(&keyring, &Method::GET, &uri, NOW);
        let text = field.to_str().unwrap().to_owned();
        let refused = |method, uri: &str, field: &str, keyring, now| {
            let field = Some(HeaderValue::from_str(field).unwrap());
            ForwardedClient::take_from(&mut request(method, uri, field), keyring, now)
                == Err(InvalidForwarding)
        };
        assert!(!refused(Method::GET, "/api/v3/monitors", &text, &keyring, NOW));
        assert!(refused(Method::GET, "/api/v3/monitors", &text, &other, NOW), "another key");
        assert!(refused(Method::POST, "/api/v3/monitors", &text, &keyring, NOW), "another method");
        assert!(refused(Method::GET, "/api/v3/users", &text, &keyring, NOW), "another path");
        assert!(refused(Method::GET, "/api/v3/monitors", &text.replace(";4;", ";1;"), &keyring, NOW));
        for now in [NOW + Duration::from_mins(4), NOW - Duration::from_mins(4)] {
            assert!(refused(Method::GET, "/api/v3/monitors", &text, &keyring, now), "at another time");
        }
        for field in ["", "1", ";;;;;", "1;x;y;z;;AAAA"] {
            assert!(refused(Method::GET, "/api/v3/monitors", field, &keyring, NOW), "{field}");
        }
    }
}
