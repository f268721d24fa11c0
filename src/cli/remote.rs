//! Reads from a running server over its version 3 API.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::Url;

use super::output::WrongUse;

/// An answer that is longer is refused.
const ANSWER_BYTES: usize = 256 * 1024 * 1024;
/// A server that says nothing for so long is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to a server.
pub(super) struct Server {
    base: Url,
    token: Option<String>,
    requests: SendRequest<Empty<Bytes>>,
}

/// A list as the API answers it (behaviour.md 1 "Lists").
#[derive(Debug, Deserialize)]
pub(super) struct List<T> {
    metadata: Metadata,
    /// Those in the window.
    pub(super) results: Vec<T>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    resultset: Resultset,
}

#[derive(Debug, Deserialize)]
struct Resultset {
    count: u64,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    errors: Vec<RefusalLine>,
}

#[derive(Debug, Deserialize)]
struct RefusalLine {
    message: String,
}

impl<T> List<T> {
    /// How many match in all.
    pub(super) fn count(&self) -> u64 {
        self.metadata.resultset.count
    }
}

impl Server {
    /// Connects to the server at `url`; `token` authenticates every call.
    pub(super) async fn connect(url: &str, token: Option<String>) -> anyhow::Result<Self> {
        let base = parse_url(url)?;
        let host = base.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = base.port_or_known_default().unwrap_or(80);
        let dialled = tokio::time::timeout(PATIENCE, TcpStream::connect((host.as_str(), port))).await;
        let stream = dialled
            .map_err(|_| anyhow::anyhow!("it does not answer within {} s", PATIENCE.as_secs()))
            .and_then(|dialled| Ok(dialled?))
            .with_context(|| format!("no server can be reached at `{base}`\nhint: is `vigie serve` running there? Name another one with `--server URL`, or read a data folder with `--data DIR`"))?;
        let requests = if base.scheme() == "https" {
            let name = ServerName::try_from(host).context("the host of the server is no valid name")?;
            let stream = tls_connector()?.connect(name, stream).await.context("the TLS handshake failed")?;
            start(stream).await?
        } else {
            start(stream).await?
        };
        Ok(Self { base, token, requests })
    }

    /// The answer to GET `path` below `/api/v3`, with `query`.
    pub(super) async fn read<T: DeserializeOwned>(
        &mut self,
        path: &str,
        query: &[(&str, String)],
    ) -> anyhow::Result<T> {
        let mut url = self.base.join(&format!("api/v3/{path}"))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let target =
            url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let mut request = Request::get(target).header(header::HOST, host_header(&url));
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let exchange = exchange(&mut self.requests, request.body(Empty::new())?);
        let (status, body) = tokio::time::timeout(PATIENCE, exchange).await.with_context(|| {
            format!("the server did not answer `{url}` within {} s", PATIENCE.as_secs())
        })??;
        if status != StatusCode::OK {
            bail!("the server answered `{url}` with {status}{}", refusal(&body));
        }
        serde_json::from_slice(&body).with_context(|| format!("the answer to `{url}` cannot be read"))
    }
}

/// The token in `file`, without the line break at its end.
pub(super) fn token_from(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the token file `{}` cannot be read", file.display()))?;
    Ok(text.trim().to_owned())
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
        _ => Err(WrongUse::error(format!("`{text}` is no URL of a server"), hint)),
    }
}

fn host_header(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn tls_connector() -> anyhow::Result<tokio_rustls::TlsConnector> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config).into())
}

async fn start<S>(stream: S) -> anyhow::Result<SendRequest<Empty<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (requests, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // Its end shows as an error of the request that was under way.
    tokio::spawn(connection);
    Ok(requests)
}

async fn exchange(
    requests: &mut SendRequest<Empty<Bytes>>,
    request: Request<Empty<Bytes>>,
) -> anyhow::Result<(StatusCode, Bytes)> {
    requests.ready().await.context("the server closed the connection")?;
    let response = requests.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), ANSWER_BYTES).collect().await;
    let body =
        body.map_err(|error| anyhow::anyhow!(error)).context("the answer cannot be read to its end")?;
    Ok((status, body.to_bytes()))
}

/// The words of an error body, after a colon; nothing when it has none.
fn refusal(body: &[u8]) -> String {
    let lines = serde_json::from_slice::<Refusal>(body).map(|refusal| refusal.errors).unwrap_or_default();
    let words: Vec<String> = lines.into_iter().map(|line| line.message).collect();
    if words.is_empty() { String::new() } else { format!(": {}", words.join("; ")) }
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
            assert!(error.is::<WrongUse>() && error.to_string().contains("hint: "), "{bad}: {error}");
        }
    }

    #[test]
    fn the_words_of_a_refusal_are_handed_on() {
        let body =
            br#"{"errors":[{"code":400,"message":"`limit` is no number"},{"code":400,"message":"b"}]}"#;
        assert_eq!(refusal(body), ": `limit` is no number; b");
        assert_eq!(refusal(b"<html>"), "");
    }
}
