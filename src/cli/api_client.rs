//! Client of a running server, over its version 3 API.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::Url;

use super::output::UsageError;
use super::token;
use super::trust::{ServerTrust, handshake_hint};

/// Longest response that is accepted, in bytes.
const MAX_RESPONSE_BYTES: usize = 256 * 1024 * 1024;
/// Time limit for connecting to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for a whole response: applying 100,000 monitors takes a while.
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(5);
/// Default URL of the server.
const DEFAULT_SERVER_URL: &str = "http://127.0.0.1:7979";

/// A connection to a server.
pub(super) struct ApiClient {
    base_url: Url,
    token: Option<String>,
    request_sender: SendRequest<Full<Bytes>>,
    /// Whether the command can read a database instead.
    offers_database: bool,
}

/// A list response of the API (behaviour.md 1 "Lists").
#[derive(Debug, Deserialize)]
pub(super) struct ListResponse<T> {
    metadata: ListMetadata,
    /// Items of the requested page.
    pub(super) results: Vec<T>,
}

#[derive(Debug, Deserialize)]
struct ListMetadata {
    resultset: Resultset,
}

#[derive(Debug, Deserialize)]
struct Resultset {
    count: u64,
}

#[derive(Debug, Deserialize)]
struct ErrorBody {
    errors: Vec<ErrorMessage>,
}

#[derive(Debug, Deserialize)]
struct ErrorMessage {
    message: String,
}

impl<T> ListResponse<T> {
    /// Total number of matches.
    pub(super) fn total_count(&self) -> u64 {
        self.metadata.resultset.count
    }
}

/// Options that select the server, its token and its trusted authorities.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ServerArgs {
    /// URL of the server [default: the variable `VIGIE_SERVER`, otherwise port 7979 on this host]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// File with the token [default: the variable `VIGIE_TOKEN`, the token of `vigie login`, or the token of a
    /// server on this host]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Trust the authorities in FILE (PEM) in addition to those of the system, for an https server
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

impl ServerArgs {
    /// Returns the URL of the server.
    pub(super) fn server_url(&self) -> anyhow::Result<Url> {
        if let Some(url_text) =
            self.server.clone().or_else(|| super::process::non_empty_env_variable("VIGIE_SERVER"))
        {
            return parse_server_url(&url_text);
        }
        let mut url = parse_server_url(DEFAULT_SERVER_URL)?;
        if token::find_host_token_for(&url).is_some_and(|host| host.certificate_sha256.is_some()) {
            // Cannot fail: both schemes are special, and the port is explicit.
            let _ = url.set_scheme("https");
        }
        Ok(url)
    }

    /// Whether a server was named explicitly.
    pub(super) fn is_server_given(&self) -> bool {
        self.server.is_some() || super::process::non_empty_env_variable("VIGIE_SERVER").is_some()
    }

    /// Connects with the token that `vigie login` stored for this server; `None` without one.
    pub(super) async fn connect_with_stored_login(&self) -> anyhow::Result<Option<ApiClient>> {
        let url = self.server_url()?;
        match token::stored_login(&url)? {
            Some(login) => {
                ApiClient::connect(url.clone(), Some(login.token), self.server_trust(&url)).await.map(Some)
            }
            None => Ok(None),
        }
    }

    /// Connects with the token found for this server.
    pub(super) async fn connect(&self) -> anyhow::Result<ApiClient> {
        let url = self.server_url()?;
        let token = token::find_token(&url, self.token_file.as_deref())?;
        ApiClient::connect(url.clone(), token, self.server_trust(&url)).await
    }

    /// Connects without a token, as for logging in.
    pub(super) async fn connect_without_token(&self) -> anyhow::Result<ApiClient> {
        let url = self.server_url()?;
        ApiClient::connect(url.clone(), None, self.server_trust(&url)).await
    }

    /// Returns how to verify the server at `url`. Without `--ca-file`, one on this host must have the certificate that
    /// its host token contains.
    fn server_trust(&self, url: &Url) -> ServerTrust<'_> {
        match self.ca_file.as_deref() {
            Some(file) => ServerTrust { ca_file: Some(file), pinned_sha256: None },
            None => ServerTrust {
                ca_file: None,
                pinned_sha256: token::find_host_token_for(url).and_then(|host| host.certificate_sha256),
            },
        }
    }
}

impl ApiClient {
    /// Connects to the server at `base_url`; `token` authenticates every request.
    pub(super) async fn connect(
        base_url: Url,
        token: Option<String>,
        trust: ServerTrust<'_>,
    ) -> anyhow::Result<Self> {
        let host = base_url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = base_url.port_or_known_default().unwrap_or(80);
        let connect_result =
            tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect((host.as_str(), port))).await;
        let stream = connect_result
            .map_err(|_| anyhow::anyhow!("no connection within {} s", CONNECT_TIMEOUT.as_secs()))
            .and_then(|connect_result| Ok(connect_result?))
            .with_context(|| format!("no server can be reached at `{base_url}`\nhint: is `vigie serve` running there? Name another one with `--server URL`"))?;
        let request_sender = if base_url.scheme() == "https" {
            let name = ServerName::try_from(host).context("the host of the server is not a valid name")?;
            let handshake = trust.tls_connector()?.connect(name, stream).await;
            let stream = handshake.map_err(|error| {
                let text =
                    format!("the TLS handshake failed at `{base_url}`\nhint: {}", handshake_hint(&error));
                anyhow::Error::new(error).context(text)
            })?;
            start_connection(stream).await?
        } else {
            start_connection(stream).await?
        };
        Ok(Self { base_url, token, request_sender, offers_database: false })
    }

    /// Says in the error of a request without a valid token that `--data` reads the database instead.
    pub(super) fn offering_database(self) -> Self {
        Self { offers_database: true, ..self }
    }

    /// Sends GET `path` below `/api/v3`, with `query`, and returns the response.
    pub(super) async fn get<T: DeserializeOwned>(
        &mut self,
        path: &str,
        query: &[(&str, String)],
    ) -> anyhow::Result<T> {
        self.send_request(Method::GET, path, query, None).await
    }

    /// Sends POST `path` below `/api/v3`, with `body` as JSON, and returns the response.
    pub(super) async fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &serde_json::Value,
    ) -> anyhow::Result<T> {
        self.send_request(Method::POST, path, &[], Some(body)).await
    }

    /// Sends any request below `/api/v3` and returns the response.
    pub(super) async fn send_request<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<&serde_json::Value>,
    ) -> anyhow::Result<T> {
        let mut url = self.base_url.join(&format!("api/v3/{path}"))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request_target =
            url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let mut request = Request::builder()
            .method(method)
            .uri(request_target)
            .header(header::HOST, host_header_value(&url));
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let mut body_bytes = Vec::new();
        if let Some(body) = body {
            request = request.header(header::CONTENT_TYPE, "application/json");
            serde_json::to_writer(&mut body_bytes, body)?;
        }
        let request =
            request.body(Full::from(body_bytes)).context("the token contains invalid characters")?;
        let response = send_and_read_response(&mut self.request_sender, request);
        let (status, body) = tokio::time::timeout(RESPONSE_TIMEOUT, response)
            .await
            .with_context(|| format!("no response from `{url}` within {} s", RESPONSE_TIMEOUT.as_secs()))?
            .map_err(|error| explain_transport_error(error, &self.base_url))?;
        if !status.is_success() {
            return Err(ErrorResponse::new(&url, status, &body, self.offers_database).into());
        }
        // An empty response (204) is read as null.
        let body = if body.is_empty() { Bytes::from_static(b"null") } else { body };
        serde_json::from_slice(&body).with_context(|| format!("the response from `{url}` cannot be read"))
    }
}

pub(super) fn parse_server_url(text: &str) -> anyhow::Result<Url> {
    let hint = Some("write it like `http://127.0.0.1:7979`".to_owned());
    match Url::parse(text) {
        Ok(mut url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            if !url.path().ends_with('/') {
                url.set_path(&format!("{}/", url.path()));
            }
            Ok(url)
        }
        _ => Err(UsageError::with_hint(format!("`{text}` is not the URL of a server"), hint)),
    }
}

fn host_header_value(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

async fn start_connection<S>(stream: S) -> anyhow::Result<SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (request_sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // The task drives the connection. When it ends, the request in progress fails.
    tokio::spawn(connection);
    Ok(request_sender)
}

async fn send_and_read_response(
    request_sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> anyhow::Result<(StatusCode, Bytes)> {
    request_sender.ready().await.context("the server closed the connection")?;
    let response = request_sender.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await;
    let body = body.map_err(|error| anyhow::anyhow!(error)).context("the response is incomplete")?;
    Ok((status, body.to_bytes()))
}

/// Adds a hint to a transport error; a response that is not HTTP mostly comes from a server that uses TLS.
fn explain_transport_error(error: anyhow::Error, base_url: &Url) -> anyhow::Error {
    let is_parse_error = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
    if !is_parse_error {
        return error;
    }
    let hint = if base_url.scheme() == "http" {
        "if it uses TLS, name it `https://…`"
    } else {
        "is this the address of a Vigie server?"
    };
    error.context(format!("the response of `{base_url}` is not HTTP\nhint: {hint}"))
}

/// An error response of the server.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct ErrorResponse {
    /// Status of the response.
    pub(super) status: StatusCode,
    message: String,
}

impl ErrorResponse {
    fn new(url: &Url, status: StatusCode, body: &[u8], offers_database: bool) -> Self {
        let summary = format!("the server responded to `{url}` with {status}");
        let errors = serde_json::from_slice::<ErrorBody>(body).map(|error| error.errors);
        let errors = errors.unwrap_or_default();
        let hint = match status {
            StatusCode::UNAUTHORIZED => format!("\nhint: {}", unauthorized_hint(url, offers_database)),
            StatusCode::NOT_FOUND if errors.is_empty() => {
                "\nhint: is this the address of a Vigie server?".to_owned()
            }
            _ => String::new(),
        };
        let text = match errors.as_slice() {
            [] => summary,
            [single_error] => format!("{summary}: {}", single_error.message),
            errors_found => {
                errors_found.iter().fold(summary, |text, error| text + "\nerror: " + &error.message)
            }
        };
        Self { status, message: text.replace("\n  hint:", "\nhint:") + &hint }
    }

    /// Returns the status of the response that `error` is about.
    pub(super) fn response_status(error: &anyhow::Error) -> Option<StatusCode> {
        error.downcast_ref::<Self>().map(|response| response.status)
    }
}

/// Returns how to give the server at `url` a token. The server of this host leaves one in its data folder, which is found
/// only where the folder is the usual one.
fn unauthorized_hint(url: &Url, offers_database: bool) -> String {
    let mut hint =
        "log in with `vigie login`, or name a token with `--token-file FILE` or VIGIE_TOKEN".to_owned();
    if token::is_on_this_host(url) {
        hint.push_str("; a server on this host has one in its data folder: `--token-file DIR/host-token`");
    }
    if offers_database {
        hint.push_str("; `--data DIR` reads the database in a data folder without a server");
    }
    hint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_server_urls_are_accepted() {
        for valid in ["http://127.0.0.1:7979", "https://vigie.example.test/below"] {
            assert!(parse_server_url(valid).unwrap().path().ends_with('/'), "{valid}");
        }
        for invalid in ["127.0.0.1:7979", "ftp://host/", "", "http://"] {
            let error = parse_server_url(invalid).unwrap_err();
            assert!(error.is::<UsageError>() && error.to_string().contains("hint: "), "{invalid}: {error}");
        }
    }

    #[test]
    fn messages_of_an_error_response_are_passed_on() {
        let url = Url::parse("http://a/b").unwrap();
        let message = |status: u16, body: &str| {
            ErrorResponse::new(&url, StatusCode::from_u16(status).unwrap(), body.as_bytes(), false)
                .to_string()
        };
        let single_error = r#"{"errors":[{"code":409,"message":"`a` is there"}]}"#;
        assert_eq!(
            message(409, single_error),
            "the server responded to `http://a/b` with 409 Conflict: `a` is there"
        );
        let two_errors = r#"{"errors":[{"code":400,"message":"`x` is not a number\n  hint: `1`"},{"code":400,"message":"b"}]}"#;
        let expected = "the server responded to `http://a/b` with 400 Bad Request\nerror: `x` is not a number\nhint: `1`\nerror: b";
        assert_eq!(message(400, two_errors), expected);
        assert!(
            message(404, "<html>").ends_with("404 Not Found\nhint: is this the address of a Vigie server?")
        );
        assert!(message(401, "").contains("hint: log in with `vigie login`"));
    }

    #[test]
    fn a_refused_token_is_explained_by_where_the_server_is() {
        let hint = |url: &str, offers_database| unauthorized_hint(&Url::parse(url).unwrap(), offers_database);
        let elsewhere = hint("https://vigie.test/", false);
        assert!(elsewhere.contains("`--token-file FILE`"), "{elsewhere}");
        assert!(!elsewhere.contains("host-token") && !elsewhere.contains("--data"), "{elsewhere}");
        let here = hint("http://127.0.0.1:7979/", true);
        assert!(here.contains("`--token-file DIR/host-token`") && here.contains("`--data DIR`"), "{here}");
    }
}
