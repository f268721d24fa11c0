//! HTTPS servers that speak exactly one old version, through the same OpenSSL.

use std::net::SocketAddr;
use std::pin::Pin;

use openssl::pkey::PKey;
use openssl::provider::Provider;
use openssl::rsa::Rsa;
use openssl::ssl::{
    NameType, Ssl, SslContext, SslContextBuilder, SslMethod, SslOptions, SslRef, SslVerifyMode, SslVersion,
};
use openssl::x509::X509;
use openssl::x509::store::X509StoreBuilder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_openssl::SslStream;

use crate::tls_server::{Authority, Identity};

/// The versions, each with its `use_ssl_version` value and its name in facts.
pub const VERSIONS: [(SslVersion, &str, &str); 3] = [
    (SslVersion::SSL3, "3", "SSLv3"),
    (SslVersion::TLS1, "10", "TLSv1.0"),
    (SslVersion::TLS1_1, "11", "TLSv1.1"),
];

/// Settings of one server.
pub struct Server<'a> {
    pub version: SslVersion,
    pub ciphers: &'a str,
    pub own: &'a Identity,
    /// Authority of client certificates; when set, every client must present one.
    pub clients: Option<&'a Authority>,
    /// Bytes of the body that are announced and never sent; the connection then ends without `close_notify`.
    pub missing: usize,
}

impl<'a> Server<'a> {
    pub fn new(version: SslVersion, own: &'a Identity) -> Self {
        Self { version, ciphers: "DEFAULT:@SECLEVEL=0", own, clients: None, missing: 0 }
    }

    /// Starts the server, which responds to each request with its view of the client.
    pub async fn start(self) -> SocketAddr {
        let context = self.context();
        let missing = self.missing;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = SslStream::new(Ssl::new(&context).unwrap(), stream).unwrap();
                tokio::spawn(async move {
                    if Pin::new(&mut stream).accept().await.is_err() {
                        return;
                    }
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n") {
                        match stream.read_buf(&mut request).await {
                            Ok(0) | Err(_) => return,
                            Ok(_) => {}
                        }
                    }
                    let body = describe_client(stream.ssl());
                    let length = body.len() + missing;
                    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
                    let _ = stream.write_all(response.as_bytes()).await;
                    if missing == 0 {
                        let _ = stream.shutdown().await;
                    }
                });
            }
        });
        at
    }

    fn context(&self) -> SslContext {
        // In addition to the providers that the client of this process has loaded.
        std::mem::forget(Provider::try_load(None, "legacy", true).unwrap());
        let mut builder = SslContextBuilder::new(SslMethod::tls_server()).unwrap();
        builder.set_security_level(0);
        builder.clear_options(SslOptions::NO_SSLV3);
        builder.set_min_proto_version(Some(self.version)).unwrap();
        builder.set_max_proto_version(Some(self.version)).unwrap();
        builder.set_cipher_list(self.ciphers).unwrap();
        builder.set_certificate(&X509::from_pem(self.own.certificate.as_bytes()).unwrap()).unwrap();
        builder.set_private_key(&PKey::private_key_from_pem(self.own.key.as_bytes()).unwrap()).unwrap();
        if let Some(authority) = self.clients {
            let mut store = X509StoreBuilder::new().unwrap();
            store.add_cert(X509::from_pem(authority.pem().as_bytes()).unwrap()).unwrap();
            builder.set_cert_store(store.build());
            builder.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
            builder.set_session_id_context(b"test").unwrap();
        }
        builder.build()
    }
}

fn describe_client(ssl: &SslRef) -> String {
    let client = ssl.peer_certificate().map(|certificate| format!("{:?}", certificate.subject_name()));
    format!(
        "name {}; reused {}; client {}",
        ssl.servername(NameType::HOST_NAME).unwrap_or("none"),
        ssl.session_reused(),
        client.unwrap_or_else(|| "none".to_owned()),
    )
}

/// Issues a certificate with an RSA key, since SSL 3.0 supports no other.
pub fn rsa(authority: &Authority, names: &[&str], years: (i32, i32)) -> Identity {
    let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
    let pem = String::from_utf8(key.private_key_to_pem_pkcs8().unwrap()).unwrap();
    authority.issue_for(&pem, names, years)
}
