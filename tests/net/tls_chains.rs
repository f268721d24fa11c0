//! Chains of certificates that are refused, with what people read about them, and such that are accepted.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer,
    KeyPair, NameConstraints, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use vigie::domain::{Failure, FailureKind as Kind, TlsFacts};
use vigie::net::{ConnectionTrace, Net, Pem, TlsOptions};

use crate::net::{long_deadline, net_with};
use crate::support::tls_server::{Identity, serve};

fn trusting(pem: &str) -> Net {
    let pem = Pem { label: "root".to_owned(), text: pem.as_bytes().to_vec() };
    net_with(|config| config.trust_config.additional_authorities = vec![pem])
}

async fn handshake(net: &Net, at: SocketAddr) -> (Option<Failure>, Option<Box<TlsFacts>>) {
    let mut trace = ConnectionTrace::default();
    let stream = TcpStream::connect(at).await.unwrap();
    let options = TlsOptions::default();
    let outcome = net.tls_handshake(stream, "good.test", &options, long_deadline(), &mut trace).await;
    (outcome.err(), trace.tls_facts)
}

/// Returns the failure of a handshake with a server that presents `certificates` for `key`.
async fn present(net: &Net, certificates: &[String], key: &str) -> (Option<Failure>, Option<Box<TlsFacts>>) {
    let identity = Identity { certificate: certificates.concat(), key: key.to_owned() };
    // Without the checks by which rustls keeps servers from presenting such certificates.
    let provider = aws_lc_rs::default_provider();
    let signer = provider.key_provider.load_private_key(identity.private_key()).unwrap();
    let resolver = SingleCertAndKey::from(CertifiedKey::new(identity.chain(), signer));
    let builder =
        ServerConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions().unwrap();
    let server = builder.with_no_client_auth().with_cert_resolver(Arc::new(resolver));
    let at = serve("127.0.0.1", server).await;
    handshake(net, at).await
}

fn authority(name: &str, path_length: Option<u8>) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    let constraints = path_length.map_or(BasicConstraints::Unconstrained, BasicConstraints::Constrained);
    params.is_ca = IsCa::Ca(constraints);
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn leaf() -> CertificateParams {
    let mut params = CertificateParams::new(vec!["good.test".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, "leaf");
    params
}

#[tokio::test]
async fn each_refusal_says_what_is_wrong_with_which_certificate() {
    let keys: Vec<KeyPair> = (0..3).map(|_| KeyPair::generate().unwrap()).collect();
    let root = authority("root", None);
    let root_pem = root.self_signed(&keys[0]).unwrap().pem();
    let root = Issuer::new(root, &keys[0]);
    let constrained = |permitted: &str| {
        let mut params = authority("intermediate", None);
        let subtree = GeneralSubtree::DnsName(permitted.to_owned());
        params.name_constraints =
            Some(NameConstraints { permitted_subtrees: vec![subtree], excluded_subtrees: Vec::new() });
        params
    };
    let mut for_clients = leaf();
    for_clients.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let mut own_authority = authority("leaf", None);
    own_authority.subject_alt_names = leaf().subject_alt_names;
    let mut critical = leaf();
    let mut unknown = rcgen::CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
    unknown.set_criticality(true);
    critical.custom_extensions = vec![unknown];
    let no_authority = CertificateParams::new(Vec::new()).map(|mut params| {
        params.distinguished_name.push(DnType::CommonName, "intermediate");
        params
    });
    let cases = [
        (
            constrained("other.test"),
            leaf(),
            "has a name that `CN=intermediate` (certificate 2 of the 2 that it sent)",
        ),
        (
            authority("intermediate", None),
            for_clients,
            "`CN=leaf` (the server's own certificate) is for other purposes",
        ),
        (
            authority("intermediate", None),
            own_authority,
            "`CN=leaf` (the server's own certificate) is that of an authority",
        ),
        (authority("intermediate", None), critical, "has the extension 1.2.3.4, which is marked as critical"),
        (
            no_authority.unwrap(),
            leaf(),
            "`CN=intermediate` (certificate 2 of the 2 that it sent) issued another one",
        ),
    ];
    let net = trusting(&root_pem);
    for (intermediate, leaf, expected) in cases {
        let intermediate_pem = intermediate.signed_by(&keys[1], &root).unwrap().pem();
        let leaf_pem = leaf.signed_by(&keys[2], &Issuer::new(intermediate, &keys[1])).unwrap().pem();
        let (failure, _) = present(&net, &[leaf_pem, intermediate_pem], &keys[2].serialize_pem()).await;
        let failure = failure.unwrap();
        assert_eq!(failure.kind, Kind::CertificateInvalid, "{failure}");
        assert!(failure.detail.contains(expected), "{failure}, not {expected}");
    }
}

#[tokio::test]
async fn short_keys_and_version_1_are_named() {
    let net = trusting(include_str!("certificates/root.pem"));
    let chain = include_str!("certificates/short-intermediate.pem").to_owned();
    let (failure, _) = present(&net, &[chain], include_str!("certificates/leaf.key")).await;
    let text = failure.unwrap().detail;
    assert!(text.contains("`CN=short intermediate`") && text.contains("RSA key of 1024 bits"), "{text}");
    let own = include_str!("certificates/version-1.pem");
    let net = trusting(own);
    let (failure, _) = present(&net, &[own.to_owned()], include_str!("certificates/version-1.key")).await;
    let failure = failure.unwrap();
    assert_eq!(failure.kind, Kind::CertificateNameMismatch);
    assert!(failure.detail.contains("is trusted here, but it is of X.509 version 1"), "{failure}");
}

#[tokio::test]
async fn plain_http_at_a_port_for_tls_is_told_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 8192]).await;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let (failure, _) = handshake(&net_with(|_| {}), at).await;
    let text = failure.unwrap().detail;
    assert!(text.contains("speaks plain text at this port, such as HTTP"), "{text}");
}

#[tokio::test]
async fn an_expired_root_is_a_warning_that_names_it() {
    let (root_key, leaf_key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    for (until, is_warned) in [(2021, true), (2090, false)] {
        let mut root = authority("old root", None);
        (root.not_before, root.not_after) = (date_time_ymd(2010, 1, 1), date_time_ymd(until, 1, 1));
        let root_pem = root.self_signed(&root_key).unwrap().pem();
        let leaf_pem = leaf().signed_by(&leaf_key, &Issuer::new(root, &root_key)).unwrap().pem();
        let (failure, facts) = present(&trusting(&root_pem), &[leaf_pem], &leaf_key.serialize_pem()).await;
        assert_eq!(failure, None);
        let warnings = facts.unwrap().tls_warnings;
        let names_it = |text: &String| text.contains("`CN=old root`") && text.contains("2021-01-01");
        assert_eq!(
            warnings.iter().filter(|text| names_it(text)).count(),
            usize::from(is_warned),
            "{warnings:?}"
        );
        assert_eq!(warnings.len(), usize::from(is_warned));
    }
}

/// The path lengths of the certificates of an intermediate authority with two keys, and whether `openssl verify`
/// accepts the chain.
#[tokio::test]
async fn self_issued_certificates_of_a_key_rollover_do_not_count() {
    let keys: Vec<KeyPair> = (0..4).map(|_| KeyPair::generate().unwrap()).collect();
    let root = authority("root", None);
    let root_pem = root.self_signed(&keys[0]).unwrap().pem();
    let root = Issuer::new(root, &keys[0]);
    for (rolled_over_name, is_valid) in [("intermediate", true), ("another", false)] {
        let old = authority("intermediate", Some(0));
        let old_pem = old.signed_by(&keys[1], &root).unwrap().pem();
        // The new key, certified by the old one under the same name. A certificate of another name counts.
        let new = authority(rolled_over_name, Some(0));
        let new_pem = new.signed_by(&keys[2], &Issuer::new(old, &keys[1])).unwrap().pem();
        let leaf_pem = leaf().signed_by(&keys[3], &Issuer::new(new, &keys[2])).unwrap().pem();
        let chain = [leaf_pem, new_pem, old_pem];
        let (failure, facts) = present(&trusting(&root_pem), &chain, &keys[3].serialize_pem()).await;
        assert_eq!(failure.is_none(), is_valid, "{rolled_over_name}: {failure:?}");
        if let Some(failure) = failure {
            assert!(failure.detail.contains("more authorities than it allows (path length)"), "{failure}");
        }
        assert_eq!(facts.unwrap().certificates.len(), 3);
    }
}
