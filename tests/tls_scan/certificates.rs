//! The certificates of the compared servers, new for each run; what is recorded of them does not change.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_RSA_SHA256, RsaKeySize, date_time_ymd,
};

/// The name that the scans ask for.
pub const NAME: &str = "scanned.test";

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn params(common_name: &str, names: &[&str], years: (i32, i32)) -> CertificateParams {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, common_name);
    (params.not_before, params.not_after) = (date_time_ymd(years.0, 1, 1), date_time_ymd(years.1, 1, 1));
    params
}

fn authority_params(common_name: &str) -> CertificateParams {
    let mut params = params(common_name, &[], (2020, 2090));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages =
        vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    params
}

fn rsa_key() -> KeyPair {
    KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap()
}

/// Writes certificates, keys, parameters and an OCSP response into `folder`.
pub fn write_all(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let root: Issuer =
        CertifiedIssuer::self_signed(authority_params("Scan Root"), KeyPair::generate().unwrap()).unwrap();
    let middle: Issuer = CertifiedIssuer::signed_by(
        authority_params("Scan Intermediate"),
        KeyPair::generate().unwrap(),
        &root,
    )
    .unwrap();
    let issue = |name: &str, key: &KeyPair, common_name: &str, years: (i32, i32)| {
        let certificate = params(common_name, &[common_name], years).signed_by(key, &middle).unwrap();
        write(&format!("{name}.key"), &key.serialize_pem());
        write(&format!("{name}-alone.pem"), &certificate.pem());
        write(&format!("{name}.pem"), &format!("{}{}", certificate.pem(), middle.pem()));
        certificate.pem()
    };
    let rsa = rsa_key();
    let own = issue("rsa", &rsa, NAME, (2020, 2090));
    write("wrong-order.pem", &format!("{own}{}{}", root.pem(), middle.pem()));
    issue("expired", &rsa, NAME, (2020, 2021));
    issue("other", &rsa, "other.test", (2020, 2090));
    issue("ecdsa", &KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap(), NAME, (2020, 2090));
    issue("p384", &KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384).unwrap(), NAME, (2020, 2090));
    write("self-signed.pem", &params(NAME, &[NAME], (2020, 2090)).self_signed(&rsa).unwrap().pem());
    write("middle.pem", &middle.pem());
    write("middle.key", &middle.key().serialize_pem());
    write("dh1024.pem", DH_1024);
    write("dh3072.pem", DH_3072);
    write("index.txt", "");
    // That the certificate is known does not matter here. A key of Ed25519 from rcgen is none that OpenSSL 3.0 reads.
    for (arguments, written) in [
        (
            "ocsp -index index.txt -CA middle.pem -rsigner middle.pem -rkey middle.key -issuer middle.pem \
             -cert rsa-alone.pem -respout ocsp.der -ndays 30 -noverify",
            "ocsp.der",
        ),
        (
            "req -x509 -newkey ed25519 -nodes -keyout ed25519.key -out ed25519.pem -days 20000 -subj /CN=scanned.test",
            "ed25519.pem",
        ),
    ] {
        run_openssl(folder, arguments);
        assert!(folder.join(written).exists(), "openssl {arguments}");
    }
}

fn run_openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    command.args(arguments.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

const DH_1024: &str = "-----BEGIN DH PARAMETERS-----
MIGHAoGBAP82ooEbDCwtdVqZqujGxkaeUq3COUa61/Gz26l7fiZnNK/Q8BUYU09L
NP8uWInIC8zj/j8ga5O8pNx4xLKhaRD++5HKGvcCTRNtkxSd2ZaoNx4rxVSuwYTi
ZuFN1J3XFsW4thVn0xfDf5NGIWuit59aVPDA9MS83jxxY+ShdU0fAgEC
-----END DH PARAMETERS-----
";
/// The prime of RFC 7919 with 3072 bits.
const DH_3072: &str = "-----BEGIN DH PARAMETERS-----
MIIBiAKCAYEA//////////+t+FRYortKmq/cViAnPTzx2LnFg84tNpWp4TZBFGQz
+8yTnc4kmz75fS/jY2MMddj2gbICrsRhetPfHtXV/WVhJDP1H18GbtCFY2VVPe0a
87VXE15/V8k1mE8McODmi3fipona8+/och3xWKE2rec1MKzKT0g6eXq8CrGCsyT7
YdEIqUuyyOP7uWrat2DX9GgdT0Kj3jlN9K5W7edjcrsZCwenyO4KbXCeAvzhzffi
7MA0BM0oNC9hkXL+nOmFg/+OTxIy7vKBg8P+OxtMb61zO7X8vC7CIAXFjvGDfRaD
ssbzSibBsu/6iGtCOGEfz9zeNVs7ZRkDW7w09N75nAI4YbRvydbmyQd62R0mkff3
7lmMsPrBhtkcrv4TCYUTknC0EwyTvEN5RPT9RFLi103TZPLiHnH1S/9croKrnJ32
nuhtK8UiNjoNq8Uhl5sN6todv5pC1cRITgq80Gv6U93vPBsg7j/VnXwl5B0rZsYu
N///////////AgEC
-----END DH PARAMETERS-----
";
