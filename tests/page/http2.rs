//! Objects over HTTP/2: all objects of a server share one connection.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::version::TLS13;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use tokio_rustls::TlsAcceptor;
use vigie::domain::Phase;
use vigie::net::{Pem, PublicRoots, TrustConfig};

use crate::page::check::{Check, page};
use crate::support::tls_server::{Authority, config};

/// Number of objects of the page. The server responds once all of them have been requested.
const OBJECTS: usize = 30;

async fn serve<S>(stream: S, all: Arc<Barrier>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let all = all.clone();
        async move {
            let body = if request.uri().path() == "/" {
                (0..OBJECTS).map(|number| format!("<img src=/{number}.png>")).collect::<Vec<_>>().concat()
            } else {
                all.wait().await;
                "x".repeat(20_000)
            };
            Ok::<_, Infallible>(hyper::Response::new(Full::new(Bytes::from(body))))
        }
    });
    let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn start(tls: Option<TlsAcceptor>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, connections) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let (count, all) = (connections.clone(), Arc::new(Barrier::new(OBJECTS)));
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let (tls, all) = (tls.clone(), all.clone());
            tokio::spawn(async move {
                match tls {
                    None => serve(tcp, all).await,
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(tcp).await {
                            serve(stream, all).await;
                        }
                    }
                }
            });
        }
    });
    (address, connections)
}

async fn check_objects(url: String, version: &str, trust: TrustConfig) {
    let check = Check::of(&url).with(serde_json::json!({"http_version": version})).trusting(trust);
    let observation = check.run().await;
    assert_eq!(observation.failure, None, "{url} {version}");
    assert_eq!(page(&observation).objects.len(), OBJECTS);
    for object in &page(&observation).objects {
        assert_eq!((object.http_version.as_str(), object.body_bytes), ("HTTP/2", 20_000), "{object:?}");
        assert!(object.phases.micros(Phase::FirstByte).is_some(), "{object:?}");
    }
}

#[tokio::test]
async fn all_objects_of_a_server_share_one_connection() {
    let ca = Authority::new("test CA");
    let mut config = config(&ca.issue(&["127.0.0.1"], (2020, 2090)), &[&TLS13], None);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let authorities = vec![Pem { label: "test CA".to_owned(), text: ca.pem().into_bytes() }];
    let trust = || TrustConfig {
        public_roots: PublicRoots::None,
        additional_authorities: authorities.clone(),
        ..TrustConfig::default()
    };
    let acceptor = TlsAcceptor::from(Arc::new(config));
    for version in ["1.1", "2"] {
        let (address, connections) = start(Some(acceptor.clone())).await;
        check_objects(format!("https://{address}/"), version, trust()).await;
        assert_eq!(connections.load(Ordering::SeqCst), 2, "one for the page, one for its objects");
    }
    let (address, connections) = start(None).await;
    check_objects(format!("http://{address}/"), "2", trust()).await;
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}
