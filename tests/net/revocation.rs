//! Revoked certificates: OCSP responses that a server sends along, and authorities that are asked.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CrlDistributionPoint,
    CustomExtension, DnType, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, PublicKeyData,
    RevocationReason, RevokedCertParams, SerialNumber, SigningKey, date_time_ymd,
};
use rustls::ServerConfig;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use vigie::domain::{Failure, FailureKind as Kind};
use vigie::net::{ConnectionTrace, EgressPolicy, Net, Pem, TlsOptions};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::net::{long_deadline, net_with};
use crate::support::tls_server::{Identity, serve};

const SERIAL: [u8; 4] = [0x7a, 1, 2, 3];

fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
    let header = match (high, low) {
        (0, 0..128) => vec![tag, low],
        (0, _) => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    [header, content.to_vec()].concat()
}

fn time(text: &str) -> Vec<u8> {
    tlv(0x18, text.as_bytes())
}

/// What an authority says.
#[derive(Clone, Copy, Debug)]
enum Says {
    Good,
    Revoked,
    Unknown,
    /// Good, but outdated.
    Outdated,
}

struct Authority {
    params: CertificateParams,
    key: KeyPair,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "authority");
        Self { params, key: KeyPair::generate().unwrap() }
    }

    fn pem(&self) -> String {
        self.params.self_signed(&self.key).unwrap().pem()
    }

    fn issuer(&self) -> Issuer<'_, &KeyPair> {
        Issuer::from_params(&self.params, &self.key)
    }

    /// Issues a certificate that names these places.
    fn issue(&self, ocsp: Option<SocketAddr>, list: Option<SocketAddr>) -> Identity {
        let mut params = CertificateParams::new(vec!["good.test".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "leaf");
        params.serial_number = Some(SerialNumber::from(SERIAL.to_vec()));
        params.not_after = date_time_ymd(2090, 1, 1);
        if let Some(at) = ocsp {
            let url = tlv(0x86, format!("http://{at}/ocsp").as_bytes());
            let access = tlv(0x30, &[tlv(6, &[0x2b, 6, 1, 5, 5, 7, 0x30, 1]), url].concat());
            let content = tlv(0x30, &access);
            let extension = CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], content);
            params.custom_extensions = vec![extension];
        }
        if let Some(at) = list {
            params.crl_distribution_points =
                vec![CrlDistributionPoint { uris: vec![format!("http://{at}/list")] }];
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer()).unwrap();
        Identity { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// Returns an OCSP response about the issued certificate, signed by `key`.
    fn ocsp_response(&self, says: Says, key: &KeyPair) -> Vec<u8> {
        let certificate = CertificateDer::from_pem_slice(self.pem().as_bytes()).unwrap();
        let (_, parsed) = X509Certificate::from_der(&certificate).unwrap();
        let hash = |bytes: &[u8]| tlv(4, digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes).as_ref());
        let algorithm = tlv(0x30, &tlv(6, &[0x2b, 0x0e, 3, 2, 0x1a]));
        let id = [algorithm, hash(parsed.subject().as_raw()), hash(self.key.der_bytes()), tlv(2, &SERIAL)];
        let id = tlv(0x30, &id.concat());
        let status = match says {
            Says::Good | Says::Outdated => vec![0x80, 0],
            Says::Revoked => tlv(0xa1, &[time("20240102030405Z"), tlv(0xa0, &tlv(0x0a, &[1]))].concat()),
            Says::Unknown => vec![0x82, 0],
        };
        let next = if matches!(says, Says::Outdated) { "20210101000000Z" } else { "20890101000000Z" };
        let single = [id, status, time("20200101000000Z"), tlv(0xa0, &time(next))];
        let single = tlv(0x30, &single.concat());
        let responder = tlv(0xa2, &hash(key.der_bytes()));
        let data = tlv(0x30, &[responder, time("20200101000000Z"), tlv(0x30, &single)].concat());
        let signature = [vec![0], key.sign(&data).unwrap()].concat();
        let ecdsa_with_sha256 = tlv(0x30, &tlv(6, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]));
        let basic = tlv(0x30, &[data, ecdsa_with_sha256, tlv(3, &signature)].concat());
        let kind = tlv(6, &[0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1]);
        let bytes = tlv(0x30, &[kind, tlv(4, &basic)].concat());
        tlv(0x30, &[tlv(0x0a, &[0]), tlv(0xa0, &bytes)].concat())
    }

    fn revocation_list(&self, revokes: bool) -> Vec<u8> {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from(SERIAL.to_vec()),
            revocation_time: date_time_ymd(2024, 1, 2),
            reason_code: Some(RevocationReason::KeyCompromise),
            invalidity_date: None,
        };
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(2090, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: if revokes { vec![revoked] } else { Vec::new() },
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer()).unwrap().der().to_vec()
    }
}

/// A web server that sends one body to every request.
struct Publisher {
    at: SocketAddr,
    body: Arc<Mutex<Vec<u8>>>,
    requests: Arc<AtomicUsize>,
}

impl Publisher {
    async fn start(body: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let (body, requests) = (Arc::new(Mutex::new(body)), Arc::new(AtomicUsize::new(0)));
        let (content, count) = (body.clone(), requests.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let content = content.lock().unwrap().clone();
                tokio::spawn(async move {
                    let _ = stream.read(&mut [0; 4096]).await;
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content.len());
                    let _ = stream.write_all(&[head.as_bytes(), &content].concat()).await;
                });
            }
        });
        Self { at, body, requests }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

fn trusting(authority: &Authority) -> Net {
    let pem = Pem { label: "ca".to_owned(), text: authority.pem().into_bytes() };
    net_with(|config| config.trust_config.additional_authorities = vec![pem])
}

async fn serve_with_staple(identity: &Identity, staple: Vec<u8>) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_no_client_auth();
    serve(
        "127.0.0.1",
        builder.with_single_cert_with_ocsp(identity.chain(), identity.private_key(), staple).unwrap(),
    )
    .await
}

async fn handshake(net: &Net, at: SocketAddr, check_revocation: bool) -> Result<Vec<String>, Failure> {
    let mut trace = ConnectionTrace::default();
    let stream = TcpStream::connect(at).await.unwrap();
    let options = TlsOptions { check_revocation, ..TlsOptions::default() };
    net.tls_handshake(stream, "good.test", &options, long_deadline(), &mut trace).await?;
    Ok(trace.tls_facts.unwrap().tls_warnings)
}

#[tokio::test]
async fn a_stapled_response_is_read() {
    let (authority, stranger) = (Authority::new(), KeyPair::generate().unwrap());
    let net = trusting(&authority);
    let identity = authority.issue(None, None);
    for (says, key, expected) in [
        (Says::Good, &authority.key, None),
        (Says::Unknown, &authority.key, Some("does not know the certificate")),
        (Says::Outdated, &authority.key, Some("outdated since 2021-01-01")),
        (Says::Revoked, &stranger, Some("signed neither by the issuer")),
    ] {
        let at = serve_with_staple(&identity, authority.ocsp_response(says, key)).await;
        let warnings = handshake(&net, at, false).await.unwrap();
        match expected {
            None => assert!(warnings.is_empty(), "{says:?}: {warnings:?}"),
            Some(text) => {
                assert!(warnings.len() == 1 && warnings[0].contains(text), "{says:?}: {warnings:?}");
            }
        }
    }
    let at = serve_with_staple(&identity, authority.ocsp_response(Says::Revoked, &authority.key)).await;
    let failure = handshake(&net, at, false).await.unwrap_err();
    assert_eq!((failure.kind, failure.status().0), (Kind::CertificateRevoked, 3));
    for text in
        ["`CN=leaf` (the server's own certificate) is revoked since 2024-01-02", "its key was compromised"]
    {
        assert!(failure.detail.contains(text), "{failure}");
    }
}

#[tokio::test]
async fn the_responder_is_asked_where_the_monitor_wants_it_and_its_answer_is_kept() {
    let authority = Authority::new();
    let responder = Publisher::start(authority.ocsp_response(Says::Good, &authority.key)).await;
    let identity = authority.issue(Some(responder.at), None);
    let at = serve_with_staple(&identity, Vec::new()).await;
    let net = trusting(&authority);
    assert!(handshake(&net, at, false).await.unwrap().is_empty());
    assert_eq!(responder.requests(), 0, "nobody is asked without `check_revocation`");
    for _ in 0..3 {
        assert_eq!(handshake(&net, at, true).await.unwrap(), Vec::<String>::new());
    }
    assert_eq!(responder.requests(), 1, "the answer is kept");
    *responder.body.lock().unwrap() = authority.ocsp_response(Says::Revoked, &authority.key);
    let failure = handshake(&trusting(&authority), at, true).await.unwrap_err();
    assert_eq!(failure.kind, Kind::CertificateRevoked);
    assert!(failure.detail.contains("the OCSP responder `http://127.0.0.1:"), "{failure}");
}

#[tokio::test]
async fn the_revocation_list_is_read_where_there_is_no_responder() {
    let authority = Authority::new();
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let list = Publisher::start(authority.revocation_list(false)).await;
    let identity = authority.issue(Some(gone), Some(list.at));
    let at = serve_with_staple(&identity, Vec::new()).await;
    assert_eq!(handshake(&trusting(&authority), at, true).await.unwrap(), Vec::<String>::new());
    *list.body.lock().unwrap() = authority.revocation_list(true);
    let failure = handshake(&trusting(&authority), at, true).await.unwrap_err();
    assert_eq!(failure.kind, Kind::CertificateRevoked);
    assert!(
        failure.detail.contains("revoked since 2024-01-02") && failure.detail.contains("list"),
        "{failure}"
    );
}

#[tokio::test]
async fn an_authority_without_an_answer_is_a_warning() {
    let authority = Authority::new();
    let rubbish = Publisher::start(vec![0x30; 100]).await;
    let endless = Publisher::start(vec![0; 5 * 1024 * 1024]).await;
    for (ocsp, list, text) in [
        (None, None, "it names neither an OCSP responder nor a revocation list"),
        (Some(rubbish.at), None, "it cannot be read"),
        (None, Some(rubbish.at), "not a revocation list that is understood"),
        (None, Some(endless.at), "more than 4194304 bytes"),
    ] {
        let at = serve_with_staple(&authority.issue(ocsp, list), Vec::new()).await;
        let warnings = handshake(&trusting(&authority), at, true).await.unwrap();
        let [warning] = warnings.as_slice() else { panic!("{text}: {warnings:?}") };
        assert!(warning.contains(text) && warning.contains("`CN=leaf`"), "{warning}");
    }
}

#[tokio::test]
async fn the_egress_policy_applies_to_authorities() {
    let authority = Authority::new();
    let responder = Publisher::start(authority.ocsp_response(Says::Revoked, &authority.key)).await;
    let at = serve_with_staple(&authority.issue(Some(responder.at), None), Vec::new()).await;
    let pem = Pem { label: "ca".to_owned(), text: authority.pem().into_bytes() };
    let net = net_with(|config| {
        config.trust_config.additional_authorities = vec![pem];
        config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap();
    });
    let warnings = handshake(&net, at, true).await.unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("denied by the egress rule"), "{warnings:?}");
    assert_eq!(responder.requests(), 0);
}
