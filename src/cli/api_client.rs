//! Talks to a running server over its version 3 API.

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

/// An answer that is longer is refused.
const MAX_RESPONSE_BYTES: usize = 256 * 1024 * 1024;
/// A server that does not take the connection for so long is given up.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for a whole answer: applying 100,000 monitors takes a while.
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(5);
/// Where a server listens when nothing else is said.
const LOCAL_SERVER: &str = "http://127.0.0.1:7979";

/// A connection to a server.
pub(super) struct ApiClient {
    base: Url,
    token: Option<String>,
    sender: SendRequest<Full<Bytes>>,
}

/// A list as the API answers it (behaviour.md 1 "Lists").
#[derive(Debug, Deserialize)]
pub(super) struct ListResponse<T> {
    metadata: ListMetadata,
    /// Those in the window.
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
    errors: Vec<ErrorLine>,
}

#[derive(Debug, Deserialize)]
struct ErrorLine {
    message: String,
}

impl<T> ListResponse<T> {
    /// How many match in all.
    pub(super) fn count(&self) -> u64 {
        self.metadata.resultset.count
    }
}

/// Which server, and how to get in.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ServerArgs {
    /// Talk to the server at URL, or at that of the variable `VIGIE_SERVER`; without both, to the one on this
    /// host, port 7979
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Authenticate with the token in FILE; else with that of the variable `VIGIE_TOKEN`, of `vigie login`, or
    /// that of a server on this host
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Trust the authorities in FILE (PEM) beside those of the system, for an https server
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

impl ServerArgs {
    /// Where the server is.
    pub(super) fn url(&self) -> anyhow::Result<Url> {
        if let Some(named) = self.server.clone().or_else(|| super::process::env_variable("VIGIE_SERVER")) {
            return parse_url(&named);
        }
        let mut url = parse_url(LOCAL_SERVER)?;
        if token::host_token_for(&url).is_some_and(|host| host.certificate.is_some()) {
            // Never refused: both are special schemes, and the port is written out.
            let _ = url.set_scheme("https");
        }
        Ok(url)
    }

    /// Whether somebody named a server.
    pub(super) fn is_named(&self) -> bool {
        self.server.is_some() || super::process::env_variable("VIGIE_SERVER").is_some()
    }

    /// Connects with the token that `vigie login` keeps for this server, and no other.
    pub(super) async fn open_logged_in(&self) -> anyhow::Result<Option<ApiClient>> {
        let url = self.url()?;
        match token::stored_login(&url)? {
            Some(login) => {
                ApiClient::connect(url.clone(), Some(login.token), self.trust(&url)).await.map(Some)
            }
            None => Ok(None),
        }
    }

    /// Connects, with the token that there is for this server.
    pub(super) async fn open(&self) -> anyhow::Result<ApiClient> {
        let url = self.url()?;
        let token = token::find_token(&url, self.token_file.as_deref())?;
        ApiClient::connect(url.clone(), token, self.trust(&url)).await
    }

    /// Connects without a token, as for logging in.
    pub(super) async fn open_without_token(&self) -> anyhow::Result<ApiClient> {
        let url = self.url()?;
        ApiClient::connect(url.clone(), None, self.trust(&url)).await
    }

    /// Whom to trust at `url`: without `--ca-file`, a server on this host is known by the certificate that its
    /// host token names.
    fn trust(&self, url: &Url) -> ServerTrust<'_> {
        match self.ca_file.as_deref() {
            Some(file) => ServerTrust { ca_file: Some(file), certificate: None },
            None => ServerTrust {
                ca_file: None,
                certificate: token::host_token_for(url).and_then(|host| host.certificate),
            },
        }
    }
}

impl ApiClient {
    /// Connects to the server at `base`; `token` authenticates every call.
    pub(super) async fn connect(
        base: Url,
        token: Option<String>,
        trust: ServerTrust<'_>,
    ) -> anyhow::Result<Self> {
        let host = base.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = base.port_or_known_default().unwrap_or(80);
        let dialled = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect((host.as_str(), port))).await;
        let stream = dialled
            .map_err(|_| anyhow::anyhow!("it does not answer within {} s", CONNECT_TIMEOUT.as_secs()))
            .and_then(|dialled| Ok(dialled?))
            .with_context(|| format!("no server can be reached at `{base}`\nhint: is `vigie serve` running there? Name another one with `--server URL`"))?;
        let requests = if base.scheme() == "https" {
            let name = ServerName::try_from(host).context("the host of the server is no valid name")?;
            let shaken = trust.tls_connector()?.connect(name, stream).await;
            let stream = shaken.map_err(|error| {
                let text = format!("the TLS handshake failed at `{base}`\nhint: {}", handshake_hint(&error));
                anyhow::Error::new(error).context(text)
            })?;
            start_connection(stream).await?
        } else {
            start_connection(stream).await?
        };
        Ok(Self { base, token, sender: requests })
    }

    /// The answer to GET `path` below `/api/v3`, with `query`.
    pub(super) async fn get<T: DeserializeOwned>(
        &mut self,
        path: &str,
        query: &[(&str, String)],
    ) -> anyhow::Result<T> {
        self.call(Method::GET, path, query, None).await
    }

    /// The answer to POST `path` below `/api/v3`, with `body` as JSON.
    pub(super) async fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &serde_json::Value,
    ) -> anyhow::Result<T> {
        self.call(Method::POST, path, &[], Some(body)).await
    }

    /// The answer to any call below `/api/v3`.
    pub(super) async fn call<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<&serde_json::Value>,
    ) -> anyhow::Result<T> {
        let mut url = self.base.join(&format!("api/v3/{path}"))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let target =
            url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let mut request =
            Request::builder().method(method).uri(target).header(header::HOST, host_header(&url));
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let mut bytes = Vec::new();
        if let Some(body) = body {
            request = request.header(header::CONTENT_TYPE, "application/json");
            serde_json::to_writer(&mut bytes, body)?;
        }
        let request =
            request.body(Full::from(bytes)).context("the token has characters that no token has")?;
        let exchange = exchange(&mut self.sender, request);
        let (status, body) = tokio::time::timeout(RESPONSE_TIMEOUT, exchange)
            .await
            .with_context(|| {
                format!("the server did not answer `{url}` within {} s", RESPONSE_TIMEOUT.as_secs())
            })?
            .map_err(|error| explain_transport_error(error, &self.base))?;
        if !status.is_success() {
            return Err(ErrorResponse::new(&url, status, &body).into());
        }
        // What answers with nothing (204) is read as null.
        let body = if body.is_empty() { Bytes::from_static(b"null") } else { body };
        serde_json::from_slice(&body).with_context(|| format!("the answer to `{url}` cannot be read"))
    }
}

fn parse_url(text: &str) -> anyhow::Result<Url> {
    let hint = Some("write it like `http://127.0.0.1:7979`".to_owned());
    match Url::parse(text) {
        Ok(mut url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            if !url.path().ends_with('/') {
                url.set_path(&format!("{}/", url.path()));
            }
            Ok(url)
        }
        _ => Err(UsageError::with_hint(format!("`{text}` is no URL of a server"), hint)),
    }
}

fn host_header(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

async fn start_connection<S>(stream: S) -> anyhow::Result<SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (requests, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // Its end shows as an error of the request that was under way.
    tokio::spawn(connection);
    Ok(requests)
}

async fn exchange(
    requests: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> anyhow::Result<(StatusCode, Bytes)> {
    requests.ready().await.context("the server closed the connection")?;
    let response = requests.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await;
    let body =
        body.map_err(|error| anyhow::anyhow!(error)).context("the answer cannot be read to its end")?;
    Ok((status, body.to_bytes()))
}

/// What is told when no HTTP came back; mostly a server that speaks TLS.
fn explain_transport_error(error: anyhow::Error, base: &Url) -> anyhow::Error {
    let parse = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
    if !parse {
        return error;
    }
    let hint = if base.scheme() == "http" {
        "does it speak TLS? Then name it `https://…`"
    } else {
        "is this the address of a Vigie server?"
    };
    error.context(format!("what `{base}` answers is no HTTP\nhint: {hint}"))
}

/// The server refused a call.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct ErrorResponse {
    /// Its answer.
    pub(super) status: StatusCode,
    message: String,
}

impl ErrorResponse {
    fn new(url: &Url, status: StatusCode, body: &[u8]) -> Self {
        let answer = format!("the server answered `{url}` with {status}");
        let lines = serde_json::from_slice::<ErrorBody>(body).map(|error| error.errors);
        let lines = lines.unwrap_or_default();
        let hint = match status {
            StatusCode::UNAUTHORIZED => {
                "\nhint: log in with `vigie login`, or name a token with `--token-file FILE` or VIGIE_TOKEN"
            }
            StatusCode::NOT_FOUND if lines.is_empty() => "\nhint: is this the address of a Vigie server?",
            _ => "",
        };
        let text = match lines.as_slice() {
            [] => answer,
            [only] => format!("{answer}: {}", only.message),
            several => several.iter().fold(answer, |text, line| text + "\nerror: " + &line.message),
        };
        Self { status, message: text.replace("\n  hint:", "\nhint:") + hint }
    }

    /// The status of the answer that `error` is about.
    pub(super) fn status_of(error: &anyhow::Error) -> Option<StatusCode> {
        error.downcast_ref::<Self>().map(|refused| refused.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_servers_are_taken() {
        for good in ["http://127.0.0.1:7979", "https://vigie.example.test/below"] {
            assert!(parse_url(good).unwrap().path().ends_with('/'), "{good}");
        }
        for bad in ["127.0.0.1:7979", "ftp://host/", "", "http://"] {
            let error = parse_url(bad).unwrap_err();
            assert!(error.is::<UsageError>() && error.to_string().contains("hint: "), "{bad}: {error}");
        }
    }

    #[test]
    fn the_words_of_a_refusal_are_handed_on() {
        let url = Url::parse("http://a/b").unwrap();
        let told = |status: u16, body: &str| {
            ErrorResponse::new(&url, StatusCode::from_u16(status).unwrap(), body.as_bytes()).to_string()
        };
        let one = r#"{"errors":[{"code":409,"message":"`a` is there"}]}"#;
        assert_eq!(told(409, one), "the server answered `http://a/b` with 409 Conflict: `a` is there");
        let two = r#"{"errors":[{"code":400,"message":"`x` is no number\n  hint: `1`"},{"code":400,"message":"b"}]}"#;
        let expected = "the server answered `http://a/b` with 400 Bad Request\nerror: `x` is no number\nhint: `1`\nerror: b";
        assert_eq!(told(400, two), expected);
        assert!(told(404, "<html>").ends_with("404 Not Found\nhint: is this the address of a Vigie server?"));
        assert!(told(401, "").contains("hint: log in with `vigie login`"));
    }
}
