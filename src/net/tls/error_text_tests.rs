//! A test over all errors of rustls and webpki: each has a sentence of its own kind, without Rust in it.
#![expect(deprecated, reason = "all variants are told, also those that webpki does not use any more")]

use std::sync::Arc;
use std::time::Duration;

use rustls::{
    CertRevocationListError, CertificateError, ContentType, EncryptedClientHelloError, HandshakeType,
    InconsistentKeys, OtherError, PeerMisbehaved,
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use webpki::{
    DerTypeId, Error as PathError, InvalidNameContext, KeyUsage, RequiredEkuNotFoundContext,
    UnsupportedSignatureAlgorithmContext, UnsupportedSignatureAlgorithmForPublicKeyContext,
};

use super::super::chain_error::ChainError;
use super::super::trust::{TrustConfig, TrustStore};
use super::*;

/// Fails when `text` is no sentence for people.
fn assert_is_sentence(variant: &str, text: &str) {
    for rust in ["::", "{", "}", "[", "Some(", "None", "Error", "\\u{"] {
        assert!(!text.contains(rust), "{variant}: `{rust}` in `{text}`");
    }
    assert!(text.contains(' ') && text.len() > 40 && text.len() < 900, "{variant}: `{text}`");
    let camel_case = text.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| {
        let allowed_camel_case = ["OpenSSL", "ChaCha20", "serverAuth", "subjectAltName", "ClientHello"];
        let has_hump = word
            .as_bytes()
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        has_hump && !allowed_camel_case.contains(word)
    });
    assert_eq!(camel_case, None, "{variant}: `{text}`");
    assert!(text.contains(';') || text.contains(':'), "{variant}: it does not say what to do: `{text}`");
}

fn peer_misbehaviours() -> Vec<PeerMisbehaved> {
    use PeerMisbehaved as P;
    vec![
        P::AttemptedDowngradeToTls12WhenTls13IsSupported,
        P::BadCertChainExtensions,
        P::CipherSuiteDifferedOnRetry,
        P::DisallowedEncryptedExtension,
        P::DuplicateClientHelloExtensions,
        P::DuplicateEncryptedExtensions,
        P::DuplicateHelloRetryRequestExtensions,
        P::DuplicateNewSessionTicketExtensions,
        P::DuplicateServerHelloExtensions,
        P::DuplicateServerNameTypes,
        P::EarlyDataAttemptedInSecondClientHello,
        P::EarlyDataExtensionWithoutResumption,
        P::EarlyDataOfferedWithVariedCipherSuite,
        P::EchAcceptanceVariedAfterRetry,
        P::HandshakeHashVariedAfterRetry,
        P::IllegalHelloRetryRequestWithEmptyCookie,
        P::IllegalHelloRetryRequestWithNoChanges,
        P::IllegalHelloRetryRequestWithOfferedGroup,
        P::IllegalHelloRetryRequestWithUnofferedCipherSuite,
        P::IllegalHelloRetryRequestWithUnofferedNamedGroup,
        P::IllegalHelloRetryRequestWithUnsupportedVersion,
        P::IllegalHelloRetryRequestWithWrongSessionId,
        P::IllegalHelloRetryRequestWithInvalidEch,
        P::IllegalMiddleboxChangeCipherSpec,
        P::IllegalTlsInnerPlaintext,
        P::IncorrectBinder,
        P::InvalidCertCompression,
        P::InvalidMaxEarlyDataSize,
        P::InvalidKeyShare,
        P::KeyEpochWithPendingFragment,
        P::KeyUpdateReceivedInQuicConnection,
        P::MessageInterleavedWithHandshakeMessage,
        P::MissingBinderInPskExtension,
        P::MissingKeyShare,
        P::MissingPskExtensionInSecondClientHello,
        P::MissingPskModesExtension,
        P::MissingQuicTransportParameters,
        P::OfferedDuplicateCertificateCompressions,
        P::OfferedDuplicateKeyShares,
        P::OfferedEarlyDataWithOldProtocolVersion,
        P::OfferedEmptyApplicationProtocol,
        P::OfferedIncorrectCompressions,
        P::PskExtensionMustBeLast,
        P::PskExtensionWithMismatchedIdsAndBinders,
        P::RefusedToFollowHelloRetryRequest,
        P::RejectedEarlyDataInterleavedWithHandshakeMessage,
        P::ResumptionAttemptedWithVariedEms,
        P::ResumptionOfferedWithVariedCipherSuite,
        P::ResumptionOfferedWithVariedEms,
        P::ResumptionOfferedWithIncompatibleCipherSuite,
        P::SelectedDifferentCipherSuiteAfterRetry,
        P::SelectedInvalidPsk,
        P::SelectedTls12UsingTls13VersionExtension,
        P::SelectedUnofferedApplicationProtocol,
        P::SelectedUnofferedCertCompression,
        P::SelectedUnofferedCipherSuite,
        P::SelectedUnofferedCompression,
        P::SelectedUnofferedKxGroup,
        P::SelectedUnofferedPsk,
        P::SelectedUnusableCipherSuiteForVersion,
        P::ServerEchoedCompatibilitySessionId,
        P::ServerHelloMustOfferUncompressedEcPoints,
        P::ServerNameDifferedOnRetry,
        P::ServerNameMustContainOneHostName,
        P::SignedKxWithWrongAlgorithm,
        P::SignedHandshakeWithUnadvertisedSigScheme,
        P::TooManyEmptyFragments,
        P::TooManyKeyUpdateRequests,
        P::TooManyRenegotiationRequests,
        P::TooManyWarningAlertsReceived,
        P::TooMuchEarlyDataReceived,
        P::UnexpectedCleartextExtension,
        P::UnsolicitedCertExtension,
        P::UnsolicitedEncryptedExtension,
        P::UnsolicitedSctList,
        P::UnsolicitedServerHelloExtension,
        P::WrongGroupForKeyShare,
        P::UnsolicitedEchExtension,
    ]
}

fn incompatibilities() -> Vec<PeerIncompatible> {
    use PeerIncompatible as P;
    vec![
        P::EcPointsExtensionRequired,
        P::ExtendedMasterSecretExtensionRequired,
        P::IncorrectCertificateTypeExtension,
        P::KeyShareExtensionRequired,
        P::NamedGroupsExtensionRequired,
        P::NoCertificateRequestSignatureSchemesInCommon,
        P::NoCipherSuitesInCommon,
        P::NoEcPointFormatsInCommon,
        P::NoKxGroupsInCommon,
        P::NoSignatureSchemesInCommon,
        P::NullCompressionRequired,
        P::ServerDoesNotSupportTls12Or13,
        P::ServerSentHelloRetryRequestWithUnknownExtension,
        P::ServerTlsVersionIsDisabledByOurConfig,
        P::SignatureAlgorithmsExtensionRequired,
        P::SupportedVersionsExtensionRequired,
        P::Tls12NotOffered,
        P::Tls12NotOfferedOrEnabled,
        P::Tls13RequiredForQuic,
        P::UncompressedEcPointsRequired,
        P::UnsolicitedCertificateTypeExtension,
        P::ServerRejectedEncryptedClientHello(None),
    ]
}

fn invalid_messages() -> Vec<InvalidMessage> {
    use InvalidMessage as I;
    vec![
        I::CertificatePayloadTooLarge,
        I::HandshakePayloadTooLarge,
        I::InvalidCcs,
        I::InvalidContentType,
        I::InvalidCertificateStatusType,
        I::InvalidCertRequest,
        I::InvalidDhParams,
        I::InvalidEmptyPayload,
        I::InvalidKeyUpdate,
        I::InvalidServerName,
        I::MessageTooLarge,
        I::MessageTooShort,
        I::MissingKeyExchange,
        I::NoSignatureSchemes,
        I::UnknownProtocolVersion,
        I::UnsupportedCompression,
        I::UnsupportedCurveType,
        I::EmptyTicketValue,
        I::IllegalEmptyValue,
        I::PreSharedKeyIsNotFinalExtension,
        I::UnknownHelloRetryRequestExtension,
        I::UnknownCertificateExtension,
        I::MissingData("ClientHello"),
        I::TrailingData("ClientHello"),
        I::UnexpectedMessage("ClientHello"),
        I::UnsupportedKeyExchangeAlgorithm(rustls::crypto::KeyExchangeAlgorithm::DHE),
        I::IllegalEmptyList("ProtocolNames"),
        I::DuplicateExtension(7),
    ]
}

fn alerts() -> Vec<AlertDescription> {
    use AlertDescription as A;
    vec![
        A::CloseNotify,
        A::UnexpectedMessage,
        A::BadRecordMac,
        A::DecryptionFailed,
        A::RecordOverflow,
        A::DecompressionFailure,
        A::HandshakeFailure,
        A::NoCertificate,
        A::BadCertificate,
        A::UnsupportedCertificate,
        A::CertificateRevoked,
        A::CertificateExpired,
        A::CertificateUnknown,
        A::IllegalParameter,
        A::UnknownCA,
        A::AccessDenied,
        A::DecodeError,
        A::DecryptError,
        A::ExportRestriction,
        A::ProtocolVersion,
        A::InsufficientSecurity,
        A::InternalError,
        A::InappropriateFallback,
        A::UserCanceled,
        A::NoRenegotiation,
        A::MissingExtension,
        A::UnsupportedExtension,
        A::CertificateUnobtainable,
        A::UnrecognisedName,
        A::BadCertificateStatusResponse,
        A::BadCertificateHashValue,
        A::UnknownPSKIdentity,
        A::CertificateRequired,
        A::NoApplicationProtocol,
        A::EncryptedClientHelloRequired,
        A::Unknown(200),
    ]
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

fn path_errors() -> Vec<PathError> {
    use PathError as P;
    let algorithm = || UnsupportedSignatureAlgorithmContext {
        signature_algorithm_id: vec![1; 600],
        supported_algorithms: Vec::new(),
    };
    let for_key = || UnsupportedSignatureAlgorithmForPublicKeyContext {
        signature_algorithm_id: vec![1; 600],
        public_key_algorithm_id: vec![2; 600],
    };
    let name = ServerName::try_from("a.test").unwrap();
    vec![
        P::BadDer,
        P::BadDerTime,
        P::CaUsedAsEndEntity,
        P::CertDistrusted,
        P::CertRevoked,
        P::EmptyEkuExtension,
        P::EndEntityUsedAsCa,
        P::ExtensionValueInvalid,
        P::InvalidCertValidity,
        P::InvalidCrlNumber,
        P::InvalidNetworkMaskConstraint,
        P::InvalidSerialNumber,
        P::InvalidCrlSignatureForPublicKey,
        P::InvalidSignatureForPublicKey,
        P::IssuerNotCrlSigner,
        P::MalformedDnsIdentifier,
        P::MalformedExtensions,
        P::MalformedNameConstraint,
        P::MaximumNameConstraintComparisonsExceeded,
        P::MaximumPathBuildCallsExceeded,
        P::MaximumPathDepthExceeded,
        P::MaximumSignatureChecksExceeded,
        P::NameConstraintViolation,
        P::PathLenConstraintViolated,
        P::RequiredEkuNotFound,
        P::SignatureAlgorithmMismatch,
        P::UnknownIssuer,
        P::UnknownRevocationStatus,
        P::UnsupportedCertVersion,
        P::UnsupportedCriticalExtension,
        P::UnsupportedCrlIssuingDistributionPoint,
        P::UnsupportedCrlVersion,
        P::UnsupportedDeltaCrl,
        P::UnsupportedIndirectCrl,
        P::UnsupportedNameType,
        P::UnsupportedRevocationReason,
        P::UnsupportedRevocationReasonsPartitioning,
        P::UnsupportedCrlSignatureAlgorithm,
        P::UnsupportedSignatureAlgorithm,
        P::UnsupportedCrlSignatureAlgorithmForPublicKey,
        P::UnsupportedSignatureAlgorithmForPublicKey,
        P::CertExpired { time: at(2), not_after: at(1) },
        P::CertNotValidYet { time: at(1), not_before: at(2) },
        P::CertNotValidForName(InvalidNameContext { expected: name, presented: vec!["x".repeat(2000)] }),
        P::CrlExpired { time: at(2), next_update: at(1) },
        P::RequiredEkuNotFoundContext(RequiredEkuNotFoundContext {
            required: KeyUsage::server_auth(),
            present: vec![vec![1, 3, 6]],
        }),
        P::TrailingData(DerTypeId::BitString),
        P::UnsupportedCrlSignatureAlgorithmContext(algorithm()),
        P::UnsupportedSignatureAlgorithmContext(algorithm()),
        P::UnsupportedCrlSignatureAlgorithmForPublicKeyContext(for_key()),
        P::UnsupportedSignatureAlgorithmForPublicKeyContext(for_key()),
    ]
}

#[test]
fn every_error_of_rustls_is_told_in_words() {
    use CertRevocationListError as Crl;
    use CertificateError as Cert;
    use EncryptedClientHelloError as Ech;
    for misbehaviour in peer_misbehaviours() {
        assert_is_sentence(
            &format!("{misbehaviour:?}"),
            &tls_error_text(&Error::PeerMisbehaved(misbehaviour)),
        );
    }
    for reason in incompatibilities() {
        assert_is_sentence(&format!("{reason:?}"), &tls_error_text(&Error::PeerIncompatible(reason.clone())));
    }
    for message in invalid_messages() {
        assert_is_sentence(&format!("{message:?}"), &tls_error_text(&Error::InvalidMessage(message)));
    }
    for alert in alerts() {
        assert_is_sentence(&format!("{alert:?}"), &tls_error_text(&Error::AlertReceived(alert)));
    }
    let inner = || OtherError(Arc::new(PathError::NameConstraintViolation));
    let revocation_list_errors = [
        Crl::BadSignature,
        Crl::UnsupportedSignatureAlgorithm,
        Crl::InvalidCrlNumber,
        Crl::InvalidRevokedCertSerialNumber,
        Crl::IssuerInvalidForCrl,
        Crl::Other(inner()),
        Crl::ParseError,
        Crl::UnsupportedCrlVersion,
        Crl::UnsupportedCriticalExtension,
        Crl::UnsupportedDeltaCrl,
        Crl::UnsupportedIndirectCrl,
        Crl::UnsupportedRevocationReason,
    ];
    let encrypted_hello_errors = [Ech::InvalidConfigList, Ech::NoCompatibleConfig, Ech::SniRequired];
    let certificate_errors = [
        Cert::BadEncoding,
        Cert::Expired,
        Cert::ExpiredContext { time: at(2), not_after: at(1) },
        Cert::NotValidYet,
        Cert::NotValidYetContext { time: at(1), not_before: at(2) },
        Cert::Revoked,
        Cert::UnhandledCriticalExtension,
        Cert::UnknownIssuer,
        Cert::UnknownRevocationStatus,
        Cert::ExpiredRevocationList,
        Cert::ExpiredRevocationListContext { time: at(2), next_update: at(1) },
        Cert::BadSignature,
        Cert::UnsupportedSignatureAlgorithm,
        Cert::UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id: vec![1; 600],
            supported_algorithms: Vec::new(),
        },
        Cert::UnsupportedSignatureAlgorithmForPublicKeyContext {
            signature_algorithm_id: vec![1; 600],
            public_key_algorithm_id: vec![2; 600],
        },
        Cert::NotValidForName,
        Cert::NotValidForNameContext {
            expected: ServerName::try_from("a.test").unwrap(),
            presented: vec!["x".repeat(2000)],
        },
        Cert::InvalidPurpose,
        Cert::InvalidPurposeContext {
            required: rustls::ExtendedKeyPurpose::ServerAuth,
            presented: vec![rustls::ExtendedKeyPurpose::Other(vec![1, 3, 6])],
        },
        Cert::InvalidOcspResponse,
        Cert::ApplicationVerificationFailure,
        Cert::Other(inner()),
    ];
    let others = [
        Error::InappropriateMessage {
            expect_types: vec![ContentType::Handshake],
            got_type: ContentType::ApplicationData,
        },
        Error::InappropriateHandshakeMessage {
            expect_types: vec![HandshakeType::ServerHello],
            got_type: HandshakeType::Unknown(77),
        },
        Error::NoCertificatesPresented,
        Error::UnsupportedNameType,
        Error::DecryptError,
        Error::EncryptError,
        Error::General("a::b { c }".to_owned()),
        Error::FailedToGetCurrentTime,
        Error::FailedToGetRandomBytes,
        Error::HandshakeNotComplete,
        Error::PeerSentOversizedRecord,
        Error::NoApplicationProtocol,
        Error::BadMaxFragmentSize,
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch),
        Error::InconsistentKeys(InconsistentKeys::Unknown),
        Error::Other(inner()),
    ];
    let all = revocation_list_errors.map(Error::InvalidCertRevocationList).into_iter();
    let all = all.chain(encrypted_hello_errors.map(Error::InvalidEncryptedClientHello)).chain(others);
    for error in all.chain(certificate_errors.map(Error::InvalidCertificate)) {
        assert_is_sentence(&format!("{error:?}"), &tls_error_text(&error));
    }
}

#[test]
fn an_alert_after_the_handshake_is_told_in_words_too() {
    let alert = Error::AlertReceived(AlertDescription::CertificateRequired);
    let text = io_error_text(&io::Error::new(io::ErrorKind::InvalidData, alert));
    assert!(text.contains("(alert: certificate required): it requires a client certificate"), "{text}");
    assert_eq!(io_error_text(&io::ErrorKind::BrokenPipe.into()), "broken pipe");
}

#[test]
fn every_error_of_webpki_is_told_in_words_and_names_a_certificate() {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let anchors = TrustStore::new(&TrustConfig::default(), &provider).unwrap().location_anchors();
    let certificate = |subject: &str, is_ca: bool| {
        let mut params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, subject);
        if is_ca {
            params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        }
        let key = rcgen::KeyPair::generate().unwrap();
        CertificateDer::from(params.self_signed(&key).unwrap().der().to_vec())
    };
    let chains = [
        vec![certificate("leaf", false)],
        vec![certificate("leaf", false), certificate("intermediate", true)],
        vec![CertificateDer::from(vec![1, 2, 3])],
        Vec::new(),
    ];
    let mut errors: Vec<ChainError> = path_errors().into_iter().map(ChainError::Path).collect();
    errors.push(ChainError::PinnedWithoutNames);
    errors.push(ChainError::Revoked {
        index: 1,
        since: None,
        reason: None,
        source: "the responder".to_owned(),
    });
    for error in errors {
        for (number, chain) in chains.iter().enumerate() {
            let (kind, text) = error.describe("b.test", chain, &anchors);
            assert_is_sentence(&format!("{error:?} of chain {number}"), &text);
            let names_one =
                ["leaf", "intermediate", "certificate", "b.test"].iter().any(|name| text.contains(name));
            assert!(names_one, "{error:?}: `{text}`");
            assert_eq!(kind.fault(), crate::domain::Fault::Target);
        }
    }
}
